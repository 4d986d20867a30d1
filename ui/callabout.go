package ui

import (
	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/ui/text"
)

// about draws line n of what the columns have no room for, of the operation
// under the cursor: below the table, where most of the pane is empty.
func (c *calls) about(l *text.Line, b brush, s *engine.Snapshot, n int) {
	if facts := aboutCalls(b, s, &c.of[c.cursor]); n < len(facts) {
		l.Cell(facts[n].style, facts[n].text, l.Left())
	}
}

func aboutCalls(b brush, s *engine.Snapshot, op *engine.Calls) []fact {
	out := []fact{{b.Dim, op.Op.String() + ": p90 " + text.Took(op.P90) +
		", received " + text.Bytes(coarseBytes(op.ResponseBytes)) + ", sent " + text.Bytes(coarseBytes(op.RequestBytes))}}
	if op.Errors > 0 {
		out = append(out, fact{b.Bad, "errors: " + codes(op)})
	}
	if op.LastErr != nil {
		out = append(out, fact{b.Text, "the last one " + text.AgeCoarse(s.At.Sub(op.LastErrAt)) + " ago: " + reason(op.LastErr)})
	}
	return out
}
