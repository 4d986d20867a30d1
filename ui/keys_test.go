package ui

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
)

// name returns the name under the cursor of the pods pane.
func (s *stage) name() string {
	row, ok := s.m.pods.current()
	if !ok {
		return ""
	}
	if row.tree >= 0 && !row.info.tree[row.tree].sandbox {
		return row.info.tree[row.tree].name
	}
	return pick(row.tree >= 0, "sandbox", row.info.pod.Name)
}

func TestKeys(t *testing.T) {
	tests := []struct {
		name string
		keys string // separated by spaces
		want func(*stage) string
		is   string
	}{
		{"down", "j j", (*stage).name, "nfs-client"},
		{"bottom", "G", (*stage).name, "payments-6c8f9d7b5-t8wfx"},
		{"up at the top", "k", (*stage).name, "import-29384711-c5n2m"},
		{"unfold and go in", "G space j", (*stage).name, "sandbox"},
		{"fold from within goes to the pod", "G space j j space", (*stage).name, "payments-6c8f9d7b5-t8wfx"},
		{"left folds", "G l j h", func(s *stage) string { return fmt.Sprint(len(s.m.pods.open), " ", s.name()) }, "0 payments-6c8f9d7b5-t8wfx"},
		{"problems only", "W", func(s *stage) string { return fmt.Sprint(len(s.m.pods.rows)) }, "1"},
		{"problems only, and back", "W W", func(s *stage) string { return fmt.Sprint(len(s.m.pods.rows)) }, "11"},
		{"esc ends problems only", "W esc", func(s *stage) string { return fmt.Sprint(len(s.m.pods.rows)) }, "11"},
		{"sort by the next column", "> g", func(s *stage) string { return fmt.Sprint(s.m.pods.sort, " ", s.name()) }, "1 calico-node-8xk2p"},
		{"sort by the last column", "< g", func(s *stage) string {
			return fmt.Sprint(s.m.pods.columns[len(s.m.pods.columns)-1].id == s.m.pods.sort)
		}, "true"},
		{"the next problem", "]", (*stage).name, "payments-6c8f9d7b5-t8wfx"},
		{"the problem before, from another pane", "2 [", (*stage).name, "payments-6c8f9d7b5-t8wfx"},
		{"no problem among those shown", "/ n f s enter ]", func(s *stage) string { return s.m.flash.text }, "the pods with a problem are not among those shown"},
		{"sorting calls leaves the pods alone", "3 > >", func(s *stage) string { return fmt.Sprint(s.m.pods.sort, " ", s.m.calls.of[0].Op) }, "0 ContainerStatus"},
		{"inverting calls leaves the pods alone", "3 I", func(s *stage) string { return fmt.Sprint(s.m.pods.invert, " ", s.m.calls.of[0].Op) }, "false ContainerStatus"},
		{"events are not sorted", "2 > I", func(s *stage) string { return fmt.Sprint(s.m.pods.sort, s.m.pods.invert) }, "0 false"},
		{"invert", "I g", (*stage).name, "payments-6c8f9d7b5-t8wfx"},
		{"pause", "p", (*stage).asked, "pause"},
		{"relist now", "ctrl+r", (*stage).asked, "relist"},
		{"reinspect", "j r", (*stage).asked, "reinspect uid-batch-report-29384710-7xkzq"},
		{"sweep of a few", "R", (*stage).asked, "sweep"},
		{"longer period", "+", (*stage).asked, "period 2s"},
		{"two presses before the engine answers", "+ + p p", (*stage).asked, "period 2s, period 4s, pause, resume"},
		{"shorter period", "-", (*stage).asked, "period 500ms"},
		{"next pane", "tab", (*stage).focused, "Events"},
		{"previous pane", "shift+tab", (*stage).focused, "Findings"},
		{"fourth pane", "4", (*stage).focused, "Findings"},
		{"third pane", "3", (*stage).focused, "Calls"},
		{"full screen", "2 f", func(s *stage) string { return fmt.Sprint(s.m.layout.n, s.m.layout.boxes[0].pane) }, "1 1"},
		{"esc ends full screen", "f esc", func(s *stage) string { return fmt.Sprint(s.m.layout.n) }, "2"},
		{"filter", "/ n s : s h o p enter", func(s *stage) string { return fmt.Sprint(s.m.filter.text, " ", len(s.m.pods.rows)) }, "ns:shop 3"},
		{"filter is live", "/ n f s", func(s *stage) string { return fmt.Sprint(len(s.m.pods.rows)) }, "1"},
		{"esc gives up a filter", "/ n f s esc", func(s *stage) string { return fmt.Sprint(s.m.filter.text, len(s.m.pods.rows)) }, "11"},
		{"esc drops a filter", "/ n f s enter esc", func(s *stage) string { return fmt.Sprint(s.m.filter.text, len(s.m.pods.rows)) }, "11"},
		{"a wrong filter keeps the old one", "/ n f s enter / space a g e < x enter", func(s *stage) string { return fmt.Sprint(s.m.open.prompt.Error != "", " ", s.m.filter.text) }, "true nfs"},
		{"a wrong filter is no filter where there was none", "/ l a t > enter", func(s *stage) string {
			return fmt.Sprint(s.m.open.prompt.Error != "", " ", len(s.m.pods.rows))
		}, "true 11"},
		{"namespaces", "n down space enter", func(s *stage) string { return fmt.Sprint(s.m.filter.namespaces, len(s.m.pods.rows)) }, "[default] 1"},
		{"all namespaces", "n enter 0", func(s *stage) string { return fmt.Sprint(len(s.m.filter.namespaces), len(s.m.pods.rows)) }, "0 11"},
		{"detail", "j j enter", func(s *stage) string { return s.m.detail.pod.Name }, "nfs-client"},
		{"detail of an event's pod", "2 g enter", func(s *stage) string { return s.m.detail.pod.Name }, "report-29384710-7xkzq"},
		{"esc leaves the detail", "enter esc", func(s *stage) string { return fmt.Sprint(s.m.detail.pod == nil) }, "true"},
		{"help", "?", func(s *stage) string { return fmt.Sprint(s.m.open.help != nil) }, "true"},
		{"help, and back", "? ?", func(s *stage) string { return fmt.Sprint(s.m.open.help == nil) }, "true"},
		{"time format", "t", func(s *stage) string { return clockNames[s.m.events.times] }, "age"},
		{"wrap", "2 w", func(s *stage) string { return fmt.Sprint(s.m.events.lines()) }, "2"},
		{"no faults outside the demo", "D", func(s *stage) string { return fmt.Sprint(s.m.open.picker == nil) }, "true"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newStage(t, 120, 40)
			snap := healthyNode()
			s.show(snap, someEvents(snap)...).press(strings.Fields(tt.keys)...)
			if got := tt.want(s); got != tt.is {
				t.Errorf("after %q: %q, want %q", tt.keys, got, tt.is)
			}
			checkFrame(t, s.m.frame(), 120, 40)
		})
	}
}

