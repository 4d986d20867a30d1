package engine

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/call"
)

// A play is a fault, and what a kubelet 1.36.0 with an API server was seen to make of
// it on containerd 2.4.2, in seconds after its start; 0 for never.
type play struct {
	name                           string
	begin                          func(f *fakeRuntime) (end func())
	lasts, watched                 time.Duration
	loop, unhealthy, posted, ready float64
}

// stop stops the runtime, as a signal does.
func stop(f *fakeRuntime) func() {
	going := make(chan struct{})
	for _, op := range call.Operations() {
		f.script(op.String(), behaviour{stops: going})
	}
	return func() { f.behave(); close(going) }
}

// kill has nobody listen.
func kill(f *fakeRuntime) func() {
	for _, op := range call.Operations() {
		f.script(op.String(), behaviour{err: unavailable(op)})
	}
	return f.behave
}

func hangs(keys ...string) func(f *fakeRuntime) func() {
	return func(f *fakeRuntime) func() {
		for _, key := range keys {
			f.script(key, behaviour{hang: true})
			f.flip(key[len("ContainerStatus "):])
		}
		return f.behave
	}
}

var plays = []play{
	{"stopped for 434 s", stop, 434 * time.Second, 460 * time.Second, 120.6, 181.9, 123.6, 444.0},
	{"stopped for 75 s", stop, 75 * time.Second, 100 * time.Second, 0, 0, 75.0, 85.3},
	{"killed for 15 s", kill, 15 * time.Second, 60 * time.Second, 0, 0, 0, 0},
	{"killed for 75 s", kill, 75 * time.Second, 100 * time.Second, 28.1, 0, 33.5, 84.8}, // the means of two
	{"Status hangs", func(f *fakeRuntime) func() { f.script("Status", behaviour{hang: true}); return f.behave }, 100 * time.Second, 100 * time.Second, 25.8, 0, 30.9, 0},
	{"one ContainerStatus hangs", hangs("ContainerStatus web/app"), 10 * time.Minute, 10 * time.Minute, 0, 0, 0, 0},
	{"two ContainerStatus hang", hangs("ContainerStatus web/app", "ContainerStatus db/app"), 230 * time.Second, 230 * time.Second, 180, 180, 185, 0},
	{"no network", func(f *fakeRuntime) func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.conditions[1].Status = false
		return func() {}
	}, time.Minute, time.Minute, 0, 0, 7.5, 0},
}

// What the machine says of a node differs from what its kubelet did by no more than
// what cannot be known: when in its periods of 5 s and 10 s the fault came.
func TestNodeAsItIsPosted(t *testing.T) {
	for _, p := range plays {
		for _, before := range []time.Duration{20 * time.Second, 22300 * time.Millisecond, 25700 * time.Millisecond} {
			t.Run(fmt.Sprint(p.name, " after ", before), func(t *testing.T) { p.run(t, before) })
		}
	}
}

func (p play) run(t *testing.T, before time.Duration) {
	pods := func(r *fakeRuntime) { r.pod("web", "app"); r.pod("db", "app") }
	bubble(t, Config{}, pods, func(b *bench) {
		start := b.after(before).At
		end := p.begin(b.fake)
		var loop, unhealthy, posted, ready float64
		var forecast Posting
		at := func(to *float64, when time.Time, is bool) {
			if is && *to == 0 {
				*to = when.Sub(start).Seconds()
			}
		}
		for since := time.Duration(0); since < p.watched; since += 250 * time.Millisecond {
			if since == p.lasts {
				end()
				forecast = Posting{}
			}
			s := b.after(250 * time.Millisecond)
			n := s.Node
			at(&loop, n.LoopStopped, !n.LoopStopped.IsZero() && s.At.Sub(n.LoopStopped) > time.Second)
			at(&unhealthy, s.Health.Since, !s.Health.Healthy)
			at(&posted, n.Since, !n.Ready)
			at(&ready, n.Since, n.Ready && posted > 0)
			if n.Since.After(start) && s.At.Sub(n.Since) < 250*time.Millisecond && forecast.Ready == n.Ready && !forecast.From.IsZero() {
				if n.Since.Before(forecast.From) || n.Since.After(forecast.To) {
					t.Errorf("posted %.1f, foretold from %.1f to %.1f", n.Since.Sub(start).Seconds(), forecast.From.Sub(start).Seconds(), forecast.To.Sub(start).Seconds())
				}
				forecast = Posting{}
			}
			if next := n.Next; !next.From.IsZero() {
				if forecast.Ready == next.Ready && !forecast.From.IsZero() && (next.From.Before(forecast.From) || next.To.After(forecast.To)) {
					t.Errorf("at %.1f: %+v after %+v", s.At.Sub(start).Seconds(), next, forecast)
				}
				forecast = next
			}
		}
		b.stop()
		for _, c := range []struct {
			what      string
			got, want float64
		}{{"loop stopped", loop, p.loop}, {"PLEG unhealthy", unhealthy, p.unhealthy}, {"NotReady posted", posted, p.posted}, {"Ready again", ready, p.ready}} {
			if c.got-c.want > 5.2 || c.want-c.got > 5.2 || (c.got == 0) != (c.want == 0) {
				t.Errorf("%s after %.1f s, the kubelet's after %.1f s", c.what, c.got, c.want)
			}
		}
	})
}

