package widget

import (
	"sort"

	"github.com/plegtop/plegtop/ui/text"
)

// Written returns the lines that write writes, for w cells: as [Table.Below] has them.
func Written(p Pen, w int, write func(d *Doc)) [][]text.Span {
	var d Doc
	d.Write(p, w, 0, write)
	return d.lines
}

// stack works out on which lines the rows are.
func (t *Table[R, K]) stack() {
	if t.Below == nil {
		return
	}
	t.below, t.firsts = make([][][]text.Span, len(t.rows)), make([]int, len(t.rows)+1)
	for i, r := range t.rows {
		t.below[i] = t.Below(r)
		t.firsts[i+1] = t.firsts[i] + 1 + len(t.below[i])
	}
}

// first returns the first line of row i.
func (t *Table[R, K]) first(i int) int {
	if t.firsts == nil {
		return i
	}
	return t.firsts[i]
}

// rowOf returns the row that a line belongs to.
func (t *Table[R, K]) rowOf(line int) int {
	if t.firsts == nil {
		return line
	}
	return sort.SearchInts(t.firsts, line+1) - 1
}

// Lines returns how many lines all rows take.
func (t *Table[R, K]) Lines() int { return t.first(len(t.rows)) }

// Visible returns which rows are visible, counted from 1, and how many there are.
func (t *Table[R, K]) Visible() (first, last, total int) {
	from, to := t.scroll.Visible(t.Lines())
	if to == 0 {
		return 0, 0, 0
	}
	return t.rowOf(from-1) + 1, t.rowOf(to-1) + 1, len(t.rows)
}

// Row returns the row that is drawn in line y, and false for a line without one.
func (t *Table[R, K]) Row(y int) (r R, ok bool) {
	if line, seen := t.line(y); seen {
		return t.at(t.rowOf(line))
	}
	return r, false
}

// line returns which line of all rows is drawn in line y, and false for one of none.
func (t *Table[R, K]) line(y int) (line int, ok bool) {
	line = t.scroll.Top + y - 1
	if t.FromBottom {
		line -= max(0, t.scroll.Height-t.Lines())
	}
	return line, line >= t.scroll.Top && line < min(t.scroll.Top+t.scroll.Height, t.Lines())
}
