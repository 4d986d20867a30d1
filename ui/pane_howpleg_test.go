package ui

import (
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/sources"
	"github.com/plegtop/plegtop/ui/howpleg"
	"github.com/plegtop/plegtop/ui/pane"
)

// working is a node with workers, of which a kubelet would say that it is ready.
func working(s *engine.Snapshot) *engine.Snapshot {
	s.Node.Known, s.Node.Ready = true, s.Health.Healthy
	return Working(s)
}

// seen is a view of a node on which something has happened; change may change what.
func seen(snap *engine.Snapshot, change ...func(all []engine.Event)) *pane.View {
	all := Events(snap)
	for _, f := range change {
		f(all)
	}
	v := View(snap)
	v.Journal.Observe(engine.Update{Snapshot: snap, Events: all})
	return v
}

// howplegHostile is a view of a node whose names are meant to do harm.
func howplegHostile() *pane.View {
	snap := Working(Hostile())
	e := Happened(1, 30, pleg.Died, snap.Pods[0], snap.Pods[0].Seen().Containers[0].Name, pleg.Running, pleg.Exited)
	e.Exited, e.Reason = true, snap.Pods[0].Name
	v := View(snap)
	v.Journal.Observe(engine.Update{Snapshot: snap, Events: []engine.Event{e}})
	return v
}

// streaming gives a node's snapshot a mode and an event stream.
func streaming(mode pleg.Mode, release pleg.Release) *engine.Snapshot {
	s := working(Healthy())
	s.Release, s.Mode = release, sources.ModeState{Mode: mode, Asked: mode}
	s.Sources = []sources.SourceState{{Source: sources.FromCRI, State: sources.StreamConnected, Since: Ago(time.Hour), Received: 214}, {Source: sources.FromCgroup, State: sources.StreamLost, Reason: "gone"}}
	return s
}

func TestHowplegGolden(t *testing.T) {
	NewStage(howpleg.New(), seen(working(Unhealthy())), 118, 35).Golden(t, "hung")
	NewStage(howpleg.New(), howplegHostile(), 78, 19).EverySize(t)
	NewStage(howpleg.New(), seen(streaming(pleg.Evented, 37)), 78, 19).EverySize(t)
}

// TestChannel holds that a channel stands out before it is full: what finds it full is lost.
func TestChannel(t *testing.T) {
	for waiting, want := range map[int]string{0: "│ 0 of 1000 ", 799: "│ 799 of 1000 ", 800: "│ ▲ 800 of 1000 ", 999: "│ ▲ 999 of 1000 ", 1000: "│ ✖ full: 1000 "} {
		s := working(Healthy())
		s.Channel.Len = waiting
		if got := NewStage(howpleg.New(), seen(s), 160, 40).Text(); !strings.Contains(got, want) {
			t.Errorf("%d waiting: %q is not in\n%s", waiting, want, got)
		}
	}
}

// TestItFits holds that on 80x24, alerts or not, the whole picture and what is said of it is seen
// without scrolling.
func TestItFits(t *testing.T) {
	for name, snap := range map[string]*engine.Snapshot{"healthy": working(Healthy()), "hung": working(Unhealthy()), "evented": streaming(pleg.Evented, 37)} {
		for _, h := range []int{17, 18} {
			s := NewStage(howpleg.New(), seen(snap), 78, h)
			if n := s.Pane.(interface{ Len() int }).Len(); n > h || s.Row("sync loop") == "" || h >= 18 && s.Row("reads all") == "" && s.V.Node.LoopStopped.IsZero() {
				t.Errorf("%s: it takes %d lines of %d:\n%s", name, n, h, s.Text())
			}
		}
	}
}

// TestHowplegCloses holds that its own key and esc close it.
func TestHowplegCloses(t *testing.T) {
	for _, key := range []string{"H", "esc"} {
		s := NewStage(howpleg.New(), seen(working(Healthy())), 118, 35)
		s.Open(s.Pane)
		if s.Press(key); len(s.Layers) != 0 {
			t.Errorf("%s does not close it", key)
		}
	}
}

// TestCross holds where a blocked way ends: at the box that waits, and at no other one.
func TestCross(t *testing.T) {
	s := NewStage(howpleg.New(), seen(working(Hung())), 118, 35)
	for box, want := range map[string]bool{"─ lists": false, "─ inspect": true} {
		line := s.Row(box)
		if got := strings.Contains(line, "✖"); got != want {
			t.Errorf("%s: a cross is %v, want %v:\n%s", box, got, want, s.Text())
		}
	}
	if row := s.Row("containerd"); strings.Contains(row, "✖") || strings.Count(row, "→") != 2 {
		t.Errorf("the ways to boxes that do not wait: %q", row)
	}
}
