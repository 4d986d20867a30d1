package ui

import (
	"image/color"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/plegtop/plegtop/ui/theme"
)

// TestLightThemeFollowsTheTerminal holds that the theme is that of the terminal's own
// background once it has told it, unless a person has chosen one or wants no colours.
func TestLightThemeFollowsTheTerminal(t *testing.T) {
	light := theme.For(false)
	for name, tt := range map[string]struct {
		change func(*Config)
		colour color.Color
		want   string
	}{
		"light":           {func(c *Config) { c.Follow = true }, color.White, light.Name},
		"dark":            {func(c *Config) { c.Follow = true }, color.Black, theme.Default().Name},
		"nobody asked":    {func(*Config) {}, color.White, theme.Default().Name},
		"without colours": {func(c *Config) { c.Follow, c.NoColor = true, true }, color.White, "mono"},
	} {
		s := newStage(t, 80, 24, tt.change).show(Healthy())
		s.send(tea.BackgroundColorMsg{Color: tt.colour})
		if got := s.m.view.Theme.Name; got != tt.want {
			t.Errorf("%s: theme %q, want %q", name, got, tt.want)
		}
		if on := strings.Contains(s.m.frame(), light.Good.On); on != (tt.want == light.Name) {
			t.Errorf("%s: the frame is light: %v", name, on)
		}
	}
	s := newStage(t, 80, 24, func(c *Config) { c.Follow, c.ASCII = true, true }).show(Healthy())
	if s.send(tea.BackgroundColorMsg{Color: color.White}); !s.m.view.Theme.Symbols.ASCII {
		t.Error("the light theme draws more than ASCII")
	}
}
