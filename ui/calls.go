package ui

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/ui/text"
)

// callsHeight is what the pane can make use of on a wide screen: a title, heads,
// the operations, and a few lines about the probes and the last sweep.
const callsHeight = 2 + 6 + 4

// calls is the pane of operations: a line for each that plegtop can make, whether
// it was made or not.
type calls struct {
	scroll
	of     []engine.Calls
	sort   int // index in callColumns, and one; 0 for the operations' own order
	invert bool
	width  int
}

func (c *calls) observe(s *engine.Snapshot) {
	c.of = c.of[:0:0]
	for _, op := range call.Operations() {
		of := engine.Calls{Op: op}
		if i := slices.IndexFunc(s.Calls, func(known engine.Calls) bool { return known.Op == op }); i >= 0 {
			of = s.Calls[i]
		}
		if op != call.GetContainerEvents || made(&of) {
			c.of = append(c.of, of)
		}
	}
	if c.sort > 0 {
		slices.SortStableFunc(c.of, func(a, b engine.Calls) int { return callColumns[c.sort-1].compare(s, &b, &a) })
	}
	if c.invert {
		slices.Reverse(c.of)
	}
	c.clamp(len(c.of))
}

// made reports whether an operation was ever asked for.
func made(op *engine.Calls) bool { return op.Count > 0 || op.InFlight > 0 }

func (c *calls) resize(w, h int) {
	c.width = w
	c.scroll.resize(h, len(c.of))
}

// sortNext sorts by the next column or the one before it, the largest first,
// and returns its head.
func (c *calls) sortNext(step int, s *engine.Snapshot) string {
	n := len(callColumns) + 1
	c.sort = ((c.sort+step)%n + n) % n
	c.observe(s)
	if c.sort == 0 {
		return operationHead
	}
	return callColumns[c.sort-1].head
}

// A callColumn is a column of the calls pane.
type callColumn struct {
	head  string
	width int
	rank  int // the highest is dropped first
	draw  func(l *text.Line, b pen, s *engine.Snapshot, op *engine.Calls, w int)

	compare func(s *engine.Snapshot, a, b *engine.Calls) int
}

// by compares two operations by a figure that each has.
func by[T cmp.Ordered](of func(*engine.Calls) T) func(*engine.Snapshot, *engine.Calls, *engine.Calls) int {
	return func(_ *engine.Snapshot, a, b *engine.Calls) int { return cmp.Compare(of(a), of(b)) }
}

// callColumns has the figures that change with each relist side by side: a
// terminal draws a line from the first change to the last.
var callColumns = []callColumn{
	{"LAST OK", 8, 0, func(l *text.Line, b pen, s *engine.Snapshot, op *engine.Calls, w int) {
		if op.LastOK.IsZero() {
			l.Right(b.Warn, "never", w)
			return
		}
		l.Right(b.Dim, lately(s.At.Sub(op.LastOK)), w)
	}, func(_ *engine.Snapshot, a, b *engine.Calls) int { return b.LastOK.Compare(a.LastOK) }},
	tookColumn("P50", 0, func(op *engine.Calls) time.Duration { return op.P50 }),
	tookColumn("P99", 0, func(op *engine.Calls) time.Duration { return op.P99 }),
	tookColumn("MAX", 2, func(op *engine.Calls) time.Duration { return op.Max }),
	{"OUT", 7, 0, outCell, func(s *engine.Snapshot, a, b *engine.Calls) int {
		return cmp.Or(cmp.Compare(outLongest(s, a), outLongest(s, b)), cmp.Compare(a.InFlight, b.InFlight))
	}},
	{"COUNT", 6, 1, func(l *text.Line, b pen, _ *engine.Snapshot, op *engine.Calls, w int) {
		l.Right(b.Text, text.Count(op.Count), w)
	}, by(func(op *engine.Calls) uint64 { return op.Count })},
	{"BYTES", 6, 3, func(l *text.Line, b pen, _ *engine.Snapshot, op *engine.Calls, w int) {
		l.Right(b.Text, text.Bytes(coarseBytes(op.ResponseBytes)), w)
	}, by(func(op *engine.Calls) uint64 { return op.ResponseBytes })},
	{"GONE", 5, 4, func(l *text.Line, b pen, _ *engine.Snapshot, op *engine.Calls, w int) {
		l.Right(b.Dim, text.Count(op.Gone), w)
	}, by(func(op *engine.Calls) uint64 { return op.Gone })},
	{"ERR", 6, 0, func(l *text.Line, b pen, _ *engine.Snapshot, op *engine.Calls, w int) {
		if op.Errors == 0 {
			l.Right(b.Dim, "0", w)
			return
		}
		l.Right(b.Bad, text.Count(op.Errors), w)
	}, by(func(op *engine.Calls) uint64 { return op.Errors })},
}

