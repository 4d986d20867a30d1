package dialog

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/plegtop/plegtop/ui/text"
)

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
