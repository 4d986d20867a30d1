package ui

import (
	"slices"
	"strings"
	"testing"

	"github.com/plegtop/plegtop/ui/pane"
	"github.com/plegtop/plegtop/ui/widget"
)

// Each column that a pane tells of can be left out of it.
func TestColumns(t *testing.T) {
	all := Columns()
	if len(all["pods"]) == 0 || len(all["events"]) == 0 || len(all["calls"]) == 0 {
		t.Errorf("columns are %v, want some of pods, events and calls", all)
	}
	for name, columns := range all {
		last := columns[len(columns)-1].Name
		m := newStage(t, 200, 50, func(c *Config) { c.Panes.Hidden = map[string][]string{name: {last}} }).m
		i := slices.IndexFunc(m.panes, func(p pane.Pane) bool { return strings.ToLower(p.Info().Name) == name })
		for _, c := range m.panes[i].(interface{ Choices() []widget.Choice }).Choices() {
			if c.On == (c.Name == last) {
				t.Errorf("with %s left out of %s: %s is on: %t", last, name, c.Name, c.On)
			}
		}
	}
}
