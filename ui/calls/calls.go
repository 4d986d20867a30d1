// Package calls is the pane of the calls to the runtime: how those of each operation
// went, over time and by how long they took, and which are out; and the sheet of one operation.
package calls

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/layer"
	"github.com/plegtop/plegtop/ui/pane"
	"github.com/plegtop/plegtop/ui/say"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/widget"
)

// A row is an operation.
type row struct {
	answers.Calls
	view   *pane.View
	oldest time.Duration // for which its oldest call has been out; 0 if none is
	out    string        // how many are out, and for how long the oldest
	try    string        // which one in a row that is, after a space; empty for the first
	hangs  bool          // as diagnosis has it
}

// calls is the pane: a row for each operation that plegtop can make, whether it was
// made or not, and lines below them of what the columns have no room for.
type calls struct {
	layer.TablePane[*row, call.Operation]
	about []text.Span // of all calls
	below [][]text.Span
	lines int  // that the pane can make use of below the rows
	moved bool // a person has moved the cursor
}

// New returns the pane. It is not safe for concurrent use.
func New(pane.Settings) pane.Pane {
	c := new(calls)
	c.Name, c.Own, c.Sorts = "calls", "operation", true
	c.Table = widget.Table[*row, call.Operation]{Columns: columns, Key: func(r *row) call.Operation { return r.Op }}
	return c
}

// linesBelow is how many lines the pane can make use of below the rows.
const linesBelow = 3 + mostOut + 3

// footer is what the footer names, the most useful first.
var footer = []keymap.Action{
	keymap.Help, keymap.Detail, keymap.Sweep, keymap.PauseRelist, keymap.RelistNow, keymap.SortNext, keymap.ZoomOut, keymap.EventSources, keymap.NextPane, keymap.FullScreen,
	keymap.Freeze, keymap.Quit,
}

// Info says that the pane can make use of a few lines below its rows.
func (c *calls) Info() pane.Info {
	return pane.Info{Name: "Calls", About: c.about, Footer: footer, Least: 3, Wanted: 1 + c.Len() + c.lines}
}

// Observe takes over how all calls went.
func (c *calls) Observe(v *pane.View, w, h int) {
	c.about = []text.Span{text.Say(v.Theme.Dim, say.Cost(v.Snapshot))}
	var rows []*row
	for _, op := range call.Operations() {
		if r := newRow(v, op); op != call.GetContainerEvents || r.Count > 0 || r.InFlight > 0 {
			rows = append(rows, r)
		}
	}
	c.lines = linesBelow
	if say.Streaming(v.Snapshot) {
		table, _ := say.StreamTable(v.Theme, v.Snapshot)
		c.lines = max(linesBelow, len(table)+2)
	}
	c.TablePane.Observe(v, w, min(h, 1+len(rows)))
	c.Sort(rows)
	c.Set(rows)
	if i := slices.IndexFunc(rows, func(r *row) bool { return r.hangs }); !c.moved { // what a person looks for
		c.Go(max(i, 0))
	}
	if c.below = nil; h > 0 {
		c.below = append(append(below(v, rows, w), inFlight(v)...), legend(v.Theme))
	}
}

func newRow(v *pane.View, op call.Operation) *row {
	s, r := v.Snapshot, &row{Calls: answers.Calls{Op: op}, view: v}
	if i := slices.IndexFunc(s.Calls, func(known answers.Calls) bool { return known.Op == op }); i >= 0 {
		r.Calls = s.Calls[i]
	}
	r.out = text.Count(uint64(r.InFlight))
	if op == call.GetContainerEvents && r.InFlight > 0 {
		r.out += " open" // as it is meant to be
	} else if i := slices.IndexFunc(s.InFlight, func(f call.Flight) bool { return f.Op == op }); i >= 0 {
		f := &s.InFlight[i]
		r.oldest = f.Elapsed(s.At)
		if late := diagnose.LatenessOf(s, *f); late != diagnose.Unnamed {
			r.out += " " + say.OutFor(r.oldest)
			r.hangs = late == diagnose.Overdue
			if try := say.Try(s, f); try != "" {
				r.try = " " + try
			}
		}
	}
	return r
}

// Do moves the cursor, or sorts.
func (c *calls) Do(a keymap.Action, h pane.Host) (tea.Cmd, bool) {
	was := c.Cursor()
	cmd, done := c.TablePane.Do(a, h)
	c.moved = c.moved || c.Cursor() != was
	return cmd, done
}

// Legend explains the columns, and what stands below the rows where there is room.
func (c *calls) Legend() [][2]string {
	return append(c.TablePane.Legend(),
		[2]string{"IN FLIGHT", "the calls that are out, the oldest first: which try in a row, about what, for whom, and how long it is waited for yet"})
}

// Subject returns the operation under the cursor.
func (c *calls) Subject() pane.Subject {
	if r, ok := c.Current(); ok {
		return pane.Subject{Operation: r.Op.String()}
	}
	return pane.Subject{}
}

// Draw draws the heads, a row, or one of the lines below them.
func (c *calls) Draw(l *text.Line, y int, focused bool) {
	n := y - 1 - c.Len()
	switch r, ok := c.Current(); {
	case n < 0:
		c.TablePane.Draw(l, y, focused)
	case n < len(c.below):
		c.View.Pen().Slots(l, c.below[n])
	case n == len(c.below) && focused && ok:
		l.Put(c.View.Theme.Dim, beside(r))
	}
}
