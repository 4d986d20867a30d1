package engine_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plegtop/plegtop/engine"
)

// news makes a runtime that has something new to show each 100 ms.
func news(r *scripted) {
	onePod(r)
	r.behave([]string{"ListContainers"}, &behaviour{err: failure(0, "Unknown", "it is broken")}, false)
}

// A reader gets ten updates a second at most, and four if it works long on each.
func TestFeedKeepsItsPace(t *testing.T) {
	for work, want := range map[time.Duration]time.Duration{0: 100 * time.Millisecond, 6 * time.Millisecond: 150 * time.Millisecond, 20 * time.Millisecond: 250 * time.Millisecond} {
		bubble(t, engine.Config{Period: engine.MinPeriod}, news, func(e *running) {
			f := e.Feed()
			began, n := time.Now(), 0
			for time.Since(began) < 10*time.Second {
				if _, err := f.Next(e.t.Context()); err != nil {
					t.Fatal(err)
				}
				n++
				time.Sleep(work)
			}
			if most := int(10*time.Second/want) + 2; n > most || n < most*3/4 {
				t.Errorf("%d updates in 10 s of a reader that works %v on each; want %d", n, work, most)
			}
		})
	}
}

// Each of several readers gets all events, once and in order, and the newest snapshot.
func TestEachReaderGetsAllEvents(t *testing.T) {
	bubble(t, engine.Config{}, onePod, func(e *running) {
		readers := [2]*engine.Feed{e.Feed(), e.Feed()}
		var seqs [2]uint64
		for i := range 30 {
			e.r.flip("web/app")
			time.Sleep(time.Second)
			synctest.Wait()
			for n, f := range readers {
				if n == 1 && i%7 > 0 { // this one comes seldom
					continue
				}
				u, err := f.Next(e.t.Context())
				if err != nil || u.Lost > 0 || u.Snapshot != e.newest() {
					t.Fatalf("lost %d, %v; or the snapshot is not the newest", u.Lost, err)
				}
				for _, event := range u.Events {
					if seqs[n]++; event.Seq != seqs[n] {
						t.Fatalf("event %d came when %d was due", event.Seq, seqs[n])
					}
				}
			}
		}
		if seqs[0] < 30 || seqs[1] < 25 {
			t.Errorf("only %v events came", seqs)
		}
	})
}

// The first snapshot waits for the first relist, but not for long.
func TestFirstSnapshotIsWholeUnlessThatTakesTime(t *testing.T) {
	for delay, want := range map[time.Duration]time.Duration{20 * time.Millisecond: 20 * time.Millisecond, time.Second: 150 * time.Millisecond} {
		bubble(t, engine.Config{}, func(r *scripted) {
			onePod(r)
			r.behave([]string{"ListContainers"}, &behaviour{delay: delay}, false)
		}, func(e *running) {
			u, err := e.Feed().Next(e.t.Context())
			if err != nil || u.Snapshot.At.Sub(u.Snapshot.Started) != want || (len(u.Events) == 2) != (delay == want) {
				t.Errorf("with a list of %v: %d events after %v, %v", delay, len(u.Events), u.Snapshot.At.Sub(u.Snapshot.Started), err)
			}
		})
	}
}

func TestNextHeedsItsContext(t *testing.T) {
	bubble(t, engine.Config{}, onePod, func(e *running) {
		f := e.Feed()
		_, _ = f.Next(e.t.Context())
		ctx, cancel := context.WithTimeout(e.t.Context(), 10*time.Millisecond)
		defer cancel()
		if _, err := f.Next(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Next returned %v", err)
		}
	})
}

// At the end nothing is held back: a reader that waits gets what is left at once, and then the end.
func TestFeedAfterTheEnd(t *testing.T) {
	bubble(t, engine.Config{}, onePod, func(e *running) {
		waiting := make(chan error)
		go func() {
			for f := e.Feed(); ; {
				if _, err := f.Next(context.Background()); err != nil {
					waiting <- err
					return
				}
			}
		}()
		f := e.Feed()
		_, _ = f.Next(e.t.Context())
		began := time.Now()
		e.Pause()
		e.stop()
		if u, err := f.Next(e.t.Context()); err != nil || !u.Snapshot.Paused || time.Since(began) != 0 {
			t.Errorf("the last update came after %v: %v", time.Since(began), err)
		}
		if err := <-waiting; !errors.Is(err, engine.ErrStopped) {
			t.Errorf("who waited got %v", err)
		}
		late := e.Feed()
		u, err := late.Next(e.t.Context())
		if _, end := late.Next(e.t.Context()); err != nil || len(u.Events) != 2 || !errors.Is(end, engine.ErrStopped) {
			t.Errorf("a late reader got %d events, %v, and then %v", len(u.Events), err, end)
		}
	})
}
