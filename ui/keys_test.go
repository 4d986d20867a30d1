package ui

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/guard"
)

func TestKeys(t *testing.T) {
	const payments, importer = "payments-6c8f9d7b5-t8wfx", "import-29384711-c5n2m"
	shown := func(s *stage) string { return fmt.Sprint(len(s.m.view.Pods.Shown)) }
	filtered := func(s *stage) string { return s.m.view.Filter.Text + " " + shown(s) }
	said := func(s *stage) string { return s.m.flash.text }
	boxes := func(s *stage) string { return fmt.Sprint(len(s.m.layout.boxes)) }
	tests := []struct {
		name string
		keys string // separated by spaces
		want func(*stage) string
		is   string
	}{
		{"the worst is first", "", (*stage).on, payments},
		{"down", "j", (*stage).on, importer},
		{"up at the top", "k", (*stage).on, payments},
		{"unfold and go in", "space j", (*stage).on, ID("sb", "shop", payments)},
		{"fold from within goes to the pod", "space j j space", (*stage).on, payments},
		{"problems only", "W", shown, "1"},
		{"problems only, and back", "W W", shown, "11"},
		{"esc ends problems only", "W esc", shown, "11"},
		{"sort by the next column", "> g", (*stage).on, importer},
		{"the next problem", "j j ]", (*stage).on, payments},
		{"the problem before, from another pane", "2 [", (*stage).on, payments},
		{"and that pane has the keys", "2 [", (*stage).focused, "Pods"},
		{"sorting calls leaves the pods alone", "3 > > 1", (*stage).on, payments},
		{"keys that move, in another pane, leave the pods alone", "3 right 1 j", (*stage).on, importer},
		{"pause", "p", (*stage).asked, "pause"},
		{"relist now", "ctrl+r", (*stage).asked, "relist"},
		{"reinspect", "j r", (*stage).asked, "reinspect uid-batch-" + importer},
		{"sweep of a few", "R", (*stage).asked, "sweep"},
		{"longer period", "K", (*stage).asked, "period 2s"},
		{"two presses before the engine answers", "K K p p", (*stage).asked, "period 2s, period 4s, pause, resume"},
		{"next pane", "tab", (*stage).focused, "Events"},
		{"previous pane", "shift+tab", (*stage).focused, "Workers"},
		{"fourth pane", "4", (*stage).focused, "Findings"},
		{"third pane", "3", (*stage).focused, "Calls"},
		{"full screen", "2 f", boxes, "1"},
		{"esc ends full screen", "f esc", boxes, "3"},
		{"filter", "/ n s : s h o p enter", filtered, "ns:shop 3"},
		{"filter is live", "/ n f s", shown, "1"},
		{"esc gives up a filter", "/ n f s esc", filtered, " 11"},
		{"esc drops a filter", "/ n f s enter esc", filtered, " 11"},
		{"a wrong filter keeps the old one", "/ n f s enter / space a g e < x enter", filtered, "nfs 1"},
		{"a wrong filter is no filter where there was none", "/ l a t > enter", filtered, " 11"},
		{"namespaces", "o down space enter", func(s *stage) string { return fmt.Sprint(s.m.view.Filter.Namespaces, shown(s)) }, "[default]1"},
		{"all namespaces", "o enter 0", shown, "11"},
		{"detail of an event's pod", "2 g enter", func(s *stage) string { return s.m.active().Subject().Pod.Name }, "report-29384710-7xkzq"},
		{"esc leaves the detail", "enter esc", (*stage).focused, "Pods"},
		{"q leaves the detail", "enter q", (*stage).focused, "Pods"},
		{"help", "?", (*stage).focused, "Help"},
		{"help, and back", "? ?", (*stage).focused, "Pods"},
		{"help outside the demo says nothing of it", "? / w o r l d enter", said, "0 lines match; n goes to the next"},
		{"how PLEG works", "H", (*stage).focused, "How PLEG works"},
		{"how PLEG works, and back", "H j H", (*stage).focused, "Pods"},
		{"time format", "t", said, "event times: age"},
		{"a period is not doubled for ever", "K K K K K K K K", (*stage).asked, "period 2s, period 4s, period 8s, period 16s, period 32s, period 1m4s"},
		{"no director outside the demo", "D", (*stage).focused, "Pods"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newStage(t, 120, 40)
			snap := Healthy()
			s.show(snap, Events(snap)...).press(strings.Fields(tt.keys)...)
			if got := tt.want(s); got != tt.is {
				t.Errorf("after %q: %q, want %q", tt.keys, got, tt.is)
			}
			checkFrame(t, s.m.frame(), 120, 40)
		})
	}
}

