package theme_test

import (
	"flag"
	"fmt"
	"image/color"
	"math"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/ui/theme"
)

var update = flag.Bool("update", false, "write the golden files anew")

var sgr = regexp.MustCompile(`^\x1b\[[0-9;]+m$`)

func all(t *testing.T, do func(th theme.Theme, name string, s theme.Style)) {
	t.Helper()
	for _, name := range theme.Names() {
		th, ok := theme.Named(name)
		if !ok || th.Name != name {
			t.Fatalf("Named(%q) = %q, %v", name, th.Name, ok)
		}
		for field, v := range reflect.ValueOf(th.Looks).Fields() {
			do(th, field.Name, v.Interface().(theme.Style))
		}
	}
}

func TestEveryStyleBeginsAndEnds(t *testing.T) {
	all(t, func(th theme.Theme, name string, s theme.Style) {
		if s != (theme.Style{}) && (!sgr.MatchString(s.On) || s.Off != "\x1b[m") {
			t.Errorf("%s.%s = %+q, want one SGR sequence and its end", th.Name, name, s.On+s.Off)
		}
	})
}

// TestSequences holds what goes to the terminal, byte for byte.
func TestSequences(t *testing.T) {
	var got strings.Builder
	all(t, func(th theme.Theme, name string, s theme.Style) {
		fmt.Fprintf(&got, "%s %s %q", th.Name, name, s.On)
		if warn, bad := s.With(th.Warn), s.With(th.Bad); warn != s {
			fmt.Fprintf(&got, ", with Warn %q, with Bad %q", warn.On, bad.On)
		}
		got.WriteByte('\n')
	})
	const golden = "testdata/sequences.golden"
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("sequences (-want +got):\n%s", diff)
	}
}

// TestTroubleIsSeenInTheBar holds that what is wrong looks neither like the rest of the
// row under the cursor nor like itself elsewhere, and that all else is part of the bar.
func TestTroubleIsSeenInTheBar(t *testing.T) {
	all(t, func(th theme.Theme, name string, s theme.Style) {
		for _, bar := range []theme.Style{th.Selected, th.Idle} {
			got := bar.With(s)
			switch name {
			case "Warn", "Bad":
				if got.On == bar.On || got.On == s.On || got.Ink {
					t.Errorf("%s.%s in a bar is %q", th.Name, name, got.On)
				}
			default:
				if got != bar {
					t.Errorf("%s.%s in a bar is %q, want the bar's own %q", th.Name, name, got.On, bar.On)
				}
			}
		}
		if th.Strong.With(s) != th.Strong {
			t.Errorf("%s: Strong is no bar and took in %s", th.Name, name)
		}
	})
}

func TestFor(t *testing.T) {
	if d, l := theme.For(true), theme.For(false); d.Name != "default" || l.Name != "light" {
		t.Errorf("For gives %q for dark, %q for light", d.Name, l.Name)
	}
}

// TestLightCanBeRead holds that the colours of the light theme have a contrast of at
// least 4.5 to white, as WCAG 2 measures it.
func TestLightCanBeRead(t *testing.T) {
	th := theme.For(false)
	for field, v := range reflect.ValueOf(*th.Lip).Fields() {
		c := v.Interface().(lipgloss.Style).GetForeground()
		if _, none := c.(lipgloss.NoColor); none {
			continue
		}
		if got := 1.05 / (luminance(c) + 0.05); got < 4.5 {
			t.Errorf("%s has a contrast of %.1f", field.Name, got)
		}
	}
}

func luminance(c color.Color) float64 {
	linear := func(v uint32) float64 {
		x := float64(v) / 0xffff
		if x <= 0.04045 {
			return x / 12.92
		}
		return math.Pow((x+0.055)/1.055, 2.4)
	}
	r, g, b, _ := c.RGBA()
	return 0.2126*linear(r) + 0.7152*linear(g) + 0.0722*linear(b)
}

func TestNamed(t *testing.T) {
	if th, ok := theme.Named(""); !ok || th.Name != "default" {
		t.Errorf(`Named("") = %q, %v; want the default`, th.Name, ok)
	}
	if th, ok := theme.Named("nosuch"); ok || th.Name != "default" {
		t.Errorf(`Named("nosuch") = %q, %v; want the default and false`, th.Name, ok)
	}
}

func TestMonoHasNoColour(t *testing.T) {
	colour := regexp.MustCompile(`[\[;](3|4|9|10)[0-9]`)
	all(t, func(th theme.Theme, name string, s theme.Style) {
		if th.Name == "mono" && colour.MatchString(s.On) {
			t.Errorf("mono.%s = %q, which is a colour", name, s.On)
		}
	})
}

func TestEverySymbolIsOneCell(t *testing.T) {
	for _, set := range []theme.Symbols{theme.Unicode, theme.ASCII} {
		v := reflect.ValueOf(set)
		for i := range v.NumField() {
			for _, s := range texts(v.Field(i)) {
				name := v.Type().Field(i).Name
				if ansi.StringWidth(s) != 1 || ansi.StringWidthWc(s) != 1 {
					t.Errorf("%s = %q is not one cell wide", name, s)
				}
				if r, _ := utf8.DecodeRuneInString(s); set.ASCII && r >= utf8.RuneSelf {
					t.Errorf("%s = %q is not ASCII", name, s)
				}
			}
		}
	}
}

func texts(v reflect.Value) []string {
	switch x := v.Interface().(type) {
	case string:
		return []string{x}
	case []string:
		return x
	}
	return nil
}

func TestPlain(t *testing.T) {
	if got := theme.Default().Plain().Symbols.Ellipsis; got != "~" {
		t.Errorf("Plain().Symbols.Ellipsis = %q", got)
	}
	if theme.Default().Symbols.ASCII {
		t.Error("Plain changed the default theme")
	}
}

// TestInkIsOfLetters holds that a space looks like any other in a style that
// says so.
func TestInkIsOfLetters(t *testing.T) {
	for _, name := range theme.Names() {
		th, _ := theme.Named(name)
		for _, s := range []theme.Style{th.Selected, th.Idle, th.BadgeDemo, th.BadgePaused, th.BadgeFrozen} {
			if s.Ink {
				t.Errorf("%s: %q shows on a space", name, s.On)
			}
		}
		for _, s := range []theme.Style{th.Dim, th.Bad, th.Strong} {
			if !s.Ink {
				t.Errorf("%s: %q does not show on a space", name, s.On)
			}
		}
		if name == "mono" && th.Focus.Ink {
			t.Error("mono: an underlined space can be seen")
		}
	}
}
