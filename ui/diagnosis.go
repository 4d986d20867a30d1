package ui

import (
	tea "charm.land/bubbletea/v2"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/evidence"
)

// A reportMsg is a look at the node, or says why there will be no more.
type reportMsg struct {
	report evidence.Report
	err    error
}

// lookAgain returns the command that waits for the next look at the node, or nil
// if nobody looks. Like that of the feed it is given out once at the start and
// once for each answer.
func (m *Model) lookAgain() tea.Cmd {
	ctx, evidence := m.cfg.Context, m.cfg.Evidence
	if evidence == nil {
		return nil
	}
	return func() tea.Msg {
		r, err := evidence(ctx)
		return reportMsg{r, err}
	}
}

// reported takes over a look at the node. While the screen is frozen it is kept
// for later; the history has it in any case.
func (m *Model) reported(msg reportMsg) tea.Cmd {
	if msg.err != nil {
		return nil
	}
	m.looked = &msg.report
	m.history.AddReport(m.looked)
	if !m.frozen {
		m.report = m.looked
		m.observe(engine.Update{Snapshot: m.snap})
	}
	return m.lookAgain()
}

// judge works out the findings, and which pods they are about.
func (m *Model) judge() {
	if m.snap.Seq == 0 {
		return
	}
	m.findings.observe(m.brush(), m.cfg.Diagnose(diagnose.Input{
		Snapshot: m.snap, History: m.history, Evidence: m.report, Endpoint: m.cfg.Source.Endpoint,
	}), m.focus == findingsPane && m.shows(findingsPane))
	m.pods.accused = accusations(m.findings.all)
}

// fillSheets writes the sheets of a finding and of the node anew, if open.
func (m *Model) fillSheets() {
	m.finding.observe(m.brush(), &m.findings, m.width-2)
	m.node.observe(m.brush(), m.snap, m.report, m.cfg.Source, m.width-2)
}

// resized gives everything the room of a terminal of that size.
func (m *Model) resized(size tea.WindowSizeMsg) {
	m.width, m.height = size.Width, size.Height
	m.alert()
	m.arrange()
	m.fillSheets()
}
