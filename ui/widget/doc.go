package widget

import (
	"slices"
	"strings"

	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
)

// A Slot is a place of fixed width in a line of a [Doc], the gap after it included,
// and its text; Width 0 for as wide as that is.
type Slot struct {
	Style theme.Style
	Text  string
	Width int
}

// LabelWidth is how wide labels are, with the gap after them.
const LabelWidth = 24

// A Doc is lines that are read: they scroll, and are searched. Lines may belong to an
// item, which has a value; if there are items, there is a cursor that goes from one to
// the next. The zero Doc is empty and ready for use.
type Doc struct {
	Pans bool // left and right move the text sideways

	lines  [][]Slot
	blocks []block
	items  []item // by their first line
	pen    Pen    // while it is written
	width  int
	open   bool // the last item goes on

	scroll Scroll
	at     any // value of the item under the cursor
	left   int // cells that are hidden at the left
	find   search
}

// A block is lines of which there may be so many that each is made only when it is
// drawn.
type block struct {
	before int // the line among the lines that are kept that follows on it
	n      int
	line   func(i int) []Slot
	value  func(i int) any // nil if they are no items
}

// An item is lines that the cursor takes for one.
type item struct {
	from, to int // lines of all; to is the one behind the last
	value    any
}

// Write has the lines written anew, for w cells and h visible lines. The cursor stays
// on the item of the same value, what is visible stays where it is.
func (d *Doc) Write(p Pen, w, h int, write func(d *Doc)) {
	d.lines, d.blocks, d.items = d.lines[:0:0], d.blocks[:0:0], d.items[:0:0]
	d.pen, d.width, d.open = p, w, false
	write(d)
	d.End()
	d.scroll.Height = max(h, 1)
	d.keepCursor()
}

// Resize makes h lines visible. For another width the lines are to be written anew.
func (d *Doc) Resize(h int) {
	d.scroll.Height = max(h, 1)
	d.keepCursor()
}

// Width returns for how many cells the lines were written.
func (d *Doc) Width() int { return d.width }

// Height returns how many lines are visible.
func (d *Doc) Height() int { return d.scroll.Height }

// Top returns the first line that is visible.
func (d *Doc) Top() int { return d.scroll.Top }

// Show makes a line the first that is visible, or the nearest that can be, with all of
// its cells from the first.
func (d *Doc) Show(line int) {
	d.scroll.Top, d.left = clamp(line, d.Len()-d.scroll.Height), 0
}

// Len returns how many lines there are.
func (d *Doc) Len() int {
	n := len(d.lines)
	for _, b := range d.blocks {
		n += b.n
	}
	return n
}

// Line adds a line.
func (d *Doc) Line(slots ...Slot) { d.lines = append(d.lines, slots) }

// Many adds n lines that line returns when they are drawn or searched. With value, each
// is an item.
func (d *Doc) Many(n int, line func(i int) []Slot, value func(i int) any) {
	d.End()
	if n > 0 {
		d.blocks = append(d.blocks, block{len(d.lines), n, line, value})
	}
}

// Section adds a heading, with a blank line before it if it is not the first.
func (d *Doc) Section(name string) {
	d.End()
	if d.Len() > 0 {
		d.Line()
	}
	d.Line(Slot{d.pen.Title, name, 0})
}

// Field adds a label and a text, in as many lines as the text takes; nothing for an
// empty text.
func (d *Doc) Field(label string, st theme.Style, s string) {
	if s != "" {
		d.Paragraph(st, s, Slot{d.pen.Dim, "  " + label, LabelWidth})
	}
}

// Paragraph adds a text in as many lines as it takes, each of them indented by as much
// as the slots before it are wide. Of a text of more than [text.Limit] bytes the rest
// is left out.
func (d *Doc) Paragraph(st theme.Style, s string, before ...Slot) {
	indent := 0
	for _, b := range before {
		indent += b.Width
	}
	if len(s) > text.Limit {
		s = text.CutAt(s, text.Limit) + "…"
	}
	for i, line := range text.Wrap(s, max(d.width-indent, 16)) {
		if i > 0 && len(before) > 0 {
			before = []Slot{{Width: indent}}
		}
		d.Line(append(slices.Clip(before), Slot{st, line, 0})...)
	}
}

// Item makes one item of the lines from here to the next Item, Section, Many or End.
// Value is what [Doc.Current] returns for it; it must be comparable, and be the same when
// the item is written again.
func (d *Doc) Item(value any) {
	d.End()
	d.items = append(d.items, item{d.Len(), 0, value})
	d.open = true
}

// End ends an item: the lines that follow belong to none.
func (d *Doc) End() {
	if d.open {
		d.items[len(d.items)-1].to = d.Len()
		d.open = false
	}
}

// line returns line i of all.
func (d *Doc) line(i int) []Slot {
	for _, b := range d.blocks {
		switch {
		case i < b.before:
			return d.lines[i]
		case i < b.before+b.n:
			return b.line(i - b.before)
		}
		i -= b.n
	}
	return d.lines[i]
}

// item returns the item that line i belongs to, and false if there is none.
func (d *Doc) item(line int) (item, bool) {
	i, ok := slices.BinarySearchFunc(d.items, line, func(it item, line int) int { return it.from - line })
	if !ok {
		i--
	}
	if i >= 0 && line < d.items[i].to {
		return d.items[i], true
	}
	i = line
	for _, b := range d.blocks {
		switch {
		case i < b.before:
			return item{}, false
		case i < b.before+b.n:
			if b.value == nil {
				return item{}, false
			}
			return item{line, line + 1, b.value(i - b.before)}, true
		}
		i -= b.n
	}
	return item{}, false
}

