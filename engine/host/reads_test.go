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

func TestReadsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l reads[string]
		for want := range 3 {
			got, err := start(&l, "disk", func() int { return want }).wait(t.Context(), limit)
			if got != want || err != nil {
				t.Errorf("read %d, %v, want %d", got, err, want)
			}
		}
	})
}

// What hangs in the kernel knows no context: it is left behind, costs those who
// come later no time, and nothing like it is begun until it ends.
func TestReadsLeavesBehindWhatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l reads[string]
		var begun atomic.Int32
		release := make(chan int)
		hang := func() int { begun.Add(1); return <-release }
		for i, want := range []time.Duration{limit, 0, 0} {
			began := time.Now()
			_, err := start(&l, "disk", hang).wait(t.Context(), limit)
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
		if got, err := start(&l, "disk", func() int { return 2 }).wait(t.Context(), limit); got != 2 || err != nil {
			t.Errorf("after the end of what hung: %d, %v, want a new read's 2", got, err)
		}
	})
}

func TestReadsIsJoined(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l reads[string]
		slow := func() int { time.Sleep(time.Second); return 1 }
		first := start(&l, "disk", slow)
		time.Sleep(time.Second / 2)
		second := start(&l, "disk", func() int { return 2 })
		for _, r := range []*read[int]{first, second} {
			if got, err := r.wait(t.Context(), limit); got != 1 || err != nil {
				t.Errorf("got %d, %v, want the 1 of the read that was out", got, err)
			}
		}
	})
}

// Who stops waiting does not end the wait of another.
func TestReadsOutliveTheirFirstReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l reads[string]
		ctx, cancel := context.WithCancel(t.Context())
		r := start(&l, "disk", func() int { time.Sleep(time.Second); return 1 })
		cancel()
		if _, err := r.wait(ctx, limit); !errors.Is(err, errBrokenOff) {
			t.Errorf("error = %v, want that it was broken off", err)
		}
		if got, err := r.wait(t.Context(), limit); got != 1 || err != nil {
			t.Errorf("the other reader got %v, %v", got, err)
		}
	})
}

// What hangs keeps nothing else from being read.
func TestReadsOfOtherKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l reads[string]
		release := make(chan int)
		start(&l, "disk", func() int { return <-release })
		if got, err := start(&l, "pressure", func() string { return "low" }).wait(t.Context(), limit); got != "low" || err != nil {
			t.Errorf("pressure = %q, %v", got, err)
		}
		if keys := l.keys(); len(keys) != 1 || keys[0] != "disk" {
			t.Errorf("being read: %v, want the disk", keys)
		}
		release <- 1
	})
}

func TestReadsHandOnPanics(t *testing.T) {
	var l reads[string]
	r := start(&l, "disk", func() int { panic("out of range") })
	defer func() {
		if text := fmt.Sprint(recover()); !strings.Contains(text, "out of range") || !strings.Contains(text, "reads_test.go") {
			t.Errorf("panic = %s, want the read's, with its stack", text)
		}
	}()
	_, _ = r.wait(t.Context(), limit)
}
