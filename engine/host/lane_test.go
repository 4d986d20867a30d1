package host

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestLaneReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l lane[int]
		for want := range 3 {
			got, err := l.start(t.Context(), func(context.Context) int { return want }).wait(t.Context())
			if got != want || err != nil {
				t.Errorf("read %d, %v, want %d", got, err, want)
			}
		}
	})
}

// What hangs in the kernel knows no context: it is left behind, costs those who
// come later no time, and nothing like it is begun until it ends.
func TestLaneLeavesBehindWhatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l lane[int]
		var begun atomic.Int32
		release := make(chan int)
		hang := func(context.Context) int { begun.Add(1); return <-release }
		for i, want := range []time.Duration{limit + grace, 0, 0} {
			began := time.Now()
			_, err := l.start(t.Context(), hang).wait(t.Context())
			if stuck, ok := errors.AsType[stuckError](err); !ok || stuck.out < limit {
				t.Errorf("look %d: error = %v, want that it is stuck", i, err)
			}
			if took := time.Since(began); took != want {
				t.Errorf("look %d took %v, want %v", i, took, want)
			}
			time.Sleep(5 * time.Second)
		}
		if n := begun.Load(); n != 1 {
			t.Errorf("%d reads were begun while one hung, want 1", n)
		}
		release <- 1
		synctest.Wait()
		if got, err := l.start(t.Context(), func(context.Context) int { return 2 }).wait(t.Context()); got != 2 || err != nil {
			t.Errorf("after the end of what hung: %d, %v, want a new read's 2", got, err)
		}
	})
}

func TestLaneIsJoined(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l lane[int]
		slow := func(context.Context) int { time.Sleep(time.Second); return 1 }
		first := l.start(t.Context(), slow)
		time.Sleep(time.Second / 2)
		second := l.start(t.Context(), func(context.Context) int { return 2 })
		for _, r := range []*reading[int]{first, second} {
			if got, err := r.wait(t.Context()); got != 1 || err != nil {
				t.Errorf("got %d, %v, want the 1 of the read that was out", got, err)
			}
		}
	})
}

// Who stops waiting ends neither the read nor the wait of another.
func TestLaneOutlivesItsFirstReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l lane[error]
		ctx, cancel := context.WithCancelCause(t.Context())
		wait := func(ctx context.Context) error {
			select {
			case <-ctx.Done():
			case <-time.After(time.Second):
			}
			return ctx.Err()
		}
		r := l.start(ctx, wait)
		enough := errors.New("enough")
		cancel(enough)
		if _, err := r.wait(ctx); !errors.Is(err, enough) {
			t.Errorf("error = %v, want the cause", err)
		}
		if read, err := r.wait(t.Context()); read != nil || err != nil {
			t.Errorf("the other reader got %v, %v", read, err)
		}
	})
}

// A read that heeds its context has ended when the wait for it does.
func TestLaneBoundsTheRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l lane[error]
		began := time.Now()
		read, err := l.start(t.Context(), func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }).wait(t.Context())
		if !errors.Is(read, context.DeadlineExceeded) || err != nil || time.Since(began) != limit {
			t.Errorf("got %v, %v after %v, want the read's own deadline error after %v", read, err, time.Since(began), limit)
		}
	})
}

func TestLaneHandsOnPanics(t *testing.T) {
	var l lane[int]
	r := l.start(t.Context(), func(context.Context) int { panic("out of range") })
	defer func() {
		if text := fmt.Sprint(recover()); !strings.Contains(text, "out of range") || !strings.Contains(text, "lane_test.go") {
			t.Errorf("panic = %s, want the read's, with its stack", text)
		}
	}()
	_, _ = r.wait(t.Context())
}
