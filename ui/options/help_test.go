package options

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/plegtop/plegtop/ui/theme"
)

// Help keeps to the width of the terminal, and to one that can be read.
func TestHelpFits(t *testing.T) {
	look := theme.Default()
	for _, tt := range []struct{ width, most int }{{0, 100}, {40, 60}, {80, 80}, {200, 120}} {
		p := Page{Width: tt.width, Theme: &look}
		for line := range strings.Lines(p.Help() + p.Scenarios()) {
			line = ansi.Strip(strings.TrimSuffix(line, "\n"))
			if w := ansi.StringWidth(line); w > tt.most {
				t.Errorf("at %d: %d cells: %s", tt.width, w, line)
			}
			if strings.TrimRight(line, " ") != line {
				t.Errorf("at %d: spaces at the end of %q", tt.width, line)
			}
		}
	}
}
