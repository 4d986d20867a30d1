package ui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/plegtop/plegtop/keymap"
)

// keys returns the keys of an action as a person reads them.
func (m *Model) keys(a keymap.Action) string { return m.cfg.Keys.Keys(a) }

// scope is the place in which a key is pressed.
func (m *Model) scope() keymap.Scope {
	switch {
	case m.open.help != nil, m.open.viewer != nil && m.open.picker == nil:
		return keymap.InViewer
	case m.open.picker != nil:
		return keymap.Global
	case m.node.open:
		return keymap.InNode
	case m.detail.pod != nil:
		return keymap.InDetail
	case m.finding.open:
		return keymap.InFinding
	}
	return [panes]keymap.Scope{keymap.InPods, keymap.InEvents, keymap.InCalls, keymap.InFindings}[m.focus]
}

// press does what a key asks for: what is open sees it first. Only a control
// key that quits, such as ^c, does so from anywhere, also while one types.
func (m *Model) press(k tea.KeyPressMsg) tea.Cmd {
	m.flash.text = ""
	if k.Mod.Contains(tea.ModCtrl) && m.cfg.Keys.Action(k, keymap.Global) == keymap.Quit {
		return tea.Quit
	}
	if m.open.asking() {
		m.answer(k)
		return nil
	}
	a := m.cfg.Keys.Action(k, m.scope())
	if m.open.over() {
		return m.actOver(a, k)
	}
	return m.act(a)
}

// act tries, one after the other, those who may know the action.
func (m *Model) act(a keymap.Action) tea.Cmd {
	switch a {
	case keymap.Quit:
		return tea.Quit
	case keymap.Suspend:
		return tea.Suspend
	case keymap.Redraw:
		return tea.ClearScreen
	}
	if m.actMove(a) || m.actEngine(a) || m.actView(a) || m.actPane(a) {
		return nil
	}
	return m.actCommand(a)
}

// actMove moves the cursor of the pane that has the keys.
func (m *Model) actMove(a keymap.Action) bool {
	if s, _ := m.onTop(); s != nil {
		return s.pan(a)
	}
	switch m.focus {
	case eventsPane:
		return m.events.move(a)
	case callsPane:
		return m.calls.move(a, len(m.calls.of))
	case findingsPane:
		return m.findings.move(a)
	}
	if a == keymap.Left || a == keymap.Right {
		m.pods.fold(a == keymap.Right, m.snap.At)
		return true
	}
	moved := m.pods.move(a, len(m.pods.rows))
	m.pods.note()
	return moved
}

// actView changes what is shown of the panes, and which.
func (m *Model) actView(a keymap.Action) bool {
	switch a {
	case keymap.Help:
		m.openHelp()
	case keymap.Back:
		m.back()
	case keymap.NextPane:
		m.focusOn((m.focus + 1) % panes)
	case keymap.PrevPane:
		m.focusOn((m.focus + panes - 1) % panes)
	case keymap.Pane(1), keymap.Pane(2), keymap.Pane(3), keymap.Pane(4):
		m.focusOn(pane(slices.Index(paneActions[:], a)))
	case keymap.Node:
		m.openNode()
	case keymap.FullScreen:
		m.full = !m.full
		m.refresh()
	case keymap.Freeze:
		m.freeze()
	case keymap.Filter:
		m.openFilter()
	case keymap.Namespaces:
		m.openNamespaces()
	case keymap.AllNamespaces:
		m.setNamespaces(nil)
	case keymap.Faults, keymap.Director:
		m.openFaults()
	case keymap.TimeFormat:
		m.events.times = (m.events.times + 1) % clockStyles
		m.say("event times: " + clockNames[m.events.times])
	default:
		return false
	}
	return true
}

// focusOn gives the keys to a pane; a small screen shows it in the place of its
// lines.
func (m *Model) focusOn(p pane) {
	for m.closeTop() {
	}
	m.focus = p
	if p != podsPane {
		m.under = p
	}
	if m.small() {
		m.full = true
	}
	m.refresh()
}

// back undoes the last step into something: a sheet, a sweep, the full screen,
// the filter.
func (m *Model) back() {
	switch {
	case m.dropRaw():
		m.say("given up")
	case m.closeTop():
		m.refresh()
	case m.cancelSweep():
	case m.full:
		m.full = false
		m.refresh()
	case m.filter.text != "":
		_ = m.setFilter("") // no filter always parses
		m.say("filter dropped")
	case m.pods.trouble:
		m.problemsOnly()
	}
}

// actPane does what a key means in one of the panes.
func (m *Model) actPane(a keymap.Action) bool {
	switch a {
	case keymap.ProblemsOnly:
		m.problemsOnly()
	case keymap.NextProblem, keymap.PrevProblem:
		m.problem(pick(a == keymap.NextProblem, 1, -1))
	case keymap.SortPrev, keymap.SortNext:
		m.sort(pick(a == keymap.SortNext, 1, -1))
	case keymap.SortInvert:
		m.invert()
	case keymap.Fold:
		m.pods.fold(!m.pods.isOpen(), m.snap.At)
	case keymap.Detail:
		m.openDetail()
	case keymap.Follow:
		m.events.setFollow(!m.events.follow)
		m.say(pick(m.events.follow, "following the newest event", "staying here; "+m.keys(keymap.Follow)+" follows again"))
	case keymap.Mark:
		m.mark()
	case keymap.MatchNext, keymap.MatchPrev:
		m.match(pick(a == keymap.MatchNext, 1, -1))
	case keymap.Wrap:
		m.events.wrap = !m.events.wrap
		m.arrange()
	default:
		return false
	}
	return true
}

func (m *Model) problemsOnly() {
	m.pods.trouble = !m.pods.trouble
	m.pods.rebuild(m.snap.At)
	m.say(pick(m.pods.trouble, "pods with a problem only", "all pods"))
}

// problem goes to a pod that is in trouble, from whatever pane.
func (m *Model) problem(step int) {
	m.focusOn(podsPane)
	if !m.pods.jump(step) {
		m.say(pick(m.pods.troubled > 0, "the pods with a problem are not among those shown", "no pod has a problem"))
	}
}

// sort changes what the pane that has the keys is sorted by.
func (m *Model) sort(step int) {
	s, _ := m.onTop()
	switch {
	case s != nil:
	case m.focus == eventsPane:
		m.say("events stay in the order in which they came")
	case m.focus == callsPane:
		m.say("calls sorted by " + strings.ToLower(m.calls.sortNext(step, m.snap)))
	case m.focus == findingsPane:
		m.say("findings stay in the order of their causes")
	default:
		m.say("sorted by " + strings.ToLower(podColumns[m.pods.sortNext(step, m.snap.At)].head))
	}
}

// invert turns that order round.
func (m *Model) invert() {
	s, _ := m.onTop()
	switch {
	case s != nil || m.focus == eventsPane || m.focus == findingsPane:
	case m.focus == callsPane:
		m.calls.invert = !m.calls.invert
		m.calls.observe(m.snap)
	default:
		m.pods.invert = !m.pods.invert
		m.pods.rebuild(m.snap.At)
	}
}

func (m *Model) mark() {
	if r := m.events.current(); r != nil && m.focus == eventsPane {
		r.marked = !r.marked
		m.say(pick(r.marked, "marked; "+m.keys(keymap.MatchNext)+" goes from mark to mark", "mark removed"))
	}
}

func (m *Model) match(step int) {
	if s, _ := m.onTop(); m.focus != eventsPane || s != nil {
		return
	}
	if what, found := m.events.jump(step); !found {
		m.say("no " + what + pick(step > 0, " below", " above"))
	}
}
