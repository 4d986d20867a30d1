package ui

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/record"
	"github.com/plegtop/plegtop/ui/pane"
	"github.com/plegtop/plegtop/ui/rewind"
)

// A night is a recording, and what was seen live.
type night struct {
	recording *record.Recording
	seen      []engine.Update
}

// badNight is 12 min of a node: an inspection hangs from 3 min on, and lists do from 7 min on.
func badNight(t *testing.T) night {
	t.Helper()
	recording, err := record.Open("../engine/record/testdata/nights/bad.plegrec")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { recording.Close() })
	n := night{recording: recording}
	for player := recording.Play(time.Time{}); ; {
		u, err := player.Next()
		if err != nil {
			return n
		}
		n.seen = append(n.seen, u)
	}
}

// Film makes the night the past of a screen.
func (n night) Film() (*rewind.Film, error) { return rewind.New(n.recording) }

// at returns the place of the last update so long after the beginning.
func (n night) at(after time.Duration) int {
	for i := len(n.seen) - 1; i > 0; i-- {
		if n.seen[i].Snapshot.At.Sub(n.seen[0].Snapshot.At) <= after {
			return i
		}
	}
	return 0
}

// later returns a snapshot that is made so long after the last.
func (n night) later(after time.Duration) *engine.Snapshot {
	s := *n.seen[len(n.seen)-1].Snapshot
	s.At = s.At.Add(after)
	return &s
}

// live returns a stage that has shown the last seconds of a night live.
func (n night) live(t *testing.T, w, h int, change ...func(*Config)) *stage {
	t.Helper()
	s := newStage(t, w, h, append(change, func(c *Config) { c.Past = n })...).diagnosed()
	for _, u := range n.seen[len(n.seen)-10:] {
		s.update(u)
	}
	return s
}

// replayed returns a stage that shows its recording.
func (n night) replayed(t *testing.T, w, h int, change ...func(*Config)) *stage {
	t.Helper()
	film, err := n.Film()
	if err != nil {
		t.Fatal(err)
	}
	return screened(t, w, h, film, change...)
}

// screened returns a stage that shows a film.
func screened(t *testing.T, w, h int, film *rewind.Film, change ...func(*Config)) *stage {
	t.Helper()
	head := film.Head()
	s := stageOf(t, w, h, goldenPanes, append(change, func(c *Config) {
		c.Film = film
		c.Feed, c.Controls, c.Source = nil, nil, pane.Source{Kind: "replay", Node: head.Node, Endpoint: head.Endpoint, Scenario: head.Scenario}
	})...)
	s.cmd = s.m.Init()
	return s.drain()
}

// drain runs the commands of the last message, and those of what they answer.
func (s *stage) drain() *stage {
	s.t.Helper()
	for queue := []tea.Cmd{s.cmd}; len(queue) > 0; {
		cmd := queue[0]
		if queue = queue[1:]; cmd == nil {
			continue
		}
		switch msg := cmd().(type) {
		case tea.BatchMsg:
			queue = append(queue, msg...)
		case nil:
		default:
			s.send(msg)
			queue = append(queue, s.cmd)
		}
	}
	return s
}

// step presses keys, and lets what they ask for be done after each.
func (s *stage) step(keys ...string) *stage {
	s.t.Helper()
	for _, k := range keys {
		s.press(k).drain()
	}
	return s
}

// due lets the time pass until the next moment of a recording is shown.
func (s *stage) due() *stage {
	s.t.Helper()
	timers := s.timers
	s.timers = nil
	for _, msg := range timers {
		s.send(msg).drain()
	}
	return s
}

// since returns how long after its beginning a moment of the night is shown.
func (s *stage) since(n night) time.Duration {
	return s.m.view.At.Round(0).Sub(n.seen[0].Snapshot.At.Round(0))
}

