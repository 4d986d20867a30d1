package dialog

import (
	tea "charm.land/bubbletea/v2"

	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
)

// A Prompt asks for one line of text, in the footer.
type Prompt struct {
	Label string // before the text, such as "filter"
	Error string // after the text; what is wrong with it, if anything

	edit    edit
	history []string // oldest first
	place   int      // in history; its length for the text that is being typed
	draft   string   // that text, while an older one is shown
}

// NewPrompt returns a prompt that begins with value. Up and down go through
// history, whose last entry is the newest.
func NewPrompt(label, value string, history []string) Prompt {
	return Prompt{Label: label, edit: newEdit(value), history: history, place: len(history)}
}

// Value returns the text as it stands.
func (p *Prompt) Value() string { return p.edit.String() }

// Paste inserts s at the cursor, on one line.
func (p *Prompt) Paste(s string) { p.edit.insert(s) }

// Key changes the text. Enter answers Accepted; esc and ^c, and rubbing out
// in an empty text, answer Closed.
func (p *Prompt) Key(k tea.KeyPressMsg) Answer {
	switch s := k.String(); {
	case s == "enter":
		return Accepted
	case s == "esc" || s == "ctrl+c" || s == "backspace" && len(p.edit.runes) == 0:
		return Closed
	case s == "up" || s == "ctrl+p":
		p.recall(p.place - 1)
		return Changed
	case s == "down" || s == "ctrl+n":
		p.recall(p.place + 1)
		return Changed
	}
	before := p.Value()
	p.edit.key(k)
	if p.Value() == before {
		return Open
	}
	return Changed
}

func (p *Prompt) recall(to int) {
	if to < 0 || to > len(p.history) || to == p.place {
		return
	}
	if p.place == len(p.history) {
		p.draft = p.Value()
	}
	p.place = to
	if to == len(p.history) {
		p.edit = newEdit(p.draft)
	} else {
		p.edit = newEdit(p.history[to])
	}
}

// Line returns the prompt in exactly w cells. The cursor is always visible;
// what does not fit before it is left out at the front.
func (p *Prompt) Line(w int, t theme.Theme) string {
	l := text.Line{Ellipsis: t.Symbols.Ellipsis}
	l.Begin(w)
	l.Space(1)
	if w > text.Width(p.Label)+10 {
		l.Put(t.Key, p.Label)
		l.Put(t.Dim, ": ")
	}
	before, under, after := p.edit.parts()
	room := l.Left() - 1
	if p.Error != "" {
		room -= min(text.Width(p.Error)+2, room/2)
	}
	for text.Width(before) >= room && before != "" {
		before = before[len(string([]rune(before)[:1])):]
	}
	l.Put(t.Input, before)
	l.Put(t.Selected, under)
	l.Put(t.Input, after)
	if p.Error != "" {
		l.Space(2)
		l.Put(t.Bad, p.Error)
	}
	l.End()
	return string(l.Buf)
}
