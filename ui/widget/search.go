package widget

import (
	"strings"

	"github.com/plegtop/plegtop/ui/text"
)

// A search is what is looked for in the lines of a [Doc].
type search struct {
	text string // in lower case; empty for nothing
	line int    // of the match that was gone to last
}

// in reports whether a line has what is searched for.
func (s *search) in(line []Slot) bool {
	for _, slot := range line {
		if s.text != "" && strings.Contains(strings.ToLower(slot.Text), s.text) {
			return true
		}
	}
	return false
}

// draw draws a slot with what is searched for marked in it.
func (s *search) draw(l *text.Line, p Pen, slot Slot) {
	if slot.Width > 0 {
		kept := l.Keep(l.Left() - slot.Width + 1)
		s.mark(l, p, slot)
		l.Space(l.Left())
		l.Release(kept)
		l.Space(1)
		return
	}
	s.mark(l, p, slot)
}

func (s *search) mark(l *text.Line, p Pen, slot Slot) {
	if s.text == "" {
		l.Put(slot.Style, slot.Text)
		return
	}
	rest := text.CleanLong(slot.Text)
	lower := strings.ToLower(rest)
	if len(lower) != len(rest) { // places in one are none in the other
		lower = ""
	}
	for l.Left() > 0 {
		i := strings.Index(lower, s.text)
		if i < 0 {
			break
		}
		to := i + len(s.text)
		l.Put(slot.Style, rest[:i])
		l.Put(p.Match, rest[i:to])
		rest, lower = rest[to:], lower[to:]
	}
	l.Put(slot.Style, rest)
}
