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
	"time"

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
