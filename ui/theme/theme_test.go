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

var update = flag.Bool("update", false, "write the golden files again")

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
		if s.On != "" && (!sgr.MatchString(s.On) || s.Off != "\x1b[m") {
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

func TestFor(t *testing.T) {
	if d, l := theme.For(true), theme.For(false); d.Name != "default" || l.Name != "light" {
		t.Errorf("For gives %q for dark, %q for light", d.Name, l.Name)
	}
	for said, want := range map[string]string{
		"15;0": "default", "0;15": "light", "0;default;7": "light", "15;8": "default", "0": "default",
		"": "default", "15;default": "default", "0;16": "default", "0;-1": "default", ";": "default",
	} {
		if got := theme.Guess(said).Name; got != want {
			t.Errorf("COLORFGBG=%q: %q, want %q", said, got, want)
		}
	}
}

// TestAllCanBeRead holds the contrast of whatever carries meaning, as WCAG 2 measures it, to
// every background that it may stand on: the terminal's, and that of the row under the cursor.
func TestAllCanBeRead(t *testing.T) {
	on := theme.Backgrounds()
	for _, name := range theme.Names() {
		th, _ := theme.Named(name)
		for field, v := range reflect.ValueOf(*th.Lip).Fields() {
			if _, ok := v.Interface().(lipgloss.Style).GetForeground().(lipgloss.NoColor); ok || field.Name == "Border" {
				continue
			}
			for _, paper := range on[name] {
				readable(t, name+"."+field.Name, v.Interface().(lipgloss.Style), paper)
			}
		}
		for _, row := range []theme.Style{th.Selected, th.Idle} {
			for field, v := range reflect.ValueOf(th.Looks).Fields() {
				if st := v.Interface().(theme.Style); len(on[name]) > 0 && field.Name != "Border" && field.Name != "Cursor" {
					shown(t, name+"."+field.Name+" in a row", row.With(st).On)
				}
			}
		}
	}
}

// readable fails unless a look can be read on paper, or on its own background.
func readable(t *testing.T, name string, st lipgloss.Style, paper color.Color) {
	t.Helper()
	if own := st.GetBackground(); own != (lipgloss.NoColor{}) {
		paper = own
	}
	if got := contrast(st.GetForeground(), paper); got < 4.45 {
		t.Errorf("%s has a contrast of %.2f on %v", name, got, paper)
	}
}

var inkAndPaper = regexp.MustCompile(`38;5;(\d+);48;5;(\d+)m`)

// shown fails unless what is written to the terminal names two colours of which one can be
// read on the other.
func shown(t *testing.T, name, on string) {
	t.Helper()
	found := inkAndPaper.FindStringSubmatch(on)
	if found == nil {
		t.Errorf("%s is %q, want an ink and a background", name, on)
		return
	}
	if got := contrast(lipgloss.Color(found[1]), lipgloss.Color(found[2])); got < 4.5 {
		t.Errorf("%s has a contrast of %.2f", name, got)
	}
}

func contrast(a, b color.Color) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
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
