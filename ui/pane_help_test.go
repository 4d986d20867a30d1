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
