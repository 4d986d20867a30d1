package ui

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/dialog"
	"github.com/plegtop/plegtop/ui/text"
)

// opened is what lies over the panes, and what is asked in the footer. Of those
// over the panes the first that is set is seen; the others wait under it.
type opened struct {
	help   *dialog.Help
	picker *dialog.Picker
	viewer *dialog.Viewer

	prompt  *dialog.Prompt
	typed   func(*Model, dialog.Answer) // what the prompt's answers do
	confirm *dialog.Confirm
	before  string   // the filter that held when the prompt was opened
	history []string // filters that were accepted, the newest last
}

// over reports whether something lies over the panes.
func (o *opened) over() bool { return o.help != nil || o.picker != nil || o.viewer != nil }

// asking reports whether the footer waits for an answer.
func (o *opened) asking() bool { return o.prompt != nil || o.confirm != nil }

// askLine returns the line of what is asked.
func (d *frame) askLine() string {
	if d.open.confirm != nil {
		return d.open.confirm.Line(d.width, *d.Theme)
	}
	return d.open.prompt.Line(d.width, *d.Theme)
}

// overLines returns the lines of what lies over the panes, or nil.
func (m *Model) overLines() []string {
	w, h, o := m.width, m.layout.lines, &m.open
	switch {
	case o.help != nil:
		return o.help.Lines(w, h, *m.theme)
	case o.picker != nil:
		return o.picker.Lines(w, h, *m.theme)
	case o.viewer != nil:
		return o.viewer.Lines(w, h, *m.theme)
	}
	return nil
}

// answer gives a key to what is asked in the footer.
func (m *Model) answer(k tea.KeyPressMsg) {
	if m.open.confirm != nil {
		m.confirm(m.open.confirm.Key(k))
		return
	}
	m.open.typed(m, m.open.prompt.Key(k))
}

func (m *Model) confirm(a dialog.Answer) {
	if a == dialog.Open {
		return
	}
	m.open.confirm = nil
	if a == dialog.Accepted {
		m.beginSweep()
	}
}

// filtered applies the filter while it is being typed. As long as it is wrong,
// the one that held before is in force: what it happened to mean some letters
// ago is of no use. A wrong one cannot be accepted.
func (m *Model) filtered(a dialog.Answer) {
	p := m.open.prompt
	switch a {
	case dialog.Closed:
		_ = m.setFilter(m.open.before) // parsed once already
		m.open.prompt = nil
	case dialog.Changed, dialog.Accepted:
		err := m.setFilter(p.Value())
		p.Error = ""
		if err != nil {
			p.Error = err.Error()
			_ = m.setFilter(m.open.before) // parsed once already
			return
		}
		if a == dialog.Accepted {
			m.open.prompt = nil
			m.remember(m.filter.text)
		}
	}
}

func (m *Model) remember(filter string) {
	if n := len(m.open.history); filter != "" && (n == 0 || m.open.history[n-1] != filter) {
		m.open.history = append(m.open.history, filter)
	}
}

func (m *Model) searched(a dialog.Answer) {
	p, v := m.open.prompt, m.open.viewer
	switch a {
	case dialog.Closed:
		v.Search("")
		m.open.prompt = nil
	case dialog.Changed:
		v.Search(p.Value())
	case dialog.Accepted:
		m.say(fmt.Sprintf("%d lines match; %s goes to the next", v.Search(p.Value()), m.keys(keymap.MatchNext)))
		m.open.prompt = nil
	}
}

// actOver gives a key to what lies over the panes.
func (m *Model) actOver(a keymap.Action, k tea.KeyPressMsg) tea.Cmd {
	switch o := &m.open; {
	case o.help != nil:
		if o.help.Key(k, a) == dialog.Closed {
			o.help = nil
		}
	case o.picker != nil:
		m.picked(o.picker.Key(k, a))
	default:
		return m.actViewer(a, k)
	}
	return nil
}

func (m *Model) picked(a dialog.Answer) {
	p := m.open.picker
	switch a {
	case dialog.Toggled:
		if row, ok := p.Current(); ok && p.Live {
			m.setFault(row)
		}
	case dialog.Accepted:
		m.open.picker = nil
		if !p.Live {
			m.setNamespaces(p.On())
		}
	case dialog.Closed:
		m.open.picker = nil
	}
}

func (m *Model) setFault(row dialog.Row) {
	for _, f := range m.cfg.Faults {
		if f.Name == row.Name {
			f.Set(row.On)
			m.say(f.Name + pick(row.On, " is on", " is off"))
		}
	}
}

func (m *Model) actViewer(a keymap.Action, k tea.KeyPressMsg) tea.Cmd {
	switch a {
	case keymap.Help:
		m.openHelp()
	case keymap.Filter:
		p := dialog.NewPrompt("search", "", nil)
		m.open.prompt, m.open.typed = &p, (*Model).searched
	case keymap.Copy:
		m.say("copied the whole text")
		return tea.SetClipboard(m.open.viewer.Source())
	default:
		if m.open.viewer.Key(k, a) == dialog.Closed {
			m.open.viewer = nil
		}
	}
	return nil
}

func (m *Model) openHelp() { m.open.help = dialog.NewHelp(m.cfg.Keys) }

func (m *Model) openFilter() {
	p := dialog.NewPrompt("filter", m.filter.text, m.open.history)
	m.open.prompt, m.open.typed, m.open.before = &p, (*Model).filtered, m.filter.text
}

func (m *Model) openNamespaces() {
	names, pods := m.namespacesSeen()
	rows := make([]dialog.Row, len(names))
	for i, name := range names {
		on := len(m.filter.namespaces) > 0 && m.filter.namespace(name)
		rows[i] = dialog.Row{Name: name, Note: text.Count(uint64(pods[name])) + pick(pods[name] == 1, " pod", " pods"), On: on}
	}
	m.open.picker = dialog.NewPicker("Namespaces", rows, false)
}

func (m *Model) openFaults() {
	rows := make([]dialog.Row, len(m.cfg.Faults))
	for i, f := range m.cfg.Faults {
		rows[i] = dialog.Row{Name: f.Name, Note: f.Summary, On: f.On()}
	}
	m.open.picker = dialog.NewPicker("Faults of the demo", rows, true)
}

func (m *Model) openViewer(title, s string) { m.open.viewer = dialog.NewViewer(title, s) }

// paste puts text from the terminal into what is being typed.
func (m *Model) paste(s string) {
	if m.open.prompt != nil {
		m.open.prompt.Paste(s)
		m.open.typed(m, dialog.Changed)
	}
}
