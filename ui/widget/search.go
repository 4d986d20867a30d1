package widget

import (
	"strings"

	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
)

// A search is what is looked for in the lines of a [Doc].
type search struct {
	text string // in lower case; empty for nothing
	line int    // of the match that was gone to last
}

// index returns where in s, once it is cleaned, is what is searched for; -1 if it is not.
func (f *search) index(s string) int {
	if f.text == "" {
		return -1
	}
	s = text.CleanLong(s)
	lower := strings.ToLower(s)
	if len(lower) != len(s) { // places in one are none in the other
		return strings.Index(s, f.text)
	}
	return strings.Index(lower, f.text)
}

// in reports whether a line has what is searched for.
func (f *search) in(line []text.Span) bool {
	for _, s := range line {
		if f.index(s.Text) >= 0 {
			return true
		}
	}
	return false
}

// draw draws a slot with what is searched for marked in it; in another way in the line
// that was gone to.
func (f *search) draw(l *text.Line, p Pen, s text.Span, here bool) {
	kept := 0
	if s.Width > 0 {
		kept = l.Keep(l.Left() - s.Width + 1)
	}
	st := p.Match
	if here {
		st = p.Cursor
	}
	f.mark(l, st, s)
	if s.Width > 0 {
		l.Space(l.Left())
		l.Release(kept)
		l.Space(1)
	}
}

func (f *search) mark(l *text.Line, match theme.Style, s text.Span) {
	rest := s.Text
	for l.Left() > 0 {
		i := f.index(rest)
		if i < 0 {
			break
		}
		rest = text.CleanLong(rest)
		l.Put(s.Style, rest[:i])
		l.Put(match, rest[i:i+len(f.text)])
		rest = rest[i+len(f.text):]
	}
	l.Put(s.Style, rest)
}
