package text

import "github.com/plegtop/plegtop/ui/theme"

// A Span is a text of one look. It is cleaned when it is drawn.
type Span struct {
	Style theme.Style
	Text  string
}

// Spans draws as many of all as there is room for, with a gap of two between them;
// those that are empty are left out. The first is drawn in any case, cut if it must be,
// the others whole or not at all.
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
