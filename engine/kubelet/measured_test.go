package kubelet

import (
	"fmt"
	"testing"
	"time"
)

// A play is a fault, and what a kubelet 1.36.0 with an API server was seen to make of it on
// containerd 2.4.2, in seconds after its start; 0 for never.
type play struct {
	name                           string
	fault                          func(s *scene)
	lasts, watched                 time.Duration
	loop, unhealthy, posted, ready float64
}

var (
	stops = func(s *scene) { s.behave(behaviour{hangs: true, goesOn: true}, all...) }
	fails = func(s *scene) { s.behave(behaviour{fails: true}, all...) }
	mutes = func(s *scene) { s.behave(behaviour{after: 5 * time.Second, fails: true, mute: true}, all...) }
)

var plays = []play{
	{"whole runtime stopped for 434 s", stops, 434 * time.Second, 460 * time.Second, 120.6, 181.9, 123.6, 444.0},
	{"whole runtime stopped for 75 s", stops, 75 * time.Second, 100 * time.Second, 0, 0, 75.0, 85.3},
	{"killed for 15 s", fails, 15 * time.Second, 60 * time.Second, 0, 0, 0, 0},
	{"killed for 75 s", fails, 75 * time.Second, 100 * time.Second, 28.1, 0, 33.5, 84.8}, // the means of two
	{"Status hangs", func(s *scene) { s.behave(behaviour{hangs: true}, "Status") }, 100 * time.Second, 100 * time.Second, 25.8, 0, 30.9, 0},
	{"one ContainerStatus hangs", func(s *scene) { s.hangers = 1 }, 10 * time.Minute, 10 * time.Minute, 0, 0, 0, 0},
	{"two ContainerStatus hang", func(s *scene) { s.hangers = 2 }, 230 * time.Second, 230 * time.Second, 180, 180, 185, 0},
	{"no network", func(s *scene) { s.conditions[1].Status = false }, time.Minute, time.Minute, 0, 0, 7.5, 0},
}

// What we say of a node differs from what its kubelet did by no more than what cannot be known:
// when in its periods of 5 s and 10 s the fault came. A posting comes within what was foretold
// last, and what is foretold only becomes more exact.
func TestMeasuredPlays(t *testing.T) {
	for _, p := range plays {
		for _, before := range []time.Duration{20 * time.Second, 22300 * time.Millisecond, 25700 * time.Millisecond} {
			t.Run(fmt.Sprint(p.name, " after ", before), func(t *testing.T) { p.run(t, before) })
		}
	}
}

func (p play) run(t *testing.T, before time.Duration) {
	s := newScene(Config{})
	s.run(before)
	began := s.at
	p.fault(s)
	var loop, unhealthy, posted, ready float64
	note := func(to *float64, when time.Time, is bool) {
		if is && *to == 0 {
			*to = when.Sub(began).Seconds()
		}
	}
	var forecast Posting
	s.onPost = func(n Node) {
		if forecast.Ready == n.Ready && !forecast.From.IsZero() && (n.Since.Before(forecast.From) || n.Since.After(forecast.To)) {
			t.Errorf("%v: posted, foretold from %v to %v", n.Since.Sub(began), forecast.From.Sub(began), forecast.To.Sub(began))
		}
		forecast = Posting{}
	}
	for since := time.Duration(0); since < p.watched; since += 250 * time.Millisecond {
		if since == p.lasts {
			s.behave(behaviour{})
			forecast = Posting{}
		}
		s.run(250 * time.Millisecond)
		n, h := s.k.Node(s.at), s.k.Health(s.at)
		note(&loop, n.LoopStopped, !n.LoopStopped.IsZero() && s.at.Sub(n.LoopStopped) > time.Second)
		note(&unhealthy, h.Since, !h.Healthy)
		note(&posted, n.Since, !n.Ready)
		note(&ready, n.Since, n.Ready && posted > 0)
		if next := n.Next; !next.From.IsZero() {
			if forecast.Ready == next.Ready && !forecast.From.IsZero() && (next.From.Before(forecast.From) || next.To.After(forecast.To)) {
				t.Errorf("at %v: %+v after %+v", s.at.Sub(began), next, forecast)
			}
			forecast = next
		}
	}
	const most = 5.25 // half a period of 10.4 s, and what was measured is rounded
	for _, c := range []struct {
		what      string
		got, want float64
	}{{"loop stopped", loop, p.loop}, {"PLEG unhealthy", unhealthy, p.unhealthy}, {"NotReady posted", posted, p.posted}, {"Ready again", ready, p.ready}} {
		if c.got-c.want > most || c.want-c.got > most || (c.got == 0) != (c.want == 0) {
			t.Errorf("%s after %.1f s, the kubelet's after %.1f s", c.what, c.got, c.want)
		}
	}
}

