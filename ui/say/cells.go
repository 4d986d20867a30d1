package say

import (
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
	"github.com/plegtop/plegtop/ui/widget"
)

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

// Exit returns an exit code; blank if it is not known.
func Exit(p widget.Pen, code int32, known bool) widget.Cell {
	if !known {
		return widget.Cell{}
	}
	return widget.Number(Code(p.Theme, code), int64(code))
}

// Count returns a number. It leaves zero out: that says nothing.
func Count(p widget.Pen, n uint64) widget.Cell {
	if n == 0 {
		return widget.Cell{}
	}
	return widget.Count(p.Text, n)
}

// Age returns how long ago that was, or "-" for the zero time.
func Age(p widget.Pen, at time.Time) widget.Cell {
	if at.IsZero() {
		return widget.Say(p.Dim, "-")
	}
	return widget.Since(p.Text, at)
}

// Took returns how long a call took; blank if it is not known.
func Took(p widget.Pen, d time.Duration, known bool) widget.Cell {
	if !known {
		return widget.Cell{}
	}
	return widget.Took(theme.When(diagnose.TookLong(d), p.Warn, p.Text), d)
}

// LastEvent returns an event and when it was seen.
func LastEvent(p widget.Pen, e *engine.Event) widget.Cell {
	_, st := Event(p.Theme, e)
	return widget.Lately(st, e.SeenAt).After(EventWord(e.Kind))
}
