// Package ui is the screen: one Bubble Tea model that shows what the engine publishes
// and asks the engine for what a key means.
//
// Data flows one way. A command waits for the feed; its answer is the only way in
// which a snapshot reaches the model, and the next wait starts only then, so at most
// one snapshot is ever under way, and what a slow terminal misses are older ones;
// events that it has missed are counted and shown as a gap. What is shown is worked
// out when a snapshot or a key arrives; drawing a frame only reads, and builds no
// more than the rows that are visible. The model does no I/O, reads no clock and
// blocks nowhere: time comes from the snapshots, slow answers come from commands.
//
// Texts from the runtime are cleaned by package text at the moment they are written
// to a line, and nothing is written to the screen in another way.
package ui

import (
	"context"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/guard"
	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/header"
	"github.com/plegtop/plegtop/ui/model"
	"github.com/plegtop/plegtop/ui/pane"
	"github.com/plegtop/plegtop/ui/strip"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
	"github.com/plegtop/plegtop/ui/widget"
)

// A Model is the whole screen. It is a Bubble Tea model: Update is called from
// one goroutine, View only reads.
type Model struct {
	cfg   Config
	view  pane.View
	found diagnose.Update // what is shown, of all namespaces
	held  updateMsg       // what arrived while frozen
	err   error           // why the feed ended

	width, height int
	header        header.Header
	panes         []pane.Pane
	focus         int         // the pane that has the keys while no layer has them
	under         int         // the one that shares a tall screen with the first
	full          bool        // the focused pane has the whole body
	chosen        bool        // a person has chosen a pane: it is not taken away while something is wrong
	moved         bool        // a person has moved the cursor since the answer is shown
	preview       preview     // of what the cursor is on
	layers        []pane.Pane // over the panes; the last one has the keys
	layout        layout
	given         []place // in which panes and layers were given the view, in their order
	tabbed        []tab   // the tabs of the title that was drawn last, for the next one

	past     recorded
	streams  streams
	captions bool
	flash    flash
	raw      context.CancelFunc  // gives up the raw answer that is awaited; nil for none
	replies  []pane.Reply        // that have come and were not heard yet
	cmds     []tea.Cmd           // of the message under way
	chose    func(keymap.Action) // does what was chosen from the list of commands
	tick     func(time.Duration, func(time.Time) tea.Msg) tea.Cmd
}

// New returns the screen before the first snapshot. It asks nothing of cfg's
// Feed before the program runs.
func New(cfg Config) *Model { return newModel(cfg, panes) }

func newModel(cfg Config, panes []func(pane.Settings) pane.Pane) *Model {
	cfg = cfg.withDefaults()
	m := &Model{cfg: cfg, width: 80, height: 24, under: 1, captions: cfg.Captions, tick: tea.Tick}
	m.chose = m.run
	starting := &engine.Snapshot{Phase: engine.Phase{Step: engine.Waiting}}
	m.view = pane.View{
		Snapshot: starting, Latest: starting, Source: cfg.Source, Theme: &m.cfg.Theme,
		Pods: new(model.Pods), Journal: model.NewJournal(cfg.EventsKept), Axis: widget.NewAxis(),
	}
	m.found.Headline.Word, m.found.Headline.Text = "STARTING", "waiting for the first answers of kubelet and runtime"
	if cfg.replays() {
		m.found.Headline.Text = "reading the recording"
	}
	m.badge()
	m.view.Filter.Namespaces = cfg.Namespaces
	names := make([]string, len(panes))
	for i, open := range panes {
		m.panes = append(m.panes, open(cfg.Panes))
		names[i] = m.panes[i].Info().Name
	}
	m.cfg.Keys = cfg.Keys.WithPanes(names)
	m.view.Keys = m.cfg.Keys
	m.header = header.Header{Keys: m.Keys, Strip: strip.Relists}
	m.refilter()
	if err := m.SetFilter(cfg.Filter); err != nil {
		m.Say("filter " + cfg.Filter + ": " + err.Error())
	}
	m.settle()
	return m
}

// Init waits for the first update, or begins to show a recording.
func (m *Model) Init() tea.Cmd {
	if m.cfg.replays() {
		m.beginReplay()
	} else {
		m.later(m.wait())
	}
	if m.cfg.Notes != nil {
		m.later(m.note)
	}
	return m.pending()
}

