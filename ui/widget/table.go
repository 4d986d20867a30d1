package widget

import (
	"cmp"
	"slices"

	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/text"
)

// A Table shows rows R under heads of columns, with a cursor that stays on a row by its
// key K. The exported fields are set before its first use. Line 0 are the heads.
type Table[R any, K comparable] struct {
	Columns []Column[R]
	Key     func(r R) K
	// Parent returns the key of the row that the cursor goes to when the one of key k
	// has gone. Nil for the same line.
	Parent func(k K) K
	// Faint reports whether a row is drawn dim from end to end. Nil for none.
	Faint func(r R) bool
	// Whole draws a row that is not made up of cells, and reports whether it is one.
	// Nil if all rows are.
	Whole func(l *text.Line, p Pen, r R) bool
	// Below returns the lines of a row after its first one. It is called by Set. Nil if all
	// rows are of one line.
	Below func(r R) [][]text.Span
	// Skips reports whether the cursor goes over a row. Nil for none.
	Skips func(r R) bool

	Idle       bool // the cursor is seen while another pane has the keys
	FromBottom bool // blank lines are above the rows, not below them

	pen    Pen // of the last Resize
	rows   []R
	below  [][][]text.Span // by row; nil if all rows are of one line
	firsts []int           // the line of each row and that behind the last; nil likewise
	cursor int             // index in rows
	scroll scroll
	wanted K // where a person put the cursor
	here   K // where it is, if that has gone
	placed bool

	shown  []shownColumn
	needs  []int // by column: the most since the widths were chosen; 0 for one that gives its cells away
	most   int   // the most rows since then
	width  int
	sort   int // index in Columns, and one; 0 for the order of the rows as they were given
	invert bool
}

// Resize gives the table what it draws and compares with, w cells and h lines, one of them
// for the heads. What of these is 0, while it is not seen, changes nothing.
func (t *Table[R, K]) Resize(p Pen, w, h int) {
	t.pen = p
	if w > 0 && (w != t.width || t.needs == nil) {
		t.width, t.needs, t.shown = w, nil, nil
		t.arrange()
	}
	if h > 0 {
		t.scroll.Height = h - 1
		t.put(t.cursor, -1)
	}
}

// Set takes over the rows in their order and keeps the cursor on the row that it was
// on. It does not copy them: they must not be changed before the next Set.
func (t *Table[R, K]) Set(rows []R) {
	t.rows = rows
	t.arrange()
	t.stack()
	t.keepCursor()
}

// Measure makes room for rows that are about to be set, so that their lines may go by
// [Table.Room].
func (t *Table[R, K]) Measure(rows []R) {
	t.rows = rows
	t.arrange()
}

// put puts the cursor on row i, or the nearest where it may stand, in the direction of step
// first, and makes both visible.
func (t *Table[R, K]) put(i, step int) {
	t.cursor = clamp(i, len(t.rows)-1)
	t.reveal()
	if t.Skips != nil {
		t.cursor = t.nearest(t.cursor, step)
		t.reveal()
	}
}

// reveal makes the row under the cursor visible, its first line in any case. No line is left
// blank below the last row while some are hidden above.
func (t *Table[R, K]) reveal() {
	h := max(t.scroll.Height, 1)
	t.scroll.Height = h
	if len(t.rows) > 0 {
		t.scroll.Top = min(max(t.scroll.Top, t.first(t.cursor+1)-h), t.first(t.cursor))
	}
	t.scroll.Top = clamp(t.scroll.Top, t.Lines()-h)
}

// nearest returns the row that the cursor may stand on, from i on in the direction of step or
// else in the other one; i if there is none.
func (t *Table[R, K]) nearest(i, step int) int {
	for _, by := range [2]int{step, -step} {
		for to := i; by != 0 && to >= 0 && to < len(t.rows); to += by {
			if !t.Skips(t.rows[to]) {
				return to
			}
		}
	}
	return i
}

// keepCursor puts the cursor where a person put it, also if that row was away for a
// while; else on the row that it went to instead. As long as nobody has put it anywhere
// it stays in its line.
func (t *Table[R, K]) keepCursor() {
	at := t.cursor
	if t.placed {
		i := t.index(t.wanted)
		if i < 0 {
			i = t.index(t.here)
		}
		if i < 0 && t.Parent != nil {
			i = t.index(t.Parent(t.here))
		}
		if i >= 0 {
			at = i
		}
	}
	t.put(at, -1)
	if r, ok := t.Current(); ok {
		t.here = t.Key(r)
	}
}

