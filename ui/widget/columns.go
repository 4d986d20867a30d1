package widget

import (
	"cmp"
	"slices"

	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/text"
)

// A shownColumn is a column that is shown, and how wide.
type shownColumn struct{ index, width int }

// arrange chooses the columns that fit, one cell between two, and shares out what is
// left: first to what is fair for each, then by rank to what rows need. Which fit depends
// on the width alone: it is as many by rank as there is room for, so that with more room
// there are never fewer. What they get beyond that does not shrink before the next resize, or
// before more than half of the rows are gone: a filter shows others.
func (t *Table[R, K]) arrange() {
	if t.pen.Theme == nil {
		return // nobody has said how much room there is
	}
	if t.needs == nil || t.most >= rowsMany && 2*len(t.rows) < t.most {
		t.needs, t.shown, t.most = make([]int, len(t.Columns)), nil, 0
	}
	t.most = max(t.most, len(t.rows))
	grown := t.measure()
	if t.shown != nil && !grown {
		return
	}
	t.shown = t.fit()
	spare := t.width - max(0, len(t.shown)-1)
	for _, c := range t.shown {
		spare -= c.width
	}
	share := func(most func(i int) int) {
		for i := range t.shown {
			c := &t.shown[i]
			more := clamp(most(c.index)-c.width, spare)
			c.width += more
			spare -= more
		}
	}
	share(func(i int) int { return min(t.needs[i], t.Columns[i].Fair) })
	share(func(i int) int { return t.needs[i] })
	slices.SortFunc(t.shown, func(a, b shownColumn) int { return cmp.Compare(a.index, b.index) })
}

// rowsMany is how many rows there must have been: of a few, half come and go by themselves.
const rowsMany = 8

// fit returns the columns that fit, by rank, each as narrow as it may be.
func (t *Table[R, K]) fit() []shownColumn {
	var ranked, shown []shownColumn
	for i, c := range t.Columns {
		if (c.When == nil || c.When()) && (!c.Gives || t.needs[i] > 0) {
			ranked = append(ranked, shownColumn{i, c.Least})
		}
	}
	slices.SortStableFunc(ranked, func(a, b shownColumn) int {
		return cmp.Compare(t.Columns[a.index].Rank, t.Columns[b.index].Rank)
	})
	used := 0
	for i, c := range ranked {
		if i > 0 && used+1+c.width > t.width {
			break
		}
		used += min(i, 1) + max(c.width, t.Columns[c.index].Fair)
		shown = append(shown, c)
	}
	return shown
}

// measure notes how much the rows need, and reports whether it is more than before.
func (t *Table[R, K]) measure() (grown bool) {
	var fits []int
	for i, c := range t.Columns {
		switch {
		case c.Fits && t.needs[i] < c.Most, c.Gives && t.needs[i] == 0:
			fits = append(fits, i)
		case !c.Fits && !c.Gives:
			t.needs[i] = c.Most
		}
	}
	for n := 0; n < len(t.rows) && len(fits) > 0; n++ { // what columns have of one row lies together
		for _, i := range fits {
			c := &t.Columns[i]
			value := c.Value(t.pen, t.rows[n])
			need := min(value.width(), max(c.Least, c.Most))
			if c.Gives && need > 0 {
				need = max(c.Least, c.Most)
			}
			if need > t.needs[i] {
				t.needs[i], grown = need, true
			}
		}
	}
	return grown
}

// ends reports whether column i of those that are shown ends with its text.
func (t *Table[R, K]) ends(i int) bool {
	return i == len(t.shown)-1 && t.Columns[t.shown[i].index].Rest
}

// drawHeads draws the heads of the columns, with the order in the one that sorts.
func (t *Table[R, K]) drawHeads(l *text.Line, p Pen) {
	for i, c := range t.shown {
		l.Space(min(i, 1))
		col, st := &t.Columns[c.index], p.Head
		head := col.Head
		if t.sort == c.index+1 {
			sign := p.Symbols.Down
			if t.rises() {
				sign = p.Symbols.Up
			}
			head, st = head[:min(len(head), max(c.width-1, 0))]+sign, p.SortBy
		}
		switch {
		case col.Scale != nil:
			col.Scale(l, p, c.width)
		case t.ends(i):
			l.Put(st, head)
		case col.Right:
			l.Right(st, head, c.width)
		default:
			l.Cell(st, head, c.width)
		}
	}
}

