package ui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/ui/text"
)

// An updateMsg is what the feed delivered, with the pods that have a problem; an
// endedMsg says why it has ended.
type (
	updateMsg struct {
		diagnose.Update
		troubles map[pleg.UID]diagnose.Trouble
	}
	endedMsg struct{ err error }
)

// wait returns the command that waits for the next update. It is given out once
// at the start and once for each update, so one wait is outstanding.
func (m *Model) wait() tea.Cmd {
	ctx, feed := m.cfg.Context, m.cfg.Feed
	return func() tea.Msg {
		u, err := feed.Next(ctx)
		if err != nil {
			return endedMsg{err}
		}
		return updateMsg{u, u.Troubled()}
	}
}

// update takes over an update, or holds it while the screen is frozen.
func (m *Model) update(msg updateMsg) tea.Cmd {
	m.latest = msg.Snapshot
	if m.frozen {
		m.hold(msg)
	} else {
		m.observe(msg)
	}
	m.flash.pass(m.latest.At)
	return m.wait()
}

// hold keeps what arrives while the screen is frozen: the newest snapshot, and
// as many events as the pane would keep.
func (m *Model) hold(u updateMsg) {
	events := append(m.held.Events, u.Events...)
	u.Lost += m.held.Lost
	if over := len(events) - m.cfg.EventsKept; over > m.cfg.EventsKept/8 {
		events = slices.Clone(events[over:])
		u.Lost += uint64(over)
	}
	u.Events = events
	m.held = u
}

// observe shows an update.
func (m *Model) observe(u updateMsg) {
	m.snap, m.headline = u.Snapshot, u.Headline
	m.findings.observe(m.pen(), u.Update, m.focus == findingsPane && m.shows(findingsPane))
	m.pods.troubles = u.troubles
	m.pods.observe(m.snap)
	m.events.add(u.Lost, u.Events, m.snap.At)
	m.calls.observe(m.snap)
	m.detail.observe(m.pen(), m.snap, &m.events, m.pods.troubles)
	m.alert()
	m.fillSheets()
}

// fillSheets writes the sheets of a finding and of the node anew, if open.
func (m *Model) fillSheets() {
	m.finding.observe(m.pen(), &m.findings, m.width-2)
	m.node.observe(m.pen(), m.snap, m.cfg.Source, m.width-2)
}

// freeze keeps the screen as it is, or catches up with the engine.
func (m *Model) freeze() {
	m.frozen = !m.frozen
	if m.frozen {
		m.say("frozen: the engine goes on, the screen stands still")
		return
	}
	if m.held.Snapshot != nil {
		m.observe(m.held)
	}
	m.say("caught up: " + text.Count(uint64(len(m.held.Events))) + " events")
	m.held = updateMsg{}
}
