package ui

import (
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/diagnose"
)

func TestSweepIsCanceled(t *testing.T) {
	for keys, want := range map[string]string{
		"R":           "cancel sweep",
		"esc":         "cancel sweep",
		"enter esc":   "",
		"enter esc R": "cancel sweep",
	} {
		s := newStage(t, 80, 24).show(WithSweep(SweepOf(120, false))).press(strings.Fields(keys)...)
		if got := s.asked(); got != want {
			t.Errorf("%s while a sweep is under way asked for %q, want %q", keys, got, want)
		}
	}
	for name, w := range map[string]*answers.Sweep{"none": nil, "ended": SweepOf(330, true), "refused": {Refused: "too slow"}} {
		if got := newStage(t, 80, 24).show(WithSweep(w)).press("esc", "R").asked(); got != "sweep" {
			t.Errorf("%s: asked for %q", name, got)
		}
	}
}

func TestSweepAsksForSandboxesAndContainers(t *testing.T) {
	s := newStage(t, 120, 40).show(Big(110, 2)).press("R")
	if s.rowOf("Ask for every one of 110 sandboxes and 220 containers, 4 at a time?") == "" {
		t.Errorf("no such question:\n%s", withoutStyles(s.m.frame()))
	}
}

// TestSweepCountsNoContainersUnlisted holds that nobody is asked about "0 containers" where
// they were only not listed.
func TestSweepCountsNoContainersUnlisted(t *testing.T) {
	snap := Big(110, 0)
	snap.Health.ListedAt = time.Time{}
	s := newStage(t, 120, 40).show(snap).press("R")
	if s.rowOf("Ask for every one of 110 sandboxes, and what the node shows, 4 at a time?") == "" || s.rowOf(" 0 c") != "" {
		t.Errorf("no such question:\n%s", withoutStyles(s.m.frame()))
	}
}

func TestSweepTellsOfItself(t *testing.T) {
	canceled, cut := SweepOf(330, false), SweepOf(330, false)
	canceled.Canceled, canceled.Done, cut.CutOff = true, 12, true
	given := SweepOf(330, false)
	given.CutOff, given.GivenUp = true, "nobody listens any more"
	old := SweepOf(330, false)
	old.Began, old.Ended = Ago(40*time.Second), Ago(20*time.Second)
	for want, w := range map[string]*answers.Sweep{
		"CHECK ALL 120/330, 1 hung, 0 failed; R cancels": SweepOf(120, true),
		"✔ CHECK ALL done 1s ago: 330 of 330 asked in 3.0s, 0 hung, 0 failed; slowest default/nfs-client PodSandboxStatus 31ms":              SweepOf(330, false),
		"✖ CHECK ALL done 1s ago: 330 of 330 asked in 3.0s, 1 hung, 0 failed; default/nfs-client ContainerStatus app gave no answer in 2.0s": SweepOf(330, true),
		"▲ CHECK ALL cancelled 1s ago: 12 of 330 asked in 3.0s":                                                                              canceled,
		"▲ CHECK ALL cut off 1s ago: 330 of 330 asked in 3.0s":                                                                               cut,
		"▲ CHECK ALL given up, nobody listens any more, 1s ago: 330 of 330 asked in 3.0s":                                                    given,
		"▲ CHECK ALL not begun 1s ago: Version: no reply for 3s":                                                                             {Began: Ago(time.Second), Refused: "Version: no reply for 3s"},
	} {
		s := newStage(t, 160, 40).show(WithSweep(w))
		if got := strings.TrimSpace(strings.Split(withoutStyles(s.m.frame()), "\n")[s.m.layout.header]); !strings.HasPrefix(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	s := newStage(t, 160, 40).show(WithSweep(old)).press("3")
	if len(s.m.header.Alerts()) != 0 || s.rowOf("✔ CHECK ALL done") == "" {
		t.Error("an old sweep is told of below the header, or not in the pane of calls")
	}
}

// TestSweepNeverContradicts holds that a sweep that found all to be well is told of
// no more once it is known that not all is, and none for ever.
func TestSweepNeverContradicts(t *testing.T) {
	well, ill, old := SweepOf(330, false), SweepOf(330, true), SweepOf(330, true)
	old.Began, old.Ended = Ago(20*time.Minute), Ago(10*time.Minute)
	for name, tt := range map[string]struct {
		w     *answers.Sweep
		found []diagnose.Finding
		want  bool
	}{
		"well, and all is":     {well, nil, true},
		"well, and not all is": {well, Findings(), false},
		"ill":                  {ill, Findings(), true},
		"old":                  {old, nil, false},
	} {
		s := newStage(t, 160, 40).find(tt.found...).show(WithSweep(tt.w)).press("3")
		if got := strings.Contains(s.m.frame(), "CHECK ALL"); got != tt.want {
			t.Errorf("%s: told of %v, want %v", name, got, tt.want)
		}
	}
	well = SweepOf(330, false)
	snap := WithSweep(well)
	snap.Anomalies.NoID = 3
	if s := newStage(t, 200, 40).show(snap); s.rowOf("0 failed, 3 without an id not asked") == "" {
		t.Errorf("what was not asked is not told:\n%s", withoutStyles(s.m.frame()))
	}
}

// TestCallsOfASweepHoldUpNothing holds that the meter, the countdown and the pods go
// by the relist's own calls.
func TestCallsOfASweepHoldUpNothing(t *testing.T) {
	snap := WithSweep(SweepOf(120, false))
	for i, by := range []call.Asker{call.BySweep, call.ByProbe} {
		snap.InFlight = append(snap.InFlight, call.Flight{By: by, Op: call.ContainerStatus, Pod: snap.Pods[i].PodRef, Since: Ago(2 * time.Second)})
	}
	s := newStage(t, 160, 40).show(snap)
	if diagnose.RelistCall(snap) != nil || s.m.view.Pods.Critical || s.rowOf("NotReady in") != "" || len(s.m.header.Alerts()) != 1 {
		t.Errorf("alerts %v, frame\n%s", s.m.header.Alerts(), withoutStyles(s.m.frame()))
	}
}
