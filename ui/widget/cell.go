package widget

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
)

// A Column is a column of a table of rows R. How it is drawn, how wide it has to be, and how
// rows are sorted by it, follow from the value of each row.
type Column[R any] struct {
	Name string // one word, by which rows are sorted; empty where none are
	Head string
	Help string // one line for the legend

	Least int // cells without which it makes no sense
	Most  int // cells that are of use, if there is room; Least if 0
	Fair  int // cells that it could have before a column of a higher rank is shown; Least if 0
	Rank  int // the lowest gets its cells first; columns of the highest are left out first
	// When reports whether there is anything to be shown; nil for always. Where its answer
	// changes the owner calls Refit.
	When  func() bool
	Right bool // its head and its values are at the right
	Gives bool // it gives its cells away as long as no row has a value
	Fits  bool // it makes use of no more cells than its widest value; else always of Most
	Rest  bool // where it is the last one that is shown, its head and values end with their texts

	// Value returns what the column has of a row. Nil for a column that is drawn only: no
	// rows are sorted by that.
	Value func(p Pen, r R) Cell
	// Draw draws exactly w cells where the value alone does not say how. Nil if it does.
	Draw func(l *text.Line, p Pen, r R, w int)
	// Scale draws what stands in the place of the head, in at most w cells. Nil for the head.
	Scale func(l *text.Line, p Pen, w int)
	// Unsorted says that no rows are sorted by it, though it has values.
	Unsorted bool
}

// Is reports whether a person may mean the column by a word: its name or its head, in any case.
func (c *Column[R]) Is(word string) bool {
	return strings.EqualFold(c.Name, word) || strings.EqualFold(c.Head, word)
}

func (c *Column[R]) sorts() bool { return c.Value != nil && !c.Unsorted }

// A Cell is a value and its look: a text, a figure, or a text with a figure after it. It is
// put into words only where it is drawn. The zero Cell is blank.
type Cell struct {
	Sign string // a symbol of the theme before the text; empty for none
	Text string // from outside, so not clean
	Look theme.Style

	kind  kind
	n     int64 // the figure: a number, nanoseconds, or a moment in nanoseconds since 1970
	order int64 // the largest comes first
}

// A kind is what the figure of a cell is, and so how it is written.
type kind uint8

const (
	none    kind = iota
	name         // none, and the text loses its middle where there is no room
	number       // as it is
	count        // short
	size         // of bytes
	took         // how long something took
	ahead        // likewise, with its sign
	out          // likewise, of what goes on: by the second
	since        // a moment, by how long ago that was
	lately       // likewise, and the same for the first seconds
	waiting      // likewise, by the second
)

// Say returns a text. In a column that sorts, texts follow the alphabet; blank ones are last.
func Say(st theme.Style, s string) Cell { return Cell{Look: st, Text: s} }

// Name returns a name, of which the end tells more than the middle.
func Name(st theme.Style, s string) Cell { return Cell{Look: st, Text: s, kind: name} }

// Number returns a number that is written as it is. In a column that sorts, the largest
// figure comes first.
func Number(st theme.Style, n int64) Cell { return figure(st, number, n) }

// Count returns a number that is written in at most five cells.
func Count(st theme.Style, n uint64) Cell { return figure(st, count, int64(n)) }

// Bytes returns a size.
func Bytes(st theme.Style, n uint64) Cell { return figure(st, size, int64(n)) }

// Took returns a duration.
func Took(st theme.Style, d time.Duration) Cell { return figure(st, took, int64(d)) }

// Out returns for how long something has been going on: it is written by the second.
func Out(st theme.Style, d time.Duration) Cell { return figure(st, out, int64(d)) }

// Ahead returns a duration that may be negative, and is written with its sign.
func Ahead(st theme.Style, d time.Duration) Cell { return figure(st, ahead, int64(d)) }

// Since returns a moment, which is written as an age that changes seldom. In a column that
// sorts, the latest comes first. The zero time is blank.
func Since(st theme.Style, at time.Time) Cell { return moment(st, since, at) }

// Lately is [Since] for moments that come again and again: what is only seconds ago is now.
func Lately(st theme.Style, at time.Time) Cell { return moment(st, lately, at) }

// Waiting is [Since] for a wait that goes on: it is written by the second.
func Waiting(st theme.Style, at time.Time) Cell { return moment(st, waiting, at) }

func figure(st theme.Style, k kind, n int64) Cell { return Cell{Look: st, kind: k, n: n, order: n} }

func moment(st theme.Style, k kind, at time.Time) Cell {
	if at.IsZero() {
		return Cell{}
	}
	return figure(st, k, at.UnixNano())
}

