// Package calls is the pane of the calls to the runtime: how those of each operation
// went, and which are out.
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
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/widget"
	"github.com/plegtop/plegtop/ui/wording"
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

// made reports whether the operation was ever asked for.
func (r *row) made() bool { return r.Count > 0 || r.InFlight > 0 }

// calls is the pane: a row for each operation that plegtop can make, whether it was
// made or not, and lines below them of what the columns have no room for.
type calls struct {
	widget.Table[*row, call.Operation]
	view  *pane.View
	about []text.Span // of all calls
	below [][]text.Span
	lines int // that the pane can make use of below the rows
}

// New returns the pane. It is not safe for concurrent use.
func New(set pane.Settings) pane.Pane {
	c := &calls{Table: widget.Table[*row, call.Operation]{Columns: columns(), Key: func(r *row) call.Operation { return r.Op }}}
	c.Hide(set.Hidden["calls"])
	return c
}

// linesBelow is how many lines the pane can make use of below the rows.
const linesBelow = 4

// footer is what the footer names, the most useful first.
var footer = []keymap.Action{
	keymap.Help, keymap.Sweep, keymap.PauseRelist, keymap.RelistNow, keymap.SortNext, keymap.EventSources, keymap.NextPane, keymap.FullScreen,
	keymap.Freeze, keymap.Quit,
}

// Info says that the pane can make use of a few lines below its rows.
func (c *calls) Info() pane.Info {
	return pane.Info{Name: "Calls", About: c.about, Footer: footer, Least: 3, Wanted: 1 + c.Len() + c.lines}
}

// Observe takes over how all calls went.
func (c *calls) Observe(v *pane.View, w, h int) {
	c.view, c.about = v, []text.Span{text.Say(v.Theme.Dim, wording.Cost(v.Snapshot))}
	var rows []*row
	for _, op := range call.Operations() {
		if r := newRow(v, op); op != call.GetContainerEvents || r.made() {
			rows = append(rows, r)
		}
	}
	c.lines = linesBelow
	if wording.Streaming(v.Snapshot) {
		table, _ := wording.StreamTable(v.Theme, v.Snapshot)
		c.lines = max(linesBelow, len(table)+2)
	}
	c.Sort(rows)
	c.Resize(w, min(h, 1+len(rows)))
	c.Set(rows)
	if c.below = nil; h > 0 {
		c.below = below(v, rows, w)
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
			r.out += " " + wording.OutFor(r.oldest)
			r.hangs = late == diagnose.Overdue
			if try := wording.Try(s, f); try != "" {
				r.try = " " + try
			}
		}
	}
	return r
}

// Do moves the cursor, sorts, or lets columns be chosen.
func (c *calls) Do(a keymap.Action, h pane.Host) (tea.Cmd, bool) {
	switch {
	case a == keymap.Columns:
		layer.Columns("Columns of the calls", c, h)
		return nil, true
	case !c.Order(a):
		return nil, c.Table.Do(a)
	}
	c.sorted(h)
	return nil, true
}

// sorted puts the rows into an order that has changed, and says which it is.
func (c *calls) sorted(h pane.Host) {
	rows := slices.SortedFunc(slices.Values(c.Rows()), func(a, b *row) int { return int(a.Op) - int(b.Op) })
	c.Sort(rows)
	c.Set(rows)
	h.Say("calls " + c.SortedBy("operation"))
}

// Click puts the cursor on a row, or sorts by the column whose head it is.
func (c *calls) Click(x, y int, h pane.Host) {
	if y == 0 && c.ClickHead(x) {
		c.sorted(h)
	}
	c.Table.Click(y)
}

// Draw draws the heads, a row, or a line below them.
func (c *calls) Draw(l *text.Line, y int, focused bool) {
	switch n := y - 1 - c.Len(); {
	case n < 0:
		c.Table.Draw(l, c.view.Pen(), y, focused)
	case n < len(c.below):
		for _, s := range c.below[n] {
			if s.Width == 0 {
				s.Width = text.Width(s.Text)
			}
			l.Cell(s.Style, s.Text, s.Width)
		}
	case n == len(c.below) && focused:
		if r, ok := c.Current(); ok {
			l.Put(c.view.Theme.Dim, beside(r))
		}
	}
}

// Subject returns nothing: calls are about no pod.
func (c *calls) Subject() pane.Subject { return pane.Subject{} }