// rises reports whether what the column that sorts shows grows from the top down: names do, and
// so do ages, of which the latest moment is the first. The largest figure comes first, and the
// worst state.
func (t *Table[R, K]) rises() bool {
	var first, last Cell
	if n := len(t.rows); n > 0 {
		first, last = t.Value(t.pen, t.rows[0]), t.Value(t.pen, t.rows[n-1])
	}
	figures := max(first.kind, last.kind)
	up := figures >= since || figures <= name && first.order == 0 && last.order == 0
	return up != t.invert
}

// Room returns how many cells the column of that head has; 0 if it is not shown.
func (t *Table[R, K]) Room(head string) int {
	for _, c := range t.shown {
		if t.Columns[c.index].Head == head {
			return c.width
		}
	}
	return 0
}

// Refit chooses the columns anew: the least of one has changed, or when it is shown.
func (t *Table[R, K]) Refit() {
	t.shown = nil
	t.arrange()
}

// Legend returns head and help of each column.
func (t *Table[R, K]) Legend() [][2]string {
	all := make([][2]string, len(t.Columns))
	for i, c := range t.Columns {
		all[i] = [2]string{c.Head, c.Help}
	}
	return all
}

// Sort sorts rows by the chosen column, or leaves them in their own order; the other
// way round if that was asked for.
func (t *Table[R, K]) Sort(rows []R) {
	if t.sort > 0 {
		Sort(rows, func(r R) Cell { return t.Value(t.pen, r) }, t.invert)
	} else if t.invert {
		slices.Reverse(rows)
	}
}

// Value returns what the column that sorts has of a row; blank where none does.
func (t *Table[R, K]) Value(p Pen, r R) Cell {
	if t.sort == 0 {
		return Cell{}
	}
	return t.Columns[t.sort-1].Value(p, r)
}

// SortBy chooses the column that sorts by its name or head, in any case; an empty name
// for the rows' own order. It reports whether there is such a column.
func (t *Table[R, K]) SortBy(name string) bool {
	i := slices.IndexFunc(t.Columns, func(c Column[R]) bool { return c.sorts() && c.Is(name) })
	if i < 0 && name != "" {
		return false
	}
	t.sort = i + 1
	return true
}

// Sorted returns the name of the column that sorts, empty for the rows' own order, and
// whether the order is the other way round.
func (t *Table[R, K]) Sorted() (name string, inverted bool) {
	if t.sort == 0 {
		return "", t.invert
	}
	return t.Columns[t.sort-1].Name, t.invert
}

// SortedBy says in what order the rows are; own is that which they have by themselves.
func (t *Table[R, K]) SortedBy(own string) string {
	name, inverted := t.Sorted()
	if name = "sorted by " + cmp.Or(name, own); inverted {
		name += ", reversed"
	}
	return name
}

// Order does what an action means for the order, and reports whether a is such an
// action. The owner then has to sort its rows and to set them again.
func (t *Table[R, K]) Order(a keymap.Action) bool {
	switch a {
	case keymap.SortNext:
		t.sortNext(1)
	case keymap.SortPrev:
		t.sortNext(-1)
	case keymap.SortInvert:
		t.Invert()
	default:
		return false
	}
	return true
}

// sortNext sorts by the next of the columns that are shown, or by the one before it,
// with the rows' own order between the last and the first.
func (t *Table[R, K]) sortNext(step int) {
	by := []int{0}
	for _, c := range t.shown {
		if t.Columns[c.index].sorts() {
			by = append(by, c.index+1)
		}
	}
	i := max(0, slices.Index(by, t.sort)) + step
	t.sort = by[(i%len(by)+len(by))%len(by)]
}

// Invert turns the order round. The owner has to sort its rows and to set them again.
func (t *Table[R, K]) Invert() { t.invert = !t.invert }
