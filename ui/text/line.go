package text

import (
	"unicode/utf8"

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
	style theme.Style // of everything, if over
	over  bool
	last  theme.Style // that the buffer ended with when it was ended bytes long
	ended int
}

// Begin begins a line of w cells.
func (l *Line) Begin(w int) {
	l.left = max(w, 0)
	l.over = false
	l.ended = 0
	if l.Ellipsis == "" {
		l.Ellipsis = "…"
	}
}

// Over gives everything up to the next Begin, or to [Line.Under], the look st
// in the place of its own: a row under the cursor is one bar, in which only trouble
// stands out ([theme.Style.With]).
func (l *Line) Over(st theme.Style) { l.style, l.over = st, true }

// Under ends what [Line.Over] began.
func (l *Line) Under() { l.over = false }

// Left returns how many cells are still free.
func (l *Line) Left() int { return l.left }

// Put writes s as wide as it is, cut to the cells that are left.
func (l *Line) Put(st theme.Style, s string) {
	s = Clean(s)
	if s == "" || l.left == 0 {
		return
	}
	l.on(st)
	buf, n := appendCut(l.Buf, s, l.left, l.Ellipsis)
	l.Buf = buf
	l.left -= n
	l.off(st)
}

// Cell writes s to exactly w cells, or to all that are left if those are fewer.
func (l *Line) Cell(st theme.Style, s string, w int) {
	if w = min(w, l.left); w <= 0 {
		return
	}
	l.on(st)
	l.Buf = Append(l.Buf, s, w, l.Ellipsis)
	l.left -= w
	l.off(st)
}

// Name is [Line.Cell] for names that differ at their ends, as those of pods do: a
// long one loses its middle, and keeps the last [TailKept] cells. Names that are
// not plain ASCII, and cells too narrow for more than that, are cut at the end all the
// same.
func (l *Line) Name(st theme.Style, s string, w int) {
	s = Clean(s)
	if w = min(w, l.left); len(s) <= w || w < TailKept+3 || !plain(s) {
		l.Cell(st, s, w)
		return
	}
	l.on(st)
	l.Buf = append(l.Buf, s[:w-1-TailKept]...)
	l.Buf = append(l.Buf, l.Ellipsis...)
	l.Buf = append(l.Buf, s[len(s)-TailKept:]...)
	l.left -= w
	l.off(st)
}

// TailKept is how much [Line.Name] keeps of the end of a name: the part that
// Kubernetes makes up for each pod of a deployment.
const TailKept = 5

// Right is [Line.Cell] with the padding on the left.
func (l *Line) Right(st theme.Style, s string, w int) {
	if w = min(w, l.left); w <= 0 {
		return
	}
	l.on(st)
	l.Buf = AppendRight(l.Buf, s, w, l.Ellipsis)
	l.left -= w
	l.off(st)
}

// Bytes is [Line.Put] for figures that were appended to a buffer: plain ASCII,
// cut without an ellipsis.
func (l *Line) Bytes(st theme.Style, b []byte) {
	b = b[:min(len(b), l.left)]
	if len(b) == 0 {
		return
	}
	l.on(st)
	l.Buf = append(l.Buf, b...)
	l.left -= len(b)
	l.off(st)
}

// RightBytes is [Line.Right] for the same.
func (l *Line) RightBytes(st theme.Style, b []byte, w int) {
	w = min(w, l.left)
	l.Space(w - len(b))
	l.Bytes(st, b[:min(len(b), max(w, 0))])
}

// Sign writes a symbol of the theme, which is one cell wide and clean.
func (l *Line) Sign(st theme.Style, symbol string) { l.Repeat(st, symbol, 1) }

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
	if n <= 2 && l.ended == len(l.Buf) && l.last.Ink {
		st = l.last
	}
	l.on(st)
	l.Buf = appendSpaces(l.Buf, n)
	l.left -= n
	l.off(st)
}

// Finished writes s, a line of exactly w cells that is clean and styled
// already. A line that does not fit is left out.
func (l *Line) Finished(s string, w int) {
	if w > l.left || !utf8.ValidString(s) {
		return
	}
	l.Buf = append(l.Buf, s...)
	l.left -= w
}

// End fills the line up with spaces.
func (l *Line) End() { l.Space(l.left) }

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
