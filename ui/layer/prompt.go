// Package layer has what lies over the panes for a while and is about none of them: a
// [Prompt] and a [Confirm] at the foot of the screen, a [Picker], and a [Viewer] of
// long texts. Each is a [pane.Pane] that is opened with [pane.Host.Open], closes itself,
// and says what came of it by calling what it was given.
package layer

import (
	"sort"
	"strconv"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/pane"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/widget"
)

// A Prompt asks for one line of text. What it calls may be nil.
type Prompt struct {
	foot

	// Hint says what can be typed, while nothing is.
	Hint string
	// Changed is called with every change of the text. Its error is shown after the
	// text.
	Changed func(h pane.Host, text string) error
	// Accepted is called for enter. With an error, which is shown, the prompt stays.
	Accepted func(h pane.Host, text string) error
	// Move is called for up and down: -1 or 1.
	Move func(step int)
	// Canceled is called for esc, and for rubbing out in an empty text.
	Canceled func(h pane.Host)

	label string
	input textinput.Model
	err   error
}

// limit is how many characters can be typed: more than any filter needs, and few enough
// for a text that is pasted by mistake.
const limit = 1000

// NewPrompt returns a prompt that begins with value, whatever its length.
func NewPrompt(label, value string) *Prompt {
	p := &Prompt{label: label, input: textinput.New()}
	p.input.SetVirtualCursor(false)
	p.input.Focus() // without a virtual cursor its command does nothing
	p.set(value)
	return p
}

// set puts a text in the place of the one there is. One that is too long to have been
// typed can be shortened, and nothing is lost of it.
func (p *Prompt) set(s string) {
	s = text.CleanLong(s)
	p.input.CharLimit = max(limit, len(s))
	p.input.SetValue(s)
	p.input.CursorEnd()
}

// Value returns the text as it stands.
func (p *Prompt) Value() string { return p.input.Value() }

// Paste puts a text in at the cursor, on one line.
func (p *Prompt) Paste(s string, h pane.Host) {
	p.update(tea.PasteMsg{Content: text.CleanLong(text.CutAt(s, 4*limit))}, h)
}

// Key changes the text or ends the prompt: every key is taken.
func (p *Prompt) Key(k tea.KeyPressMsg, h pane.Host) (tea.Cmd, bool) {
	switch s := k.String(); {
	case s == "enter":
		if p.call(p.Accepted, h) {
			h.Close(p)
		}
	case s == "esc" || s == "ctrl+c" || s == "backspace" && p.Value() == "":
		h.Close(p)
		if p.Canceled != nil {
			p.Canceled(h)
		}
	case s == "up" || s == "ctrl+p":
		p.move(-1)
	case s == "down" || s == "ctrl+n":
		p.move(1)
	default:
		k.Text = text.CleanLong(k.Text)
		p.update(k, h)
	}
	return nil, true
}

func (p *Prompt) update(msg tea.Msg, h pane.Host) {
	before := p.Value()
	p.input, _ = p.input.Update(msg) // its command for ^v would run a program that reads the clipboard
	if p.Value() != before {
		p.call(p.Changed, h)
	}
}

// call tells of the text as it stands, and reports whether there is nothing wrong with it.
func (p *Prompt) call(what func(h pane.Host, text string) error, h pane.Host) bool {
	if p.err = nil; what != nil {
		p.err = what(h, p.Value())
	}
	return p.err == nil
}

func (p *Prompt) move(step int) {
	if p.Move != nil {
		p.Move(step)
	}
}

// Draw draws the prompt. The cursor is always visible; what does not fit before it is
// left out at the front.
func (p *Prompt) Draw(l *text.Line, _ int, _ bool) {
	t := p.view.Theme
	if l.Left() > text.Width(p.label)+10 {
		l.Put(t.Key, p.label)
		l.Put(t.Dim, ": ")
	}
	room := l.Left() - 1
	wrong := ""
	if p.err != nil {
		wrong = p.err.Error()
		room -= min(text.Width(wrong)+2, max(room/2, room-text.Width(p.Value())-2))
	}
	all, at := []rune(p.Value()), p.input.Position()
	before, under, after := all[:at], " ", ""
	if at < len(all) {
		under, after = string(all[at]), string(all[at+1:])
	}
	fits := func(from int) bool { return text.Width(string(before[from:])) < room }
	before = before[sort.Search(len(before), fits):]
	l.Put(t.Input, string(before))
	l.Put(t.Cursor, under)
	kept := 0
	if p.err != nil {
		kept = l.Keep(l.Left() - room + text.Width(string(before)))
	}
	l.Put(t.Input, after)
	if p.Value() == "" && p.err == nil {
		l.Space(1)
		l.Put(t.Dim, p.Hint)
	}
	l.Release(kept)
	if p.err != nil {
		l.Space(2)
		l.Put(t.Bad, wrong)
	}
}

// A Confirm asks a question that is answered with yes or no.
type Confirm struct {
	foot
	question string
	yes      func(h pane.Host)
}

// NewConfirm returns a question, with its question mark, and what is done for a yes.
func NewConfirm(question string, yes func(h pane.Host)) *Confirm {
	return &Confirm{question: question, yes: yes}
}

// Key takes y for yes and every other key for no.
func (c *Confirm) Key(k tea.KeyPressMsg, h pane.Host) (tea.Cmd, bool) {
	h.Close(c)
	if s := k.String(); s == "y" || s == "Y" {
		c.yes(h)
	}
	return nil, true
}

// Paste does nothing: a text from elsewhere is no answer.
func (c *Confirm) Paste(string, pane.Host) {}

// Draw draws the question; its end is cut before the keys are.
func (c *Confirm) Draw(l *text.Line, _ int, _ bool) {
	t := c.view.Theme
	kept := l.Keep(len(" y/N"))
	l.Put(t.Strong, c.question)
	l.Release(kept)
	l.Space(1)
	l.Put(t.Key, "y")
	l.Put(t.Dim, "/")
	l.Put(t.Key, "N")
}

// foot is what a layer has in common with others that take the line at the foot of the
// screen and every key.
type foot struct{ view *pane.View }

func (f *foot) Observe(v *pane.View, _, _ int)                     { f.view = v }
func (f *foot) Info() pane.Info                                    { return pane.Info{Foot: true, Least: 1, Wanted: 1} }
func (f *foot) Do(keymap.Action, pane.Host) (cmd tea.Cmd, ok bool) { return nil, false }
func (f *foot) Subject() pane.Subject                              { return pane.Subject{} }

func search(d *widget.Doc, h pane.Host) {
	p := NewPrompt("search", "")
	p.Changed = func(_ pane.Host, s string) error { d.Search(s); return nil }
	p.Canceled = func(pane.Host) { d.Search("") }
	p.Accepted = func(h pane.Host, s string) error {
		if n := d.Search(s); s != "" {
			h.Say(strconv.Itoa(n) + " lines match; " + h.Keys(keymap.MatchNext) + " goes to the next")
		}
		return nil
	}
	h.Open(p)
}
