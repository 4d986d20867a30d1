package ui

import (
	"slices"
	"strconv"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/ui/text"
)

// calls is the pane of operations.
type calls struct {
	scroll
	of []engine.Calls // those that were ever made or are out
}

func (c *calls) observe(s *engine.Snapshot) {
	c.of = c.of[:0:0]
	for _, op := range s.Calls {
		if op.Count > 0 || op.InFlight > 0 {
			c.of = append(c.of, op)
		}
	}
	c.clamp(len(c.of))
}

// A callColumn is a column of the calls pane.
type callColumn struct {
	head  string
	width int
	rank  int // the highest is dropped first
	draw  func(l *text.Line, b brush, s *engine.Snapshot, op *engine.Calls, w int)
}

var callColumns = []callColumn{
	{"COUNT", 6, 0, func(l *text.Line, b brush, _ *engine.Snapshot, op *engine.Calls, w int) {
		l.Right(b.Text, text.Count(op.Count), w)
	}},
	{"P50", 6, 1, func(l *text.Line, b brush, _ *engine.Snapshot, op *engine.Calls, w int) {
		tookCell(l, b, op.P50, op.Count > 0, w)
	}},
	{"P99", 6, 1, func(l *text.Line, b brush, _ *engine.Snapshot, op *engine.Calls, w int) {
		tookCell(l, b, op.P99, op.Count > 0, w)
	}},
	{"MAX", 6, 2, func(l *text.Line, b brush, _ *engine.Snapshot, op *engine.Calls, w int) {
		tookCell(l, b, op.Max, op.Count > 0, w)
	}},
	{"OUT", 7, 0, outCell},
	{"BYTES", 6, 3, func(l *text.Line, b brush, _ *engine.Snapshot, op *engine.Calls, w int) {
		l.Right(b.Text, text.Bytes(op.ResponseBytes), w)
	}},
	{"LAST OK", 7, 4, func(l *text.Line, b brush, s *engine.Snapshot, op *engine.Calls, w int) {
		if op.LastOK.IsZero() {
			l.Right(b.Warn, "never", w)
			return
		}
		l.Right(b.Dim, lately(s.At.Sub(op.LastOK)), w)
	}},
	{"ERR", 6, 0, func(l *text.Line, b brush, _ *engine.Snapshot, op *engine.Calls, w int) {
		if op.Errors == 0 {
			l.Right(b.Dim, "0", w)
			return
		}
		l.Right(b.Bad, text.Count(op.Errors), w)
	}},
}

// lately is an age that stays the same as long as calls come once a second.
func lately(d time.Duration) string {
	if d < 5*time.Second {
		return "now"
	}
	return text.AgeCoarse(d)
}

// outCell draws how many calls are out, and for how long the oldest has been.
func outCell(l *text.Line, b brush, s *engine.Snapshot, op *engine.Calls, w int) {
	if op.InFlight == 0 {
		l.Right(b.Dim, "0", w)
		return
	}
	out := strconv.Itoa(op.InFlight)
	var oldest time.Duration
	if i := slices.IndexFunc(s.InFlight, func(f engine.Flight) bool { return f.Op == op.Op }); i >= 0 {
		oldest = s.InFlight[i].Elapsed(s.At)
	}
	if oldest >= stuck {
		l.Right(b.Bad, out+" "+outFor(oldest), w)
		return
	}
	l.Right(b.Text, out, w)
}

const operationWidth = 18 // the longest name

// callSpans returns the columns that fit beside the name of the operation.
func callSpans(w int) (columns []*callColumn, rest int) {
	rest = w - operationWidth
	shown := [16]bool{}
	for rank := range 5 {
		for i := range callColumns {
			if c := &callColumns[i]; c.rank == rank && c.width+1 <= rest {
				shown[i] = true
				rest -= c.width + 1
			}
		}
	}
	for i := range callColumns {
		if shown[i] {
			columns = append(columns, &callColumns[i])
		}
	}
	return columns, rest
}

func (c *calls) heads(l *text.Line, b brush, w int) {
	columns, rest := callSpans(w)
	l.Cell(b.Head, "OPERATION", min(w, operationWidth))
	for _, col := range columns {
		l.Space(1)
		l.Right(b.Head, col.head, col.width)
	}
	if rest > 12 {
		l.Put(b.Head, "  ERRORS BY CODE, THE LAST ONE")
	}
}

// row draws line y of those that are visible.
func (c *calls) row(l *text.Line, b brush, s *engine.Snapshot, y int, focused bool) {
	i := c.top + y
	if i >= len(c.of) {
		return
	}
	op := &c.of[i]
	if i == c.cursor && focused {
		cursorBar(l, b, focused)
	}
	columns, rest := callSpans(l.Left())
	l.Cell(b.Text, op.Op.String(), operationWidth)
	for _, col := range columns {
		l.Space(1)
		col.draw(l, b, s, op, col.width)
	}
	if rest > 12 && op.Errors > 0 {
		l.Space(2)
		l.Put(b.Bad, codes(op))
		if op.LastErr != nil {
			l.Put(b.Dim, "  "+text.AgeCoarse(s.At.Sub(op.LastErrAt))+" ago: "+reason(op.LastErr))
		}
	}
}

// codes lists the errors of one operation by gRPC code.
func codes(op *engine.Calls) string {
	out := ""
	for i, c := range op.ByCode {
		if i > 0 {
			out += " "
		}
		out += c.Code + " " + text.Count(c.Count)
	}
	return out
}
