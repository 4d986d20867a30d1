package engine

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/call"
)

func TestThreshold(t *testing.T) {
	bubble(t, Config{}, nil, func(b *bench) {
		b.fake.script("ListPodSandbox", behaviour{hang: true})
		listed := b.fresh().Health.ListedAt
		s := b.after(3*time.Minute - pace)
		if !s.Health.Healthy || s.Health.Verdict != "" {
			t.Errorf("health at the threshold = %+v", s.Health)
		}
		b.after(1)
		s = b.after(pace)
		want := listed.Add(3*time.Minute + 1)
		if s.Health.Healthy || !s.Health.Since.Equal(want) || s.Health.Flips != 1 {
			t.Errorf("health after it = %+v, want unhealthy since %v", s.Health, want)
		}
		age := s.At.Sub(listed)
		if text := fmt.Sprintf("pleg was last seen active %v ago; threshold is 3m0s", age); s.Health.Verdict != text {
			t.Errorf("verdict %q, want %q", s.Health.Verdict, text)
		}
		b.fake.behave()
		if s := b.after(3 * time.Minute); !s.Health.Healthy || s.Health.Flips != 2 {
			t.Errorf("health after a good list = %+v", s.Health)
		}
	})
}

func TestStatusOnItsOwn(t *testing.T) {
	bubble(t, Config{Period: MaxPeriod}, nil, func(b *bench) {
		b.fake.script("Status", behaviour{delay: time.Second})
		b.after(20 * time.Second) // begins at 0, 5, 11, 17
		n := 0
		for _, c := range b.fake.made() {
			if c == "Status" {
				n++
			}
		}
		if n != 4 {
			t.Errorf("%d Status calls in 20 s, want 4", n)
		}
	})
}

// One at a time, 10 s after the end of the last one.
func TestVersionIsAskedForWithEachPosting(t *testing.T) {
	bubble(t, Config{Period: MaxPeriod}, func(r *fakeRuntime) { r.script("Version", behaviour{hang: true}) }, func(b *bench) {
		count := func() (n int) {
			for _, c := range b.fake.made() {
				if c == "Version" {
					n++
				}
			}
			return n
		}
		b.after(2*time.Minute - time.Second)
		b.fake.behave()
		if n := count(); n != 1 {
			t.Errorf("%d calls while the first one hangs", n)
		}
		b.after(10 * time.Second)
		if n := count(); n != 0 {
			t.Errorf("%d calls within 10 s of its end", n)
		}
		b.after(2 * time.Minute)
		if n := count(); n < 8 || n > 12 {
			t.Errorf("%d calls in the 2 min after that", n)
		}
	})
}

func TestPauseDoesNotStopTheModelledReader(t *testing.T) {
	bubble(t, Config{}, onePod, func(b *bench) {
		b.ask(b.Pause)
		b.after(time.Hour)
		b.fake.flip("web/app")
		b.ask(b.RelistNow)
		if s := b.after(10 * time.Second); s.Channel.Delivered != 3 || s.Channel.Len != 0 {
			t.Errorf("channel = %+v", s.Channel)
		}
	})
}

func TestRuntimeGoneAndBack(t *testing.T) {
	bubble(t, Config{}, onePod, func(b *bench) {
		b.after(time.Second)
		for _, op := range call.Operations() {
			b.fake.script(op.String(), behaviour{err: unavailable(op)})
		}
		s := b.after(time.Minute)
		if s.StatusErr == nil || s.StatusErr.InRow < 11 || s.Failure == nil || s.Failure.InRow < 59 {
			t.Errorf("status failure %+v, list failure %+v", s.StatusErr, s.Failure)
		}
		if c := s.Calls[call.ListPodSandbox]; len(c.ByCode) != 1 || c.ByCode[0].Code != "Unavailable" || !errors.Is(c.LastErr, call.ErrUnavailable) || c.LastErrAt.IsZero() {
			t.Errorf("calls = %+v", c)
		}
		b.fake.mu.Lock()
		b.fake.version.RuntimeVersion = "2"
		b.fake.mu.Unlock()
		b.fake.behave()
		s = b.after(15 * time.Second)
		if s.StatusErr != nil || s.Failure != nil || s.Version.RuntimeVersion != "2" {
			t.Errorf("after its return: %+v, %+v, %+v", s.StatusErr, s.Failure, s.Version)
		}
	})
}

