package options

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/plegtop/plegtop/cri/sim"
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

func TestHelpNamesAll(t *testing.T) {
	p := Page{Theme: &theme.Theme{Symbols: theme.Unicode}}
	help := p.Help()
	for name, f := range newLine(new(Options)).flags {
		if !strings.Contains(help, "--"+name) || f.usage == "" {
			t.Errorf("help lacks --%s", name)
		}
	}
	for _, want := range []string{"\n  plegtop [flags] check       one look", "\n  -r, --runtime-endpoint socket", "--demo[=scenario]", "(default 1s)"} {
		if !strings.Contains(help, want) {
			t.Errorf("help lacks %q", want)
		}
	}
	if strings.ContainsAny(help, "\x1b`") {
		t.Error("help without looks has escape sequences or back quotes")
	}
	list := p.Scenarios()
	for _, s := range sim.Scenarios() {
		if !strings.Contains(list, "\n"+s.Name+" ") && !strings.HasPrefix(list, s.Name) || s.Keys == "" {
			t.Errorf("%s is not listed with what to press", s.Name)
		}
	}
}
