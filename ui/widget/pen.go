// Package widget has what panes and layers are made of: a [Table] of rows under a
// cursor, a [Doc] of lines that are read and searched, and an [Axis] of time with what
// is drawn along it. What a Doc prints is best given to it as a [Section] of rows: the same
// is drawn on the screen, or written as text for a pipe.
//
// A widget draws into a [text.Line], which cleans what it is given. It does no I/O,
// reads no clock and knows nothing of the screen around it. None may be used by two
// goroutines at once.
package widget

import (
	"strings"
	"time"

	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
)

// A Pen is what lines are drawn with.
type Pen struct {
	*theme.Theme
	At   time.Time // as of which ages are measured
	Here bool      // it draws the row under the cursor, or the heads, of the pane that has the keys
}

// Bar gives the rest of a line the background of the row under the cursor.
func (p Pen) Bar(l *text.Line, focused bool) {
	if focused {
		l.Bar(p.Selected, p.Focus, p.Symbols.Bar)
	} else {
		l.Bar(p.Idle, p.Border, p.Symbols.Bar)
	}
}

// Slots draws texts in their places, side by side.
func (p Pen) Slots(l *text.Line, line []text.Span) {
	for _, s := range line {
		new(search).draw(l, p, s, false)
	}
}

// A Choice is a row of a picker.
type Choice struct {
	Name string
	Note string // after the name, in a column of its own
	On   bool
}

// Hints draws as many of these keys as there is room for, each with what it does. Keys
// that do the same one way and the other share the word for it. If all are to be named,
// words are left out for which there is no room then.
func Hints(l *text.Line, p Pen, keys []keymap.Entry, all bool) {
	room, need := l.Left(), 0
	for i := range keys {
		if gap, key := spelled(keys, i); all {
			need += gap + text.Width(key)
		}
	}
	for i, e := range keys {
		gap, key := spelled(keys, i)
		if !all {
			need += gap + text.Width(key)
			if i+1 < len(keys) && keys[i+1].Short == e.Short && need+2+1+text.Width(e.Short) > room {
				return // a key without its word says nothing
			}
		}
		last := i+1 == len(keys) || keys[i+1].Short != e.Short
		if last {
			need += 1 + text.Width(e.Short)
		}
		if need > room && !all || gap+text.Width(key) > l.Left() {
			return
		}
		l.Space(gap)
		l.Put(p.Key, key)
		if last && need <= room {
			l.Space(1)
			l.Put(p.Dim, e.Short)
		}
	}
}

// spelled returns a key, and how many cells are between it and the one before.
func spelled(keys []keymap.Entry, i int) (gap int, key string) {
	key, _, _ = strings.Cut(keys[i].Binding.Help().Key, " ")
	switch {
	case i == 0:
		return 0, key
	case keys[i-1].Short == keys[i].Short:
		return 1, key
	}
	return 2, key
}
