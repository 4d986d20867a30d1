package ui

import (
	"slices"
	"strings"
	"testing"

	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/help"
	"github.com/plegtop/plegtop/ui/layer"
	"github.com/plegtop/plegtop/ui/model"
)

func helpStage(w, h int) *Stage {
	keys := keymap.Default().WithPanes([]string{"Pods", "Events"})
	p := help.New(keys, []help.Section{{Name: "Columns of Pods", Rows: [][2]string{{"READY", "containers that run, of those that should"}}}}, "")
	return NewStage(p, View(Healthy()), w, h)
}

// The golden is of a small screen only: it holds the look, not all keys.
func TestHelpGolden(t *testing.T) {
	helpStage(78, 19).Golden(t, "help")
}

// All that there is to say stands in the help at every width, and no section goes on in
// the next column.
func TestSectionsStayWhole(t *testing.T) {
	for _, w := range []int{40, 80, 98, 140, 200, 300} {
		s := helpStage(w, 300)
		lines := strings.Split(s.Text(), "\n")
		for _, g := range keymap.Default().WithPanes([]string{"Pods", "Events"}).Groups() {
			top := slices.IndexFunc(lines, func(l string) bool { return at(l, g[0].Group.String(), w) >= 0 })
			if top < 0 {
				t.Fatalf("%d cells: no heading %s", w, g[0].Group)
			}
			left := at(lines[top], g[0].Group.String(), w)
			for _, e := range g {
				row := slices.IndexFunc(lines[top:], func(l string) bool {
					r := []rune(l)
					return strings.HasPrefix(string(r[left:]), "  "+e.Binding.Help().Key+" ")
				})
				if row < 0 {
					t.Errorf("%d cells: %s is not below its heading", w, e.Action)
				}
			}
		}
		for _, want := range []string{"Symbols", "Columns of Pods", "READY", "ns:", "inspect < >", "was created and not started", "go to the events"} {
			if s.Row(want) == "" {
				t.Errorf("%d cells: no %q", w, want)
			}
		}
	}
}

// at returns in which cell a heading stands in a line: at the start of a column.
func at(line, heading string, w int) int {
	r := []rune(line)
	for _, left := range []int{0, w / 2} {
		if strings.HasPrefix(string(r[left:]), heading+"  ") {
			return left
		}
	}
	return -1
}

func TestHelpIsSearched(t *testing.T) {
	s := helpStage(80, 10)
	s.Act(keymap.Filter)
	prompt, ok := s.Layers[0].(*layer.Prompt)
	if !ok {
		t.Fatal("no prompt")
	}
	prompt.Paste("GOROUTINES", s)
	if s.Refresh(); s.Row("goroutines") == "" {
		t.Errorf("not in view:\n%s", s.Text())
	}
	if about := s.Info().About; about[0].Text != "/goroutines" || !strings.Contains(about[1].Text, "/") {
		t.Errorf("the title says %v", about)
	}
	for _, a := range []keymap.Action{keymap.Help, keymap.Back} {
		s.Open(s.Pane)
		s.Act(a)
		if slices.Contains(s.Layers, s.Pane) {
			t.Errorf("%s does not close the help", a)
		}
	}
}

// What the help says of filters is how filters are written.
func TestFilterSyntax(t *testing.T) {
	values := map[string]string{"ns": "x", "state": "running", "kind": "died", "has": "problem", "re": "x", "age": "1s", "inspect": "1s"}
	for _, row := range model.FilterSyntax() {
		text := row[0]
		if name, ok := strings.CutSuffix(text, ":"); ok {
			text += values[name]
		} else if name, ok := strings.CutSuffix(text, " < >"); ok {
			text = name + "<" + values[name] + " " + name + ">" + values[name]
		}
		if _, err := model.ParseFilter(text); err != nil {
			t.Errorf("%s: %v", row[0], err)
		}
	}
}

// TestOwnSectionComesFirst holds that the help opens at what the pane shows from which it was
// opened, and that there are two columns from 100 cells on.
func TestOwnSectionComesFirst(t *testing.T) {
	of := help.Section{Name: "Calls", Rows: [][2]string{{"OUT", "calls that are out"}}}
	p := help.New(keymap.Default(), []help.Section{{Name: "Pods", Rows: of.Rows}, of}, "Calls")
	s := NewStage(p, View(Healthy()), 98, 60)
	if first := strings.TrimSpace(s.Text()); !strings.HasPrefix(first, "Calls ") {
		t.Errorf("it begins with %.40q, want the section of the pane beside another one", first)
	}
}
