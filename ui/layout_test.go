package ui

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/cri/sim/script"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
)

// TestCaptionIsOfOneMoment holds that the line of a caption is not drawn without one, though
// the script goes on between a message and its frame.
func TestCaptionIsOfOneMoment(t *testing.T) {
	d := &talker{caption: script.Caption{What: "What happens.", Press: "2: events"}}
	s := newStage(t, 80, 24, demo, func(c *Config) { c.Director, c.Captions = d, true }).show(Healthy())
	for _, d.caption.What = range []string{"", "Something else."} {
		if s.rowOf(" What happens; press 2 ") == "" {
			t.Errorf("now %q:\n%s", d.caption, withoutStyles(s.m.frame()))
		}
	}
	d.caption = script.Caption{}
	if s.show(Healthy()); s.m.layout.said != 0 {
		t.Errorf("%d lines without a caption", s.m.layout.said)
	}
}

// TestCaptionAtTheTop holds where a caption stands and how many lines it has: below the header, three
// of them where there is room, and nothing is drawn over. Its letters have no colour but white in any
// theme: the terminal's own has the contrast of a projector, and no other one is sure to have it.
func TestCaptionAtTheTop(t *testing.T) {
	d := &talker{caption: script.Caption{What: "It happens.", Watch: "It is seen.", Press: "2: events"}}
	for _, name := range theme.Names() {
		for _, tt := range []struct {
			w, h int
			want []string
		}{
			{120, 40, []string{"Now    It happens.", "Watch  It is seen.", "Press  2: events"}},
			{80, 30, []string{"Now    It happens.", "Watch  It is seen.", "Press  2: events"}},
			{80, 29, []string{"It happens; press 2"}},
			{50, 20, []string{"It happens; press 2"}},
			{80, 13, nil},
		} {
			th, _ := theme.Named(name)
			s := newStage(t, tt.w, tt.h, demo, func(c *Config) { c.Director, c.Captions, c.Theme = d, true, th }).show(Healthy())
			checkFrame(t, s.m.frame(), tt.w, tt.h)
			lines := strings.Split(s.m.frame(), "\n")[s.m.layout.header:][:s.m.layout.said]
			var got []string
			for _, line := range lines {
				got = append(got, strings.TrimSpace(withoutStyles(line)))
				_, letters, _ := strings.Cut(line, "\x1b[m")
				for _, look := range regexp.MustCompile(`\x1b\[[^m]*m`).FindAllString(letters, -1) {
					if !slices.Contains([]string{"\x1b[m", "\x1b[1m", "\x1b[1;97m"}, look) { // the last is white, of a theme for black
						t.Errorf("%s: %q in %q may have less contrast", name, look, line)
					}
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s, %dx%d (-want +got):\n%s", name, tt.w, tt.h, diff)
			}
		}
	}
}

// talker is a script that says one thing and then another, and stands still or not.
type talker struct {
	monologue
	caption script.Caption
	frozen  bool
}

func (t *talker) State() script.State { return script.State{Caption: t.caption, Frozen: t.frozen} }

// TestFindingsAreToldOnce holds that at any height of a wide screen a finding is told above the
// panes if the pane of findings is not seen, and only then: the alerts do not push it out.
func TestFindingsAreToldOnce(t *testing.T) {
	seen := map[bool]int{}
	for h := 14; h <= 60; h++ {
		var found []diagnose.Finding
		for _, name := range []string{"first", "second", "third", "fourth"} {
			found = append(found, diagnose.Finding{ID: diagnose.ID(name), Severity: diagnose.Critical, Summary: name + " is ill"})
		}
		s := newStage(t, 200, h).find(found...).show(Healthy())
		told := slices.ContainsFunc(s.m.header.Alerts(), func(a text.Span) bool { return strings.Contains(a.Text, "second is ill") })
		pane := s.m.layout.find(3) != nil
		if seen[pane]++; told == pane {
			t.Errorf("at a height of %d: told above the panes: %v, seen in its pane: %v", h, told, pane)
		}
	}
	if seen[true] == 0 || seen[false] == 0 {
		t.Errorf("seen at %d heights, and not at %d: want some of both", seen[true], seen[false])
	}
}
