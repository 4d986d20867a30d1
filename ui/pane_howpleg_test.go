package ui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/ledger"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/howpleg"
	"github.com/plegtop/plegtop/ui/model"
	"github.com/plegtop/plegtop/ui/pane"
	"github.com/plegtop/plegtop/ui/story"
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

// follow is the way of an event, at one step.
func follow(v *pane.View, event uint64, step, w, h int) *Stage {
	s := NewStage(howpleg.New(event), v, w, h)
	for range step {
		s.Press("space")
	}
	return s
}

// streaming gives a node's snapshot a mode and an event stream.
func streaming(mode pleg.Mode, release pleg.Release) *engine.Snapshot {
	s := working(Healthy())
	s.Release, s.Mode = release, engine.ModeState{Mode: mode, Asked: mode}
	s.Sources = []engine.SourceState{{Source: ledger.FromCRI, State: engine.StreamConnected, Since: Ago(time.Hour), Received: 214}, {Source: ledger.FromCgroup, State: engine.StreamLost, Reason: "gone"}}
	return s
}

// howplegAsked makes the fourth event one of a relist that the runtime's stream asked for.
func howplegAsked(all []engine.Event) {
	all[3].Seen, all[3].Mode = &ledger.Sightings{}, pleg.Evented
	all[3].Seen.At[ledger.FromCRI], all[3].Seen.At[ledger.FromRelist] = all[3].SeenAt, all[3].SeenAt.Add(40*time.Millisecond)
}

func TestHowplegGoldens(t *testing.T) {
	Goldens(t, "whole", func(w, h int) *Stage { return follow(seen(working(Healthy())), 0, 0, w, h) })
	Goldens(t, "inspection", func(w, h int) *Stage { return follow(seen(working(Healthy())), 4, 3, w, h) })
	Goldens(t, "worker", func(w, h int) *Stage { return follow(seen(working(Healthy())), 4, 6, w, h) })
	Goldens(t, "hung", func(w, h int) *Stage { return follow(seen(working(Unhealthy())), 4, 2, w, h) })
	Goldens(t, "evented", func(w, h int) *Stage { return follow(seen(streaming(pleg.Evented, 37), howplegAsked), 4, 2, w, h) })
	Goldens(t, "ascii", func(w, h int) *Stage {
		v := seen(working(Healthy()))
		plain := v.Theme.Plain()
		v.Theme = &plain
		return follow(v, 4, 4, w, h)
	})
	follow(howplegHostile(), 1, 1, 78, 19).Golden(t, "hostile")
	NewStage(howpleg.New(0), View(Healthy()), 78, 19).Golden(t, "nothing-happened")
}

// TestChannel holds that a channel stands out before it is full: what finds it full is lost.
func TestChannel(t *testing.T) {
	for waiting, want := range map[int]string{0: "│ 0 of 1000 ", 799: "│ 799 of 1000 ", 800: "│ ▲ 800 of 1000 ", 999: "│ ▲ 999 of 1000 ", 1000: "│ ✖ full: 1000 "} {
		s := working(Healthy())
		s.Channel.Len = waiting
		if got := NewStage(howpleg.New(0), seen(s), 160, 40).Text(); !strings.Contains(got, want) {
			t.Errorf("%d waiting: %q is not in\n%s", waiting, want, got)
		}
	}
}

// TestSteps holds what each step of an event says and which boxes it is about.
func TestSteps(t *testing.T) {
	v := seen(working(Healthy()))
	for _, tt := range []struct {
		event uint64
		step  int
		want  []string
	}{
		{4, 0, []string{"space: follow this ContainerDied step by step"}},
		{4, 1, []string{"◆ runtime ─", "1 this container died 11:59:29.360 by the runtime's clock", "Container payments of shop/payments-6c8f9d7b5-t8wfx went from running to exited, exit code 137, OOMKilled. The runtime does not tell the kubelet."}},
		{4, 2, []string{"◆ lists ─", "◆ compare ─", "2 this record differs 11:59:29.986", "payments was running. Now it is exited"}},
		{4, 3, []string{"◆ inspect ─", "3 this inspection 11:59:30.000", "The relist had taken 14ms when they had succeeded", "hangs stops the relist here"}},
		{4, 4, []string{"◆ cache ─", "4 this cache entry", "as of the start of the lists, 11:59:29.986"}},
		{4, 5, []string{"◆ channel ─", "5 this event 11:59:30.000", "ContainerDied is sent. The channel holds 1000"}},
		{4, 6, []string{"◆ sync loop ─", "◆ workers ─", "6 this worker", "wakes the pod's worker", "Now: idle for"}},
		{6, 5, []string{"ContainerChanged is not sent"}},
		{6, 6, []string{"not woken", "The event was not sent."}},
		{7, 5, []string{"ContainerRemoved was discarded: the channel was full"}},
		{8, 1, []string{"Nothing happened to batch/import-29384711-c5n2m"}},
	} {
		s := follow(v, tt.event, tt.step, 160, 40)
		whole := strings.Join(strings.Fields(s.Text()), " ")
		for _, want := range tt.want {
			if !strings.Contains(whole, want) {
				t.Errorf("event %d, step %d lacks %q:\n%s", tt.event, tt.step, want, s.Text())
			}
		}
	}
}

