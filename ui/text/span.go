package text

import "github.com/plegtop/plegtop/ui/theme"

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
