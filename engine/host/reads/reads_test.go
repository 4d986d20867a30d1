package reads

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

const limit = 2 * time.Second

func TestReadsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l Set[string]
		for want := range 3 {
			got, err := Start(&l, "disk", func() (int, error) { return want, nil }).Wait(t.Context(), limit)
			if got != want || err != nil {
				t.Errorf("read %d, %v, want %d", got, err, want)
			}
		}
	})
}

// A read that hangs in the kernel does not end with its context. It is left behind, later readers lose no time
// for it, and no read with the same key is begun until it ends.
func TestReadsLeavesBehindWhatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l Set[string]
		var begun atomic.Int32
		release := make(chan int)
		hang := func() (int, error) { begun.Add(1); return <-release, nil }
		for i, want := range []time.Duration{limit, 0, 0} {
			began := time.Now()
			_, err := Start(&l, "disk", hang).Wait(t.Context(), limit)
			if stuck, ok := errors.AsType[StuckError](err); !ok || stuck.Out < limit {
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
		if got, err := Start(&l, "disk", func() (int, error) { return 2, nil }).Wait(t.Context(), limit); got != 2 || err != nil {
			t.Errorf("after the end of what hung: %d, %v, want a new read's 2", got, err)
		}
	})
}

func TestReadsIsJoined(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l Set[string]
		slow := func() (int, error) { time.Sleep(time.Second); return 1, nil }
		first := Start(&l, "disk", slow)
		time.Sleep(time.Second / 2)
		second := Start(&l, "disk", func() (int, error) { return 2, nil })
		for _, r := range []*Read[int]{first, second} {
			if got, err := r.Wait(t.Context(), limit); got != 1 || err != nil {
				t.Errorf("got %d, %v, want the 1 of the read that was out", got, err)
			}
		}
	})
}

// If one waiter stops waiting, the others still get the answer.
func TestReadsOutliveTheirFirstReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l Set[string]
		ctx, cancel := context.WithCancel(t.Context())
		r := Start(&l, "disk", func() (int, error) { time.Sleep(time.Second); return 1, nil })
		cancel()
		if _, err := r.Wait(ctx, limit); !errors.Is(err, ErrBrokenOff) {
			t.Errorf("error = %v, want that it was broken off", err)
		}
		if got, err := r.Wait(t.Context(), limit); got != 1 || err != nil {
			t.Errorf("the other reader got %v, %v", got, err)
		}
	})
}

// A read that hangs does not keep other keys from being read.
func TestReadsOfOtherKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l Set[string]
		release := make(chan int)
		Start(&l, "disk", func() (int, error) { return <-release, nil })
		if got, err := Start(&l, "pressure", func() (string, error) { return "low", nil }).Wait(t.Context(), limit); got != "low" || err != nil {
			t.Errorf("pressure = %q, %v", got, err)
		}
		if keys := l.Keys(); len(keys) != 1 || keys[0] != "disk" {
			t.Errorf("being read: %v, want the disk", keys)
		}
		release <- 1
	})
}

// A panic ends neither the program nor other reads. It becomes the error of its read, which says where it was.
func TestPanicsAreErrors(t *testing.T) {
	var l Set[string]
	var none []int
	_, err := Start(&l, "disk", func() (int, error) { return none[7], nil }).Wait(t.Context(), limit)
	_, beside := Start(&l, "pressure", func() (int, error) { return 1, nil }).Wait(t.Context(), limit)
	answers, rest := Row(t.Context(), &l, []string{"a", "b"}, limit, func(i int) (int, error) { return []int{1}[i], nil })
	for name, err := range map[string]error{
		"a read": err, "a task": Go(func() error { return errors.New(fmt.Sprint(none[7])) }).Err(), "one of a row": answers[1].Err,
	} {
		if err == nil || !strings.Contains(err.Error(), "index out of range") || !strings.Contains(err.Error(), "(reads_test.go:") {
			t.Errorf("%s: error = %v, want the panic and where it was", name, err)
		}
	}
	if err := errors.Join(beside, rest, answers[0].Err); err != nil || len(l.Keys()) > 0 {
		t.Errorf("beside it: %v; being read: %v", err, l.Keys())
	}
}

// A row ends at the read that hangs. The answers before it are there, the reads after it are not begun, and the
// read itself is known until it comes back.
func TestRowLeavesBehindWhatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l Set[string]
		release := make(chan bool)
		read := func(i int) (int, error) {
			time.Sleep(limit - 1) // each read has the whole timeout
			if i == 2 {
				<-release
			}
			return i, nil
		}
		got, err := Row(t.Context(), &l, []string{"a", "b", "c", "d"}, limit, read)
		if stuck, ok := errors.AsType[StuckError](err); !ok || stuck.Out != limit || len(got) != 2 || got[1].Value != 1 {
			t.Errorf("answers %v, error %v", got, err)
		}
		if keys := l.Keys(); len(keys) != 1 || keys[0] != "c" {
			t.Errorf("being read: %v", keys)
		}
		release <- true
		synctest.Wait()
		if keys := l.Keys(); len(keys) > 0 {
			t.Errorf("being read after its end: %v", keys)
		}
		ctx, cancel := context.WithTimeout(t.Context(), limit+1)
		defer cancel()
		if got, err = Row(ctx, &l, []string{"a", "b"}, 2*limit, read); !errors.Is(err, ErrBrokenOff) || len(got) != 1 {
			t.Errorf("broken off: %v, %v", got, err)
		}
		time.Sleep(limit)
	})
}
