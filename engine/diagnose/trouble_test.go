package diagnose

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/pleg"
)

func TestTroubleThatAPodShows(t *testing.T) {
	exit := func(p *engine.Pod, code int32) {
		p.Old.Containers[0].State = pleg.Exited
		p.Status.Containers[0].State, p.Status.Containers[0].ExitCode = pleg.Exited, code
	}
	tests := []struct {
		name   string
		change func(p *engine.Pod, c *pleg.Container)
		want   string
	}{
		{"nothing", func(*engine.Pod, *pleg.Container) {}, ""},
		{"gone", func(p *engine.Pod, _ *pleg.Container) { p.Old = nil }, ""},
		{"failing inspection", func(p *engine.Pod, _ *pleg.Container) { p.StatusErr = errors.New("x") }, "failing inspection"},
		{"unknown", func(_ *engine.Pod, c *pleg.Container) { c.State = pleg.Unknown }, "state unknown"},
		{"just created", func(_ *engine.Pod, c *pleg.Container) { c.State, c.CreatedAt = pleg.Created, ago(startGrace-1) }, ""},
		{"created for long", func(_ *engine.Pod, c *pleg.Container) { c.State, c.CreatedAt = pleg.Created, ago(startGrace) }, "not started"},
		{"created, nobody knows when", func(_ *engine.Pod, c *pleg.Container) { c.State, c.CreatedAt = pleg.Created, time.Time{} }, ""},
		{"crash loop", func(_ *engine.Pod, c *pleg.Container) { c.Attempt, c.CreatedAt = restartsLeast, ago(crashSteady-1) }, "crash loop"},
		{"recovered", func(_ *engine.Pod, c *pleg.Container) { c.Attempt, c.CreatedAt = restartsLeast, ago(crashSteady) }, ""},
		{"exit code 0", func(p *engine.Pod, _ *pleg.Container) { exit(p, 0) }, ""},
		{"exit code 1", func(p *engine.Pod, _ *pleg.Container) { exit(p, 1) }, "exited with an error"},
		{"exit code 1, started again", func(p *engine.Pod, _ *pleg.Container) {
			exit(p, 1)
			p.Old.Containers = append(p.Old.Containers, pleg.Container{ID: "again", Name: "app", Attempt: 1, State: pleg.Running})
		}, ""},
		{"exited containers", func(p *engine.Pod, _ *pleg.Container) {
			for i := range manyExited {
				p.Old.Containers = append(p.Old.Containers, pleg.Container{ID: fmt.Sprint("old", i), Name: "job", Attempt: uint32(i), State: pleg.Exited})
			}
		}, "leaves exited containers"},
		{"the worst counts", func(p *engine.Pod, _ *pleg.Container) {
			exit(p, 1)
			p.Old.Containers[1].State = pleg.Unknown
		}, "state unknown"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := healthy(1)
			p := n.Pods[0]
			tt.change(p, &p.Old.Containers[0])
			u := Update{Update: engine.Update{Snapshot: &n.Snapshot}}
			if got := troubles(u)[p.UID]; got.Text != tt.want {
				t.Errorf("trouble %+v, want %q", got, tt.want)
			}
		})
	}
}

// The troubles of pods that are kept from one update to the next equal those that a first look finds, as pods change
// and as time passes.
func TestFactsAreKept(t *testing.T) {
	n := healthy(40)
	w := newWitness()
	found := map[string]bool{}
	for step := range 60 {
		n.At = now.Add(time.Duration(step) * 7 * time.Second)
		n.Pods = slices.Clone(n.Pods)
		i := step * 7 % 40
		p := *n.Pods[i]
		was := *p.Old
		was.Containers = slices.Clone(was.Containers)
		c := &was.Containers[0]
		c.State, c.Attempt, c.CreatedAt = pleg.State(1+step%4), uint32(step%5), n.At.Add(-time.Duration(step%3)*10*time.Second)
		p.Old = &was
		n.Pods[i] = &p
		w.Add(engine.Update{Snapshot: &n.Snapshot})
		kept := factsOf(Input{Snapshot: &n.Snapshot})
		fresh := factsOf(Input{Snapshot: &n.Snapshot})
		if !slices.Equal(kept.pods, fresh.pods) {
			t.Fatalf("step %d: kept are %+v\nwant %+v", step, kept.pods, fresh.pods)
		}
		want := fresh.troubled(nil)
		if got := kept.troubled(nil); !maps.Equal(got, want) {
			t.Fatalf("step %d: troubled %v, want %v", step, got, want)
		}
		for _, tr := range want {
			found[tr.Text] = true
		}
	}
	if len(found) < 3 {
		t.Errorf("saw only %v", found)
	}
}
