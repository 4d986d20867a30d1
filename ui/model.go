package ui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
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
	m.alert()
	m.arrange()
	return m
}

// Init waits for the first update.
func (m Model) Init() tea.Cmd { return m.wait() }

// Update routes a message; the methods named do the work.
func (m Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	var cmd tea.Cmd
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.resized(msg)
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
