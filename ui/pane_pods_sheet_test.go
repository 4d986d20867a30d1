package ui

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/ui/pane"
	"github.com/plegtop/plegtop/ui/pods"
)

// opened is the sheet of a pod in a view that has seen some events.
func opened(t *testing.T, snap *engine.Snapshot, name string, w, h int) *Stage {
	t.Helper()
	events := Events(snap)
	v := podsView(snap, Findings()[:2]...)
	v.Journal.Observe(engine.Update{Snapshot: snap, Events: events})
	p := pods.Sheet(v, pane.Subject{ObjectRef: pleg.ObjectRef{Pod: Find(snap, name).PodRef}})
	if p == nil {
		t.Fatalf("%s has no sheet", name)
	}
	return NewStage(p, v, w, h)
}

func TestPodsSheet(t *testing.T) {
	const pay = "payments-6c8f9d7b5-t8wfx"
	opened(t, Unhealthy(), "nfs-client", 118, 35).Golden(t, "sheet-hung")
	opened(t, Healthy(), pay, 118, 35).EverySize(t)
	snap := Hostile()
	v := podsView(snap, HostileFindings()...)
	NewStage(pods.Sheet(v, pane.Subject{ObjectRef: pleg.ObjectRef{Pod: snap.Pods[1].PodRef}}), v, 78, 60).Check(t)
}

// TestSheetNamesWhatHoldsItUp holds that who opens the pod that hangs reads there what
// holds it up, what cuts that, and that it changes the node. The cursor is for events alone.
func TestSheetNamesWhatHoldsItUp(t *testing.T) {
	snap := Healthy()
	v := podsView(snap, Chained()...)
	s := NewStage(pods.Sheet(v, pane.Subject{ObjectRef: pleg.ObjectRef{Pod: Find(snap, "payments-6c8f9d7b5-t8wfx").PodRef}}), v, 78, 19)
	for label, want := range map[string]string{"✖ list-hung": "ListContainers hangs behind", "cause": "runc update for 10m", "act": "kill 4800", "RISK": "ends the update"} {
		if got := s.Row(label); !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q:\n%s", label, got, want, s.Text())
		}
	}
	if _, event := s.Pane.(interface{ Current() any }).Current().(string); event {
		t.Error("the cursor is on a command")
	}
}

func TestSheetIsOfPodsOnly(t *testing.T) {
	v := podsView(Healthy())
	ref := v.Snapshot.Pods[0].PodRef
	for _, of := range []pane.Subject{
		{}, {ObjectRef: pleg.ObjectRef{Pod: pleg.PodRef{UID: "nobody", Name: "x"}}}, {ObjectRef: pleg.ObjectRef{Pod: pleg.PodRef{Name: "x"}}}, {ObjectRef: pleg.ObjectRef{Pod: ref}, Event: 3}, {ObjectRef: pleg.ObjectRef{Pod: ref}, Finding: &diagnose.Finding{}},
	} {
		if pods.Sheet(v, of) != nil {
			t.Errorf("%+v has a sheet", of)
		}
	}
	if pods.Sheet(v, pane.Subject{ObjectRef: pleg.ObjectRef{ID: "y", Pod: ref, Container: "x"}}) == nil {
		t.Error("a container leads to no sheet of its pod")
	}
}

// dead is a node whose first pod holds n dead containers.
func dead(n int) *engine.Snapshot {
	snap := Big(10, 1)
	p, one := *snap.Pods[0], snap.Pods[0].Seen().Containers[0]
	all, status := *p.Seen(), pleg.PodStatus{PodRef: p.PodRef}
	all.Containers = nil
	for i := range n {
		one.ID, one.State, one.Attempt = fmt.Sprintf("%064x", i), pleg.Exited, uint32(i)
		all.Containers = append(all.Containers, one)
		status.Containers = append(status.Containers, pleg.ContainerStatus{ID: one.ID, Name: one.Name, State: pleg.Exited, Attempt: one.Attempt, Image: one.Image, ExitCode: 1, Reason: "Error"})
	}
	p.Old, p.Current, p.Status = &all, &all, &status
	snap.Pods[0] = &p
	return snap
}

// With 12,000 dead containers a snapshot, and a key, cost little in pane and sheet.
func BenchmarkDead(b *testing.B) {
	snap := dead(12_000)
	v := podsView(snap)
	table := podsStage(v, 118, 35).Press("g", "space")
	sheet := NewStage(pods.Sheet(v, pane.Subject{ObjectRef: pleg.ObjectRef{Pod: snap.Pods[0].PodRef}}), v, 118, 35)
	for name, s := range map[string]*Stage{"unfolded": table, "sheet": sheet} {
		b.Run(name+"/key", func(b *testing.B) {
			for b.Loop() {
				s.Press("j")
				s.Lines()
			}
		})
	}
	b.Run("changed", func(b *testing.B) {
		for b.Loop() {
			now := *snap
			p := *snap.Pods[0]
			now.Pods = append([]*engine.Pod{&p}, snap.Pods[1:]...)
			v.Pods.Observe(&now, Standings(&now, nil))
			table.Refresh()
		}
	})
}

// TestTimesThatTheRuntimeDoesNotSay holds that a runtime which gives no time for anything, as
// one that has lost its record of a container, brings about no age of decades.
func TestTimesThatTheRuntimeDoesNotSay(t *testing.T) {
	snap := Healthy()
	for _, p := range snap.Pods {
		for i := range p.Seen().Sandboxes {
			p.Seen().Sandboxes[i].CreatedAt = time.Time{}
		}
		for i := range p.Seen().Containers {
			p.Seen().Containers[i].CreatedAt = time.Time{}
		}
		if p.Status == nil {
			continue
		}
		for i := range p.Status.Sandboxes {
			p.Status.Sandboxes[i].CreatedAt = time.Time{}
		}
		for i := range p.Status.Containers {
			c := &p.Status.Containers[i]
			c.CreatedAt, c.StartedAt, c.FinishedAt = time.Time{}, time.Time{}, time.Time{}
		}
	}
	v := podsView(snap)
	shown := NewStage(pods.New(pane.Settings{}), v, 198, 45).Text()
	for _, p := range snap.Pods {
		shown += NewStage(pods.Sheet(v, pane.Subject{ObjectRef: pleg.ObjectRef{Pod: p.PodRef}}), v, 118, 60).Text()
	}
	for _, life := range v.Journal.Life(snap.Pods[0].UID, snap.Pods[0]) {
		if life.At.IsZero() {
			t.Errorf("it came to be %v in the year 1", life)
		}
	}
	if old := regexp.MustCompile(`\d\dy\b`).FindAllString(shown, 3); old != nil {
		t.Errorf("ages of %v in\n%s", old, shown)
	}
}
