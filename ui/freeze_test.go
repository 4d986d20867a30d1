package ui

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/ui/pane"

	tea "charm.land/bubbletea/v2"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
)

func TestFreezeHoldsAndCatchesUp(t *testing.T) {
	s := newStage(t, 120, 40)
	snap := Healthy()
	all := Events(snap)
	s.show(snap, all[:3]...).press("Z")
	later := *snap
	later.At, later.Pods = snap.At.Add(time.Minute), snap.Pods[:4]
	s.show(&later, all[3:]...)
	if v := &s.m.view; v.Snapshot != snap || v.Journal.Len() != 3 || len(v.Pods.Shown) != 11 {
		t.Errorf("the frozen screen moved on: %d events, %d pods", v.Journal.Len(), len(v.Pods.Shown))
	}
	if !strings.Contains(s.m.frame(), "FROZEN") {
		t.Error("no badge says that the screen is frozen")
	}
	s.press("Z")
	if v := &s.m.view; v.Snapshot != &later || v.Journal.Len() != len(all) || len(v.Pods.Shown) != 4 {
		t.Errorf("the screen did not catch up: %d events, %d pods", v.Journal.Len(), len(v.Pods.Shown))
	}
}

// TestFrozenScreenKeepsBoundedEvents holds that those that it does not keep are counted
// once the screen is thawed.
func TestFrozenScreenKeepsBoundedEvents(t *testing.T) {
	s := newStage(t, 80, 24, func(c *Config) { c.EventsKept = 80 })
	snap := Healthy()
	s.show(snap).press("Z")
	for seq := uint64(1); seq <= 800; seq += 8 {
		events := Events(snap)
		for i := range events {
			events[i].Seq = seq + uint64(i)
		}
		s.show(snap, events...)
	}
	n := len(s.m.held.Events)
	if n > 90 {
		t.Errorf("holds %d events, want at most 90", n)
	}
	s.press("Z")
	if r := s.m.view.Journal.Shown()[0]; int(r.Gap)+n != 800 {
		t.Errorf("shows %d events and counts %d as lost, want 800 in all", n, r.Gap)
	}
}

func TestOneWaitIsOutstanding(t *testing.T) {
	s := newStage(t, 80, 24)
	if s.m.Init() == nil {
		t.Error("Init does not wait")
	}
	if s.show(Healthy()); s.cmd == nil {
		t.Error("an update is not followed by the next wait")
	}
	for _, key := range []string{"j", "?", "esc", "Z"} {
		if s.press(key); s.cmd != nil {
			t.Errorf("%s waits a second time", key)
		}
	}
	s.send(endedMsg{engine.ErrStopped})
	if !errors.Is(s.m.Err(), engine.ErrStopped) || s.cmd() != (tea.QuitMsg{}) {
		t.Error("the end of the feed does not end the program")
	}
}

// TestAnswersStayForAWhile holds that the answer to a key goes after a time of the
// clock on the wall, however fast the engine's own goes.
func TestAnswersStayForAWhile(t *testing.T) {
	s := newStage(t, 80, 24).show(Healthy()).press("t")
	later := *s.m.view.Snapshot
	later.At = later.At.Add(time.Hour)
	if s.show(&later); s.rowOf("event times: age") == "" {
		t.Fatal("no answer to the key, an hour of the engine's later")
	}
	if s.elapse(); s.rowOf("event times: age") != "" {
		t.Error("the answer stays for ever")
	}
	s.timers = nil
	s.press("t").send(s.timers[0])
	first := s.timers[0]
	if s.press("t").send(first); s.rowOf("event times") == "" {
		t.Error("the end of an answer takes the next one away")
	}
}

func TestPaste(t *testing.T) {
	s := newStage(t, 80, 24).show(Healthy()).press("/")
	s.send(tea.PasteMsg{Content: "ns:shop"}).press("enter")
	if s.m.view.Filter.Text != "ns:shop" {
		t.Errorf("filter = %q", s.m.view.Filter.Text)
	}
}

func TestStartSettings(t *testing.T) {
	s := newStage(t, 120, 40, func(c *Config) {
		c.Namespaces = []string{"shop"}
		c.Panes = pane.Settings{Sort: "rst", Descending: true, Time: "full"}
	}).show(Healthy())
	if got, want := s.pods(), "payments-6c8f9d7b5-t8wfx cart-7d9c5b7d4-2m4ns checkout-5f7b8c6d9-kq7vz"; got != want {
		t.Errorf("pods %q, want %q", got, want)
	}
	bad := newStage(t, 120, 40, func(c *Config) { c.Filter = "age<x" })
	if !strings.Contains(bad.m.flash.text, "column 5") {
		t.Errorf("a wrong filter at the start says %q", bad.m.flash.text)
	}
}

// TestCallsHaveNoPod holds that a key that is meant for the pod under the
// cursor does nothing where no such cursor is seen.
func TestCallsHaveNoPod(t *testing.T) {
	if s := newStage(t, 80, 24).show(Healthy()).press("3", "G", "enter"); s.focused() != "ContainerStatus" || len(s.m.layers) != 1 {
		t.Errorf("enter on an operation opens %q", s.focused())
	}
	for _, key := range []string{"r", "c", "y"} {
		s := newStage(t, 80, 24).show(Healthy()).press("3", key)
		if len(s.controls.got) > 0 || len(s.m.layers) > 0 {
			t.Errorf("%s in the calls pane: asked %q, open %q", key, s.controls.got, s.focused())
		}
	}
}

// TestFrozenScreenKeepsItsVerdict holds that the headline and the findings stand
// still with the rest, and are those of the newest update once it is thawed.
func TestFrozenScreenKeepsItsVerdict(t *testing.T) {
	s := newStage(t, 80, 24).show(Healthy()).press("Z")
	s.find(Findings()...).show(Hung()).end(Findings()[1]).show(Hung())
	if got := s.lineTwo(); !strings.HasPrefix(got, "✔ HEALTHY") || len(s.m.view.Findings) > 0 {
		t.Errorf("frozen, line two is %q, with %d findings", got, len(s.m.view.Findings))
	}
	if s.press("Z"); !strings.HasPrefix(s.lineTwo(), "✖ INSPECTION HANGS") || len(s.m.view.Findings) != 4 || len(s.m.view.Ended) != 1 {
		t.Errorf("thawed, line two is %q, with %d findings", s.lineTwo(), len(s.m.view.Findings))
	}
}

// A filter by age holds for events too as time passes.
func TestEventsFollowAFilterByAge(t *testing.T) {
	s := newStage(t, 120, 40)
	snap := Healthy()
	s.m.observe(updateMsg{Update: diagnose.Update{Update: engine.Update{Snapshot: snap, Events: Events(snap)}}, pods: Standings(snap, nil)})
	if err := s.m.SetFilter("age<1h"); err != nil {
		t.Fatal(err)
	}
	before := len(s.m.view.Journal.Shown())
	later := *snap
	later.At = snap.At.Add(2 * time.Hour)
	s.m.observe(updateMsg{Update: diagnose.Update{Update: engine.Update{Snapshot: &later}}, pods: Standings(&later, nil)})
	if after := len(s.m.view.Journal.Shown()); before == 0 || after != 0 {
		t.Errorf("%d events, two hours later %d, want none", before, after)
	}
}
