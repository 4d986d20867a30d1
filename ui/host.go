package ui

import (
	"reflect"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/model"
	"github.com/plegtop/plegtop/ui/pane"
)

var _ pane.Host = (*Model)(nil)

// Keys returns the keys of an action as a person reads them.
func (m *Model) Keys(a keymap.Action) string { return m.cfg.Keys.Keys(a) }

// flashFor is how long the answer to a key stays, by the clock on the wall: an engine's
// time may run faster, or stand still.
const flashFor = 4 * time.Second

// A flash is the answer to a key.
type flash struct {
	text  string
	count int // of those there were
}

// Say shows an answer in the footer for a while.
func (m *Model) Say(text string) {
	m.flash.text = text
	m.flash.count++
	count := m.flash.count
	m.later(m.tick(flashFor, func(time.Time) tea.Msg {
		return pane.Reply(func(pane.Host) {
			if m.flash.count == count {
				m.flash.text = ""
			}
		})
	}))
}

// Open lays a pane over all others. One of its kind and name that is open already goes,
// with what lies over it: who goes from a pod to its event and back has one step to take
// back.
func (m *Model) Open(p pane.Pane) {
	is := p.Info()
	same := func(l pane.Pane) bool { return l.Info().Name == is.Name && reflect.TypeOf(l) == reflect.TypeOf(p) }
	if i := slices.IndexFunc(m.layers, same); i >= 0 {
		m.layers = m.layers[:i]
	}
	at := len(m.layers)
	for is.Beside && at > 0 && m.layers[at-1].Info().Foot {
		at--
	}
	m.layers = slices.Insert(m.layers, at, p)
}

// Close takes a layer away, with what lies over it, but for a line at the foot that it stands
// beside.
func (m *Model) Close(p pane.Pane) {
	i := slices.Index(m.layers, p)
	if i < 0 {
		return
	}
	end := len(m.layers)
	if p.Info().Beside && !slices.ContainsFunc(m.layers[i+1:], func(l pane.Pane) bool { return !l.Info().Foot }) {
		end = i + 1
	}
	m.layers = slices.Delete(m.layers, i, end)
}

// Focus gives the keys to one of the panes; a small screen shows it in the place of its
// lines.
func (m *Model) Focus(p pane.Pane) {
	i := slices.Index(m.panes, p)
	if i < 0 {
		return
	}
	m.layers = slices.DeleteFunc(m.layers, func(p pane.Pane) bool { return !p.Info().Foot })
	m.focus = i
	if i > 0 {
		m.under = i
	}
	m.full, m.chosen = m.full || m.small(), true
}

// lead has the answer to what is wrong come first, unless a person has chosen a pane.
func (m *Model) lead() {
	v := &m.view
	v.Led = !m.chosen && min(v.Headline.Severity, v.Answer.Severity) == diagnose.Critical
	m.moved = m.moved && v.Led
}

// showAnswer goes back from whatever a person has chosen.
func (m *Model) showAnswer() {
	m.Focus(m.panes[0])
	m.chosen, m.full, m.moved = false, false, false
	if m.lead(); !m.view.Led {
		m.Say("nothing critical is wrong: all panes are shown as usual")
	}
}

// order puts the pods into the order that a pane says.
func (m *Model) order() {
	m.lead()
	for _, p := range m.panes {
		if o, ok := p.(pane.Orderer); ok {
			m.view.Pods.Arrange(o.Order(&m.view))
		}
	}
}

// OpenSheet opens the sheet about a subject, and reports whether there is one.
func (m *Model) OpenSheet(s pane.Subject) bool {
	p := m.sheetOf(s)
	if p != nil {
		m.Open(p)
	}
	return p != nil
}

// sheetOf returns the sheet about a subject; nil if there is none.
func (m *Model) sheetOf(s pane.Subject) pane.Pane {
	for _, open := range sheets {
		if p := open(&m.view, s); p != nil {
			return p
		}
	}
	return nil
}

// SetFilter puts a filter in force. One that does not parse changes nothing,
// and its error is returned.
func (m *Model) SetFilter(text string) error {
	by, err := model.ParseFilter(text)
	if err != nil {
		return err
	}
	m.view.Filter.Text, m.view.Filter.By = by.String(), by
	m.refilter()
	return nil
}

// SetNamespaces shows only these; all if there is none.
func (m *Model) SetNamespaces(names []string) {
	m.view.Filter.Namespaces = names
	m.refilter()
	if len(names) == 0 {
		m.Say("all namespaces")
	}
}

// refilter applies what is asked for to pods, events and findings.
func (m *Model) refilter() {
	f := m.view.Filter
	m.view.Pods.Filter(func(p *model.Pod, at time.Time) bool {
		return f.Namespace(p.Pod.Namespace) && f.By.Pod(p, at)
	}, f.By.Timed())
	m.view.Journal.Filter(func(e engine.Event, at time.Time) bool {
		return f.Namespace(e.Pod.Namespace) && f.By.Event(e, at)
	}, f.By.Timed())
	m.find()
}