func (s *stage) asked() string   { return strings.Join(s.controls.got, ", ") }
func (s *stage) focused() string { return paneNames[s.m.focus] }

func TestResume(t *testing.T) {
	s := newStage(t, 120, 40)
	snap := healthyNode()
	snap.Paused = true
	if got := s.show(snap).press("p").asked(); got != "resume" {
		t.Errorf("p while paused asked for %q", got)
	}
}

func TestSweepAsksWhenThereAreMany(t *testing.T) {
	s := newStage(t, 120, 40).show(bigNode(many+1, 1))
	if s.press("R", "n"); len(s.controls.got) != 0 {
		t.Errorf("asked for %v after no", s.controls.got)
	}
	if got := s.press("R", "y").asked(); got != "sweep" {
		t.Errorf("asked for %q after yes", got)
	}
}

func TestQuitAndTerminalCommands(t *testing.T) {
	for key, want := range map[string]tea.Msg{"q": tea.QuitMsg{}, "ctrl+c": tea.QuitMsg{}, "ctrl+z": tea.SuspendMsg{}} {
		s := newStage(t, 80, 24).press(key)
		if s.cmd == nil || s.cmd() != want {
			t.Errorf("%s does not give %T", key, want)
		}
	}
	if s := newStage(t, 80, 24).press("ctrl+l"); s.cmd == nil {
		t.Error("^l gives no command")
	}
}

// TestControlKeyQuitsFromAnywhere holds that ^c ends the program whatever is
// open, and that a letter that quits does not while one types.
func TestControlKeyQuitsFromAnywhere(t *testing.T) {
	for name, keys := range map[string]string{
		"panes": "", "detail": "enter", "help": "?", "filter": "/ a", "namespaces": "n", "namespaces, typed": "n x",
		"faults": "D", "confirm": "R", "viewer": "y run", "search": "y run / a", "help over viewer": "y run ?",
	} {
		s := newStage(t, 80, 24, demo, func(c *Config) {
			c.Faults = []Fault{{"hang", "", func() bool { return false }, func(bool) {}}}
		}).show(bigNode(many+1, 1))
		for k := range strings.FieldsSeq(keys) {
			if k == "run" {
				s.run()
			} else {
				s.press(k)
			}
		}
		if s.press("ctrl+c"); s.cmd == nil || s.cmd() != tea.Msg(tea.QuitMsg{}) {
			t.Errorf("%s: ^c does not quit", name)
		}
	}
	if s := newStage(t, 80, 24).show(healthyNode()).press("/", "q"); s.cmd != nil || s.m.filter.text != "q" {
		t.Error("q quits while a filter is typed")
	}
}

func TestCopy(t *testing.T) {
	snap := healthyNode()
	events := someEvents(snap)
	for keys, want := range map[string]string{
		"j j":       "nfs-client",
		"G space":   "payments-6c8f9d7b5-t8wfx",
		"G space j": id("sb", "shop", "payments-6c8f9d7b5-t8wfx"),
		"2 g":       "report-29384710-7xkzq",
	} {
		s := newStage(t, 120, 40).show(snap, events...).press(strings.Fields(keys)...).press("c")
		if got := fmt.Sprint(s.cmd()); got != want {
			t.Errorf("%s copies %q, want %q", keys, got, want)
		}
	}
}

func TestRawAnswer(t *testing.T) {
	s := newStage(t, 80, 24).show(healthyNode())
	s.press("y").run()
	if s.m.open.viewer == nil || s.asked() != "raw uid-batch-import-29384711-c5n2m" {
		t.Fatalf("no viewer; asked for %q", s.asked())
	}
	if s.press("esc"); s.m.open.viewer != nil {
		t.Error("esc does not close the viewer")
	}
	s.controls.fail = errors.New("no such sandbox")
	if s.press("y").run(); s.m.open.viewer != nil || !strings.Contains(s.m.flash.text, "no such sandbox") {
		t.Errorf("a failed answer shows %q", s.m.flash.text)
	}
	s.press("y")
	late := s.cmd
	s.press("esc") // gives up
	s.cmd = late
	if s.run(); s.m.open.viewer != nil || s.m.raw != nil {
		t.Error("an answer that was given up is shown")
	}
}