// index returns the row of key k, or -1. The row under the cursor is looked at first.
func (t *Table[R, K]) index(k K) int {
	if r, ok := t.Current(); ok && t.Key(r) == k {
		return t.cursor
	}
	return slices.IndexFunc(t.rows, func(r R) bool { return t.Key(r) == k })
}

// Len returns how many rows there are.
func (t *Table[R, K]) Len() int { return len(t.rows) }

// Rows returns the rows. They must not be changed.
func (t *Table[R, K]) Rows() []R { return t.rows }

// Current returns the row under the cursor, and false if there is none.
func (t *Table[R, K]) Current() (r R, ok bool) { return t.at(t.cursor) }

// Cursor returns the index of the row under the cursor; 0 if there is none.
func (t *Table[R, K]) Cursor() int { return t.cursor }

func (t *Table[R, K]) at(i int) (r R, ok bool) {
	if i < 0 || i >= len(t.rows) {
		return r, false
	}
	return t.rows[i], true
}

// Go puts the cursor on row i, or the nearest where it may stand.
func (t *Table[R, K]) Go(i int) {
	t.put(i, 1)
	t.note()
}

// GoTo puts the cursor on the row of key k, and reports whether there is one. If not,
// the cursor goes there as soon as there is.
func (t *Table[R, K]) GoTo(k K) bool {
	t.wanted, t.placed = k, true
	i := t.index(k)
	if i >= 0 {
		t.Go(i)
	}
	return i >= 0
}

// note remembers what is under the cursor.
func (t *Table[R, K]) note() {
	if r, ok := t.Current(); ok {
		t.wanted, t.placed = t.Key(r), true
		t.here = t.wanted
	}
}

// Next puts the cursor on the next row that is wanted in the direction of step, round
// the end, and reports whether there was one.
func (t *Table[R, K]) Next(step int, want func(r R) bool) bool {
	n := len(t.rows)
	for i := 1; i <= n; i++ {
		if to := ((t.cursor+i*step)%n + n) % n; want(t.rows[to]) {
			t.Go(to)
			return true
		}
	}
	return false
}

// Do moves the cursor, and reports whether a is an action that does. What is visible moves
// with the cursor by the page. From the top on the cursor stays at the top, whatever row
// comes there.
func (t *Table[R, K]) Do(a keymap.Action) bool {
	n, lines := len(t.rows), max(t.Lines(), 1)
	by, paged, ok := Step(a, n, max(1, t.scroll.Height*n/lines))
	if !ok {
		return false
	}
	if paged {
		t.scroll.Top = clamp(t.scroll.Top+by*lines/max(n, 1), lines-t.scroll.Height)
	}
	t.put(t.cursor+by, cmp.Compare(by, 0))
	t.note()
	t.placed = a != keymap.Top
	return true
}

// Draw draws line y.
func (t *Table[R, K]) Draw(l *text.Line, p Pen, y int, focused bool) {
	if y == 0 {
		p.Here = focused
		t.drawHeads(l, p)
		return
	}
	line, ok := t.line(y)
	if !ok {
		return
	}
	i := t.rowOf(line)
	r, below := t.rows[i], line-t.first(i)
	switch {
	case i == t.cursor && (focused || t.Idle):
		p.Here = focused
		p.Bar(l, focused)
	case t.Faint != nil && t.Faint(r):
		l.Over(p.Dim)
	}
	switch {
	case below > 0:
		p.Slots(l, t.below[i][below-1])
	case t.Whole == nil || !t.Whole(l, p, r):
		t.drawCells(l, p, r)
	}
}

func (t *Table[R, K]) drawCells(l *text.Line, p Pen, r R) {
	for i, c := range t.shown {
		col := &t.Columns[c.index]
		l.Space(min(i, 1))
		switch {
		case col.Draw != nil:
			col.Draw(l, p, r, c.width)
		case t.ends(i):
			value := col.Value(p, r)
			l.Put(value.Look, value.Text)
		default:
			col.Value(p, r).Draw(l, p, c.width, col.Right)
		}
	}
}