// One inspection that hangs never makes a node NotReady: its relist ends at the call's
// deadline. Two that are known to hang in one relist can.
func TestCountdownIsBoundedByWhatCanHappen(t *testing.T) {
	pods := func(r *fakeRuntime) { r.pod("web", "app"); r.pod("db", "app") }
	for n, keys := range [][]string{{"ContainerStatus web/app"}, {"ContainerStatus web/app", "ContainerStatus db/app"}} {
		bubble(t, Config{}, pods, func(b *bench) {
			b.after(10 * time.Second)
			hangs(keys...)(b.fake)
			for at := range 20 {
				s := b.after(30 * time.Second)
				switch h := s.Health; {
				case s.Phase.Step != Inspecting || s.Phase.EndsBy.IsZero() || s.At.Before(h.ListedAt.Add(2*time.Second)):
					continue
				case n == 0 && (!h.Healthy || !h.UnhealthyAt.IsZero() || s.Node.Next != (Posting{}) || s.Phase.EndsBy.Sub(h.ListedAt) > 121*time.Second):
					t.Errorf("one hangs, look %d: %+v, %+v, %+v", at, h, s.Phase, s.Node.Next)
				case n == 1 && at > 10 && h.Healthy && h.UnhealthyAt.IsZero() && s.Phase.Done == 0:
					t.Errorf("two hang, look %d: %+v, %+v", at, h, s.Phase)
				}
			}
		})
	}
}

// What a pause holds up is our doing: the node goes on afterwards from where it was.
func TestPauseStopsAllClocksOfTheNode(t *testing.T) {
	bubble(t, Config{}, onePod, func(b *bench) {
		b.after(20 * time.Second)
		end := stop(b.fake)
		was := b.after(60 * time.Second).Node
		b.ask(b.Pause)
		if n := b.after(time.Hour).Node; !n.Ready || n.Next != (Posting{}) || !n.LoopStopped.IsZero() {
			t.Errorf("in the pause: %+v", n)
		}
		b.ask(b.Resume)
		s := b.fresh()
		if n := s.Node; !n.Ready || n.LoopHeld.Sub(was.LoopHeld) != time.Hour || n.DownAt.Sub(was.DownAt) != time.Hour || n.Next.From.Sub(was.Next.From) < time.Hour {
			t.Errorf("after it: %+v, before it %+v", n, was)
		}
		end()
	})
}

// An answer to Version that comes in a pause does not put the next posting off by the
// time for which it was out.
func TestPostingAfterAnAnswerInAPause(t *testing.T) {
	bubble(t, Config{}, onePod, func(b *bench) {
		b.after(5 * time.Second)
		going := make(chan struct{})
		b.fake.script("Version", behaviour{stops: going})
		b.after(10 * time.Second)
		b.ask(b.Pause)
		b.after(90 * time.Second)
		b.fake.behave()
		close(going)
		b.after(10 * time.Second)
		b.ask(b.Resume)
		b.fake.made()
		b.after(postPeriod + time.Second)
		if !slices.Contains(b.fake.made(), "Version") {
			t.Error("no posting in a whole period after the pause")
		}
	})
}

