package layer

import (
	"errors"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/pane"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/widget"
)

// A Picker shows choices that can be switched on and off, or of which one is chosen. Exactly one
// of Switched, Accepted and Chosen is set.
type Picker struct {
	// Switched is called for each choice that is switched: it acts at once.
	Switched func(h pane.Host, c widget.Choice)
	// Accepted is called for enter with the names of those that are on, or, if none is,
	// of the one under the cursor.
	Accepted func(h pane.Host, names []string)
	// Chosen is called for enter with the name under the cursor, after the picker has closed.
	Chosen func(h pane.Host, name string)

	title   string
	choices []*widget.Choice
	wanted  string // what was searched for
	table   widget.Table[*widget.Choice, string]
	view    *pane.View
}

// NewPicker returns a picker with the cursor on the first choice that is on.
func NewPicker(title string, choices []widget.Choice) *Picker {
	p := &Picker{title: title}
	p.table.Key = func(c *widget.Choice) string { return c.Name }
	p.table.Columns = []widget.Column[*widget.Choice]{
		{
			Name: "name", Least: 16, Most: 64, Fits: true,
			Value: func(b widget.Pen, c *widget.Choice) widget.Cell {
				switch {
				case p.Chosen != nil:
					return widget.Say(b.Text, c.Name)
				case c.On:
					return widget.Say(b.Strong, "[x] "+c.Name)
				}
				return widget.Say(b.Text, "[ ] "+c.Name)
			},
		}, {
			Name: "note", Least: 10, Most: 200, Rank: 1, Fits: true,
			Value: func(p widget.Pen, c *widget.Choice) widget.Cell { return widget.Say(p.Dim, c.Note) },
		},
	}
	for _, c := range choices {
		p.choices = append(p.choices, &c)
	}
	p.table.Set(p.choices)
	p.table.Go(slices.IndexFunc(choices, func(c widget.Choice) bool { return c.On }))
	return p
}

// pickerFooter is what the footer names below a picker, the most useful first.
var pickerFooter = []keymap.Action{
	keymap.Toggle, keymap.Accept, keymap.Filter, keymap.Back,
}

// Info names the picker and what was searched for.
func (p *Picker) Info() pane.Info {
	i := pane.Info{Name: p.title, Scope: keymap.Over | keymap.Picking, Footer: pickerFooter, Least: 1, Wanted: p.table.Len()}
	if p.view != nil && p.wanted != "" {
		i.About = []text.Span{text.Say(p.view.Theme.Match, "/"+p.wanted)}
	}
	return i
}

// Observe takes over the size: the line of the heads, which a picker has not, is
// another choice.
func (p *Picker) Observe(v *pane.View, w, h int) {
	p.view = v
	p.table.Resize(v.Pen(), w, h+1)
}

// Draw draws a choice.
func (p *Picker) Draw(l *text.Line, y int, focused bool) {
	if p.table.Len() == 0 && y == 0 {
		l.Put(p.view.Theme.Dim, "nothing matches")
		return
	}
	p.table.Draw(l, p.view.Pen(), y+1, focused)
}

// Subject returns nothing.
func (p *Picker) Subject() pane.Subject { return pane.Subject{} }

// Do moves, switches, searches, accepts or closes. Esc shows all again before it closes.
func (p *Picker) Do(a keymap.Action, h pane.Host) (tea.Cmd, bool) {
	switch {
	case a == keymap.Toggle, a == keymap.Accept && p.Switched != nil:
		p.toggle(h)
	case a == keymap.Accept && p.Chosen != nil:
		p.choose(h)
	case a == keymap.Accept:
		p.accept(h)
	case a == keymap.Filter:
		p.search(h)
	case a == keymap.Back && p.wanted != "":
		p.narrow("")
	case a == keymap.Back:
		h.Close(p)
	default:
		return nil, p.table.Do(a)
	}
	return nil, true
}

func (p *Picker) toggle(h pane.Host) {
	if c, ok := p.table.Current(); ok {
		c.On = !c.On
		if p.Switched != nil {
			p.Switched(h, *c)
		}
	}
}

func (p *Picker) accept(h pane.Host) {
	var names []string
	for _, c := range p.choices {
		if c.On {
			names = append(names, c.Name)
		}
	}
	if c, ok := p.table.Current(); ok && len(names) == 0 {
		names = []string{c.Name}
	}
	if len(names) > 0 {
		h.Close(p)
		p.Accepted(h, names)
	}
}

// choose closes the picker, and does what its choice under the cursor stands for.
func (p *Picker) choose(h pane.Host) {
	if c, ok := p.table.Current(); ok {
		h.Close(p)
		p.Chosen(h, c.Name)
	}
}

// Ask opens a line into which a person types a part of the choice that is wanted; enter there
// chooses the one under the cursor, and where there is none says so.
func (p *Picker) Ask(h pane.Host, label string) {
	prompt := NewPrompt(label, "")
	prompt.Changed = func(_ pane.Host, s string) error { p.narrow(s); return nil }
	prompt.Move = func(step int) { p.table.Do(map[bool]keymap.Action{true: keymap.Up, false: keymap.Down}[step < 0]) }
	prompt.Accepted = func(h pane.Host, s string) error {
		if p.table.Len() == 0 { // a list of nothing leads nowhere
			return errors.New("no " + label + " has " + s)
		}
		h.Close(prompt)
		p.choose(h)
		return nil
	}
	prompt.Canceled = func(h pane.Host) { h.Close(p) }
	h.Open(prompt)
}

func (p *Picker) search(h pane.Host) {
	prompt := NewPrompt("search", p.wanted)
	prompt.Changed = func(_ pane.Host, s string) error { p.narrow(s); return nil }
	prompt.Canceled = func(pane.Host) { p.narrow("") }
	h.Open(prompt)
}

// narrow shows the choices that have s in name or note, without regard to case.
func (p *Picker) narrow(s string) {
	p.wanted = s
	s = strings.ToLower(s)
	var left []*widget.Choice
	for _, c := range p.choices {
		if strings.Contains(strings.ToLower(text.Clean(c.Name)+" "+text.Clean(c.Note)), s) {
			left = append(left, c)
		}
	}
	p.table.Set(left)
}
