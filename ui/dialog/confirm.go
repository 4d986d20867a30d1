package dialog

import (
	tea "charm.land/bubbletea/v2"

	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
)

// A Confirm asks a question that can be answered with yes or no, in the footer.
type Confirm struct {
	Question string // with its question mark
}

// Key answers Accepted for y and enter, Closed for everything else that a
// person may press in order not to do it, and Open for other keys.
func (c Confirm) Key(k tea.KeyPressMsg) Answer {
	switch k.String() {
	case "y", "Y", "enter":
		return Accepted
	case "n", "N", "q", "esc", "ctrl+c":
		return Closed
	}
	return Open
}

// Line returns the question in exactly w cells; its end is cut before the
// keys are.
func (c Confirm) Line(w int, t theme.Theme) string {
	l := text.Line{Ellipsis: t.Symbols.Ellipsis}
	l.Begin(w)
	const keys = " y yes  n no"
	kept := l.Keep(len(keys))
	l.Space(1)
	l.Put(t.Strong, c.Question)
	l.Release(kept)
	l.Space(1)
	l.Put(t.Key, "y")
	l.Put(t.Text, " yes  ")
	l.Put(t.Key, "n")
	l.Put(t.Text, " no")
	l.End()
	return string(l.Buf)
}
