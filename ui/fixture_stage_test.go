package ui

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/model"
	"github.com/plegtop/plegtop/ui/pane"

	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
	"github.com/plegtop/plegtop/ui/widget"
)

// Sizes are those of a pane alone, without margins, on the usual screens.
var Sizes = [][2]int{{38, 7}, {78, 19}, {118, 35}, {198, 45}}

// View returns a view of s in the default theme.
func View(s *engine.Snapshot) *pane.View {
	look := theme.Default()
	v := &pane.View{Snapshot: s, Latest: s, Theme: &look, Keys: keymap.Default(), Pods: &model.Pods{}, Journal: model.NewJournal(1000), Axis: widget.NewAxis(), Source: pane.Source{Kind: "cri", Node: "worker-17"}}
	v.Pods.Observe(s, Standings(s, nil))
	v.Journal.Observe(engine.Update{Snapshot: s})
	v.Axis.Follow(s.At)
	return v
}

// Standings returns how the pods of a snapshot stand, of which some have troubles.
func Standings(s *engine.Snapshot, troubles map[pleg.UID]diagnose.Trouble) []*diagnose.Standing {
	return new(diagnose.Standings).Update(s, troubles)
}

// With gives a view what was found.
func With(v *pane.View, found ...diagnose.Finding) *pane.View {
	v.Findings, v.Headline = found, HeadlineOf(v.Snapshot, found)
	v.Answer = diagnose.Update{Findings: found}.Answer()
	return v
}

// Ended gives it findings that were there for 47 s, until a minute ago.
func Ended(v *pane.View, found ...diagnose.Finding) *pane.View {
	v.Ended = nil
	for _, f := range found {
		v.Ended = append(v.Ended, diagnose.Ended{Finding: f, Began: v.At.Add(-107 * time.Second), End: v.At.Add(-time.Minute), Worst: f.Severity})
	}
	return v
}

// A Stage is a screen around one pane. It is a [pane.Host], and records what the
// pane asks of it.
type Stage struct {
	pane.Pane
	V       *pane.View
	W, H    int
	Said    string         // the last that was said
	Clip    string         // what was copied last
	Layers  []pane.Pane    // that are open, the last on top
	Sheets  []pane.Subject // of which a sheet was asked for
	NoSheet bool           // there is none
	Asked   []string       // of the screen
}

// NewStage returns a stage that shows p.
func NewStage(p pane.Pane, v *pane.View, w, h int) *Stage {
	return (&Stage{Pane: p, W: w, H: h}).Show(v)
}

// Show has the pane show another view.
func (s *Stage) Show(v *pane.View) *Stage {
	s.V = v
	s.Refresh()
	return s
}

// Press has the pane do what some keys mean where it is.
func (s *Stage) Press(keys ...string) *Stage {
	for _, k := range keys {
		s.Act(keymap.Default().Action(key(k), s.Info().Scope))
	}
	return s
}

// Act has the pane do some actions.
func (s *Stage) Act(all ...keymap.Action) *Stage {
	for _, a := range all {
		cmd, _ := s.Do(a, s)
		s.run(cmd)
		s.Refresh()
	}
	return s
}

func (s *Stage) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case pane.Reply:
		msg(s)
	case tea.BatchMsg:
		for _, c := range msg {
			s.run(c)
		}
	default:
		if m := fmt.Sprintf("%T", msg); strings.Contains(m, "lipboard") {
			s.Clip = fmt.Sprint(msg)
		}
	}
}

type key string

func (k key) String() string { return string(k) }

// Lines returns what the pane draws while it has the keys.
func (s *Stage) Lines() []string {
	lines := make([]string, s.H)
	for y := range lines {
		l := text.Line{Ellipsis: s.V.Theme.Symbols.Ellipsis}
		l.Begin(s.W)
		s.Draw(&l, y, true)
		l.Under()
		l.End()
		lines[y] = string(l.Buf)
	}
	return lines
}

var colours = regexp.MustCompile("\x1b\\[[0-9;:]*m")

// Text returns the lines without their looks.
func (s *Stage) Text() string {
	return colours.ReplaceAllString(strings.Join(s.Lines(), "\n"), "")
}

// Row returns the first line that holds something, without looks and trailing blanks;
// empty if none does.
func (s *Stage) Row(what string) string {
	for line := range strings.SplitSeq(s.Text(), "\n") {
		if strings.Contains(line, what) {
			return strings.TrimRight(line, " ")
		}
	}
	return ""
}

// Check fails t unless each line has exactly as many cells as it should, and no control
// but the looks of a theme.
func (s *Stage) Check(t *testing.T) {
	t.Helper()
	for y, line := range s.Lines() {
		if got, wc := ansi.StringWidth(line), ansi.StringWidthWc(line); got != s.W || wc != s.W {
			t.Errorf("line %d has %d cells (%d by runes), want %d: %q", y, got, wc, s.W, line)
		}
		bad := func(r rune) bool { return unicode.IsControl(r) || unicode.In(r, unicode.Cf) }
		if plain := colours.ReplaceAllString(line, ""); !utf8.ValidString(line) || strings.ContainsFunc(plain, bad) {
			t.Errorf("line %d is not clean: %q", y, line)
		}
	}
}

// Update says that goldens are written anew: by the flag -update.
var Update = flag.Bool("update", false, "write the goldens again")

// Golden compares what is drawn with a file in testdata, in a folder for each pane.
func (s *Stage) Golden(t *testing.T, name string) {
	t.Helper()
	s.Check(t)
	kind, _, _ := strings.Cut(strings.TrimPrefix(fmt.Sprintf("%T", s.Pane), "*"), ".") // its package
	path := filepath.Join("testdata", kind, fmt.Sprintf("%s-%dx%d.golden", name, s.W, s.H))
	got := s.Text() + "\n"
	if *Update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s has changed (-want +got); look at it, then run with -update:\n%s", path, diff)
	}
}

// Keys returns the keys that an action has by default.
func (s *Stage) Keys(a keymap.Action) string { return keymap.Default().Keys(a) }

// Say notes what is said.
func (s *Stage) Say(text string) { s.Said = text }

// Open notes a layer.
func (s *Stage) Open(p pane.Pane) { s.Layers = append(s.Layers, p) }

// Close forgets it.
func (s *Stage) Close(p pane.Pane) {
	s.Layers = slices.DeleteFunc(s.Layers, func(open pane.Pane) bool { return open == p })
}

// Focus notes that it was asked for.
func (s *Stage) Focus(p pane.Pane) { s.Asked = append(s.Asked, "focus "+p.Info().Name) }

// OpenSheet notes the subject.
func (s *Stage) OpenSheet(of pane.Subject) bool {
	s.Sheets = append(s.Sheets, of)
	return !s.NoSheet
}

// Refresh shows the view anew, in the order that the pane asks for.
func (s *Stage) Refresh() {
	if o, ok := s.Pane.(pane.Orderer); ok {
		s.V.Pods.Arrange(o.Order(s.V))
	}
	s.Observe(s.V, s.W, s.H)
}

// EverySize checks what is drawn in many sizes, from those that no screen has on.
func (s *Stage) EverySize(t *testing.T) {
	t.Helper()
	for _, w := range []int{0, 1, 3, 8, 21, 47, 69, 70, 90, 133, 250} {
		for _, h := range []int{0, 1, 3, 24, 60} {
			s.W, s.H = w, h
			if s.Refresh(); h > 0 {
				s.Check(t)
			}
			if t.Failed() {
				t.Fatalf("at %dx%d", w, h)
			}
		}
	}
}
