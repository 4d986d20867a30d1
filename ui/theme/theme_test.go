package theme_test

import (
	"reflect"
	"regexp"
	"testing"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"github.com/plegtop/plegtop/ui/theme"
)

var sgr = regexp.MustCompile(`^\x1b\[[0-9;]+m$`)

func TestEveryStyleBeginsAndEnds(t *testing.T) {
	for _, name := range theme.Names() {
		th, ok := theme.Named(name)
		if !ok || th.Name != name {
			t.Fatalf("Named(%q) = %q, %v", name, th.Name, ok)
		}
		v := reflect.ValueOf(th)
		for i := range v.NumField() {
			s, ok := v.Field(i).Interface().(theme.Style)
			if !ok || s == (theme.Style{}) {
				continue
			}
			if !sgr.MatchString(s.On) || s.Off != "\x1b[m" {
				t.Errorf("%s.%s = %+q, want one SGR sequence and its end", name, v.Type().Field(i).Name, s.On+s.Off)
			}
		}
	}
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
	th, _ := theme.Named("mono")
	v := reflect.ValueOf(th)
	colour := regexp.MustCompile(`[\[;](3|4|9|10)[0-9]`)
	for i := range v.NumField() {
		if s, ok := v.Field(i).Interface().(theme.Style); ok && colour.MatchString(s.On) {
			t.Errorf("mono.%s = %q, which is a colour", v.Type().Field(i).Name, s.On)
		}
	}
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
