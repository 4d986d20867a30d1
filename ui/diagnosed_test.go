package ui

import (
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/evidence"
)

// judged makes a diagnosis of what is shown, in the place of a fixture.
func judged(c *Config) { c.Diagnose = diagnose.Diagnose }

// TestHungCallIsFound holds that the call that hangs is named by a finding, and
// by nothing else beside it, once a diagnosis is made.
func TestHungCallIsFound(t *testing.T) {
	s := newStage(t, 200, 50, judged).show(hungNode())
	if s.rowOf("✖ inspect-hung: ") == "" || s.rowOf("✖ ContainerStatus out for") != "" {
		t.Errorf("alerts %v", s.m.alerts)
	}
	if f := s.press("4").m.findings.current(); f == nil || f.Subject.Pod.Name != "nfs-client" {
		t.Errorf("the cursor is on %v", f)
	}
	if s.press("enter", "enter"); s.m.detail.pod == nil {
		t.Error("the finding does not lead to its pod")
	}
}

func TestHealthyNodeHasNoFinding(t *testing.T) {
	s := newStage(t, 200, 50, judged)
	for i := range 5 {
		snap := nodeOf(healthyNode())
		snap.At = snap.At.Add(time.Duration(i) * time.Second)
		s.show(snap)
	}
	for _, f := range s.m.findings.all {
		if f.ID != diagnose.CrashLoop {
			t.Errorf("found %s: %s", f.ID, f.Summary)
		}
	}
}

// TestHistoryGoesOnWhileFrozen holds that what happens while the screen is frozen
// counts once it is thawed: here the verdict's changes.
func TestHistoryGoesOnWhileFrozen(t *testing.T) {
	s := newStage(t, 200, 50, judged).show(healthyNode()).press("Z")
	for i := range 40 {
		snap := healthyNode()
		snap.At = snap.At.Add(time.Duration(i+1) * 20 * time.Second)
		snap.Health.Flips, snap.Health.Since, snap.Health.ListedAt = i+1, snap.At, snap.At
		if snap.Health.Healthy = i%2 == 1; !snap.Health.Healthy {
			snap.Health.Verdict, snap.Health.ListedAt = "pleg was last seen active 3m1s ago; threshold is 3m0s", snap.At.Add(-181*time.Second)
		}
		s.send(updateMsg(engine.Update{Snapshot: snap}))
	}
	s.press("Z")
	var ids []string
	for _, f := range s.m.findings.all {
		ids = append(ids, string(f.ID))
	}
	if got := strings.Join(ids, " "); !strings.Contains(got, "pleg-flapping") {
		t.Errorf("found %q after 40 changes of the verdict, want pleg-flapping among them", got)
	}
}

// TestHistoryHasEveryLook holds that a diagnosis knows of two looks at the node
// where it needs both, also of one that came while the screen was frozen.
func TestHistoryHasEveryLook(t *testing.T) {
	snap := nodeOf(healthyNode())
	snap.Health.ListedAt = ago(time.Second)
	ghost := find(snap, "nfs-client").Seen().Containers[0].ID
	look := func(at time.Duration) evidence.Report {
		r := evidence.Report{At: ago(at), Processes: evidence.Processes{Containers: map[string][]evidence.Process{}}}
		for _, p := range snap.Pods {
			r.Processes.Containers[p.Seen().Sandboxes[0].ID] = []evidence.Process{{PID: 1, State: evidence.Sleeping}}
			for _, c := range p.Seen().Containers {
				if c.ID != ghost {
					r.Processes.Containers[c.ID] = []evidence.Process{{PID: 2, Container: c.ID, State: evidence.Sleeping}}
				}
			}
		}
		return r
	}
	for name, keys := range map[string][2]string{"live": {}, "frozen": {"Z", "Z"}} {
		s := newStage(t, 200, 50, judged).show(snap).press(strings.Fields(keys[0])...)
		s.report(look(5 * time.Second)).press(strings.Fields(keys[1])...).report(look(100 * time.Millisecond))
		if f := s.m.findings.current(); f == nil || f.ID != diagnose.GhostRunning {
			t.Errorf("%s: found %v, want a ghost", name, s.m.findings.all)
		}
	}
}
