package layer

import (
	tea "charm.land/bubbletea/v2"

	"github.com/plegtop/plegtop/ui/pane"
	"github.com/plegtop/plegtop/ui/text"
)

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
