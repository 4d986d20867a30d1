package ui

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/plegtop/plegtop/cri/sim/script"
	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/sources"
	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/pane"
)

// controls records what the screen asks of the engine.
type controls struct {
	mu   sync.Mutex
	got  []string
	raw  []byte
	fail error
}

func (c *controls) note(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.got = append(c.got, fmt.Sprintf(format, args...))
}

func (c *controls) Pause()                          { c.note("pause") }
func (c *controls) Resume()                         { c.note("resume") }
func (c *controls) RelistNow()                      { c.note("relist") }
func (c *controls) Reinspect(uid pleg.UID)          { c.note("reinspect %s", uid) }
func (c *controls) Sweep()                          { c.note("sweep") }
func (c *controls) CancelSweep()                    { c.note("cancel sweep") }
func (c *controls) SetPeriod(d time.Duration)       { c.note("period %v", d) }
func (c *controls) SetStreams(on ...sources.Source) { c.note("streams %v", on) }
func (c *controls) Raw(_ context.Context, uid pleg.UID) ([]byte, error) {
	c.note("raw %s", uid)
	return c.raw, c.fail
}

// idle is a feed that never has anything.
type idle struct{}

func (idle) Next(ctx context.Context) (diagnose.Update, error) {
	<-ctx.Done()
	return diagnose.Update{}, ctx.Err()
}

func testConfig(c *controls) Config {
	return Config{
		Feed: idle{}, Controls: c, Keys: keymap.Default(),
		Source: pane.Source{Kind: "cri", Node: "worker-17", Endpoint: "unix:///run/containerd/containerd.sock"},
	}
}

// A stage drives a model as a terminal and an engine would.
type stage struct {
	t        *testing.T
	m        *Model
	controls *controls
	cmd      tea.Cmd   // of the last message
	timers   []tea.Msg // that ran out, if they do

	found []diagnose.Finding // in what is shown from now on
	ended []diagnose.Ended
	live  *diagnose.Live // diagnoses what is shown, in their place, if not nil
	seen  engine.Update  // what live reads next
}

// Next makes the stage a feed for its Live.
func (s *stage) Next(context.Context) (engine.Update, error) { return s.seen, nil }

// newStage returns a stage with the panes that there are.
func newStage(t *testing.T, w, h int, change ...func(*Config)) *stage {
	t.Helper()
	return stageOf(t, w, h, panes, change...)
}

// stageOf returns a stage with some panes. A change may be nil.
func stageOf(t *testing.T, w, h int, panes []func(pane.Settings) pane.Pane, change ...func(*Config)) *stage {
	t.Helper()
	c := &controls{raw: []byte("{\n  \"sandbox\": \"3f2a\"\n}")}
	cfg := testConfig(c)
	for _, f := range change {
		if f != nil {
			f(&cfg)
		}
	}
	s := &stage{t: t, m: newModel(cfg, panes), controls: c}
	s.m.tick = func(_ time.Duration, f func(time.Time) tea.Msg) tea.Cmd {
		s.timers = append(s.timers, f(Noon))
		return nil
	}
	s.send(tea.WindowSizeMsg{Width: w, Height: h})
	return s
}

func (s *stage) send(msg tea.Msg) *stage {
	s.t.Helper()
	_, s.cmd = s.m.Update(msg)
	return s
}

// elapse lets the time pass that answers to keys stay.
func (s *stage) elapse() *stage {
	for _, msg := range s.timers {
		s.send(msg)
	}
	return s
}

// find sets what is found from now on.
func (s *stage) find(found ...diagnose.Finding) *stage {
	s.found = found
	return s
}

// end sets what ended lately from now on, a minute ago and each a minute before the
// one above.
func (s *stage) end(found ...diagnose.Finding) *stage {
	s.ended = nil
	for i, f := range found {
		end := Ago(time.Duration(i+1) * time.Minute)
		s.ended = append(s.ended, diagnose.Ended{Finding: f, Began: end.Add(-47 * time.Second), End: end, Worst: diagnose.Critical})
	}
	return s
}

// diagnosed has what is shown diagnosed from now on, in the place of find.
func (s *stage) diagnosed() *stage {
	s.live = diagnose.NewLive(s, s.m.cfg.Source.Endpoint)
	return s
}

