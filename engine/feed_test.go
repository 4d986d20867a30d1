package engine

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// drain reads until an error, and returns the last update before it.
func drain(t *testing.T, f *Feed) (last Update, err error) {
	t.Helper()
	for {
		u, err := f.Next(t.Context())
		if err != nil {
			return last, err
		}
		last = u
	}
}

func TestFeedDeliversEventsOnceAndInOrder(t *testing.T) {
	bubble(t, Config{}, onePod, func(b *bench) {
		f := b.Feed()
		var seq uint64
		for range 30 {
			b.fake.flip("web/app")
			u, err := f.Next(b.t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range u.Events {
				if seq++; e.Seq != seq {
					t.Fatalf("event %d came when %d was due", e.Seq, seq)
				}
			}
			if u.Lost != 0 {
				t.Fatalf("lost %d", u.Lost)
			}
		}
		if seq < 10 {
			t.Errorf("only %d events came", seq)
		}
	})
}

func TestSlowReaderLosesAndIsTold(t *testing.T) {
	bubble(t, Config{Events: 5}, onePod, func(b *bench) {
		f := b.Feed()
		if u, err := f.Next(b.t.Context()); err != nil || u.Lost != 0 || len(u.Events) != 2 {
			t.Fatalf("first update %+v, %v", u, err)
		}
		for range 20 {
			b.fake.flip("web/app")
			b.after(time.Second)
		}
		b.fresh()
		b.shell.buffer.mu.Lock()
		last, upto := b.shell.buffer.ring.last, b.shell.buffer.upto
		b.shell.buffer.mu.Unlock()
		u, err := f.Next(b.t.Context())
		if err != nil || last != upto || len(u.Events) != 5 || u.Lost != last-5-2 || u.Events[0].Seq != last-4 {
			t.Errorf("update with %d events from %+v, lost %d (%v); the last is %d", len(u.Events), u.Events[0], u.Lost, err, last)
		}
		if u.Snapshot != b.shell.buffer.newest() {
			t.Error("the snapshot is not the newest")
		}
	})
}

func TestFeedNeverRunsFasterThanThePace(t *testing.T) {
	busy := func(r *fakeRuntime) {
		for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
			r.pod(name, "app")
		}
		r.script("ContainerStatus", behaviour{delay: 30 * time.Millisecond})
	}
	bubble(t, Config{Period: MinPeriod}, busy, func(b *bench) {
		f := b.Feed()
		began, n := time.Now(), 0
		for time.Since(began) < 5*time.Second {
			b.fake.flip("a/app")
			if _, err := f.Next(b.t.Context()); err != nil {
				t.Fatal(err)
			}
			n++
		}
		if n < 10 || n > 51 {
			t.Errorf("%d updates in 5 s", n)
		}
	})
}

func TestFirstSnapshotIsAFullOneUnlessThatTakesTime(t *testing.T) {
	for delay, want := range map[time.Duration]time.Duration{20 * time.Millisecond: 20 * time.Millisecond, time.Second: firstFrame} {
		slow := func(r *fakeRuntime) {
			r.pod("web", "app")
			r.script("ListContainers", behaviour{delay: delay})
		}
		bubble(t, Config{}, slow, func(b *bench) {
			u, err := b.Feed().Next(b.t.Context())
			took := u.Snapshot.At.Sub(u.Snapshot.Started)
			if err != nil || took != want || (len(u.Events) == 2) != (delay < firstFrame) {
				t.Errorf("with a list of %v: %d events after %v, %v", delay, len(u.Events), took, err)
			}
		})
	}
}

func TestQuietNodeIsPublishedOnceASecond(t *testing.T) {
	bubble(t, Config{}, onePod, func(b *bench) {
		from := b.after(5 * time.Second).Seq
		if n := b.after(20*time.Second).Seq - from; n < 19 || n > 21 {
			t.Errorf("%d snapshots in 20 quiet seconds", n)
		}
	})
}

func TestNextHeedsItsContext(t *testing.T) {
	bubble(t, Config{}, onePod, func(b *bench) {
		f := b.Feed()
		f.Next(b.t.Context())
		ctx, cancel := context.WithTimeout(b.t.Context(), 10*time.Millisecond)
		defer cancel()
		if _, err := f.Next(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Next returned %v", err)
		}
	})
}

func TestFeedEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := newFake(t)
		fake.pod("web", "app")
		b := startBench(t, Config{}, fake)
		ended := make(chan error)
		go func() {
			_, err := drain(t, b.Feed())
			ended <- err
		}()
		time.Sleep(3 * time.Second)
		b.stop()
		if err := <-ended; !errors.Is(err, ErrStopped) {
			t.Errorf("the waiting reader got %v", err)
		}
		u, err := drain(t, b.Feed())
		if u.Snapshot == nil || len(u.Events) != 2 || !errors.Is(err, ErrStopped) {
			t.Errorf("a late reader got %+v, %v; want what is left, then the end", u, err)
		}
	})
}

func TestTheLastUpdateIsNotHeldBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := startBench(t, Config{}, newFake(t))
		f := b.Feed()
		f.Next(t.Context())
		began := time.Now()
		b.ask(b.Pause)
		b.stop()
		if u, err := f.Next(t.Context()); err != nil || !u.Snapshot.Paused || time.Since(began) != 0 {
			t.Errorf("the last update, %+v, came after %v: %v", u.Snapshot, time.Since(began), err)
		}
	})
}
