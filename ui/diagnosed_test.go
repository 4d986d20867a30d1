package ui

import (
	"strings"
	"testing"
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
