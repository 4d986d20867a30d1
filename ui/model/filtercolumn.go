package model

import (
	"maps"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/ui/widget"
)

// A FilterColumn is a column of a table, as a person names it. A filter asks by its name for what it
// has of a pod or an event, unless a field of the language is called so.
type FilterColumn struct {
	Name, Head string
	Pod        func(p *Pod, at time.Time) widget.Cell          // nil if its rows are no pods
	Event      func(e *engine.Event, at time.Time) widget.Cell // nil if they are no events
}

// FilterColumns are those of all tables, by what their rows are in lower case.
type FilterColumns map[string][]FilterColumn

// All returns the columns in the order of the tables' names.
func (c FilterColumns) All() (all []FilterColumn) {
	for _, name := range slices.Sorted(maps.Keys(c)) {
		all = append(all, c[name]...)
	}
	return all
}

// ColumnCalled returns the column that a person may mean by a name: its own or its head, in any case;
// false if there is none.
func ColumnCalled(columns []FilterColumn, name string) (FilterColumn, bool) {
	i := slices.IndexFunc(columns, func(c FilterColumn) bool { return widget.Called(c.Name, c.Head, name) })
	if i < 0 {
		return FilterColumn{}, false
	}
	return columns[i], true
}

// columnOf returns the field of the column that is called so; nil if no filter can ask for it.
func columnOf(columns []FilterColumn, name string) *field {
	columns = slices.DeleteFunc(slices.Clone(columns), func(c FilterColumn) bool { return c.Pod == nil && c.Event == nil })
	c, ok := ColumnCalled(columns, name)
	if !ok {
		return nil
	}
	f := &field{names: []string{c.Name}, ordered: true, want: "a text, or a number or duration to compare with", set: setFigure}
	f.event = func(e engine.Event, at time.Time, t term) bool {
		return c.Event != nil && t.holds(c.Event(&e, at), at)
	}
	if c.Pod != nil {
		f.pod = func(p *Pod, at time.Time, t term) bool { return t.holds(c.Pod(p, at), at) }
	}
	return f
}

// setFigure reads what may be a number or a duration. What is to be less or more has to be one.
func setFigure(t *term) bool {
	t.isNumber, t.isDuration = setNumber(t), setDuration(t)
	return t.isNumber || t.isDuration || t.op == is || t.op == equal || t.op == different
}

// holds reports whether a cell is what the term asks for: a figure is compared with one of its
// kind; of a text, also of one before a figure, a part is enough.
func (t term) holds(c widget.Cell, at time.Time) bool {
	d, isDuration := c.Duration(at)
	n, isNumber := c.Number()
	switch {
	case isDuration && t.isDuration:
		return compared(d, t.op, t.duration)
	case isNumber && t.isNumber:
		return compared(n, t.op, t.number)
	case (isDuration || isNumber) && c.Text == "":
		return false
	}
	return (t.op == is || t.op == equal || t.op == different) && t.matches(contains, c.Text)
}