// After returns c with a text before its figure.
func (c Cell) After(s string) Cell {
	c.Text = s
	return c
}

// Signed returns c with a symbol before its text.
func (c Cell) Signed(symbol string) Cell {
	c.Sign = symbol
	return c
}

// Sorted returns c with another place where rows are sorted: the largest comes first.
func (c Cell) Sorted(order int64) Cell {
	c.order = order
	return c
}

// A rank says where a row stands among others.
type rank struct {
	order int64
	text  string
	blank bool // it says nothing: a figure of 0 says something
}

// compare puts a before b, or the other way round if sign is negative; what is blank is last in
// both.
func (a *rank) compare(b *rank, sign int) int {
	switch {
	case a.blank && b.blank:
		return 0
	case a.blank:
		return 1
	case b.blank:
		return -1
	}
	return sign * cmp.Or(cmp.Compare(b.order, a.order), strings.Compare(a.text, b.text))
}

// blank reports whether c says nothing, or that what it would say is not known.
func (c *Cell) blank() bool {
	return c.kind <= name && c.order == 0 && (c.Text == "" || c.Text == "-")
}

// Sort sorts rows by their cells, each of which is asked for once; the other way round if
// that is wanted. Those that are equal stay in their order.
func Sort[R any](rows []R, of func(r R) Cell, invert bool) {
	ranks, at, sign := make([]rank, len(rows)), make([]int32, len(rows)), 1
	for i, r := range rows {
		c := of(r)
		ranks[i], at[i] = rank{c.order, c.Text, c.blank()}, int32(i)
	}
	if invert {
		sign = -1
	}
	slices.SortFunc(at, func(i, j int32) int { return cmp.Or(ranks[i].compare(&ranks[j], sign), int(i-j)) })
	was := slices.Clone(rows)
	for to, from := range at {
		rows[to] = was[from]
	}
}

// width returns how many cells c could make use of.
func (c *Cell) width() int {
	w := text.Width(c.Text)
	if c.Sign != "" {
		w += 2
	}
	if c.kind > name {
		var buf [figureMost]byte
		w += len(c.figure(buf[:0], time.Time{})) + min(len(c.Text), 1)
	}
	return w
}

// figureMost is more bytes than a figure takes.
const figureMost = 24

// figure appends the figure of c as of a moment.
func (c Cell) figure(dst []byte, at time.Time) []byte {
	switch d := time.Duration(c.n); c.kind {
	case none, name:
		return dst
	case number:
		return strconv.AppendInt(dst, c.n, 10)
	case count:
		return text.AppendCount(dst, uint64(c.n))
	case size:
		return text.AppendBytes(dst, uint64(c.n))
	case took:
		return text.AppendTook(dst, d)
	case ahead:
		if d < 0 {
			return text.AppendTook(append(dst, '-'), -d)
		}
		return text.AppendTook(append(dst, '+'), d)
	case out:
		return text.AppendAge(dst, d)
	default:
		return appendAge(dst, c.kind, time.Duration(at.UnixNano()-c.n))
	}
}

func appendAge(dst []byte, k kind, d time.Duration) []byte {
	switch {
	case k == lately && d < 10*time.Second:
		return append(dst, "now"...)
	case k == waiting:
		return text.AppendAge(dst, d)
	}
	return text.AppendAgeCoarse(dst, d)
}

// Draw draws c in exactly w cells, at the right of them or at the left. After a text without a
// sign a figure stands at the right end.
func (c Cell) Draw(l *text.Line, p Pen, w int, right bool) {
	var buf [figureMost]byte
	said := string(c.figure(buf[:0], p.At))
	switch {
	case c.Sign != "":
		c.drawSigned(l, said, w)
	case right && c.Text == "":
		l.Right(c.Look, said, w)
	case right:
		l.Right(c.Look, c.Text, w)
	case c.kind == name:
		l.Name(c.Look, c.Text, w)
	case c.kind == none:
		l.Cell(c.Look, text.Clip(c.Text, w), w)
	default:
		l.Cell(c.Look, c.Text, w-figureWidth)
		l.Right(p.Dim, said, figureWidth)
	}
}

// figureWidth is how wide figures are that stand after texts, so that they are below each
// other.
const figureWidth = 5

func (c Cell) drawSigned(l *text.Line, said string, w int) {
	kept := l.Keep(l.Left() - w)
	l.Sign(c.Look, c.Sign)
	l.Put(c.Look, " ")
	l.Put(c.Look, text.Clip(c.Text, w))
	if said != "" && len(said) < l.Left() { // one that lost a digit would be another figure
		l.Put(c.Look, " ")
		l.Put(c.Look, said)
	}
	l.Space(l.Left())
	l.Release(kept)
}
