package ui

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/plegtop/plegtop/engine"
)

func TestFreezeHoldsAndCatchesUp(t *testing.T) {
	s := newStage(t, 120, 40)
	snap := healthyNode()
	all := someEvents(snap)
	s.show(snap, all[:3]...).press("Z")
	later := *snap
	later.At, later.Pods = snap.At.Add(time.Minute), snap.Pods[:4]
	s.show(&later, all[3:]...)
	if s.m.snap != snap || len(s.m.events.rows) != 3 || len(s.m.pods.rows) != 11 {
		t.Errorf("the frozen screen moved on: %d events, %d pods", len(s.m.events.rows), len(s.m.pods.rows))
	}
	if !strings.Contains(s.m.frame(), "FROZEN") {
		t.Error("no badge says that the screen is frozen")
	}
	s.press("Z")
	if s.m.snap != &later || len(s.m.events.rows) != len(all) || len(s.m.pods.rows) != 4 {
		t.Errorf("the screen did not catch up: %d events, %d pods", len(s.m.events.rows), len(s.m.pods.rows))
	}
}

func TestFrozenScreenKeepsBoundedEvents(t *testing.T) {
	s := newStage(t, 80, 24, func(c *Config) { c.EventsKept = 80 })
	snap := healthyNode()
	s.show(snap).press("Z")
	for range 100 {
		s.show(snap, someEvents(snap)...)
	}
	if n := len(s.m.held.Events); n > 90 || uint64(n)+s.m.held.Lost != 800 {
		t.Errorf("holds %d events and counts %d as lost, want at most 90 and 800 in all", n, s.m.held.Lost)
	}
}

func TestFaults(t *testing.T) {
	on := map[string]bool{}
	s := newStage(t, 80, 24, demo, func(c *Config) {
		for _, name := range []string{"hang", "slow"} {
			c.Faults = append(c.Faults, Fault{name, "makes it " + name, func() bool { return on[name] }, func(b bool) { on[name] = b }})
		}
	}).show(healthyNode())
	s.press("D", "down", "space", "esc")
	if on["hang"] || !on["slow"] || s.m.open.picker != nil {
		t.Errorf("faults on: %v, want slow only", on)
	}
}

func TestOneWaitIsOutstanding(t *testing.T) {
	s := newStage(t, 80, 24)
	if s.m.Init() == nil {
		t.Error("Init does not wait")
	}
	if s.show(healthyNode()); s.cmd == nil {
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

func TestFlashGoesByTheTimeOfSnapshots(t *testing.T) {
	s := newStage(t, 80, 24).show(healthyNode()).press("t")
	if !strings.Contains(s.m.frame(), "event times: age") {
		t.Fatal("no answer to the key")
	}
	later := *s.m.snap
	later.At = later.At.Add(flashFor + 1)
	if frame := s.show(&later).m.frame(); strings.Contains(frame, "event times: age") {
		t.Error("the answer stays for ever")
	}
}

func TestPaste(t *testing.T) {
	s := newStage(t, 80, 24).show(healthyNode()).press("/")
	s.send(tea.PasteMsg{Content: "ns:shop"}).press("enter")
	if s.m.filter.text != "ns:shop" {
		t.Errorf("filter = %q", s.m.filter.text)
	}
}

func TestStartSettings(t *testing.T) {
	s := newStage(t, 120, 40, func(c *Config) {
		c.Namespaces, c.Sort, c.Descending, c.Time = []string{"shop"}, "rst", true, "full"
	}).show(healthyNode())
	if s.m.pods.sort != colRestarts || !s.m.pods.invert || s.m.events.times != full || len(s.m.pods.rows) != 3 {
		t.Errorf("sort %v, invert %v, times %v, %d rows", s.m.pods.sort, s.m.pods.invert, s.m.events.times, len(s.m.pods.rows))
	}
	bad := newStage(t, 120, 40, func(c *Config) { c.Filter = "age<x" })
	if !strings.Contains(bad.m.flash.text, "column 5") {
		t.Errorf("a wrong filter at the start says %q", bad.m.flash.text)
	}
	heads := []string{"namespace", "pod", "state", "ready", "ctrs", "exit", "rst", "age", "lastevent", "inspect", "worst", "remark"}
	for i, name := range heads {
		if id, ok := columnNamed(name); !ok || int(id) != i {
			t.Errorf("columnNamed(%q) = %d, %v", name, id, ok)
		}
	}
	if !slices.Equal(clockNames[:], []string{"clock", "age", "full"}) {
		t.Errorf("time formats: %v", clockNames)
	}
}

// TestCallsHaveNoPod holds that a key that is meant for the pod under the
// cursor does nothing where no such cursor is seen.
func TestCallsHaveNoPod(t *testing.T) {
	for _, key := range []string{"r", "c", "y", "enter"} {
		s := newStage(t, 80, 24).show(healthyNode()).press("3", key)
		if len(s.controls.got) > 0 || s.m.detail.pod != nil || s.m.open.over() {
			t.Errorf("%s in the calls pane: asked %q, detail %v", key, s.controls.got, s.m.detail.pod)
		}
	}
}

// TestFrozenScreenKeepsItsVerdict holds that the headline and the findings stand
// still with the rest, and are those of the newest update once it is thawed.
func TestFrozenScreenKeepsItsVerdict(t *testing.T) {
	s := newStage(t, 80, 24).show(healthyNode()).press("Z")
	s.find(hungFindings()...).show(hungNode()).end(hungFindings()[1]).show(hungNode())
	if got := s.lineTwo(); !strings.HasPrefix(got, "✔ HEALTHY") || len(s.m.findings.all) > 0 {
		t.Errorf("frozen, line two is %q, with %d findings", got, len(s.m.findings.all))
	}
	if s.press("Z"); !strings.HasPrefix(s.lineTwo(), "✖ INSPECTION HANGS") || len(s.m.findings.all) != 4 || len(s.m.findings.past) != 1 {
		t.Errorf("thawed, line two is %q, with %d findings", s.lineTwo(), len(s.m.findings.all))
	}
}