// From live a key goes back by a relist, the panes show that moment, and esc returns to what has
// gone on behind it.
func TestRewindAndBackToLive(t *testing.T) {
	n := badNight(t)
	s := n.live(t, 120, 40)
	live, pods, events := s.m.view.Snapshot, s.m.view.Pods, s.m.view.Journal.Len()
	s.step("(")
	now := s.m.view.Snapshot
	if now.Relists.Count != live.Relists.Count-1 || s.m.view.Pods == pods {
		t.Fatalf("one relist before %d it is %d", live.Relists.Count, now.Relists.Count)
	}
	s.step("(", "(", ")")
	if back := s.m.view.Snapshot; back.Relists.Count != now.Relists.Count-1 {
		t.Errorf("two back and one forth it is relist %d, want %d", back.Relists.Count, now.Relists.Count-1)
	}
	if row := s.rowOf("REWIND"); !strings.Contains(row, "s ago") {
		t.Errorf("the badge is %q", row)
	}
	shown := s.m.view.Snapshot
	later := n.later(5 * time.Minute)
	if s.show(later); s.m.view.Snapshot != shown || s.m.view.Latest != later || !strings.Contains(s.rowOf("REWIND"), "REWIND 5m") {
		t.Error("what comes meanwhile is shown, or is not known")
	}
	s.press("esc")
	if v := &s.m.view; v.Snapshot != later || v.Pods != pods || v.Journal.Len() != events || v.Past != "" || s.m.past.film != nil {
		t.Errorf("esc does not return to live: %d events after %d", v.Journal.Len(), events)
	}
	if s.rowOf("critical") != "" {
		t.Error("live there is a time bar")
	}
}

// What is shown of a moment is what was shown then: the headline, the findings, the events.
func TestRewoundScreenIsThatOfThen(t *testing.T) {
	n := badNight(t)
	for _, minute := range []int{2, 8} {
		at := n.at(time.Duration(minute) * time.Minute)
		then := newStage(t, 120, 40).diagnosed()
		for _, u := range n.seen[:at+1] {
			then.update(u)
		}
		s := n.live(t, 120, 40).press("b")
		for _, k := range n.seen[at].Snapshot.At.Format(time.TimeOnly) {
			s.press(string(k))
		}
		s.step("enter")
		v, w := &s.m.view, &then.m.view
		if v.At.Sub(w.At).Abs() > time.Second || v.Headline.Word != w.Headline.Word || len(v.Findings) != len(w.Findings) || v.Journal.Seq() != w.Journal.Seq() || v.Journal.Len() != w.Journal.Len() || len(v.Pods.Shown) != len(w.Pods.Shown) {
			t.Errorf("after %d min: %s with %d events at %v, then it was %s with %d at %v", minute, v.Headline.Word, v.Journal.Len(), v.At, w.Headline.Word, w.Journal.Len(), w.At)
		}
	}
}

func TestGoToTime(t *testing.T) {
	n := badNight(t)
	s := n.live(t, 80, 24).step("(", "b", "x", "enter")
	if s.focused() != "" || !strings.Contains(s.rowOf("go to time"), "want -10m") {
		t.Errorf("a wrong time says %q", s.rowOf("go to time"))
	}
	s.step("backspace", "-", "1", "0", "m", "enter")
	if d := s.since(n); (d - 2*time.Minute).Abs() > 2*time.Second {
		t.Errorf("10 min before the end of 12 it is %v", d)
	}
	if s.step("b", "-", "2", "h", "enter"); !strings.Contains(s.rowOf("go to time"), "recorded is 00:00:00 to 00:12:00") {
		t.Errorf("2 h before the end of 12 min the prompt says %q", s.rowOf("go to time"))
	}
	if s = n.live(t, 80, 24).step("b", "-", "2", "h", "enter"); s.since(n) > time.Second || !strings.Contains(s.m.flash.text, "begins here") {
		t.Errorf("2 h before the end of 12 min it is %v, from live, and says %q", s.since(n), s.m.flash.text)
	}
	if s.step("b", "(", "Z"); !strings.Contains(s.rowOf("go to time"), "(Z") {
		t.Errorf("what is typed is not in the prompt: %q", s.rowOf("go to time"))
	}
}

// Keys that ask the engine for something say that this is the past.
func TestThePastIsNotAsked(t *testing.T) {
	n := badNight(t)
	s := n.live(t, 80, 24).step("(")
	for _, key := range []string{"p", "ctrl+r", "r", "R", "e", "K", "J", "y", "Z"} {
		if s.press(key); !strings.Contains(s.m.flash.text, "this is the past") || len(s.controls.got) > 0 || len(s.m.layers) > 0 {
			t.Errorf("%s says %q, and asks %q", key, s.m.flash.text, s.asked())
		}
	}
}

func TestNothingToRewind(t *testing.T) {
	n := badNight(t)
	s := newStage(t, 80, 24).diagnosed().update(n.seen[0])
	for _, key := range []string{"(", ")", "b"} {
		if s.step(key); !strings.Contains(s.m.flash.text, "--ring 0") || s.m.past.film != nil {
			t.Errorf("%s says %q", key, s.m.flash.text)
		}
	}
}