// Current returns the value of the item under the cursor; nil if there is none.
func (d *Doc) Current() any {
	it, _ := d.item(d.scroll.Cursor)
	return it.value
}

// keepCursor puts the cursor on the item that it was on: the nearest if that has gone.
func (d *Doc) keepCursor() {
	n := d.Len()
	if it, ok := d.item(clamp(d.scroll.Cursor, n-1)); !ok || it.value != d.at {
		found := false
		for i := 0; i < n && d.at != nil && !found; i++ {
			if it, ok = d.item(i); ok && it.value == d.at {
				d.scroll.Cursor, found = it.from, true
			}
		}
		if !found {
			d.nearest(d.scroll.Cursor)
		}
	}
	d.scroll.Top = clamp(d.scroll.Top, n-d.scroll.Height)
}

// nearest puts the cursor on the item that a line belongs to, or the first below it,
// or the last above it.
func (d *Doc) nearest(line int) {
	n := d.Len()
	line = clamp(line, n-1)
	for i := range n {
		// Below first, then above.
		to := line + i
		if to >= n {
			to = n - 1 - i
		}
		if it, ok := d.item(to); ok {
			d.scroll.Cursor, d.at = it.from, it.value
			return
		}
	}
	d.scroll.Cursor, d.at = line, nil
}

// Do scrolls, goes from item to item, and from match to match, and reports whether a is
// such an action.
func (d *Doc) Do(a keymap.Action) bool {
	switch a {
	case keymap.MatchNext:
		return d.find.text != "" && d.NextMatch(1)
	case keymap.MatchPrev:
		return d.find.text != "" && d.NextMatch(-1)
	case keymap.Left, keymap.Right:
		if !d.Pans {
			return false
		}
		if a == keymap.Left {
			d.left = max(0, d.left-8)
		} else {
			d.left += 8
		}
		return true
	}
	return d.move(a)
}

func (d *Doc) move(a keymap.Action) bool {
	n := d.Len()
	at := d.scroll
	if !d.scroll.Pan(a, n) {
		return false
	}
	d.scroll.Cursor = at.Cursor
	switch a {
	case keymap.Up, keymap.Down:
		// To the next item if it is in view, or one line.
		by := 1
		if a == keymap.Up {
			by = -1
		}
		if to, ok := d.beside(at.Cursor, by); ok && to.from >= at.Top && to.from < at.Top+at.Height {
			d.scroll = at
			d.scroll.Cursor, d.at = to.from, to.value
			d.scroll.Top = clamp(max(at.Top, to.to-at.Height), to.from)
		}
	case keymap.Top, keymap.Bottom:
		d.nearest(d.scroll.Top + map[keymap.Action]int{keymap.Bottom: d.scroll.Height - 1}[a])
	default:
		if d.scroll.Cursor < d.scroll.Top || d.scroll.Cursor >= d.scroll.Top+d.scroll.Height {
			d.nearest(d.scroll.Top)
		}
	}
	return true
}

// beside returns the next item after the line, or before it.
func (d *Doc) beside(line, by int) (item, bool) {
	here, in := d.item(line)
	for i := line + by; i >= 0 && i < d.Len(); i += by {
		if it, ok := d.item(i); ok && (!in || it.from != here.from) {
			return it, true
		}
	}
	return item{}, false
}

// Position says which lines are visible, such as "12-40 of 97"; nothing if all are.
func (d *Doc) Position() string { return d.scroll.Position(d.Len()) }

// Search looks for s in all lines without regard to case, goes to the first from the top
// of the screen that has it, and returns how many do. An empty s ends a search.
func (d *Doc) Search(s string) int {
	d.find = search{strings.ToLower(text.Clean(s)), -1}
	n := 0
	for i := range d.Len() {
		if d.find.in(d.line(i)) {
			n++
		}
	}
	if n > 0 {
		d.find.line = d.scroll.Top - 1
		d.NextMatch(1)
	}
	return n
}

// Searched returns what was searched for last; empty if nothing is.
func (d *Doc) Searched() string { return d.find.text }

// NextMatch goes to the next line that has what is searched for in the direction of
// step, round the end, and reports whether there is one.
func (d *Doc) NextMatch(step int) bool {
	n := d.Len()
	for i := 1; i <= n; i++ {
		at := ((d.find.line+step*i)%n + n) % n
		if !d.find.in(d.line(at)) {
			continue
		}
		d.find.line = at
		if s := &d.scroll; at < s.Top || at >= s.Top+s.Height {
			s.Top = clamp(at-s.Height/2, n-s.Height)
		}
		if it, ok := d.item(at); ok {
			d.scroll.Cursor, d.at = it.from, it.value
		}
		return true
	}
	return false
}

// Draw draws line y of those that are visible.
func (d *Doc) Draw(l *text.Line, p Pen, y int, focused bool) {
	i := d.scroll.Top + y
	if i >= d.Len() {
		return
	}
	if it, ok := d.item(i); ok && it.from == d.scroll.Cursor && focused {
		p.Bar(l, true)
	}
	hidden := d.left
	for _, s := range d.line(i) {
		if hidden > 0 {
			s, hidden = s.without(hidden)
		}
		d.find.draw(l, p, s)
	}
}

// without returns s less its first n cells, and how many of those it did not have.
func (s Slot) without(n int) (Slot, int) {
	if s.Width > 0 {
		s.Text = text.Fit(s.Text, s.Width-1, "…") + " "
		s.Width = 0
	}
	s.Text = text.CleanLong(s.Text)
	gone, w := text.Prefix(s.Text, n)
	s.Text = s.Text[len(gone):]
	if s.Text != "" {
		return s, 0
	}
	return s, n - w
}
