package ui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/layer"
	"github.com/plegtop/plegtop/ui/pane"
	"github.com/plegtop/plegtop/ui/text"
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
// key that quits, such as ^c, does so from anywhere but a prompt, which it cancels as in a shell.
func (m *Model) press(k tea.KeyPressMsg) {
	m.flash.text = ""
	if _, prompts := m.foot().(*layer.Prompt); !prompts && k.Mod.Contains(tea.ModCtrl) && m.cfg.Keys.Action(k, keymap.Global) == keymap.Quit {
		m.later(tea.Quit)
		return
	}
	for _, p := range slices.Backward(slices.Clone(m.layers)) {
		if m.offer(p, k) {
			return
		}
		if in := m.scope(p); !p.Info().Foot {
			m.act(m.cfg.Keys.Action(k, in))
			m.hint(k, in)
			return
		}
	}
	in := m.scope(m.panes[m.focus])
	m.actPane(m.cfg.Keys.Action(k, in))
	m.hint(k, in)
}

// run does an action as its key would where a person is.
func (m *Model) run(a keymap.Action) {
	switch p := m.top(); {
	case p == nil:
		m.actPane(a)
	case !m.do(p, a):
		m.act(a)
	}
}

// hint says of a key that does nothing here what it does elsewhere: in a recording, which is no demo, of its keys too.
func (m *Model) hint(k tea.KeyPressMsg, in keymap.Scope) {
	if e, ok := m.cfg.Keys.Elsewhere(k, in); ok {
		m.Say(keymap.Label(k.String()) + " does nothing here; elsewhere" + e.Where() + ": " + e.Binding.Help().Desc)
		return
	}
	if e, ok := m.cfg.every.Of(k, keymap.Demo); ok && m.cfg.replays() && m.cfg.Keys.Action(k, in) == keymap.None {
		m.Say(keymap.Label(k.String()) + " is for a demo (plegtop --demo): " + e.Binding.Help().Desc)
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
	return m.do(p, m.cfg.Keys.Action(k, m.scope(p)))
}

// scope returns what can be done by keys while a pane has them.
func (m *Model) scope(p pane.Pane) keymap.Scope {
	in := p.Info().Scope
	if m.cfg.replays() && in&keymap.Picking == 0 {
		in |= keymap.Replaying
	}
	return in
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
	e, _ := m.cfg.Keys.Entry(a)
	m.moved = m.moved || e.Group == keymap.Moving
	if a != keymap.Back && m.do(m.panes[m.focus], a) || m.act(a) || e.Group == keymap.Moving {
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
	if m.gone(a) {
		return true
	}
	if n := a.Pane(); n > 0 && n <= len(m.panes) {
		m.Focus(m.panes[n-1])
		return true
	}
	if open, ok := openers[a]; ok {
		m.toggle(open(m))
		return true
	}
	if do, ok := actions[a]; ok {
		do(m)
		return true
	}
	return m.actSubject(a)
}

// actions are those of the screen that are about no subject and open nothing.
var actions = map[keymap.Action]func(*Model){
	keymap.NextPane: func(m *Model) { m.Focus(m.panes[(m.focus+1)%len(m.panes)]) },
	keymap.PrevPane: func(m *Model) { m.Focus(m.panes[(m.focus+len(m.panes)-1)%len(m.panes)]) },
	keymap.Back:     (*Model).back,
	keymap.Quit:     func(m *Model) { m.later(tea.Quit) },
	keymap.Suspend:  func(m *Model) { m.later(tea.Suspend) },
	keymap.Redraw:   func(m *Model) { m.later(tea.ClearScreen) },

	keymap.Answer:        (*Model).showAnswer,
	keymap.Commands:      (*Model).commands,
	keymap.FullScreen:    func(m *Model) { m.full, m.chosen = !m.full, true },
	keymap.RelistBefore:  func(m *Model) { m.want(wish{relists: -1}) },
	keymap.RelistAfter:   func(m *Model) { m.want(wish{relists: 1}) },
	keymap.GoToTime:      (*Model).timePrompt,
	keymap.Play:          (*Model).playOn,
	keymap.PlaySlower:    func(m *Model) { m.speed(0.5) },
	keymap.PlayFaster:    func(m *Model) { m.speed(2) },
	keymap.Freeze:        (*Model).freeze,
	keymap.ZoomIn:        func(m *Model) { m.zoom(-1, "in") },
	keymap.ZoomOut:       func(m *Model) { m.zoom(1, "out") },
	keymap.AllNamespaces: func(m *Model) { m.SetNamespaces(nil) },
	keymap.Captions:      func(m *Model) { m.captions = !m.captions },
	keymap.SaveTape:      (*Model).saveTape,

	keymap.PauseRelist:  (*Model).pause,
	keymap.RelistNow:    (*Model).relistNow,
	keymap.EventSources: (*Model).switchStreams,
	keymap.Sweep:        (*Model).sweep,
	keymap.PeriodUp:     func(m *Model) { m.changePeriod(true) },
	keymap.PeriodDown:   func(m *Model) { m.changePeriod(false) },
}

// zoom draws more time across, or less of it, as far as that goes.
func (m *Model) zoom(steps int, way string) {
	if axis := m.view.Axis; !axis.Zoom(steps) {
		m.Say("time zooms no further " + way + ": " + text.Age(axis.Width) + " across")
	}
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
		m.Say("request cancelled")
	case n > 0:
		m.Close(m.layers[n-1])
	case m.leavePast():
	case !m.cfg.replays() && m.cancelSweep():
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

// paste puts text from the terminal into what is being typed.
func (m *Model) paste(s string) {
	if n := len(m.layers); n > 0 {
		if typist, ok := m.layers[n-1].(pane.Typist); ok {
			typist.Paste(s, m)
		}
	}
}