// Update routes a message to what it changes, and then has all of it shown as it is now.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case updateMsg:
		m.update(msg)
	case endedMsg:
		m.err = msg.err
		m.later(tea.Quit)
	case tea.KeyPressMsg:
		m.press(msg)
	case tea.PasteMsg:
		m.paste(msg.Content)
	case tea.BackgroundColorMsg:
		m.background(msg.IsDark())
	case pane.Reply:
		m.replies = append(m.replies, msg)
	case pastMsg:
		msg(m)
	}
	m.answer()
	m.settle()
	return m, m.pending()
}

// answer hears the replies that have come. While a person types they wait: what one of them
// opens would take the keys, and what it says would not be seen.
func (m *Model) answer() {
	for len(m.replies) > 0 && !m.typing() {
		reply := m.replies[0]
		m.replies = m.replies[1:]
		reply(m)
	}
}

// View wraps the frame in what the terminal needs to know.
func (m *Model) View() tea.View {
	v := tea.NewView(m.frame())
	v.AltScreen = true
	v.WindowTitle = text.Clean(strings.TrimSpace("plegtop " + m.cfg.Source.Node + " " + m.view.Headline.Word)) // which does not change while nothing happens
	return v
}

// Err returns why there will be no more updates; nil while the feed goes on.
func (m *Model) Err() error { return m.err }

// later has a command run after the message under way; nil is none. Bubble Tea runs it in a
// goroutine of its own.
func (m *Model) later(cmd tea.Cmd) {
	if cmd != nil {
		m.cmds = append(m.cmds, func() tea.Msg {
			defer guard.Catch()
			return cmd()
		})
	}
}

func (m *Model) pending() tea.Cmd {
	cmds := m.cmds
	m.cmds = nil
	return tea.Batch(cmds...)
}

// An updateMsg is what the feed delivered, with how the pods stand; an endedMsg says why it
// has ended.
type (
	updateMsg struct {
		diagnose.Update
		pods []*diagnose.Standing
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
		return updateMsg{u, u.Standings()}
	}
}

// update takes over an update, or holds it while the screen is frozen.
func (m *Model) update(msg updateMsg) {
	m.view.Latest = msg.Snapshot
	m.followStreams()
	switch p := m.past.live; {
	case p != nil:
		m.hold(msg, p.journal)
	case m.view.Frozen:
		m.hold(msg, m.view.Journal)
	default:
		m.observe(msg)
	}
	m.badge()
	m.later(m.wait())
}

// hold keeps what arrives while the screen is frozen, or shows the past: the newest snapshot, and
// as many events as the journal would keep, which counts those before them as lost. What a
// snapshot tells of the last minutes the journal takes down of each.
func (m *Model) hold(u updateMsg, journal *model.Journal) {
	m.held.Events = append(m.held.Events, u.Events...)
	u.Events = m.held.Events
	if over := len(u.Events) - m.cfg.EventsKept; over > m.cfg.EventsKept/8 {
		u.Events = slices.Clone(u.Events[over:])
	}
	m.held = u
	journal.Hold(u.Snapshot)
}

func (m *Model) observe(u updateMsg) {
	v := &m.view
	v.Snapshot, m.found = u.Snapshot, u.Update
	m.find()
	v.Pods.Observe(u.Snapshot, u.pods)
	v.Journal.Observe(u.Update.Update)
	v.Axis.Follow(u.Snapshot.At)
	if d := m.cfg.Director; d != nil {
		v.Source.Scenario = d.State().Scenario // it may have chosen another one
	}
}

// find shows what was found in the namespaces that are shown.
func (m *Model) find() {
	u := m.found.Within(m.view.Filter.Namespaces)
	m.view.Headline, m.view.Findings, m.view.Ended, m.view.Answer = u.Headline, u.Findings, u.Ended, u.Answer()
}

// freeze keeps the screen as it is, or catches up with the engine.
func (m *Model) freeze() {
	m.view.Frozen = !m.view.Frozen
	if m.view.Frozen {
		m.Say("screen frozen: the engine goes on, the screen does not change")
		return
	}
	m.catchUp("caught up")
}

// catchUp shows what was held, and says so.
func (m *Model) catchUp(said string) {
	if m.held.Snapshot != nil {
		m.observe(m.held)
	}
	m.Say(said + ": " + text.Count(uint64(len(m.held.Events))) + " events")
	m.held = updateMsg{}
}

// background takes the theme that can be read on the terminal's own background, unless
// a person chose one.
func (m *Model) background(dark bool) {
	if !m.cfg.Follow {
		return
	}
	t := theme.For(dark)
	if m.cfg.ASCII {
		t = t.Plain()
	}
	m.view.Theme = &t
}
