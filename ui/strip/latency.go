package strip

import (
	"time"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/ui/pane"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
	"github.com/plegtop/plegtop/ui/widget"
)

// Latency draws how the calls of one operation went in w cells: the darker a cell, the
// longer the slowest call took that returned in it. There is a sign where calls failed, one for some and
// another where one should have answered and had not; nothing where none was made.
func Latency(l *text.Line, v *pane.View, op call.Operation, w int) {
	p := v.Pen()
	widget.Strip(l, v.Axis, w, func(from, to time.Time) (string, theme.Style) {
		s := v.Journal.Calls(op, from, to)
		switch {
		case s.Errors > 0:
			return failures(p, int(s.Errors), int(s.Count)), p.Bad
		case s.Out > 0:
			return p.Symbols.Blind, p.Bad
		case s.Count == 0:
			return "", theme.Style{}
		case diagnose.TookLong(s.Slowest):
			return p.Shade(s.Slowest), p.Warn
		}
		return p.Shade(s.Slowest), p.Dim
	})
}
