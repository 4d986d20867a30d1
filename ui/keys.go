package ui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/pane"
)

// top returns the layer that has the body of the screen, or nil while the panes have it.
func (m *Model) top() pane.Pane {
	for _, p := range slices.Backward(m.layers) {
		if !p.Info().Foot {
			return p
		}
	}
	return nil
}

// active returns the pane that a cursor is seen in: the layer that has the body, or the
// focused pane.
func (m *Model) active() pane.Pane {
	if p := m.top(); p != nil {
		return p
	}
	return m.panes[m.focus]
}

// typing reports whether a person types into the layer that has the keys first.
func (m *Model) typing() bool {
	_, typing := m.foot().(pane.Typist)
	return typing
}

// press does what a key asks for: what lies on top sees it first. Only a control
// key that quits, such as ^c, does so from anywhere, also while one types.
func (m *Model) press(k tea.KeyPressMsg) {
	m.flash.text = ""
	if k.Mod.Contains(tea.ModCtrl) && m.cfg.Keys.Action(k, keymap.Global) == keymap.Quit {
		m.later(tea.Quit)
		return
	}
	for _, p := range slices.Backward(slices.Clone(m.layers)) {
		if m.offer(p, k) {
			return
		}
		if in := p.Info(); !in.Foot {
			m.act(m.cfg.Keys.Action(k, in.Scope))
			m.hint(k, in.Scope)
			return
		}
	}
	in := m.panes[m.focus].Info().Scope
	m.actPane(m.cfg.Keys.Action(k, in))
	m.hint(k, in)
}

// hint says of a key that does nothing here what it does elsewhere.
func (m *Model) hint(k tea.KeyPressMsg, in keymap.Scope) {
	if e, ok := m.cfg.Keys.Elsewhere(k, in); ok {
		m.Say(keymap.Label(k.String()) + " does nothing here; elsewhere" + e.Where() + ": " + e.Binding.Help().Desc)
	}
}

// offer gives a key to a layer, and reports whether it had a meaning there.
func (m *Model) offer(p pane.Pane, k tea.KeyPressMsg) bool {
	if typist, ok := p.(pane.Typist); ok {
		if cmd, done := typist.Key(k, m); done {
			m.later(cmd)
			return true
		}
	}
	return m.do(p, m.cfg.Keys.Action(k, p.Info().Scope))
}

// do has a pane do what an action asks for, and reports whether it is one of its own.
func (m *Model) do(p pane.Pane, a keymap.Action) bool {
	cmd, done := p.Do(a, m)
	m.later(cmd)
	return done
}

// actPane does an action that the focused pane, the screen, or else another pane knows.
// Only what takes something back goes from the outermost to the panes, and what moves a
// cursor is for the pane in which that is seen.
func (m *Model) actPane(a keymap.Action) {
	if a != keymap.Back && m.do(m.panes[m.focus], a) || m.act(a) {
		return
	}
	if e, _ := m.cfg.Keys.Entry(a); e.Group == keymap.Moving {
		return
	}
	for i, p := range m.panes {
		if i != m.focus && m.do(p, a) {
			return
		}
	}
}

// act does an action of the screen as a whole, and reports whether it is one.
func (m *Model) act(a keymap.Action) bool {
	return m.actLayer(a) || m.actView(a) || m.actEngine(a) || m.actSubject(a)
}

// actLayer opens what lies over the panes, goes from pane to pane, and leaves.
func (m *Model) actLayer(a keymap.Action) bool {
	if n := a.Pane(); n > 0 && n <= len(m.panes) {
		m.Focus(m.panes[n-1])
		return true
	}
	if open, ok := openers[a]; ok {
		m.toggle(open(m))
		return true
	}
	switch n := len(m.panes); a {
	case keymap.NextPane:
		m.Focus(m.panes[(m.focus+1)%n])
	case keymap.PrevPane:
		m.Focus(m.panes[(m.focus+n-1)%n])
	case keymap.Back:
		m.back()
	case keymap.Quit:
		m.later(tea.Quit)
	case keymap.Suspend:
		m.later(tea.Suspend)
	case keymap.Redraw:
		m.later(tea.ClearScreen)
	default:
		return false
	}
	return true
}

// toggle opens a layer, or closes the one of its name that lies on top.
func (m *Model) toggle(p pane.Pane) {
	if n := len(m.layers); n > 0 && m.layers[n-1].Info().Name == p.Info().Name {
		m.Close(m.layers[n-1])
		return
	}
	m.Open(p)
}

// back undoes the last step into something: a layer, a sweep, the full screen,
// the filter.
func (m *Model) back() {
	switch n := len(m.layers); {
	case m.dropRaw():
		m.Say("given up")
	case n > 0:
		m.Close(m.layers[n-1])
	case m.cancelSweep():
	case m.full:
		m.full = false
	case m.view.Filter.Text != "":
		_ = m.SetFilter("") // no filter always parses
		m.Say("filter dropped")
	default:
		for _, p := range m.panes {
			if m.do(p, keymap.Back) {
				return
			}
		}
	}
}

// actView changes what is shown.
func (m *Model) actView(a keymap.Action) bool {
	switch a {
	case keymap.FullScreen:
		m.full = !m.full
	case keymap.Freeze:
		m.freeze()
	case keymap.ZoomIn:
		m.view.Axis.Zoom(-1)
	case keymap.ZoomOut:
		m.view.Axis.Zoom(1)
	case keymap.AllNamespaces:
		m.SetNamespaces(nil)
	case keymap.Captions:
		m.captions = !m.captions
	case keymap.Save:
		m.save()
	default:
		return false
	}
	return true
}

// paste puts text from the terminal into what is being typed.
func (m *Model) paste(s string) {
	if n := len(m.layers); n > 0 {
		if typist, ok := m.layers[n-1].(pane.Typist); ok {
			typist.Paste(s, m)
		}
	}
}

// mouse gives a click or the wheel to the pane below it.
func (m *Model) mouse(msg tea.MouseMsg) {
	at := msg.Mouse()
	p, x, y := m.at(at.X, at.Y)
	if p == nil {
		return
	}
	switch msg.(type) {
	case tea.MouseWheelMsg:
		for range wheelLines {
			m.do(p, wheel[at.Button])
		}
	case tea.MouseClickMsg:
		if m.top() == nil {
			m.Focus(p)
		}
		if c, ok := p.(pane.Clicker); ok {
			c.Click(x, y, m)
		}
	}
}

// wheelLines is how far a step of the wheel goes.
const wheelLines = 3

var wheel = map[tea.MouseButton]keymap.Action{tea.MouseWheelUp: keymap.Up, tea.MouseWheelDown: keymap.Down}