// When a runtime that was stopped goes on, Status and Version come back together: whether
// the kubelet posts Ready then or a period later is decided by which is first. That is
// said, as a range, and the node is Ready again between.
func TestReadyAgainAfterARace(t *testing.T) {
	for _, lasts := range []time.Duration{75 * time.Second, 135 * time.Second, 150 * time.Second, 434 * time.Second} {
		bubble(t, Config{}, onePod, func(b *bench) {
			b.after(20 * time.Second)
			end := stop(b.fake)
			b.after(lasts)
			end()
			at := time.Now()
			n := b.after(time.Second).Node
			if from, to := n.Next.From.Sub(at), n.Next.To.Sub(at); n.Ready || !n.Next.Ready || from > pace || to < 10*time.Second || to > postPeriod+time.Second/2 {
				t.Errorf("after %v: %v, Ready is foretold from %v to %v", lasts, n.Ready, from, to)
			}
			if n := b.after(postAnytime).Node; !n.Ready || n.Next != (Posting{}) {
				t.Errorf("after %v: not ready 6 s later, %+v", lasts, n.Next)
			}
		})
	}
}

// mutes has connections taken and nothing said on them: calls fail after some seconds.
func mutes(f *fakeRuntime) {
	for _, op := range call.Operations() {
		f.script(op.String(), behaviour{delay: 5 * time.Second, err: &call.Error{Op: op, Kind: call.ErrSilent, Code: "Unavailable", Text: "says nothing"}})
	}
}

// A posting that is due waits for Version, and says so; one that a quick Version comes before does not.
func TestPostingIsHeld(t *testing.T) {
	for _, hangs := range []bool{true, false} {
		bubble(t, Config{}, onePod, func(b *bench) {
			b.after(5 * time.Second)
			going := make(chan struct{})
			b.fake.script("Status", behaviour{stops: going})
			if hangs {
				b.fake.script("Version", behaviour{stops: going})
			}
			if n := b.after(25 * time.Second).Node; n.Next.From.IsZero() || n.Next.Ready || n.Next.Held != hangs {
				b.t.Errorf("Version hangs: %v; next %+v", hangs, n.Next)
			}
			b.fake.behave()
			close(going)
		})
	}
}

// The posting that is foretold for a mute socket holds from the first time on, whatever the
// time of the kubelet's own updates, each of which waits for its connection first.
func TestMuteSocket(t *testing.T) {
	for before := 20 * time.Second; before < 31*time.Second; before += 1700 * time.Millisecond {
		bubble(t, Config{}, onePod, func(b *bench) { testMute(b, before) })
		bubble(t, Config{}, onePod, func(b *bench) { // when a kubelet posts is known then
			b.after(5 * time.Second)
			going := make(chan struct{})
			b.fake.script("Version", behaviour{stops: going})
			b.after(30 * time.Second)
			b.fake.behave()
			close(going)
			testMute(b, before)
		})
	}
}

func testMute(b *bench, before time.Duration) {
	t := b.t
	start := b.after(before)
	mutes(b.fake)
	var first Posting
	for at := time.Duration(0); at < time.Minute; at += time.Second {
		n := b.after(time.Second).Node
		switch {
		case n.Next == (Posting{}):
		case first == (Posting{}):
			first = n.Next
		case n.Next != first:
			t.Errorf("%v after it: %+v, and before %+v", at, n.Next, first)
		}
		if !n.Ready && (first == (Posting{}) || n.Since.Before(first.From) || n.Since.After(first.To)) {
			t.Fatalf("posted at %v, foretold %+v", n.Since, first)
		}
	}
	for phase := time.Duration(0); phase < postPeriod; phase += time.Second {
		for _, fails := range []time.Duration{0, 5 * time.Second, muteFor} { // a kubelet in its back-off fails at once
			posted := start.At.Add(phase)
			for posted.Before(start.Node.DownAt) {
				posted = posted.Add(postPeriod + fails)
			}
			if posted.After(first.To) {
				t.Errorf("a kubelet posts at %v, foretold %+v", posted, first)
			}
		}
	}
}

// A socket that has been mute from the start says nothing of the kubelet's connection: its
// update may wait for its whole timeout, and is not said to be posted before.
func TestMuteSocketFromTheStart(t *testing.T) {
	bubble(t, Config{}, mutes, func(b *bench) {
		began := b.after(time.Second).Started
		held := began.Add(postPeriod + 2*time.Minute)
		for b.after(5 * time.Second).At.Before(held) {
			if n := b.fresh().Node; !n.Ready || n.Next != (Posting{}) && n.Next.To.Before(held) {
				t.Fatalf("%v after the start: %+v", time.Since(began), n)
			}
		}
		if n := b.after(2 * (postPeriod + muteFor)).Node; n.Ready {
			t.Errorf("never: %+v", n)
		}
	})
}
