package look

import (
	"strconv"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
	"github.com/plegtop/plegtop/ui/widget"
)

// Sign draws a symbol and a word after it, in w cells.
func Sign(l *text.Line, st theme.Style, symbol, word string, w int) {
	kept := l.Left()
	l.Sign(st, symbol)
	l.Repeat(st, " ", 1)
	l.Put(st, word)
	l.Space(w - (kept - l.Left()))
}

// Dots draws one sign for the state of each container, in w cells. Dead has the ids of those
// that have died, as only an event source saw.
func Dots[T any](l *text.Line, b widget.Pen, containers []*pleg.Container, dead map[string]T, w int) {
	for i, c := range containers {
		if i == w-1 && len(containers) > w {
			l.Put(b.Dim, "+")
			return
		}
		_, died := dead[c.ID]
		symbol, _, st := Listed(b.Theme, c.State, died)
		l.Sign(st, symbol)
	}
	l.Space(w - len(containers))
}

// Exit draws an exit code at the right of w cells; nothing if it is not known.
func Exit(l *text.Line, b widget.Pen, code int32, known bool, w int) {
	said := ""
	if known {
		said = strconv.Itoa(int(code))
	}
	l.Right(Code(b.Theme, code), said, w)
}

// Count draws a number at the right of w cells. It leaves zero out: that says nothing.
func Count(l *text.Line, b widget.Pen, n uint64, w int) {
	said := ""
	if n > 0 {
		said = text.Count(n)
	}
	l.Right(b.Text, said, w)
}

// Age draws how long ago that was at the right of w cells, or "-" for the zero time.
func Age(l *text.Line, b widget.Pen, since time.Time, w int) {
	if since.IsZero() {
		l.Right(b.Dim, "-", w)
		return
	}
	l.Right(b.Text, text.AgeCoarse(b.At.Sub(since)), w)
}

// Took draws how long a call took at the right of w cells; nothing if it is not known.
func Took(l *text.Line, b widget.Pen, d time.Duration, known bool, w int) {
	said := ""
	if known {
		said = text.Took(d)
	}
	l.Right(theme.When(diagnose.TookLong(d), b.Warn, b.Text), said, w)
}

// LastEvent draws an event and how long ago it was, in w cells.
func LastEvent(l *text.Line, b widget.Pen, e *engine.Event, w int) {
	_, st := Event(b.Theme, e)
	l.Cell(st, EventWord(e.Kind), w-5)
	l.Right(b.Dim, lately(b.At.Sub(e.SeenAt)), 5)
}

// lately is an age that stays the same for some seconds.
func lately(d time.Duration) string {
	switch {
	case d < 5*time.Second:
		return "now"
	case d < 10*time.Second:
		return "5s"
	}
	return text.AgeCoarse(d)
}
