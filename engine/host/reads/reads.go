// Package reads has the one way in which goroutines that read the node are started. What
// they read may hang, even for ever, and may be broken in ways that nobody thought of:
// neither keeps anything else from being read, and neither ends the program.
package reads

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

// ErrBrokenOff is why there is no answer when the context of who waits ends.
var ErrBrokenOff = errors.New("the look was broken off")

// A StuckError says that a read has not come back.
type StuckError struct{ Out time.Duration }

// Error says for how long the read has been out.
func (e StuckError) Error() string { return fmt.Sprintf("no answer for %v", e.Out.Round(time.Second)) }

// An Answer is what one read gave.
type Answer[T any] struct {
	Value T
	Err   error
}

// A Read is one read under way.
type Read[T any] struct {
	began  time.Time
	done   chan struct{} // closed when the answer is set
	answer Answer[T]
}

// A Task is work that is under way and gives nothing but an error.
type Task = Read[struct{}]

// Go begins work in a goroutine of its own. A panic there is the work's error.
func Go(work func() error) *Task {
	return begin(func() (none struct{}, err error) { return none, work() })
}

// begin has the only go statement of all that reads the node: in a goroutine that was
// started elsewhere a panic would end the program and leave the terminal as it is.
func begin[T any](read func() (T, error)) *Read[T] {
	r := &Read[T]{began: time.Now(), done: make(chan struct{})}
	go func() {
		defer close(r.done)
		r.answer = try(read)
	}()
	return r
}

// try reads. A panic is an error: package procfs counts on files that are whole, and a
// mistake of our own about one thing is no reason to see nothing of the others.
func try[T any](read func() (T, error)) (a Answer[T]) {
	defer func() {
		if value := recover(); value != nil {
			a.Err = fmt.Errorf("panic: %v (%s)", value, place())
		}
	}()
	a.Value, a.Err = read()
	return a
}

// place returns where the panic under way was raised.
func place() string {
	var callers [32]uintptr
	frames := runtime.CallersFrames(callers[:runtime.Callers(1, callers[:])])
	for hasPanicked, more := false, true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		hasPanicked = hasPanicked || f.Function == "runtime.gopanic"
		if hasPanicked && !strings.HasPrefix(f.Function, "runtime.") {
			return fmt.Sprintf("%s:%d", filepath.Base(f.File), f.Line)
		}
	}
	return "in a place that is not known"
}

// Done returns a channel that is closed when the read has ended. That of no read never is.
func (r *Read[T]) Done() <-chan struct{} {
	if r == nil {
		return nil
	}
	return r.done
}

// Err waits for the end of the read, and returns its error.
func (r *Read[T]) Err() error {
	<-r.done
	return r.answer.Err
}

// Wait returns what was read. It gives up when the read has been out for that long, at
// once if it has been already, and when ctx ends.
func (r *Read[T]) Wait(ctx context.Context, timeout time.Duration) (T, error) {
	timer := time.NewTimer(timeout - time.Since(r.began))
	defer timer.Stop()
	var err error
	select {
	case <-r.done:
	case <-timer.C:
		err = StuckError{time.Since(r.began)}
	case <-ctx.Done():
		err = ErrBrokenOff
	}
	select {
	case <-r.done: // it may have ended together with the others
		return r.answer.Value, r.answer.Err
	default:
		var none T
		return none, err
	}
}

// A Set is reads that may hang, even for ever and whatever their context says, each in a
// goroutine of its own. Of one key at most one is out at a time: who comes while it is
// joins it, so that what hangs is never begun twice. The zero value is ready. Safe for
// concurrent use.
type Set[K comparable] struct {
	mu  sync.Mutex
	out map[K]any // of *Read, of the type that the key's reads have
}

// Start begins a read, or joins the one that is out. A panic of the read is its error.
func Start[K comparable, T any](all *Set[K], key K, read func() (T, error)) *Read[T] {
	all.mu.Lock()
	defer all.mu.Unlock()
	if out, ok := all.out[key]; ok {
		return out.(*Read[T])
	}
	r := begin(func() (T, error) {
		defer all.remove(key)
		return read()
	})
	all.add(key, r)
	return r
}

// add notes that a read is out. Who calls it holds all.mu.
func (all *Set[K]) add(key K, r any) {
	if all.out == nil {
		all.out = map[K]any{}
	}
	all.out[key] = r
}

func (all *Set[K]) remove(key K) {
	all.mu.Lock()
	defer all.mu.Unlock()
	delete(all.out, key)
}

// Keys returns what is being read, in no order.
func (all *Set[K]) Keys() []K {
	all.mu.Lock()
	defer all.mu.Unlock()
	if len(all.out) == 0 {
		return nil
	}
	return slices.Collect(maps.Keys(all.out))
}