// TestPeriodOutsideItsBounds holds that K never shortens the period, nor J lengthens it.
func TestPeriodOutsideItsBounds(t *testing.T) {
	for _, tt := range []struct {
		period time.Duration
		keys   string
		want   string
	}{
		{4 * time.Minute, "K", ""},
		{4 * time.Minute, "J", "period 2m0s"},
		{100 * time.Millisecond, "J", ""},
		{100 * time.Millisecond, "K", "period 200ms"},
		{time.Second, "J n", ""},
		{time.Second, "J y", "period 500ms"},
	} {
		snap := Healthy()
		snap.Period = tt.period
		s := newStage(t, 120, 40).show(snap).press(strings.Fields(tt.keys)...)
		if got := s.asked(); got != tt.want {
			t.Errorf("%s at a period of %v asks for %q, want %q", tt.keys, tt.period, got, tt.want)
		}
		if said := s.rowOf("the relist period stays") != ""; said != (tt.want == "" && len(tt.keys) == 1) {
			t.Errorf("%s at a period of %v: that it stays is said: %v", tt.keys, tt.period, said)
		}
	}
	snap := Healthy()
	if got := newStage(t, 120, 40, demo).show(snap).press("J").asked(); got != "period 500ms" {
		t.Errorf("on the demo J asks for %q: nobody has to be asked there", got)
	}
	for period, want := range map[time.Duration]string{
		500 * time.Millisecond: "relist period 250ms: 4 times the kubelet's rate",
		2 * time.Second:        "relist period 1s: the kubelet's rate",
		8 * time.Second:        "relist period 4s: one for every 4 of the kubelet's",
	} {
		snap := Healthy()
		snap.Period = period
		if got := newStage(t, 120, 40, demo).show(snap).press("J").m.flash.text; got != want {
			t.Errorf("half of %v: said %q, want %q", period, got, want)
		}
	}
}

func TestResume(t *testing.T) {
	snap := Healthy()
	snap.Paused = true
	if got := newStage(t, 120, 40).show(snap).press("p").asked(); got != "resume" {
		t.Errorf("p while paused asked for %q", got)
	}
}

// TestLateAnswerTakesNoKeys holds that an answer that comes while a person types waits, with
// what it says, until that is over.
func TestLateAnswerTakesNoKeys(t *testing.T) {
	s := newStage(t, 80, 24).show(Healthy()).press("y")
	answer := s.cmd()
	s.press("/", "n", "f").send(answer)
	if s.press("p", "R"); len(s.controls.got) != 1 || s.m.view.Filter.Text != "nfpR" {
		t.Errorf("asked for %q, the filter is %q", s.asked(), s.m.view.Filter.Text)
	}
	if s.press("enter"); s.focused() != "Raw answer: shop/payments-6c8f9d7b5-t8wfx" {
		t.Errorf("after the prompt %q has the keys", s.focused())
	}
}

