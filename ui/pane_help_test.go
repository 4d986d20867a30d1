package ui

import (
	"strings"
	"testing"

	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/help"
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