// Keys that are pressed faster than the film can follow are one wish.
func TestWishesAddUp(t *testing.T) {
	at := time.Unix(1, 0)
	for _, tt := range []struct {
		all  []wish
		want *wish
	}{
		{[]wish{{relists: -1}, {relists: -1}, {relists: -1}}, &wish{relists: -3}},
		{[]wish{{relists: -1}, {relists: 1}}, nil},
		{[]wish{{relists: -1}, {at: at}}, &wish{at: at}},
		{[]wish{{at: at}, {relists: 1}}, &wish{relists: 1}},
	} {
		var got *wish
		for _, w := range tt.all {
			got = got.and(w)
		}
		if (got == nil) != (tt.want == nil) || got != nil && *got != *tt.want {
			t.Errorf("%v: %v, want %v", tt.all, got, tt.want)
		}
	}
	n := badNight(t)
	s := n.live(t, 80, 24)
	count := s.m.view.Relists.Count
	first := s.press("(").cmd
	s.press("(", "(").cmd = first
	if s.drain(); s.m.view.Relists.Count != count-3 {
		t.Errorf("three times at once it is relist %d, of %d", s.m.view.Relists.Count, count)
	}
	if s.press("esc", ")"); s.m.past.film != nil || !strings.Contains(s.m.flash.text, "this is live") {
		t.Errorf("on from live it says %q", s.m.flash.text)
	}
}

// A long recording is read while it is shown, and the bar says how far.
func TestBarWhileTheScanGoesOn(t *testing.T) {
	n := badNight(t)
	s := newStage(t, 80, 24, func(c *Config) {
		c.Film, _ = n.Film()
		c.Source.Kind = "replay"
	})
	s.m.Init()
	if s.press("."); !strings.Contains(s.rowOf("00:12:00"), "playing x2  reading 0%") {
		t.Errorf("the bar is %q", s.rowOf("00:12:00"))
	}
}

// TestRewindFromAFrozenScreen holds that the screen is as frozen after the rewind as before, and that
// to thaw it still catches up.
func TestRewindFromAFrozenScreen(t *testing.T) {
	n := badNight(t)
	s := n.live(t, 80, 24).press("Z")
	frozen, later := s.m.view.Snapshot, n.later(time.Second)
	if s.show(later).step("(").press("esc"); !s.m.view.Frozen || s.m.view.Snapshot != frozen || s.m.past.film != nil {
		t.Error("esc thaws the screen, or leaves it in the past")
	}
	if s.press("Z"); s.m.view.Frozen || s.m.view.Snapshot != later {
		t.Error("it is not live again")
	}
}

// A filter that is set in the past holds for what is live as well.
func TestFiltersHoldAcrossTime(t *testing.T) {
	n := badNight(t)
	s := n.live(t, 120, 40).step("(", "/", "0", "0", "3", "enter")
	if s.pods() != "web-003" {
		t.Errorf("rewound: pods %q", s.pods())
	}
	if s.press("esc"); s.m.view.Filter.Text == "" || s.pods() != "web-003" {
		t.Errorf("live: filter %q, pods %q", s.m.view.Filter.Text, s.pods())
	}
}

// A recording plays at the speed at which it was recorded, stands still where it ends, and goes
// to any time.
func TestReplay(t *testing.T) {
	n := badNight(t)
	s := n.replayed(t, 120, 40)
	first := s.m.view.At
	if first.IsZero() || !strings.Contains(s.rowOf("REPLAY"), first.Format(time.DateTime)) || s.rowOf("playing") == "" {
		t.Fatalf("it begins at %v: %q", first, s.rowOf("REPLAY"))
	}
	for range 5 {
		s.due()
	}
	if d := s.since(n); d <= 0 || d > 10*time.Second {
		t.Errorf("five moments on it is %v", d)
	}
	s.step("space")
	paused := s.m.view.At
	if s.due(); s.m.view.At != paused || s.rowOf("paused") == "" {
		t.Error("space does not stop it")
	}
	if s.step("."); s.step("space").rowOf("playing x2") == "" {
		t.Error("it is not twice as fast")
	}
	if s.due(); !s.m.view.At.After(paused) {
		t.Error("it does not go on")
	}
	if s.step(")"); s.rowOf("paused") == "" {
		t.Error("a step to the next relist does not stop it")
	}
	if s.step("b", "-", "0", "s", "enter", "space"); !strings.Contains(s.m.flash.text, "ends here") {
		t.Errorf("at the end it says %q", s.m.flash.text)
	}
	if s.press("R"); !strings.Contains(s.m.flash.text, "this is a recording") {
		t.Errorf("R says %q", s.m.flash.text)
	}
	if s.press("esc"); s.m.view.Snapshot.Seq == 0 {
		t.Error("esc leaves the recording")
	}
}