// crowd makes one change in each of n pods.
func crowd(n int) func(*fakeRuntime) {
	return func(r *fakeRuntime) {
		for i := range n {
			r.pod(fmt.Sprint("p", i), "app")
		}
	}
}

func TestEventsAreDiscardedWhileTheSyncLoopDoesNotRead(t *testing.T) {
	bubble(t, Config{Capacity: 20}, crowd(8), func(b *bench) {
		s := b.fresh()
		if s.Channel.Discarded != 0 || s.Channel.Delivered != 16 || s.Channel.Len != 0 {
			t.Fatalf("channel of a healthy node = %+v", s.Channel)
		}
		b.fake.ready(false)
		b.after(6 * time.Second)
		for i := range 8 {
			b.fake.exit(fmt.Sprintf("p%d/app", i), 1, "Error")
		}
		b.after(time.Second)
		for i := range 8 {
			b.fake.remove(fmt.Sprint("p", i)) // Removed, Died and Removed each
		}
		s = b.after(time.Second)
		if s.Channel.Len != 20 || s.Channel.Delivered != 16+20 || s.Channel.Discarded != 8+24-20 {
			t.Errorf("channel while the runtime is not ready = %+v", s.Channel)
		}
		b.fake.ready(true)
		if s := b.after(11 * time.Second); s.Channel.Len != 0 {
			t.Errorf("channel of a node that is well again = %+v", s.Channel)
		}
	})
}

// The runtime is not ready from 5 s on, as Status says then, and ready from 10 s
// on. The sync loop looks at 5, 5.1, 5.3, 5.7, 6.5, 8.1 and 11.3 s.
func TestSyncLoopReadsWhenItsNapEnds(t *testing.T) {
	for at, want := range map[time.Duration]int{11200 * time.Millisecond: 1, 11300 * time.Millisecond: 0} {
		bubble(t, Config{}, onePod, func(b *bench) {
			b.after(time.Second)
			b.fake.ready(false)
			b.after(5500 * time.Millisecond)
			b.fake.ready(true)
			b.fake.exit("web/app", 1, "Error")
			b.after(at - 6500*time.Millisecond)
			b.stop()
			if n := b.shell.machine.core.Len(); n != want {
				t.Errorf("%d events in the channel after %v, want %d", n, at, want)
			}
		})
	}
}

// All pods of a big node vanish in one relist. A sync loop that is well reads
// beside the relist; one that is not leaves 1000 events in the channel.
func TestPodsThatVanishAtOnce(t *testing.T) {
	const pods, events = 600, 600 * 3 // Died and Removed of two containers and a sandbox, each
	two := func(r *fakeRuntime) {
		for i := range pods {
			r.pod(fmt.Sprint("p", i), "app", "log")
		}
	}
	for _, ready := range []bool{true, false} {
		t.Run(fmt.Sprint("ready ", ready), func(t *testing.T) {
			bubble(t, Config{}, two, func(b *bench) {
				b.fake.ready(ready)
				was := b.after(6 * time.Second).Channel
				if was.Delivered != events || was.Discarded != 0 || was.Len != 0 {
					t.Fatalf("channel before = %+v", was)
				}
				for i := range pods {
					b.fake.remove(fmt.Sprint("p", i))
				}
				want := Channel{Capacity: 1000, Delivered: 3 * events}
				if !ready {
					want = Channel{Capacity: 1000, Len: 1000, Delivered: events + 1000, Discarded: 2*events - 1000}
				}
				if got := b.after(2 * time.Second).Channel; got != want {
					t.Errorf("channel = %+v, want %+v", got, want)
				}
			})
		})
	}
}

func TestSyncLoopNaps(t *testing.T) {
	now := time.Unix(1000, 0)
	s := syncLoop{synced: now}
	for _, want := range []int{100, 200, 400, 800, 1600, 3200, 5000, 5000} {
		s.reads(now, false)
		if nap := s.napUntil.Sub(now); nap != time.Duration(want)*time.Millisecond {
			t.Fatalf("nap of %v, want %d ms", nap, want)
		}
		if s.reads(s.napUntil.Add(-1), true) {
			t.Fatal("reads while it naps")
		}
		now = s.napUntil
	}
	if !s.reads(now, true) || !s.napUntil.IsZero() {
		t.Error("does not read after its nap")
	}
}
