// Package theme says how everything looks: styles of Lip Gloss, compiled once into
// ready-made escape sequences, and the symbols that stand beside every colour. Nothing
// of Lip Gloss is called while a frame is drawn. The package holds no state; all its
// values may be shared between goroutines.
//
// Colours keep a contrast of 4.5 to the background that their theme is made for. What the
// terminal cannot show is taken out on the way to it. Nothing is told by colour alone: each
// state has a word and a symbol too.
package theme

import (
	"reflect"
	"strconv"
	"strings"
	"sync"

	"charm.land/lipgloss/v2"
)

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
	Cursor   S // the cell under the cursor of what is typed or of the time line; the match that was gone to
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
			return t.made(), true
		}
	}
	return Default(), name == ""
}

// Default returns the default theme, for a dark background and for one that nobody knows.
func Default() Theme { return themes[0].made() }

// For returns the theme for a terminal whose background is dark, or is not, where nobody
// has chosen one.
func For(isDark bool) Theme {
	t, _ := Named(When(isDark, "", light))
	return t
}

// Guess returns the theme that COLORFGBG speaks for, a terminal's variable that ends with
// the number of its background among the 16 colours; the default for any other value.
func Guess(colorfgbg string) Theme {
	n, err := strconv.Atoi(colorfgbg[strings.LastIndexByte(colorfgbg, ';')+1:])
	if err != nil || n < 0 || n > 15 {
		return Default()
	}
	return For(n < 7 || n == 8)
}

// compiled has the themes that somebody has asked for, by name: to compile one takes more
// than a megabyte of memory for a moment.
var compiled sync.Map

func (n named) made() Theme {
	t, ok := compiled.Load(n.name)
	if !ok {
		t, _ = compiled.LoadOrStore(n.name, Theme{Name: n.name, Symbols: Unicode, Looks: n.compiled(), Lip: &n.Looks})
	}
	return t.(Theme)
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

	id uint8         // which of the Looks it is, by its place there
	in *[looks]Style // of a row's background: each of the Looks on it, by its place
}

// looks is how many Looks there are.
const looks = 22

// With returns the look of what is shown as st elsewhere in a row that has the look s: the
// colours of st on the background of s. What brings a background of its own keeps that.
func (s Style) With(st Style) Style {
	switch {
	case s.in == nil:
		return s
	case st.in != nil:
		return st
	}
	return s.in[st.id]
}

// Same reports whether both are looks on the background of the same row: a space looks alike
// in either.
func (s Style) Same(row Style) bool { return s.in != nil && s.in == row.in }

func (n named) compiled() Looks[Style] {
	var c Looks[Style]
	to := reflect.ValueOf(&c).Elem()
	for i := range looks {
		st := style(reflect.ValueOf(n.Looks).Field(i).Interface().(lipgloss.Style))
		st.id = uint8(i)
		to.Field(i).Set(reflect.ValueOf(st))
	}
	inRow := n.Looks
	if n.rows != nil {
		inRow = *n.rows
	}
	for _, row := range []struct {
		to *Style
		is lipgloss.Style
	}{{&c.Selected, n.Selected}, {&c.Idle, n.Idle}, {&c.Cursor, n.Cursor}} {
		row.to.in = new([looks]Style)
		for i := range looks {
			row.to.in[i] = style(reflect.ValueOf(inRow).Field(i).Interface().(lipgloss.Style).Inherit(row.is))
			row.to.in[i].in = row.to.in
		}
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

// When returns one of two styles, or of two texts or figures.
func When[T any](condition bool, then, otherwise T) T {
	if condition {
		return then
	}
	return otherwise
}
