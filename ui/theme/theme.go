// Package theme says how everything looks: styles of Lip Gloss, compiled once into
// ready-made escape sequences, and the symbols that stand beside every colour. Nothing
// of Lip Gloss is called while a frame is drawn. The package holds no state; all its
// values may be shared between goroutines.
//
// Colours are the terminal's own 16, so that they fit its background, but for the light
// theme. What the terminal cannot show is taken out on the way to it. Nothing is told by
// colour alone: each state has a word and a symbol too.
package theme

import (
	"reflect"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/plegtop/plegtop/ui/theme/early"
)

func init() { early.Over() }

// A Theme holds the look of everything. It is a value; a copy may be changed freely, but
// for what Lip points to.
type Theme struct {
	Name    string
	Symbols Symbols

	Looks[Style]                        // what frames are drawn with
	Lip          *Looks[lipgloss.Style] // what they were compiled from
}

// Looks has one S for each kind of thing that is shown.
type Looks[S any] struct {
	Text   S // ordinary text
	Dim    S // what matters less: labels, units, filtered events
	Strong S // a name or figure that the eye should find
	Title  S // of a pane or dialog
	Focus  S // the title of the pane that has the keys
	Border S // rules between panes, frames of dialogs
	Head   S // column heads
	SortBy S // the head of the column that sorts

	Good S // healthy, running
	Warn S // may become a problem, or is over by itself soon
	Bad  S // a problem
	Info S // neither good nor bad: created, marks, matches

	Selected S // the row under the cursor, in the pane that has the keys
	Idle     S // the same in another pane
	Match    S // what a search found
	Key      S // a key's name in footer and help
	Input    S // what is being typed
	Flash    S // the answer to a key

	BadgeDemo   S
	BadgePaused S
	BadgeFrozen S
}

// Names returns the names of all themes, the default first.
func Names() []string {
	names := make([]string, len(themes))
	for i, t := range themes {
		names[i] = t.name
	}
	return names
}

// Named returns the theme of that name; an empty name stands for the default.
// It returns false, and the default, for a name that no theme has.
func Named(name string) (Theme, bool) {
	for _, t := range themes {
		if t.name == name {
			return made(t.name, t.Looks), true
		}
	}
	return Default(), name == ""
}

// Default returns the default theme.
func Default() Theme { return made(themes[0].name, themes[0].Looks) }

// For returns the theme for a terminal whose background is dark, or is not, where nobody
// has chosen one.
func For(dark bool) Theme {
	if dark {
		return Default()
	}
	t, _ := Named(light)
	return t
}

func made(name string, l Looks[lipgloss.Style]) Theme {
	return Theme{Name: name, Symbols: Unicode, Looks: compiled(l), Lip: &l}
}

// Plain returns a copy of t that draws with ASCII only.
func (t Theme) Plain() Theme {
	t.Symbols = ASCII
	return t
}

// A Style is a look as the escape sequences that begin and end it. The zero
// value is the terminal's own look and writes nothing.
type Style struct {
	On, Off string

	// Ink says that the look is one of letters only: a space in it looks like any
	// other space.
	Ink bool

	loud trouble          // what With keeps of it
	with *[troubles]Style // of a bar: itself, with what is loud in it
}

// trouble is how a look stays what it is in the row under the cursor.
type trouble uint8

const (
	quiet trouble = iota // it does not
	warn
	bad
	troubles
)

// With returns the look of what is shown as st elsewhere in a row that has the look s:
// Warn and Bad stay to be seen in Selected and Idle, all else becomes part of the bar.
func (s Style) With(st Style) Style {
	if s.with == nil || st.loud == quiet {
		return s
	}
	return s.with[st.loud]
}

func compiled(l Looks[lipgloss.Style]) Looks[Style] {
	var c Looks[Style]
	to := reflect.ValueOf(&c).Elem()
	for field, s := range reflect.ValueOf(l).Fields() {
		to.FieldByIndex(field.Index).Set(reflect.ValueOf(style(s.Interface().(lipgloss.Style))))
	}
	c.Warn.loud, c.Bad.loud = warn, bad
	for _, at := range []struct {
		to   *Style
		from lipgloss.Style
	}{{&c.Selected, l.Selected}, {&c.Idle, l.Idle}} {
		at.to.with = &[troubles]Style{warn: style(l.Warn.Inherit(at.from)), bad: style(l.Bad.Inherit(at.from))}
	}
	return c
}

// style compiles what Lip Gloss writes around a text.
func style(s lipgloss.Style) Style {
	on, off, _ := strings.Cut(s.Render("\x00"), "\x00")
	underlined := s.GetUnderline()
	if underlined {
		on = strings.Replace(on, ";4m", "m", 1) // it says so twice
	}
	_, clear := s.GetBackground().(lipgloss.NoColor)
	return Style{On: on, Off: off, Ink: on != "" && clear && !underlined && !s.GetReverse()}
}

// Append appends s in this look to dst. Text from outside must have been
// cleaned before.
func (s Style) Append(dst []byte, text string) []byte {
	dst = append(dst, s.On...)
	dst = append(dst, text...)
	return append(dst, s.Off...)
}

// When returns one of two styles, or of two texts or figures.
func When[T any](condition bool, then, otherwise T) T {
	if condition {
		return then
	}
	return otherwise
}
