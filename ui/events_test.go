package ui

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/ui/text"
)

// died returns event seq of one container, with its exit code.
func died(seq uint64, code int32) engine.Event {
	e := engine.Event{Seq: seq, SeenAt: noon.Add(time.Duration(seq) * time.Second)}
	e.Event = pleg.Event{Kind: pleg.Died, Pod: pleg.PodRef{UID: "u", Namespace: "ns", Name: "p"}, ID: "c", Container: "x", From: pleg.Running, To: pleg.Exited, Exited: true, ExitCode: code}
	return e
}

func deaths(from, to uint64) []engine.Event {
	var all []engine.Event
	for seq := from; seq <= to; seq++ {
		all = append(all, died(seq, int32(seq%5)%2))
	}
	return all
}

func (s *stage) under() uint64 {
	r := s.m.events.current()
	if r == nil {
		return 0
	}
	return r.Seq
}

func TestFollowing(t *testing.T) {
	s := newStage(t, 80, 24).show(healthyNode(), deaths(1, 50)...).press("2")
	if s.under() != 50 {
		t.Fatalf("on %d, want the newest", s.under())
	}
	s.press("k", "k")
	if s.show(s.m.snap, deaths(51, 60)...); s.under() != 48 || s.m.events.follow {
		t.Errorf("on %d after moving up, want to stay on 48", s.under())
	}
	if s.press("F"); s.under() != 60 || !s.m.events.follow {
		t.Errorf("on %d after F, want 60", s.under())
	}
	if s.press("F", "g", "G").show(s.m.snap, deaths(61, 62)...); s.under() != 62 {
		t.Errorf("on %d: going to the bottom does not follow again", s.under())
	}
}

func TestOldEventsMakeRoom(t *testing.T) {
	s := newStage(t, 80, 24, func(c *Config) { c.EventsKept = 100 }).show(healthyNode(), deaths(1, 90)...)
	s.press("2", "k", "m", "k")
	for seq := uint64(91); seq < 1000; seq += 10 {
		s.show(s.m.snap, deaths(seq, seq+9)...)
		if n := len(s.m.events.rows); n > 113 {
			t.Fatalf("%d events are kept, want about 100", n)
		}
		checkFrame(t, s.m.frame(), 80, 24)
	}
	if n, dropped := len(s.m.events.rows), s.m.events.dropped; uint64(n)+dropped != 1000 {
		t.Errorf("%d kept and %d dropped, want 1000 in all", n, dropped)
	}
	if s.under() != s.m.events.rows[0].Seq {
		t.Errorf("on %d after its event went, want the oldest, %d", s.under(), s.m.events.rows[0].Seq)
	}
}

func TestMarksAndMatches(t *testing.T) {
	s := newStage(t, 80, 24).show(healthyNode(), deaths(1, 20)...).press("2")
	// Without marks n and N go to what tells of trouble: 1, 3, 6, 8, 11, 13, 16, 18.
	if s.press("N"); s.under() != 18 {
		t.Errorf("N goes to %d, want 18", s.under())
	}
	if s.press("N", "n"); s.under() != 18 {
		t.Errorf("n goes to %d, want 18", s.under())
	}
	if s.press("n"); s.under() != 18 || !strings.Contains(s.m.flash.text, "below") {
		t.Errorf("n at the last match: on %d, says %q", s.under(), s.m.flash.text)
	}
	s.press("g", "j", "m", "G", "m")
	if s.press("N"); s.under() != 2 {
		t.Errorf("N goes to %d, want the mark on 2", s.under())
	}
	if s.press("n"); s.under() != 20 {
		t.Errorf("n goes to %d, want the mark on 20", s.under())
	}
	if s.press("m", "g", "j", "m", "g", "n"); s.under() != 3 {
		t.Errorf("with all marks removed n goes to %d, want 3", s.under())
	}
}

func TestFilterKeepsTheEvent(t *testing.T) {
	s := newStage(t, 80, 24).show(healthyNode(), deaths(1, 20)...).press("2", "g", "j", "j")
	s.press("/", "e", "x", "i", "t", "=", "1", "enter")
	if s.under() != 3 || len(s.m.events.shown) != 8 {
		t.Errorf("on %d of %d, want 3 of 8", s.under(), len(s.m.events.shown))
	}
	if s.press("esc"); s.under() != 3 || len(s.m.events.shown) != 20 {
		t.Errorf("on %d of %d, want 3 of 20", s.under(), len(s.m.events.shown))
	}
}