// tookColumn is a column of how long calls took.
func tookColumn(head string, rank int, took func(*engine.Calls) time.Duration) callColumn {
	return callColumn{head, 6, rank, func(l *text.Line, b pen, _ *engine.Snapshot, op *engine.Calls, w int) {
		tookCell(l, b, took(op), op.Count > 0, w)
	}, by(took)}
}

// lately is an age that stays the same as long as calls come every few seconds.
func lately(d time.Duration) string {
	if d < 10*time.Second {
		return "now"
	}
	return text.AgeCoarse(d)
}

// outCell draws how many calls are out, and for how long the oldest has been.
func outCell(l *text.Line, b pen, s *engine.Snapshot, op *engine.Calls, w int) {
	if op.InFlight == 0 {
		l.Right(b.Dim, "0", w)
		return
	}
	out := outSpan(b, s, &engine.Flight{Op: op.Op, Since: s.At.Add(-outLongest(s, op))})
	l.Right(out.style, strings.TrimSpace(strconv.Itoa(op.InFlight)+" "+out.text), w)
}

// coarseBytes rounds n down so that as a text it has no more than two digits.
func coarseBytes(n uint64) uint64 {
	unit := uint64(1)
	for n/unit >= 1024 {
		unit *= 1024
	}
	if n/unit < 10 {
		return n
	}
	return coarse(n/unit) * unit
}

// outLongest returns for how long the oldest call of op has been out; 0 if none
// is.
func outLongest(s *engine.Snapshot, op *engine.Calls) time.Duration {
	if i := slices.IndexFunc(s.InFlight, func(f engine.Flight) bool { return f.Op == op.Op }); i >= 0 {
		return s.InFlight[i].Elapsed(s.At)
	}
	return 0
}

const (
	operationHead  = "OPERATION"
	operationWidth = 18 // the longest name
	leastErrors    = 30 // cells; below, errors have lines of their own
)

// fitCallColumns returns the columns that fit beside the name of the operation.
func fitCallColumns(w int) (columns []*callColumn, rest int) {
	rest = w - operationWidth
	var shown []int
	for rank := range 5 {
		for i, c := range callColumns {
			if c.rank == rank && c.width+1 <= rest {
				shown = append(shown, i)
				rest -= c.width + 1
			}
		}
	}
	slices.Sort(shown)
	for _, i := range shown {
		columns = append(columns, &callColumns[i])
	}
	return columns, rest
}

func (c *calls) heads(l *text.Line, b pen, w int) {
	columns, rest := fitCallColumns(w)
	columnHead(l, b, operationHead, min(w, operationWidth), false, c.sort == 0, c.invert)
	for _, col := range columns {
		l.Space(1)
		columnHead(l, b, col.head, col.width, true, c.sort > 0 && col == &callColumns[c.sort-1], c.invert)
	}
	if rest > leastErrors {
		l.Put(b.Head, "  ERRORS BY CODE, THE LAST ONE")
	}
}

// row draws line y of those that are visible: an operation, or one of the lines
// below the table.
func (c *calls) row(l *text.Line, b pen, s *engine.Snapshot, below []span, y int, focused bool) {
	i := c.top + y
	if i >= len(c.of) {
		if n := i - len(c.of); n < len(below) {
			l.Put(below[n].style, below[n].text)
		}
		return
	}
	op := &c.of[i]
	if i == c.cursor && focused {
		cursorBar(l, b, focused)
	}
	columns, rest := fitCallColumns(l.Left())
	l.Cell(b.Text, op.Op.String(), operationWidth)
	for _, col := range columns {
		l.Space(1)
		if !made(op) {
			l.Right(b.Dim, "-", col.width)
			continue
		}
		col.draw(l, b, s, op, col.width)
	}
	if rest > leastErrors && op.Errors > 0 {
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