func TestSweepAsksWhenThereAreMany(t *testing.T) {
	s := newStage(t, 120, 40).show(Big(many+1, 1))
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
// open, and that a letter that quits closes that.
func TestControlKeyQuitsFromAnywhere(t *testing.T) {
	for name, keys := range map[string]string{
		"panes": "", "detail": "enter", "help": "?", "namespaces": "o", "confirm": "R", "viewer": "y run", "help over viewer": "y run ?", "node": "v",
	} {
		s := newStage(t, 80, 24).show(Big(many+1, 1))
		for k := range strings.FieldsSeq(keys) {
			if k == "run" {
				s.run()
			} else {
				s.press(k)
			}
		}
		open := len(s.m.layers)
		if s.press("ctrl+c"); s.cmd == nil || s.cmd() != tea.Msg(tea.QuitMsg{}) {
			t.Errorf("%s: ^c does not quit", name)
		}
		if s.press("q"); open > 0 && s.cmd != nil && s.cmd() == tea.Msg(tea.QuitMsg{}) {
			t.Errorf("%s: q quits", name)
		}
	}
}

// TestControlKeyCancelsAPrompt holds that ^c takes back what is typed, as esc does, and that the
// program goes on.
func TestControlKeyCancelsAPrompt(t *testing.T) {
	for name, keys := range map[string]string{"filter": "/ a", "namespaces, searched": "o / x", "search": "y run / a"} {
		s := newStage(t, 80, 24).show(Big(many+1, 1))
		for k := range strings.FieldsSeq(keys) {
			if k == "run" {
				s.run()
			} else {
				s.press(k)
			}
		}
		open := len(s.m.layers)
		if s.press("ctrl+c"); s.cmd != nil && s.cmd() == tea.Msg(tea.QuitMsg{}) {
			t.Errorf("%s: ^c quits", name)
		}
		if got := len(s.m.layers); got != open-1 || s.m.view.Filter.Text != "" {
			t.Errorf("%s: %d layers are open after ^c, want %d; the filter is %q", name, got, open-1, s.m.view.Filter.Text)
		}
	}
}

func TestCopy(t *testing.T) {
	for keys, want := range map[string]string{
		"":        "payments-6c8f9d7b5-t8wfx",
		"space j": ID("sb", "shop", "payments-6c8f9d7b5-t8wfx"),
	} {
		snap := Healthy()
		s := newStage(t, 120, 40).show(snap, Events(snap)...).press(strings.Fields(keys)...).press("c")
		if got := fmt.Sprint(s.cmd()); got != want {
			t.Errorf("%s copies %q, want %q", keys, got, want)
		}
	}
}

// TestNoCommandOfTheAnswerIsCopiedAltered holds that a command with a character that cannot be seen is
// not copied at all: without that it would do something else.
func TestNoCommandOfTheAnswerIsCopiedAltered(t *testing.T) {
	for command, want := range map[string]string{"crictl ps": "crictl ps", "cat /a\u202Eb": "", "cat /a\x1b[201~\nreboot": ""} {
		f := diagnose.Finding{ID: diagnose.ListHung, Severity: diagnose.Critical, Summary: "it hangs", Next: []diagnose.Step{{Command: command}}}
		s := newStage(t, 120, 40).find(f).show(Unhealthy())
		if !s.m.view.Led {
			t.Fatal("the answer does not lead")
		}
		s.press("c")
		if refused := strings.Contains(s.m.flash.text, "not copied"); refused == (want != "") || want != "" && s.m.flash.text != "copied "+want {
			t.Errorf("%q: it says %q", command, s.m.flash.text)
		}
	}
}

func TestRawAnswer(t *testing.T) {
	s := newStage(t, 80, 24).show(Healthy())
	s.press("y").run()
	if len(s.m.layers) == 0 || s.asked() != "raw uid-shop-payments-6c8f9d7b5-t8wfx" || s.rowOf("3f2a") == "" {
		t.Fatalf("no viewer; asked for %q", s.asked())
	}
	if s.rowOf(" Raw answer: shop/payments-6c8f9d7b5-t8wfx ") == "" {
		t.Errorf("the viewer does not say of whom it is:\n%s", withoutStyles(s.m.frame()))
	}
	if s.press("esc"); len(s.m.layers) > 0 {
		t.Error("esc does not close the viewer")
	}
	if s.press("enter", "y").run().press("esc"); len(s.m.layers) != 1 {
		t.Errorf("%d layers once the answer about a pod whose sheet is open is closed", len(s.m.layers))
	}
	s.press("esc")
	s.controls.fail = errors.New("no such sandbox")
	if s.press("y").run(); len(s.m.layers) > 0 || s.rowOf("no such sandbox") == "" {
		t.Errorf("a failed answer shows %q", s.m.flash.text)
	}
	s.controls.fail = nil
	s.press("y")
	late := s.cmd
	s.press("esc") // gives up
	s.cmd = late
	if s.run(); len(s.m.layers) > 0 || s.m.raw != nil {
		t.Error("an answer that was given up is shown")
	}
}

// TestSheetOfAPodThatHasGone holds that the event of a pod that is no longer listed
// leads to what is known of both.
func TestSheetOfAPodThatHasGone(t *testing.T) {
	snap := Healthy()
	events := Events(snap)
	s := newStage(t, 120, 40).show(snap, events...)
	later := *snap
	later.At = snap.At.Add(time.Second)
	later.Pods = snap.Pods[:1:1]
	s.show(&later).press("2", "G", "k", "k", "k", "k", "enter")
	for _, want := range []string{"payments-6c8f9d7b5-t8wfx", "payments", "137"} {
		if s.rowOf(want) == "" {
			t.Errorf("the sheet does not say %q:\n%s", want, withoutStyles(s.m.frame()))
		}
	}
	if s.press("enter"); s.rowOf("uid-shop-payments-6c8f9d7b5-t8wfx") == "" {
		t.Errorf("no sheet of the pod:\n%s", withoutStyles(s.m.frame()))
	}
}

// TestSheetsDoNotPileUp holds that going from a pod to its event and back, again and
// again, has one step to take back.
func TestSheetsDoNotPileUp(t *testing.T) {
	snap := Healthy()
	s := newStage(t, 120, 40).show(snap, Events(snap)...).press("enter")
	for range 4 {
		if s.press("enter", "enter"); len(s.m.layers) != 1 {
			t.Fatalf("%d layers, %q on top", len(s.m.layers), s.focused())
		}
	}
	if s.press("esc"); len(s.m.layers) != 0 {
		t.Errorf("%d layers after esc", len(s.m.layers))
	}
	s.press("1", "enter", "y").run()
	if len(s.m.layers) != 2 {
		t.Errorf("a pod's answer lies not over its sheet: %d layers", len(s.m.layers))
	}
}

// TestFilterOfTheSettingsMayBeLong holds that a key typed into a long filter does not
// end the program.
func TestFilterOfTheSettingsMayBeLong(t *testing.T) {
	s := newStage(t, 80, 24, func(c *Config) { c.Filter = strings.Repeat("x", 5000) }).show(Healthy())
	s.press("/", "a", "backspace", "left", "b")
	checkFrame(t, s.m.frame(), 80, 24)
}

// TestCaption holds that captions of the script are there only if they are asked
// for.
func TestCaption(t *testing.T) {
	const want = "old pod gets SIGTERM"
	s := newStage(t, 120, 40, demo, func(c *Config) { c.Director = monologue{want} }).show(Healthy())
	if s.rowOf(want) != "" {
		t.Error("a caption that nobody asked for")
	}
	if s.press("C"); s.rowOf(want) == "" {
		t.Errorf("no caption:\n%s", withoutStyles(s.m.frame()))
	}
	checkFrame(t, s.m.frame(), 120, 40)
}

// TestDirectorBesideThePicture holds that one directs a demo while the picture of how PLEG works
// is seen, whichever was opened first: the line at the foot has its keys, the picture the others.
func TestDirectorBesideThePicture(t *testing.T) {
	for _, keys := range []string{"D H", "H D"} {
		s := newStage(t, 120, 40, demo, func(c *Config) { c.Director = monologue{} })
		snap := Healthy()
		s.show(snap, Events(snap)...).press(strings.Fields(keys)...)
		directed := func() bool { n := len(s.m.layers); return n > 0 && s.m.layers[n-1].Info().Name == "Director" }
		s.press("P", "s")
		if s.m.active().Info().Name != "How PLEG works" || !directed() {
			t.Errorf("%s: no picture above the director:\n%s", keys, withoutStyles(s.m.frame()))
		}
		if s.press("H"); s.m.active().Info().Name != "Pods" || !directed() {
			t.Errorf("%s: H takes more away than the picture:\n%s", keys, withoutStyles(s.m.frame()))
		}
		if s.press("H", "esc"); s.m.active().Info().Name != "How PLEG works" || directed() {
			t.Errorf("%s: esc takes more away than the line at the foot:\n%s", keys, withoutStyles(s.m.frame()))
		}
	}
}

// TestKeyThatDoesNothingHere holds that the footer then says what it does elsewhere, once, and
// nothing of a key that means something here or nowhere.
func TestKeyThatDoesNothingHere(t *testing.T) {
	for _, tt := range []struct{ keys, want string }{
		{"w", "w does nothing here; elsewhere (raw answers): wrap long lines, or cut them"},
		{"2 m", ""},
		{"? w", "w does nothing here; elsewhere (raw answers): wrap long lines, or cut them"},
		{"X", ""},
		{"w j", ""},
		{"P", ""}, // there is no demo
	} {
		if got := newStage(t, 120, 40).show(Healthy()).press(strings.Fields(tt.keys)...).m.flash.text; got != tt.want {
			t.Errorf("%s: said %q, want %q", tt.keys, got, tt.want)
		}
	}
	if got := newStage(t, 120, 40, demo, func(c *Config) { c.Director = monologue{} }).press("P").m.flash.text; got != "P does nothing here; elsewhere (director): freeze the world of the demo, or let it go on" {
		t.Errorf("in a demo: said %q", got)
	}
}

// TestThreeWaysToStop holds that each says what stops, also the world while nobody directs it.
func TestThreeWaysToStop(t *testing.T) {
	snap := Healthy()
	snap.Paused = true
	d := &talker{}
	s := newStage(t, 160, 40, demo, func(c *Config) { c.Director = d }).show(snap).press("Z")
	if s.rowOf("RELIST PAUSED   SCREEN FROZEN") == "" || s.rowOf("WORLD") != "" {
		t.Errorf("line one is %q", s.rowOf("DEMO"))
	}
	d.frozen = true
	if s.press("j"); s.rowOf("WORLD FROZEN") == "" {
		t.Errorf("line one is %q", s.rowOf("DEMO"))
	}
	for _, keys := range []string{"D", "D esc", "H", "H esc"} {
		for _, w := range []int{40, 59, 80, 120} {
			s := newStage(t, w, 24, demo, func(c *Config) { c.Director = d }).show(Healthy()).press(strings.Fields(keys)...)
			if s.rowOf("WORLD FROZEN") == "" {
				t.Errorf("%s, %d cells: line one is %q", keys, w, s.rowOf("DEMO"))
			}
		}
	}
}

// The answer to a key of the director stands beside how the script goes.
func TestAnswerLeavesTheStateOfTheScript(t *testing.T) {
	for _, w := range []int{80, 120} {
		s := newStage(t, w, 24, demo, func(c *Config) { c.Director = monologue{"anything"} }).show(Healthy())
		s.press("D", ".")
		for _, want := range []string{"tour goes no faster", " P "} {
			if row := s.rowOf(want); !strings.HasPrefix(strings.TrimSpace(row), "tour ") {
				t.Errorf("%d columns: %q beside the state: row %q", w, want, row)
			}
		}
		checkFrame(t, s.m.frame(), w, 24)
	}
}

// TestCommands holds that the list of commands runs what is typed or picked as its key would,
// where a person is; that no key of what is typed does anything else; and that esc closes it.
func TestCommands(t *testing.T) {
	type_ := func(s *stage, word string) *stage {
		for _, r := range word {
			s.press(string(r))
		}
		return s
	}
	s := type_(newStage(t, 120, 40).show(Healthy()).press(":"), "pause-r")
	if s.rowOf("pause-relist") == "" || s.rowOf("quit") != "" || s.paused() {
		t.Fatalf("typed:\n%s", withoutStyles(s.m.frame()))
	}
	if s.press("enter"); !s.paused() || len(s.m.layers) != 0 {
		t.Errorf("enter: paused %v, %d layers", s.paused(), len(s.m.layers))
	}
	if s := type_(newStage(t, 120, 40).show(Healthy()).press(":"), "sort").press("down", "down", "esc"); len(s.m.layers) != 0 {
		t.Errorf("esc leaves %d layers", len(s.m.layers))
	}
	if s := type_(newStage(t, 120, 40).show(Healthy()).press("4", ":"), "go to the events").press("enter"); s.m.focus != 1 {
		t.Errorf("picked by what it does: pane %d", s.m.focus+1)
	}
	s = type_(newStage(t, 120, 40).show(Healthy()).press("?", ":"), "xyzzy").press("enter")
	if s.rowOf("no command has xyzzy") == "" || !s.m.typing() {
		t.Errorf("enter on nothing:\n%s", withoutStyles(s.m.frame()))
	}
	if s.press("esc"); len(s.m.layers) != 1 {
		t.Errorf("esc leaves %d layers, want the help below", len(s.m.layers))
	}
}

// paused reports whether the engine was asked to pause.
func (s *stage) paused() bool { return slices.Contains(s.controls.got, "pause") }

// TestZoom holds that + and - zoom what is drawn over time.
func TestZoom(t *testing.T) {
	s := newStage(t, 120, 40).show(Healthy()).press("5")
	was := s.rowOf(" across")
	if s.press("+"); s.rowOf(" across") == was {
		t.Errorf("+ does not zoom: %q", was)
	}
	if s.press("-"); s.rowOf(" across") != was {
		t.Errorf("- does not go back: %q, want %q", s.rowOf(" across"), was)
	}
	for key, want := range map[string]string{"+": "time zooms no further in: 10s across", "-": "time zooms no further out: 30m across"} {
		for range 20 {
			s.press(key)
		}
		if s.m.flash.text != want {
			t.Errorf("%s at its limit says %q, want %q", key, s.m.flash.text, want)
		}
	}
}

// A command runs in a goroutine of Bubble Tea's: a panic in it is caught where it begins.
func TestPanicOfACommandIsCaught(t *testing.T) {
	var caught any
	panicked := guard.Panicked
	defer func() { guard.Panicked = panicked }()
	guard.Panicked = func(value any, _ []byte) { caught = value }
	s := newStage(t, 80, 24)
	s.m.later(func() tea.Msg { panic("boom") })
	if s.m.pending()(); caught != "boom" {
		t.Errorf("caught %v", caught)
	}
}