// When a runtime that was stopped goes on, Status and Version return together. Whichever is first
// in the kubelet decides whether it posts Ready then or a period later. We say so, as a range, and
// the node is Ready again at its end, as in all plays that were measured.
func TestReadyAgainAfterARace(t *testing.T) {
	for _, lasts := range []time.Duration{75 * time.Second, 135 * time.Second, 150 * time.Second, 434 * time.Second} {
		s := newScene(Config{})
		s.run(20 * time.Second)
		stops(s)
		s.run(lasts)
		back := s.at
		s.behave(behaviour{})
		s.run(time.Second)
		n := s.k.Node(s.at)
		if from, to := n.Next.From.Sub(back), n.Next.To.Sub(back); n.Ready || !n.Next.Ready || from > 0 || to < 10*time.Second || to > postPeriod+time.Second/2 {
			t.Errorf("after %v: Ready %v, foretold from %v to %v", lasts, n.Ready, from, to)
		}
		s.run(postPeriod)
		if n := s.k.Node(s.at); !n.Ready || n.Next != (Posting{}) || lasts != 135*time.Second && n.Since.Sub(back) < 10*time.Second {
			t.Errorf("after %v: Ready %v %v later, next %+v", lasts, n.Ready, n.Since.Sub(back), n.Next)
		}
	}
}

// What is foretold for a mute socket holds from the first time on, whenever the kubelet's own
// updates come: each of them waits for its connection first.
func TestMuteSocket(t *testing.T) {
	for before := 20 * time.Second; before < 31*time.Second; before += 1700 * time.Millisecond {
		s := newScene(Config{})
		testMute(t, s, before)
		s = newScene(Config{})
		s.run(5 * time.Second)
		s.behave(behaviour{hangs: true, goesOn: true}, "Version")
		s.run(30 * time.Second)
		s.behave(behaviour{}) // now we know when the kubelet posts
		testMute(t, s, before)
	}
}

func testMute(t *testing.T, s *scene, before time.Duration) {
	s.run(before)
	began, down := s.at, s.k.Node(s.at).DownAt
	mutes(s)
	var first Posting
	for range 60 {
		s.run(time.Second)
		n := s.k.Node(s.at)
		switch {
		case n.Next == (Posting{}):
		case first == (Posting{}):
			first = n.Next
		case n.Next != first:
			t.Errorf("%v after it: %+v, and before %+v", s.at.Sub(began), n.Next, first)
		}
		if !n.Ready && (first == (Posting{}) || n.Since.Before(first.From) || n.Since.After(first.To)) {
			t.Fatalf("posted at %v, foretold %+v", n.Since, first)
		}
	}
	if s.k.Node(s.at).Ready {
		t.Error("never posted")
	}
	for phase := time.Duration(0); phase < postPeriod; phase += time.Second {
		for _, fails := range []time.Duration{0, 5 * time.Second, muteFor} { // a kubelet in its back-off fails at once
			posted := began.Add(phase)
			for posted.Before(down) {
				posted = posted.Add(postPeriod + fails)
			}
			if posted.After(first.To) {
				t.Errorf("a kubelet posts at %v, foretold %+v", posted, first)
			}
		}
	}
}

// If one inspection hangs the node never becomes NotReady: its relist ends at the call's deadline,
// and we foretell nothing. Two that are known to hang in one relist can.
func TestOneHungInspectionForetellsNothing(t *testing.T) {
	for hangers := 1; hangers <= 2; hangers++ {
		s := newScene(Config{})
		s.run(10 * time.Second)
		s.hangers = hangers
		for look := range 20 {
			s.run(30 * time.Second)
			h, next := s.k.Health(s.at), s.k.Node(s.at).Next
			if s.seen.EndsBy.IsZero() || s.at.Before(h.ListedAt.Add(2*time.Second)) {
				continue
			}
			if hangers == 1 && (!h.Healthy || !h.UnhealthyAt.IsZero() || next != (Posting{})) {
				t.Errorf("one hangs, look %d: %+v, %+v", look, h, next)
			}
			if hangers == 2 && look > 10 && h.Healthy && h.UnhealthyAt.IsZero() && s.inspected == 0 {
				t.Errorf("two hang, look %d: %+v", look, h)
			}
		}
	}
}
