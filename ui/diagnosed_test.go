package ui

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/past"
)

// TestHungCallIsFound holds that the call that hangs is named by a finding and by
// the headline once a diagnosis is made.
func TestHungCallIsFound(t *testing.T) {
	s := newStage(t, 200, 50).diagnosed().show(Hung())
	if got := s.lineTwo(); !strings.HasPrefix(got, "✖ ") || !strings.Contains(got, "nfs-client") {
		t.Errorf("headline %q", got)
	}
	if f := s.press("4").m.active().Subject().Finding; f == nil || f.Subject.Pod.Name != "nfs-client" {
		t.Errorf("the cursor is on %v", f)
	}
	if s.press("enter", "enter"); s.focused() != "default/nfs-client" {
		t.Errorf("the finding leads to %q, not to its pod", s.focused())
	}
}

// TestDiagnosisGoesOnWhileFrozen holds that what happens while the screen is frozen
// is told once it is thawed: here the verdict's changes.
func TestDiagnosisGoesOnWhileFrozen(t *testing.T) {
	s := newStage(t, 200, 50).diagnosed().show(Healthy()).press("Z")
	var memory past.Keeper
	for i := range 40 {
		snap := Healthy()
		snap.At = snap.At.Add(time.Duration(i+1) * 20 * time.Second)
		snap.Health.Flips, snap.Health.Since, snap.Health.ListedAt = i+1, snap.At, snap.At
		if snap.Health.Healthy = i%2 == 1; !snap.Health.Healthy {
			snap.Health.Verdict, snap.Health.ListedAt = "pleg was last seen active 3m1s ago; threshold is 3m0s", snap.At.Add(-181*time.Second)
		}
		memory.Judged(snap.Health.Healthy, snap.At)
		snap.Memory = memory.Read()
		s.show(snap)
	}
	s.press("Z")
	if !slices.ContainsFunc(s.m.view.Findings, func(f diagnose.Finding) bool { return f.ID == diagnose.PLEGUnhealthy }) {
		t.Errorf("found %+v after 40 changes of the verdict, want pleg-unhealthy among them", s.m.view.Findings)
	}
}