// A recording that ends in the middle says so where it ends.
func TestReplayOfWhatEndsInTheMiddle(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cut.plegrec")
	var b bytes.Buffer
	if _, err := badNight(t).recording.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes()[:b.Len()-64], 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := record.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	film, err := rewind.New(r)
	if err != nil {
		t.Fatal(err)
	}
	const want = "the recording ends here: the file ends in the middle: its writer was killed, or it still writes"
	if s := screened(t, 120, 40, film).step("b", "-", "0", "s", "enter", "space"); s.m.flash.text != want {
		t.Errorf("at the end it says %q", s.m.flash.text)
	}
}

// What a recording cannot do it says in plain words, and what to press instead.
func TestReplaySaysWhatToPressInstead(t *testing.T) {
	s := badNight(t).replayed(t, 120, 40)
	for _, tt := range []struct{ keys, want string }{
		{"Z", "this is a recording: space has it stand still"},
		{"p", "a recording has no relist to pause; space: stand still, or play"},
		{"ctrl+r", "this is a recording: ) goes to the next relist"},
		{"K", "the period of a recording stays; , .: how fast it plays"},
		{"e", "this is a recording: event sources are as they were; v shows them"},
		{"R", "this is a recording: nobody can be asked; enter shows what was known"},
		{"y", "this is a recording: nobody can be asked; enter shows what was known"},
		{"S", "this is a recording already: copy its file to keep it"},
		{"D", "D is for a demo (plegtop --demo): direct the demo, in a line at the foot"},
		{"P", "P is for a demo (plegtop --demo): freeze the world of the demo, or let it go on"},
		{"C", "C is for a demo (plegtop --demo): say what happens, what to watch and what to press, or not"},
		{"space Z", "this is a recording that stands still: space plays it"},
	} {
		if s.step(strings.Fields(tt.keys)...); s.m.flash.text != tt.want {
			t.Errorf("%s says %q, want %q", tt.keys, s.m.flash.text, tt.want)
		}
	}
}

func TestReplayBeginsAtATime(t *testing.T) {
	n := badNight(t)
	at := n.seen[0].Snapshot.At.Add(5 * time.Minute)
	s := n.replayed(t, 80, 24, func(c *Config) { c.At = at })
	if d := s.since(n); (d-5*time.Minute).Abs() > time.Second || s.rowOf("paused") == "" {
		t.Errorf("it begins after %v", d)
	}
}

func TestGoldenPast(t *testing.T) {
	n := badNight(t)
	s := n.live(t, 120, 40).step("b", "-", "5", "m", "enter")
	s.m.flash = flash{}
	text := s.m.frame()
	checkFrame(t, text, 120, 40)
	compareGolden(t, "rewind-120x40", withoutStyles(text))
}

// Whatever is pressed in the past, there is a frame that fits.
func TestKeysInThePast(t *testing.T) {
	n := badNight(t)
	for seed, s := range []*stage{n.live(t, 120, 40), n.replayed(t, 80, 24), n.live(t, 40, 10)} {
		chance := rand.New(rand.NewPCG(uint64(seed), 1))
		keys := strings.Fields("( ) ( b esc j k 1 2 3 4 5 6 f enter tab / w W t x H v ? - 2 m space , . < > n N [ ] o Z F")
		for range 60 {
			key := keys[chance.IntN(len(keys))]
			if s.step(key); chance.IntN(10) == 0 {
				w, h := 1+chance.IntN(200), 1+chance.IntN(50)
				s.send(sizeOf(w, h))
			}
			if s.m.cfg.replays() {
				s.due()
			} else if chance.IntN(5) == 0 {
				s.show(n.later(time.Duration(chance.IntN(100)) * time.Second))
			}
			if checkFrame(t, s.m.frame(), s.m.width, s.m.height); t.Failed() {
				t.Fatalf("after %q", key)
			}
		}
	}
}
