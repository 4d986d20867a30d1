package widget

import (
	"slices"

	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/text"
)

// A Column is a column of a table of rows R.
type Column[R any] struct {
	Name string // one word, in the settings and where columns are chosen
	Head string
	Help string // one line for the legend

	Least int // cells without which it makes no sense
	Most  int // cells that are of use, if there is room; Least if 0
	Fair  int // cells that it could have before a column of a higher rank is shown; Least if 0
	Rank  int // the lowest gets its cells first; columns of the highest are left out first
	// When reports whether there is anything to be shown; nil for always. Where its answer
	// changes the owner hides anew what is hidden.
	When  func() bool
	Right bool

	// Need returns how many cells a row could make use of. Nil for Most.
	Need func(r R) int
	// Draw draws exactly w cells.
	Draw func(l *text.Line, p Pen, r R, w int)
	// Compare returns the order of two rows by this column. Nil if they cannot be
	// sorted by it.
	Compare func(a, b R) int
}

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

	Idle       bool // the cursor is seen while another pane has the keys
	FromBottom bool // blank lines are above the rows, not below them

	scroll scroll
	rows   []R
	wanted K // where a person put the cursor
	here   K // where it is, if that has gone
	placed bool

	shown  []shownColumn
	needs  []int // by column: the most since the last resize
	width  int
	hidden []string
	sort   int // index in Columns, and one; 0 for the order of the rows as they were given
	invert bool
}

// Resize gives the table w cells and h lines, one of them for the heads; 0 lines while it
// is not seen change nothing.
func (t *Table[R, K]) Resize(w, h int) {
	if h <= 0 {
		return
	}
	if w != t.width || t.needs == nil {
		t.width, t.needs, t.shown = w, nil, nil
		t.arrange()
	}
	t.scroll.Resize(h-1, len(t.rows))
}

// Set takes over the rows in their order and keeps the cursor on the row that it was
// on. It does not copy them: they must not be changed before the next Set.
func (t *Table[R, K]) Set(rows []R) {
	t.rows = rows
	t.arrange()
	t.keepCursor()
}

// keepCursor puts the cursor where a person put it, also if that row was away for a
// while; else on the row that it went to instead. As long as nobody has put it anywhere
// it stays in its line.
func (t *Table[R, K]) keepCursor() {
	if t.placed {
		i := t.index(t.wanted)
		if i < 0 {
			i = t.index(t.here)
		}
		if i < 0 && t.Parent != nil {
			i = t.index(t.Parent(t.here))
		}
		if i >= 0 {
			t.scroll.Cursor = i
		}
	}
	t.scroll.Clamp(len(t.rows))
	if r, ok := t.Current(); ok {
		t.here = t.Key(r)
	}
}

// index returns the row of key k, or -1. The row under the cursor is looked at first.
func (t *Table[R, K]) index(k K) int {
	if r, ok := t.Current(); ok && t.Key(r) == k {
		return t.scroll.Cursor
	}
	return slices.IndexFunc(t.rows, func(r R) bool { return t.Key(r) == k })
}

// Len returns how many rows there are.
func (t *Table[R, K]) Len() int { return len(t.rows) }

// Rows returns the rows. They must not be changed.
func (t *Table[R, K]) Rows() []R { return t.rows }

// Current returns the row under the cursor, and false if there is none.
func (t *Table[R, K]) Current() (r R, ok bool) { return t.at(t.scroll.Cursor) }

// Cursor returns the index of the row under the cursor; 0 if there is none.
func (t *Table[R, K]) Cursor() int { return t.scroll.Cursor }

func (t *Table[R, K]) at(i int) (r R, ok bool) {
	if i < 0 || i >= len(t.rows) {
		return r, false
	}
	return t.rows[i], true
}

// Go puts the cursor on row i, or the nearest there is.
func (t *Table[R, K]) Go(i int) {
	t.scroll.Cursor = i
	t.scroll.Clamp(len(t.rows))
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
		if to := ((t.scroll.Cursor+i*step)%n + n) % n; want(t.rows[to]) {
			t.Go(to)
			return true
		}
	}
	return false
}

// Do moves the cursor, and reports whether a is an action that does. From the top on the
// cursor stays at the top, whatever row comes there.
func (t *Table[R, K]) Do(a keymap.Action) bool {
	if !t.scroll.Do(a, len(t.rows)) {
		return false
	}
	t.note()
	t.placed = a != keymap.Top
	return true
}

// Visible returns which rows are visible, counted from 1, and how many there are.
func (t *Table[R, K]) Visible() (first, last, total int) {
	first, last = t.scroll.Visible(len(t.rows))
	return first, last, len(t.rows)
}

// Row returns the row that is drawn in line y, and false for a line without one.
func (t *Table[R, K]) Row(y int) (r R, ok bool) {
	if i := t.rowAt(y); i >= t.scroll.Top && i < t.scroll.Top+t.scroll.Height {
		return t.at(i)
	}
	return r, false
}

// rowAt returns the index of the row in line y; less than the first visible one for
// none.
func (t *Table[R, K]) rowAt(y int) int {
	i := t.scroll.Top + y - 1
	if t.FromBottom {
		i -= max(0, t.scroll.Height-len(t.rows))
	}
	return i
}

// Click puts the cursor on the row in line y, and reports whether there is one.
func (t *Table[R, K]) Click(y int) bool {
	_, ok := t.Row(y)
	if ok {
		t.Go(t.rowAt(y))
	}
	return ok
}

// Draw draws line y.
func (t *Table[R, K]) Draw(l *text.Line, p Pen, y int, focused bool) {
	if y == 0 {
		t.drawHeads(l, p)
		return
	}
	r, ok := t.Row(y)
	if !ok {
		return
	}
	switch {
	case t.rowAt(y) == t.scroll.Cursor && (focused || t.Idle):
		p.Bar(l, focused)
	case t.Faint != nil && t.Faint(r):
		l.Over(p.Dim)
	}
	if t.Whole != nil && t.Whole(l, p, r) {
		return
	}
	for i, c := range t.shown {
		l.Space(min(i, 1))
		t.Columns[c.index].Draw(l, p, r, c.width)
	}
}
