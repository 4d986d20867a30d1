package widget

import (
	"cmp"
	"slices"
	"strings"

	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
)

// LabelWidth returns how wide labels are in a text of w cells, with the gap after them: a third
// of it, and no more than all labels need, which they have where w is 0.
func LabelWidth(w int) int {
	if w <= 0 {
		return widestLabel
	}
	return min(widestLabel, max(w/3, narrowestLabel))
}

const narrowestLabel, widestLabel = 18, 24

// A Doc is lines that are read: they scroll, and are searched. Lines may belong to an
// item, which has a value; if there are items, there is a cursor that goes from one to
// the next. The zero Doc is empty and ready for use.
type Doc struct {
	Pans bool // left and right move the text sideways

	Labels int  // how wide labels are, with the gap after them; LabelWidth if 0
	Beside bool // for text: sections have their words beside the first row, and no headings
	Indent int  // cells before the rows of sections

	lines  [][]text.Span
	blocks []block
	items  []item // by their first line
	pen    Pen    // while it is written
	width  int

	scroll scroll
	at     any // value of the item under the cursor
	left   int // cells that are hidden at the left edge
	search search
}

// A block is lines of which there may be so many that each is made only when it is
// drawn.
type block struct {
	before int // the line among the lines that are kept that follows on it
	n      int
	line   func(i int) []text.Span
}

// An item is lines that the cursor takes for one.
type item struct {
	from, to int // lines of all; to is the one behind the last, 0 while it goes on
	value    any
}

// Write has the lines written anew, for w cells and h visible lines. The cursor stays
// on the item of the same value, and what is visible where it is.
func (d *Doc) Write(p Pen, w, h int, write func(d *Doc)) {
	d.lines, d.blocks, d.items = d.lines[:0:0], d.blocks[:0:0], d.items[:0:0]
	d.pen, d.width = p, w
	write(d)
	d.End()
	d.Resize(h)
	d.keepCursor()
}

// Resize makes h lines visible; 0 while none is seen changes nothing. For another width
// the lines are to be written anew.
func (d *Doc) Resize(h int) {
	if h > 0 {
		d.scroll.Height = h
	}
	d.scroll.Top = clamp(d.scroll.Top, d.Len()-d.scroll.Height)
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
func (d *Doc) Line(slots ...text.Span) { d.lines = append(d.lines, slots) }

// Many adds n lines that line returns when they are drawn or searched. They belong to no
// item.
func (d *Doc) Many(n int, line func(i int) []text.Span) {
	d.End()
	d.blocks = append(d.blocks, block{len(d.lines), n, line})
}

// Section adds a heading, with a blank line before it if it is not the first.
func (d *Doc) Section(name string) {
	d.End()
	if d.Len() > 0 {
		d.Line()
	}
	d.Line(text.Say(d.pen.Title, name))
}

// Field adds a label and a text, in as many lines as the text takes; nothing for an
// empty text.
func (d *Doc) Field(label string, st theme.Style, s string) {
	if s != "" {
		d.Paragraph(st, s, text.Say(d.pen.Dim, "  "+label).In(LabelWidth(d.width)))
	}
}

// leastText is how many cells a line of a paragraph has at least, however little room
// there is.
const leastText = 8

// Paragraph adds a text in as many lines as it takes, each of them indented by as much
// as the slots before it are wide. Of a text of more than [text.Limit] bytes the rest
// is left out.
func (d *Doc) Paragraph(st theme.Style, s string, before ...text.Span) {
	d.hanging(st, s, 0, false, before)
}

// hanging is [Doc.Paragraph] with further lines that begin at a cell of their own, if they
// are to. For 0 cells nothing is broken.
func (d *Doc) hanging(st theme.Style, s string, at int, own bool, before []text.Span) {
	indent := 0
	for _, b := range before {
		indent += cmp.Or(b.Width, text.Width(b.Text))
	}
	if len(s) > text.Limit {
		s = text.CutAt(s, text.Limit) + "…"
	}
	if !own || at >= indent {
		at = indent
	}
	lines, first := []string{text.CleanLong(s)}, indent-at
	if d.width > 0 {
		gap := ""
		if first > 0 { // what stands before the first line takes its place while lines are broken
			gap = strings.Repeat("x", first-1) + " "
		}
		lines = text.Wrap(gap+s, max(d.width-at, leastText))
		lines[0] = lines[0][min(len(gap), len(lines[0])):]
	}
	for i, line := range lines {
		if i > 0 && len(before) > 0 {
			before = []text.Span{{Width: at}}
		}
		d.Line(append(slices.Clip(before), text.Say(st, line))...)
	}
}

// Item makes one item of the lines from here to the next Item, Section, Many or End.
// Value is what [Doc.Current] returns for it; it must be comparable, and be the same when
// the item is written again.
func (d *Doc) Item(value any) {
	d.End()
	d.items = append(d.items, item{d.Len(), 0, value})
}

// End ends an item: the lines that follow belong to none.
func (d *Doc) End() {
	if last := len(d.items) - 1; last >= 0 && d.items[last].to == 0 {
		d.items[last].to = d.Len()
	}
}

// Made returns what line i is made of.
func (d *Doc) Made(i int) []text.Span {
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

// item returns the item that a line belongs to, and false if there is none.
func (d *Doc) item(line int) (item, bool) {
	i, ok := slices.BinarySearchFunc(d.items, line, func(it item, line int) int { return it.from - line })
	if !ok {
		i--
	}
	if i < 0 || line >= d.items[i].to {
		return item{}, false
	}
	return d.items[i], true
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
	for _, s := range d.Made(i) {
		if hidden > 0 {
			s, hidden = without(s, hidden)
		}
		d.search.draw(l, p, s, i == d.search.line)
	}
}

// without returns s less its first n cells, and how many of those it did not have.
func without(s text.Span, n int) (text.Span, int) {
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
