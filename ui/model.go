package ui

import (
	"context"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
)

// A Model is the whole screen. It is a Bubble Tea model: Update is called from
// one goroutine and returns the next Model, View only reads.
type Model struct {
	cfg   Config
	theme *theme.Theme

	width, height int
	snap          *engine.Snapshot // what is shown; never nil
	latest        *engine.Snapshot // the newest; the same unless frozen
	headline      diagnose.Headline
	held          updateMsg // what arrived while frozen
	frozen        bool
	err           error // why the feed ended

	pods     pods
	events   events
	calls    calls
	findings findings
	detail   detail
	finding  findingSheet
	node     nodeSheet
	filter   filtering

	focus  pane
	under  pane // the one that shares a tall screen with the pods
	full   bool // the focused pane has the whole body
	layout layout
	gauge  gauge
	alerts []span
	open   opened // what lies over the panes
	flash  flash
	raw    context.CancelFunc // of the raw answer that is awaited, or nil
	asked  int                // how often raw answers were asked for
}

// New returns the screen before the first snapshot. It asks nothing of cfg's
// Feed before the program runs.
func New(cfg Config) Model {
	cfg = cfg.withDefaults()
	m := Model{
		cfg: cfg, theme: &cfg.Theme,
		snap: starting(), latest: starting(),
		headline: diagnose.Headline{Word: "STARTING"}, under: eventsPane,
		pods: newPods(), events: newEvents(cfg.EventsKept),
		width: 80, height: 24,
	}
	m.pods.trouble, m.pods.invert = cfg.Problems, cfg.Descending
	m.pods.sort, _ = columnNamed(cfg.Sort)
	m.events.times = clockNamed(cfg.Time)
	m.filter.namespaces = cfg.Namespaces
	if err := m.setFilter(cfg.Filter); err != nil {
		m.say("filter " + cfg.Filter + ": " + err.Error())
	}
	m.refresh()
	return m
}

// Init waits for the first update.
func (m Model) Init() tea.Cmd { return m.wait() }

// Update routes a message; the methods named do the work.
func (m Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	var cmd tea.Cmd
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
		m.refresh()
	case updateMsg:
		cmd = m.update(msg)
	case endedMsg:
		m.err, cmd = msg.err, tea.Quit
	case tea.KeyPressMsg:
		cmd = m.press(msg)
	case tea.PasteMsg:
		m.paste(msg.Content)
	case rawMsg:
		m.showRaw(msg)
	case savedMsg:
		m.saved(msg)
	}
	return m, cmd
}

// View wraps the frame in what the terminal needs to know.
func (m Model) View() tea.View {
	v := tea.NewView(m.frame())
	v.AltScreen = true
	v.WindowTitle = m.windowTitle()
	return v
}

// Err returns why there will be no more updates; nil while the feed goes on.
func (m Model) Err() error { return m.err }

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
	m.held.Events = append(m.held.Events, u.Events...)
	events := m.held.Events
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
	if m.headline.Sound() && slices.ContainsFunc(u.Findings, func(f diagnose.Finding) bool { return !f.In(m.filter.namespaces) }) {
		m.headline.Text = "" // which warnings there are elsewhere nobody asked
	}
	m.findings.observe(m.pen(), u.Update, m.filter.namespaces, m.focus == findingsPane && m.shows(findingsPane))
	m.pods.troubles = u.troubles
	m.pods.observe(m.snap)
	m.events.add(u.Lost, u.Events, m.snap.At)
	m.calls.observe(m.snap)
	m.alert()
	m.fillSheets()
}

// fillSheets writes the sheets anew that are open.
func (m *Model) fillSheets() {
	m.detail.observe(m.pen(), m.snap, &m.events, &m.pods)
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
