package ui

import (
	"strings"
	"testing"
)

// TestPreview holds that a screen of 160 cells and more shows the sheet of what the cursor is on
// beside the panes, whichever pane has the keys, and none elsewhere; and that a frame of it has no
// cell twice.
func TestPreview(t *testing.T) {
	beside := func(s *stage) string {
		if s.m.layout.find(previewed) == nil {
			return ""
		}
		return s.m.preview.sheet.Info().Name
	}
	for _, size := range [][2]int{{159, 45}, {40, 10}, {160, 13}} {
		if s := newStage(t, size[0], size[1]).show(Healthy()); beside(s) != "" {
			t.Errorf("%v: there is a preview of %s", size, beside(s))
		}
	}
	for _, size := range [][2]int{{160, 24}, {160, 45}, {189, 60}, {190, 24}, {200, 50}, {250, 60}} {
		snap := Hung()
		s := newStage(t, size[0], size[1]).find(Findings()...).show(snap, Events(snap)...)
		for _, keys := range []string{"j", "2", "4", "5", "1"} {
			s.press(keys)
			is := s.m.panes[s.m.focus].Subject()
			if is.Finding == nil && is.Event == 0 && is.Pod.UID == "" {
				is = s.m.panes[0].Subject()
			}
			if want := s.m.sheetOf(is).Info().Name; beside(s) != want || !strings.Contains(withoutStyles(s.m.frame()), want) {
				t.Errorf("%v, after %s: beside is %q, want %q:\n%s", size, keys, beside(s), want, withoutStyles(s.m.frame()))
			}
			checkFrame(t, s.m.frame(), size[0], size[1])
		}
		for _, keys := range []string{"f", "enter", "?"} {
			if s.press(keys); beside(s) != "" && s.m.top() == nil {
				t.Errorf("%v, after %s: there is a preview", size, keys)
			}
			s.press("esc")
		}
	}
}
