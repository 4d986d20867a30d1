package dialog

import (
	"slices"

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

// limit is how much a person can type: more than any filter needs, and short
// enough for a text that is pasted by mistake.
const limit = 1000

// An edit is a text with a cursor in it.
type edit struct {
	runes []rune
	at    int // before which rune the cursor stands
}

func newEdit(s string) edit {
	r := []rune(s)
	return edit{r, len(r)}
}

func (e *edit) String() string { return string(e.runes) }

// insert puts s at the cursor, on one line and without controls.
func (e *edit) insert(s string) {
	r := []rune(text.Clean(s))
	r = r[:min(len(r), limit-len(e.runes))]
	e.runes = slices.Insert(e.runes, e.at, r...)
	e.at += len(r)
}

// key changes the text as a shell's line does, and reports whether it has a
// meaning for k.
func (e *edit) key(k tea.KeyPressMsg) bool {
	switch k.String() {
	case "left", "ctrl+b":
		e.at = max(0, e.at-1)
	case "right", "ctrl+f":
		e.at = min(len(e.runes), e.at+1)
	case "home", "ctrl+a":
		e.at = 0
	case "end", "ctrl+e":
		e.at = len(e.runes)
	case "backspace", "ctrl+h":
		e.cut(e.at-1, e.at)
	case "delete", "ctrl+d":
		e.cut(e.at, e.at+1)
	case "ctrl+w", "alt+backspace":
		e.cut(e.word(), e.at)
	case "ctrl+u":
		e.cut(0, e.at)
	case "ctrl+k":
		e.cut(e.at, len(e.runes))
	default:
		if k.Text == "" {
			return false
		}
		e.insert(k.Text)
	}
	return true
}

// cut takes the runes from..to away, as far as there are any.
func (e *edit) cut(from, to int) {
	from, to = max(from, 0), min(to, len(e.runes))
	if from < to {
		e.runes = slices.Delete(e.runes, from, to)
		e.at = from
	}
}

// word returns where the word before the cursor begins.
func (e *edit) word() int {
	i := e.at
	for i > 0 && e.runes[i-1] == ' ' {
		i--
	}
	for i > 0 && e.runes[i-1] != ' ' {
		i--
	}
	return i
}

// parts returns the text before, under and after the cursor. Under is a space
// at the end of the text.
func (e *edit) parts() (before, under, after string) {
	if e.at == len(e.runes) {
		return string(e.runes), " ", ""
	}
	return string(e.runes[:e.at]), string(e.runes[e.at : e.at+1]), string(e.runes[e.at+1:])
}