// TestWays holds how the way differs of an event that a stream asked for, of one that no relist
// saw and of one that nobody sends.
func TestWays(t *testing.T) {
	for _, tt := range []struct {
		name   string
		snap   *engine.Snapshot
		change func(all []engine.Event)
		want   []string // of each step
	}{
		{"asked for", streaming(pleg.Evented, 37), howplegAsked, []string{"The source cri saw it at 11:59:30.000, 40ms before the relist", "asked for a relist of this pod alone", "The relist had taken 54ms"}},
		{"unseen", streaming(pleg.Generic, 36), func(all []engine.Event) {
			all[3].Delivery, all[3].Seen = pleg.Unseen, &ledger.Sightings{}
			all[3].Seen.At[ledger.FromCgroup] = all[3].SeenAt
		}, []string{"1 this container died 11:59:30.000 by cgroup", "No relist sees it, so", "No relist sees it, so", "No relist sees it, so", "No relist sees it, so", "No relist sees it, so"}},
		{"removed with its pod", streaming(pleg.Generic, 36), func(all []engine.Event) {
			all[3].Kind, all[3].From, all[3].To, all[3].Pod.UID = pleg.Removed, pleg.Exited, pleg.Absent, "gone"
		}, []string{"went from exited to absent", "was exited. Now it is absent", "The pod is no longer listed, so nothing can be asked", "The pod has gone since, and its entry.", "ContainerRemoved is sent", "a removal asks for no sync"}},
		{"derived", streaming(pleg.Generic, 36), func(all []engine.Event) {
			all[3].Kind, all[3].Delivery, all[3].Sandbox, all[3].Container, all[3].ID = pleg.NetworkSetUp, pleg.Derived, true, "", ID("sb", "shop", "payments-6c8f9d7b5-t8wfx")
		}, []string{"sets up the network", "new in the lists", "has an address", "part of the status", "takes no room", "Nobody is told"}},
	} {
		for i, want := range tt.want {
			s := follow(seen(tt.snap, tt.change), 4, i+1, 160, 40)
			if whole := strings.Join(strings.Fields(s.Text()), " "); !strings.Contains(whole, want) {
				t.Errorf("%s, step %d lacks %q:\n%s", tt.name, i+1, want, s.Text())
			}
		}
	}
	snap := working(Healthy())
	v := seen(snap)
	r := v.Journal.Row(4)
	for _, w := range snap.Workers.All {
		if w.Pod == r.Pod {
			w.Spared = true
			if s := follow(v, 4, 6, 160, 40); s.Row("wakes the pod's worker") == "" {
				t.Errorf("another event that was expected is taken for it:\n%s", s.Text())
			}
			w.Last = r.Event.Event
		}
	}
	if s := follow(v, 4, 6, 160, 40); s.Row("The worker had expected this event of its own doing") == "" {
		t.Errorf("nothing says that it was expected:\n%s", s.Text())
	}
}

// TestItFits holds that on 80x24, alerts or not, whatever the event and the step, the whole
// picture and all that is said is seen without scrolling.
func TestItFits(t *testing.T) {
	for name, snap := range map[string]*engine.Snapshot{
		"healthy": working(Healthy()), "hung": working(Unhealthy()), "evented": streaming(pleg.Evented, 37),
	} {
		v := seen(snap, howplegAsked)
		for _, event := range []uint64{1, 4, 6, 7, 8} {
			for step := range story.Stages + 1 {
				for _, h := range []int{17, 18} {
					s := follow(v, event, step, 78, h)
					if n := s.Pane.(interface{ Len() int }).Len(); n > h || (s.Row("sync loop") == "" || h >= 18 && s.Row("reads all") == "" && s.V.Node.LoopStopped.IsZero()) {
						t.Errorf("%s: event %d, step %d takes %d lines of %d:\n%s", name, event, step, n, h, s.Text())
					}
				}
			}
		}
	}
}

