package text

import (
	"cmp"

	"github.com/plegtop/plegtop/ui/theme"
)

// A Line writes text of exactly counted cells to the end of a buffer, cleaning
// as it goes. Whatever is put into it, it never takes more cells than it was
// begun with; [Line.End] fills up what is left. The zero value is ready for use;
// many lines one after the other may be written into the same Line.
type Line struct {
	Buf      []byte
	Ellipsis string // where a text was cut; "…" if empty

	left  int
	edge  bool        // the next cell is a margin, which is not written yet
	style theme.Style // of everything, if over
	over  bool
	last  theme.Style // that the buffer ended with when it was ended bytes long
	ended int
}

// Frame returns a screen of h lines, each of exactly w cells, with what line draws of line y; in
// ASCII where those are the symbols.
func Frame(w, h int, s *theme.Symbols, line func(l *Line, y int)) string {
	if w <= 0 || h <= 0 {
		return ""
	}
	l := Line{Ellipsis: s.Ellipsis, Buf: make([]byte, 0, w*h*2)}
	for y := range h {
		if y > 0 {
			l.Buf = append(l.Buf, '\n')
		}
		l.Begin(w)
		line(&l, y)
		l.Under()
		l.End()
	}
	if s.ASCII {
		return PlainASCII(string(l.Buf))
	}
	return string(l.Buf)
}

// Begin begins a line of w cells.
func (l *Line) Begin(w int) {
	l.left = max(w, 0)
	l.over, l.edge = false, false
	l.ended = 0
	l.Ellipsis = cmp.Or(l.Ellipsis, "…")
}

// Over gives everything up to the next Begin, or to [Line.Under], the look st
// in the place of its own, or on its background where st has one ([theme.Style.With]).
func (l *Line) Over(st theme.Style) { l.style, l.over = st, true }

// Margin begins what follows with a blank cell, in which [Line.Bar] puts its sign.
func (l *Line) Margin() {
	if l.left > 0 {
		l.left, l.edge = l.left-1, true
	}
}

// Bar is [Line.Over] for the row under the cursor, with a sign in the margin before it.
func (l *Line) Bar(st, look theme.Style, sign string) {
	l.Over(st)
	if l.edge {
		l.left, l.edge = l.left+1, false
		l.Sign(look, sign)
	}
}

// Under ends what [Line.Over] began.
func (l *Line) Under() { l.over = false }

// Left returns how many cells are still free.
func (l *Line) Left() int { return l.left }

// Put writes s as wide as it is, cut to the cells that are left.
func (l *Line) Put(st theme.Style, s string) {
	s = Clean(s)
	l.write(st, s, width(s))
}

// Cell writes s to exactly w cells, or to all that are left if those are fewer.
func (l *Line) Cell(st theme.Style, s string, w int) { l.write(st, Clean(s), w) }

// Right is [Line.Cell] with the padding on the left. In a bar that has no look of its own.
func (l *Line) Right(st theme.Style, s string, w int) {
	s, w = Clean(s), min(w, l.left)
	n := min(width(s), w)
	pad := st
	if l.over || n == 0 {
		pad = theme.Style{}
	}
	l.Repeat(pad, " ", w-n)
	l.write(st, s, n)
}

// write writes the clean text s to w of the cells that are left.
func (l *Line) write(st theme.Style, s string, w int) {
	if w = min(w, l.left); w <= 0 {
		return
	}
	l.on(st)
	l.Buf = appendFit(l.Buf, s, w, l.Ellipsis)
	l.left -= w
	l.off(st)
}

// tailKept is how much [Line.Name] keeps of the end of a name: the part that
// Kubernetes makes up for each pod of a deployment.
const tailKept = 5

// Name is [Line.Cell] for names that differ at their ends, as those of pods do: a
// long one loses its middle, and keeps its last cells. Names that are not plain ASCII,
// and cells too narrow for more than that, are cut at the end all the same.
func (l *Line) Name(st theme.Style, s string, w int) {
	s = Clean(s)
	if w = min(w, l.left); len(s) <= w || w < tailKept+3 || !plain(s) {
		l.write(st, s, w)
		return
	}
	l.write(st, s[:w-1-tailKept], w-1-tailKept)
	l.Sign(st, l.Ellipsis)
	l.write(st, s[len(s)-tailKept:], tailKept)
}

// Sign writes a symbol of the theme, which is one cell wide and clean; a blank for an
// empty one.
func (l *Line) Sign(st theme.Style, symbol string) {
	if symbol == "" {
		l.Space(1)
	} else {
		l.Repeat(st, symbol, 1)
	}
}

// Repeat writes the one-cell symbol n times, as far as there is room.
func (l *Line) Repeat(st theme.Style, symbol string, n int) {
	if n = min(n, l.left); n <= 0 {
		return
	}
	l.on(st)
	for range n {
		l.Buf = append(l.Buf, symbol...)
	}
	l.left -= n
	l.off(st)
}

// Space writes n spaces, as far as there is room. A gap of a cell or two after
// letters is written in their look, where that makes no difference to the eye:
// it saves the terminal the change of look.
func (l *Line) Space(n int) {
	if n = min(n, l.left); n <= 0 {
		return
	}
	st := theme.Style{}
	if n <= 2 && l.ended == len(l.Buf) && (l.last.Ink || l.over && l.last.Same(l.style)) {
		st = l.last
	}
	l.on(st)
	l.Buf = appendSpaces(l.Buf, n)
	l.left -= n
	l.off(st)
}

// End fills the line up with spaces.
func (l *Line) End() {
	if l.edge {
		l.left, l.edge = l.left+1, false
	}
	l.Space(l.left)
}

// Keep sets n of the free cells aside, so that what follows leaves them free
// for something at the right edge. It returns how many there were to set aside;
// give that to [Line.Release].
func (l *Line) Keep(n int) int {
	n = min(max(n, 0), l.left)
	l.left -= n
	return n
}

// Release gives back the cells that [Line.Keep] set aside.
func (l *Line) Release(n int) { l.left += n }

// on begins a look, or goes on with it where the buffer ends with the same.
func (l *Line) on(st theme.Style) {
	if l.edge {
		l.left, l.edge = l.left+1, false
		l.Space(1)
	}
	if l.over {
		st = l.style.With(st)
	}
	if l.ended == len(l.Buf) && l.last.On == st.On && l.ended > 0 {
		l.Buf = l.Buf[:len(l.Buf)-len(st.Off)]
		return
	}
	l.Buf = append(l.Buf, st.On...)
}

func (l *Line) off(st theme.Style) {
	if l.over {
		st = l.style.With(st)
	}
	l.Buf = append(l.Buf, st.Off...)
	l.last, l.ended = st, len(l.Buf)
}

// A Span is a text of one look. It is cleaned when it is drawn.
type Span struct {
	Style theme.Style
	Text  string
	Width int // cells of its place, the gap after it included; 0 for as many as it takes
}

// Say returns a span that takes as many cells as its text.
func Say(st theme.Style, s string) Span { return Span{Style: st, Text: s} }

// In returns the span in a place of w cells, the gap after it included.
func (s Span) In(w int) Span {
	s.Width = w
	return s
}

// Spans draws as many of all as there is room for, with a gap of two between them and
// none in a place of its own; those that are empty are left out. The first is drawn in
// any case, cut if it must be, the others whole or not at all.
func (l *Line) Spans(all ...Span) {
	gap := 0
	for _, s := range all {
		if s.Text == "" || gap > 0 && Width(s.Text)+gap > l.Left() {
			continue
		}
		l.Space(gap)
		l.Put(s.Style, s.Text)
		gap = 2
	}
}