func (s *stage) show(snap *engine.Snapshot, events ...engine.Event) *stage {
	s.t.Helper()
	return s.update(engine.Update{Snapshot: snap, Events: events})
}

func (s *stage) update(u engine.Update) *stage {
	s.t.Helper()
	d := diagnose.Update{Update: u, Headline: HeadlineOf(u.Snapshot, s.found), Findings: s.found, Ended: s.ended}
	if s.live != nil {
		s.seen = u
		d, _ = s.live.Next(s.t.Context())
	}
	return s.send(updateMsg{d, d.Standings()})
}

// report shows the same again, with a look at the node.
func (s *stage) report(r evidence.Report) *stage {
	s.t.Helper()
	snap := *s.m.view.Latest
	snap.Evidence = &r
	return s.show(&snap)
}

// press sends keys by their names: "j", "enter", "ctrl+s".
func (s *stage) press(keys ...string) *stage {
	s.t.Helper()
	for _, k := range keys {
		s.send(keyNamed(k))
	}
	return s
}

// run runs the commands of the last message and feeds their answers back.
func (s *stage) run() *stage {
	s.t.Helper()
	if s.cmd == nil {
		s.t.Fatal("no command to run")
	}
	switch msg := s.cmd().(type) {
	case tea.BatchMsg:
		for _, cmd := range msg {
			s.send(cmd())
		}
	default:
		s.send(msg)
	}
	return s
}

// rowOf returns the line of the frame that holds text, without its look.
func (s *stage) rowOf(text string) string {
	for line := range strings.SplitSeq(withoutStyles(s.m.frame()), "\n") {
		if strings.Contains(line, text) {
			return line
		}
	}
	return ""
}

// on returns the name of the pod under the cursor, or of what in it that is on.
func (s *stage) on() string {
	of := s.m.active().Subject()
	return cmp.Or(of.Container, of.ID, of.Pod.Name)
}

func (s *stage) asked() string { return strings.Join(s.controls.got, ", ") }

// focused returns the name of what has the keys.
func (s *stage) focused() string {
	if n := len(s.m.layers); n > 0 {
		return s.m.layers[n-1].Info().Name
	}
	return s.m.panes[s.m.focus].Info().Name
}

// pods returns the names of the pods that are shown.
func (s *stage) pods() string {
	var names []string
	for _, p := range s.m.view.Pods.Shown {
		names = append(names, p.Pod.Name)
	}
	return strings.Join(names, " ")
}

var keyCodes = map[string]rune{
	"enter": tea.KeyEnter, "esc": tea.KeyEscape, "tab": tea.KeyTab, "up": tea.KeyUp, "down": tea.KeyDown, "backspace": tea.KeyBackspace,
	"left": tea.KeyLeft, "right": tea.KeyRight,
}

func keyNamed(name string) tea.KeyPressMsg {
	if code, ok := keyCodes[name]; ok {
		return tea.KeyPressMsg{Code: code}
	}
	if name == "space" {
		return tea.KeyPressMsg{Code: ' ', Text: " "}
	}
	if name == "shift+tab" {
		return tea.KeyPressMsg{Code: tea.KeyTab, Mod: tea.ModShift}
	}
	if rest, ok := cutCtrl(name); ok {
		return tea.KeyPressMsg{Code: rest, Mod: tea.ModCtrl}
	}
	return tea.KeyPressMsg{Code: []rune(name)[0], Text: name}
}

func cutCtrl(name string) (rune, bool) {
	if len(name) == 6 && name[:5] == "ctrl+" {
		return rune(name[5]), true
	}
	return 0, false
}

func sizeOf(w, h int) tea.WindowSizeMsg { return tea.WindowSizeMsg{Width: w, Height: h} }

// monologue is a director whose script says one thing for ever.
type monologue struct{ caption string }

func (s monologue) State() script.State {
	return script.State{Scenario: "tour", Speed: 1, Caption: script.Caption{What: s.caption}}
}
func (monologue) Faults() []script.Fault { return nil }
func (monologue) Freeze(bool)            {}
func (monologue) Step() (string, bool)   { return "", true }
func (monologue) SetSpeed(float64)       {}
func (monologue) Restart()               {}
func (monologue) Next(int)               {}
func (monologue) SetFault(string, bool)  {}
