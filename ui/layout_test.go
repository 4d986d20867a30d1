package ui

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/cri/sim/script"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/ui/pane"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
)

// given is a pane that notes what it was given since it was last looked at.
type given struct {
	pane.Pane
	times, w, h int
}

func (g *given) Observe(v *pane.View, w, h int) {
	g.times, g.w, g.h = g.times+1, w, h
	g.Pane.Observe(v, w, h)
}

// TestPanesAreGivenTheirPlaces holds that after any message each pane has seen the view
// in the size that it is drawn in, and that it is asked for that only once while places
// stay as they are.
func TestPanesAreGivenTheirPlaces(t *testing.T) {
	s := newStage(t, 200, 50)
	var all []*given
	for i, p := range s.m.panes {
		g := &given{Pane: p}
		s.m.panes[i], all = g, append(all, g)
	}
	snap := Hung()
	check := func(what string, most int) {
		t.Helper()
		for i, g := range all {
			w, h := max(s.m.width-2, 1), 0
			if b := s.m.layout.find(i); b != nil && s.m.top() == nil {
				w, h = max(b.w-2, 1), b.h-1
			}
			if g.w != w || g.h != h || g.times < 1 || g.times > most {
				t.Errorf("%s: pane %d was given %dx%d in %d goes, and has %dx%d", what, i, g.w, g.h, g.times, w, h)
			}
			g.times = 0
		}
		if s.m.settle(); all[0].times > 1 {
			t.Errorf("%s: the next message moves panes", what)
		}
		for _, g := range all {
			g.times = 0
		}
	}
	s.find(Findings()...).show(snap, Events(snap)...)
	check("the first snapshot", 2)
	s.show(snap)
	check("the same again", 1)
	for _, keys := range []string{"2", "f", "f", "4", "enter", "esc", "/", "esc", "N"} {
		s.press(keys)
		check("key "+keys, 2)
	}
	for _, size := range [][2]int{{120, 40}, {80, 24}, {60, 14}, {40, 10}, {200, 50}} {
		s.send(sizeOf(size[0], size[1]))
		check(fmt.Sprint(size), 2)
	}
}

// TestMoreWidthNeverMeansFewerColumns holds that of the pods, with the panes of each
// width around them: without a preview, and with one, which tells what the columns do not.
func TestMoreWidthNeverMeansFewerColumns(t *testing.T) {
	before := 0
	for w := leastWidth; w <= 300; w += 2 {
		n := len(strings.Fields(newStage(t, w, 50).show(Healthy()).rowOf(" RUN ")))
		if n < before && w != previewFrom {
			t.Fatalf("%d columns at a width of %d, and %d with less", n, w, before)
		}
		before = n
	}
	if before < 12 {
		t.Errorf("only %d columns on a wide screen", before)
	}
}

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

// TestAnswerTakesNoPaneAway holds that a large screen has all panes also while the answer stands
// above them: room that the answer could have taken, and does not need, is theirs.
func TestAnswerTakesNoPaneAway(t *testing.T) {
	s := newStage(t, 200, 50)
	s.find(Findings()[:1]...).show(Hung())
	for i, p := range s.m.panes {
		if s.m.layout.find(i) == nil {
			t.Errorf("%s is not on the screen", p.Info().Name)
		}
	}
	if !s.m.view.Led {
		t.Error("there is no answer")
	}
}

// TestTheFocusedPaneHasTheRoom holds that the pane that has the keys takes room of the pods above it if
// it can use that, and most of what is below them, that these have it back when they have the keys again, and that
// a pane that wants little takes nothing from the others.
func TestTheFocusedPaneHasTheRoom(t *testing.T) {
	s := newStage(t, 120, 40).show(Big(60, 2))
	heights := func(key string) (all [6]int) {
		s.press(key)
		for _, b := range s.m.layout.boxes {
			all[b.pane] = b.h
		}
		return all
	}
	before := heights("1")
	if now := heights("3"); now[0] >= before[0] || now[2] < 2*now[4] {
		t.Errorf("with the keys the calls have %d lines, time %d, the pods %d of %d", now[2], now[4], now[0], before[0])
	}
	if now := heights("4"); now[0] < before[0] {
		t.Errorf("beside a pane of a line the pods have %d lines, %d before", now[0], before[0])
	}
	if now := heights("1"); now[0] != before[0] {
		t.Errorf("the pods have %d lines, %d before", now[0], before[0])
	}
}