func TestSavedEvents(t *testing.T) {
	var name, data string
	s := newStage(t, 80, 24, func(c *Config) {
		c.Source.Node = "node/1 x"
		c.Save = func(n string, d []byte) (string, error) { name, data = n, string(d); return "/tmp/" + n, nil }
	}).show(healthyNode(), deaths(1, 2)...)
	s.update(engine.Update{Snapshot: s.m.snap, Lost: 4, Events: deaths(7, 7)})
	s.press("ctrl+s").run()
	if want := "{\"seq\":1}\n{\"seq\":2}\n{\"gap\":4}\n{\"seq\":7}\n"; data != want {
		t.Errorf("saved %q, want %q", data, want)
	}
	if want := "plegtop-node-1-x-20261120T120000Z.ndjson"; name != want {
		t.Errorf("saved to %q, want %q", name, want)
	}
	if want := "saved 4 lines to /tmp/" + name; s.m.flash.text != want {
		t.Errorf("says %q, want %q", s.m.flash.text, want)
	}
	failed := newStage(t, 80, 24, func(c *Config) {
		c.Save = func(string, []byte) (string, error) { return "", errors.New("disk full") }
	}).show(healthyNode(), deaths(1, 2)...).press("ctrl+s").run()
	if !strings.Contains(failed.m.flash.text, "disk full") {
		t.Errorf("says %q", failed.m.flash.text)
	}
}

func TestDetailFollowsItsPod(t *testing.T) {
	s := newStage(t, 120, 40)
	snap := healthyNode()
	s.show(snap, someEvents(snap)...).press("j", "enter")
	gone := *snap
	gone.Pods = append(gone.Pods[:1:1], gone.Pods[2:]...)
	frame := s.show(&gone).m.frame()
	for _, want := range []string{"report-29384710-7xkzq", "lists it no more", "ContainerDied", "exit 0"} {
		if !strings.Contains(frame, want) {
			t.Errorf("the detail of a pod that has gone lacks %q", want)
		}
	}
}

func TestRecordRowsShowBothEnds(t *testing.T) {
	was := &pleg.Pod{Containers: []pleg.Container{{ID: "1", Name: "a", State: pleg.Running}, {ID: "2", Name: "b", State: pleg.Running}}}
	now := &pleg.Pod{Sandboxes: []pleg.Sandbox{{ID: "s", State: pleg.Running}}, Containers: []pleg.Container{{ID: "2", Name: "b", State: pleg.Exited}}}
	got := ""
	for _, r := range recordRows(was, now) {
		got += fmt.Sprintf("%s %v %v\n", r.what, r.was, r.now)
	}
	if want := "a running absent\nb running exited\nsandbox absent running\n"; got != want {
		t.Errorf("rows:\n%swant:\n%s", got, want)
	}
}

func TestFollowedRowsMoveByAThird(t *testing.T) {
	s := newStage(t, 80, 24).show(healthyNode()).press("2")
	moves, top := 0, 0
	for seq := uint64(1); seq <= 100; seq++ {
		s.show(s.m.snap, died(seq, 0))
		e := &s.m.events
		if e.cursor < e.top || e.cursor >= e.top+e.height {
			t.Fatalf("event %d is not visible: top %d, height %d", seq, e.top, e.height)
		}
		if e.top != top {
			moves, top = moves+1, e.top
		}
	}
	if e := &s.m.events; moves == 0 || moves > 100/(e.height/3) {
		t.Errorf("the rows moved %d times for 100 events in %d lines", moves, e.height)
	}
}

// TestTitleOfFollowedEventsIsCalm holds that the title does not change with each
// event, and is exact once a person stops.
func TestTitleOfFollowedEventsIsCalm(t *testing.T) {
	title := func(e *events) string {
		l := text.Line{}
		l.Begin(60)
		e.title(&l, newStage(t, 80, 24).m.pen())
		return withoutStyles(string(l.Buf))
	}
	for n, want := range map[int]string{0: "0, following", 9: "9, following", 88: "80+, following", 128: "120+, following", 12345: "12000+, following"} {
		e := newEvents(20000)
		e.shown = make([]uint64, n)
		if got := title(&e); got != want {
			t.Errorf("%d events: %q, want %q", n, got, want)
		}
		e.follow, e.cursor = false, n-4
		if got, want := title(&e), fmt.Sprint(n, ", 3 below"); n > 9 && got != want {
			t.Errorf("%d events, not followed: %q, want %q", n, got, want)
		}
	}
}

func TestNoEventMatches(t *testing.T) {
	s := newStage(t, 80, 24).show(healthyNode(), deaths(1, 5)...).press("2", "F")
	if s.rowOf("2 Events 5, not following") == "" {
		t.Error("the title does not say that the newest event is not followed")
	}
	s.press("/", "z", "z", "enter")
	if s.rowOf("2 Events 0, not following") == "" || s.rowOf("no event matches the filter") == "" {
		t.Errorf("a filter that shows no event leaves\n%s", s.m.frame())
	}
}

// TestTimesOfDayAreLocal holds that events are drawn with the time that the clock
// on the wall shows, as all else that a person compares them with.
func TestTimesOfDayAreLocal(t *testing.T) {
	time.Local = time.FixedZone("EST", -5*60*60)
	defer func() { time.Local = time.UTC }()
	snap := healthyNode()
	s := newStage(t, 120, 40).show(snap, someEvents(snap)[:1]...)
	if s.rowOf("06:59:13 ● Started") == "" || s.press("t", "t").rowOf("2026-11-20T06:59:13.000-05:00") == "" {
		t.Errorf("frame\n%s", withoutStyles(s.m.frame()))
	}
}
