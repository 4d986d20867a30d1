package layer

import (
	tea "charm.land/bubbletea/v2"

	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/pane"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/widget"
)

// A TablePane is what all panes with a table have in common: the cursor moves, and rows are sorted.
type TablePane[R any, K comparable] struct {
	widget.Table[R, K]
	View *pane.View // that was observed last; nil at first

	Name  string // what the rows are, in lower case, such as "pods": so the footer names them
	Own   string // what the order is called in which the rows are by themselves
	Sorts bool   // they can have another order, in which the next Observe sets them
}

// Observe takes over a view and the size.
func (t *TablePane[R, K]) Observe(v *pane.View, w, h int) {
	t.View = v
	t.Resize(v.Pen(), w, h)
}

// Do moves the cursor, or sorts.
func (t *TablePane[R, K]) Do(a keymap.Action, h pane.Host) (tea.Cmd, bool) {
	if t.Sorts && t.Order(a) {
		h.Say(t.Name + " " + t.SortedBy(t.Own))
		return nil, true
	}
	return nil, t.Table.Do(a)
}

// Draw draws the heads or a row.
func (t *TablePane[R, K]) Draw(l *text.Line, y int, focused bool) {
	t.Table.Draw(l, t.View.Pen(), y, focused)
}

// Subject returns nothing.
func (t *TablePane[R, K]) Subject() pane.Subject { return pane.Subject{} }

// A Text is what all layers have in common that are one document: it is drawn, scrolled
// and searched, and about nothing.
type Text struct {
	widget.Doc
	View *pane.View // that was observed last; nil at first
}

// Write takes over a view and writes the document for it, w cells wide and h lines high.
func (t *Text) Write(v *pane.View, w, h int, write func(d *widget.Doc)) {
	t.View = v
	t.Doc.Write(v.Pen(), w, h, write)
}

// Titled returns the Info of a layer of that name: what part of it is seen, what is searched
// for, and which keys the footer names.
func (t *Text) Titled(name string, in keymap.Scope, footer ...keymap.Action) pane.Info {
	i := pane.Info{Name: name, Scope: in, Footer: footer, Least: 1, Wanted: t.Len()}
	if t.View == nil {
		return i
	}
	if s := t.Searched(); s != "" {
		i.About = append(i.About, text.Say(t.View.Theme.Match, "/"+s))
	}
	if at := t.Position(); at != "" {
		i.About = append(i.About, text.Say(t.View.Theme.Dim, at))
	}
	return i
}

// Do does what an action means in a text: it moves, goes from match to match, or asks
// what to search for.
func (t *Text) Do(a keymap.Action, h pane.Host) (tea.Cmd, bool) {
	if a == keymap.Filter {
		search(&t.Doc, h)
		return nil, true
	}
	return nil, t.Doc.Do(a)
}

// Draw draws a line.
func (t *Text) Draw(l *text.Line, y int, focused bool) { t.Doc.Draw(l, t.View.Pen(), y, focused) }

// Subject returns nothing.
func (t *Text) Subject() pane.Subject { return pane.Subject{} }
