package ui

import (
	tea "charm.land/bubbletea/v2"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/ui/text"
)

// An updateMsg is what the feed delivered; an endedMsg says why it has ended.
type (
	updateMsg engine.Update
	endedMsg  struct{ err error }
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
		return updateMsg(u)
	}
}

// update takes over an update, or holds it while the screen is frozen.
func (m *Model) update(msg updateMsg) tea.Cmd {
	u := engine.Update(msg)
	m.latest = u.Snapshot
	m.history.Add(u)
	if m.frozen {
		m.hold(u)
	} else {
		m.observe(u)
	}
	m.flash.pass(m.latest.At)
	return m.wait()
}

// hold keeps what arrives while the screen is frozen: the newest snapshot, and
// as many events as the pane would keep.
func (m *Model) hold(u engine.Update) {
	m.held.Snapshot = u.Snapshot
	m.held.Lost += u.Lost
	m.held.Events = append(m.held.Events, u.Events...)
	if over := len(m.held.Events) - m.cfg.EventsKept; over > m.cfg.EventsKept/8 {
		m.held.Events = append([]engine.Event(nil), m.held.Events[over:]...)
		m.held.Lost += uint64(over)
	}
}

// observe shows an update.
func (m *Model) observe(u engine.Update) {
	m.snap = u.Snapshot
	m.judge()
	m.pods.observe(m.snap)
	m.events.add(u.Lost, u.Events, m.snap.At)
	m.calls.observe(m.snap)
	m.detail.observe(m.brush(), m.snap, &m.events, m.pods.accused)
	m.alert()
	m.fillSheets()
}

// alert works out the alerts, and makes room for them and for the findings where
// their number has changed. Of findings that are seen below, only the worst is
// among them.
func (m *Model) alert() {
	b := m.brush()
	all := findingAlerts(m.unread())
	if m.shows(findingsPane) {
		all = all[:min(1, len(all))]
	}
	all = append(all, callAlerts(m.snap, m.findings.all)...)
	m.alerts = m.unfolded(m.withSweep(b, alerts(b, m.snap, all, m.width)))
	if m.alertLines() != m.layout.alerts || m.findings.need() != m.layout.found {
		m.arrange()
	}
}

// freeze keeps the screen as it is, or catches up with the engine.
func (m *Model) freeze() {
	m.frozen = !m.frozen
	if m.frozen {
		m.say("frozen: the engine goes on, the screen stands still")
		return
	}
	m.report = m.looked
	if m.held.Snapshot != nil {
		m.observe(m.held)
	}
	m.say("caught up: " + text.Count(uint64(len(m.held.Events))) + " events")
	m.held = engine.Update{}
}
