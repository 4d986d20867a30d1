package say

import (
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/ui/theme"
	"github.com/plegtop/plegtop/ui/widget"
)

// Exit returns an exit code; blank if it is not known.
func Exit(p widget.Pen, code int32, known bool) widget.Cell {
	if !known {
		return widget.Cell{}
	}
	return widget.Number(Code(p.Theme, code), int64(code))
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