// TestStays holds that an event that is followed stays when the journal keeps it no more.
func TestStays(t *testing.T) {
	snap := working(Healthy())
	v := View(snap)
	v.Journal = model.NewJournal(2)
	happen := func(first, last uint64) {
		var all []engine.Event
		for seq := first; seq <= last; seq++ {
			all = append(all, Happened(seq, 30, pleg.Started, snap.Pods[0], "app", pleg.Created, pleg.Running))
		}
		v.Journal.Observe(engine.Update{Snapshot: snap, Events: all})
	}
	happen(1, 20)
	s := NewStage(howpleg.New(19), v, 118, 35)
	happen(21, 22) // in the places of those that go
	s.Refresh()
	if got := s.Subject().Event; got != 19 || v.Journal.Row(19) != nil {
		t.Errorf("event %d in the place of 19; still kept: %v", got, v.Journal.Row(19) != nil)
	}
}

// TestBeginsWith holds that it begins with the last start or death that a kubelet has, whatever
// else there is; without any with the newest event of those.
func TestBeginsWith(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(all []engine.Event)
		want   uint64
	}{
		{"a death", func([]engine.Event) {}, 5},
		{"a start", func(all []engine.Event) {
			all[3].Delivery, all[3].Seen = pleg.Unseen, &ledger.Sightings{}
			all[4].Delivery = pleg.Derived
		}, 3},
		{"neither", func(all []engine.Event) {
			for i := range all {
				all[i].Kind = pleg.Removed
			}
			all[7].Delivery = pleg.Derived
		}, 7},
	} {
		if got := NewStage(howpleg.New(0), seen(working(Healthy()), tt.change), 118, 35).Subject().Event; got != tt.want {
			t.Errorf("%s: it begins with event %d, want %d", tt.name, got, tt.want)
		}
	}
}

// TestCross holds where a blocked way ends: at the box that waits, and at no other one.
func TestCross(t *testing.T) {
	s := NewStage(howpleg.New(0), seen(working(Hung())), 118, 35)
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

// TestHowplegKeys holds how one goes on, back, and to other events, and that the event stays once it
// is followed.
func TestHowplegKeys(t *testing.T) {
	v := seen(working(Healthy()))
	s := NewStage(howpleg.New(0), v, 118, 35)
	is := func(after string, event uint64, step int) {
		t.Helper()
		seen := strings.Contains(s.Text(), fmt.Sprintf("\n◆ %d ", step)) || step == 0 && !strings.Contains(s.Text(), "\n◆ ")
		if got := s.Subject().Event; got != event || !seen {
			t.Errorf("after %s: event %d, want %d, at step %d:\n%s", after, got, event, step, s.Text())
		}
	}
	is("nothing", 5, 0)
	later := func(seq uint64) {
		e := Happened(seq, 58, pleg.Started, Find(v.Snapshot, "nfs-client"), "app", pleg.Created, pleg.Running)
		v.Journal.Observe(engine.Update{Snapshot: v.Snapshot, Events: []engine.Event{e}})
		s.Refresh()
	}
	later(9)
	is("another event", 9, 0)
	s.Press("space")
	later(10)
	is("a step, and another event", 9, 1)
	s.Press("space", "space", "left", "space", "backspace")
	is("on and back", 9, 2)
	s.Press("up")
	is("up", 8, 2)
	s.Press("down", "down")
	is("down", 10, 2)
	if s.Press("down"); s.Said != "no newer event" {
		t.Errorf("said %q", s.Said)
	}
	s.Press("space", "space", "space", "space", "space")
	is("the end", 10, 0)
	s.Press("left")
	is("back from the beginning", 10, 0)
	s.Open(s.Pane)
	if s.Press("H"); len(s.Layers) != 0 {
		t.Error("H does not close it")
	}
	if s := NewStage(howpleg.New(0), View(Healthy()), 78, 19).Press("space", "down"); s.Said != "no newer event" {
		t.Errorf("without events: %q", s.Said)
	}
	s = NewStage(howpleg.New(4), v, 78, 19)
	is("opened on an event", 4, 0)
	s.Press("space", "left")
	s.Refresh()
	is("a step, and back", 4, 0)
	but := func(hidden uint64) {
		v.Journal.Filter(func(e engine.Event, _ time.Time) bool { return e.Seq != hidden }, false)
		s.Refresh()
	}
	but(4)
	s.Press("down")
	is("down from one that is filtered away", 5, 0)
	but(5)
	s.Press("up")
	is("up from one", 4, 0)
	if got := fmt.Sprint(s.Info().Scope == keymap.Over|keymap.Stepping, s.Info().Beside); got != "true true" {
		t.Error(got)
	}
}

func TestHowplegEverySize(t *testing.T) {
	NewStage(howpleg.New(4), seen(working(Healthy())), 1, 1).EverySize(t)
	follow(howplegHostile(), 1, 3, 1, 1).EverySize(t)
}
