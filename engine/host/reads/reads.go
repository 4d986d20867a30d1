// Package reads has the one place that starts goroutines which read the node. A read may hang, even for ever,
// and it may panic. In both cases other reads still get their answers, and the program goes on.
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

// ErrBrokenOff says that there is no answer because the context of the waiter has ended.
var ErrBrokenOff = errors.New("the look was broken off")

// A StuckError says that a read has not come back, and for how long it has been out.
type StuckError struct{ Out time.Duration }

// Error returns for how long the read has been out, in whole seconds.
func (e StuckError) Error() string {
	if e.Out < time.Second {
		return "no answer yet"
	}
	return fmt.Sprintf("no answer for %v", e.Out.Round(time.Second))
}

// An Answer is the result of one read.
type Answer[T any] struct {
	Value T
	Err   error
}

// A Read is one read under way. All methods are safe for concurrent use.
type Read[T any] struct {
	began  time.Time
	done   chan struct{} // closed when answer is set
	answer Answer[T]
}

// A Task is work that is under way and returns only an error.
type Task = Read[struct{}]

// Go starts work in a goroutine of its own. If the work panics, that is its error.
func Go(work func() error) *Task {
	return begin(func() (none struct{}, err error) { return none, work() })
}

// begin starts a read. It has the only go statement of all code that reads the node. A panic in any other
// goroutine would end the program and leave the terminal as it is.
func begin[T any](read func() (T, error)) *Read[T] {
	r := &Read[T]{began: time.Now(), done: make(chan struct{})}
	go func() {
		defer close(r.done)
		r.answer = try(read)
	}()
	return r
}

// try calls read and returns its answer. A panic becomes an error: package procfs expects whole files, and our
// own mistake about one file must not hide the others.
func try[T any](read func() (T, error)) (a Answer[T]) {
	defer func() {
		if value := recover(); value != nil {
			a.Err = fmt.Errorf("panic: %v (%s)", value, place())
		}
	}()
	a.Value, a.Err = read()
	return a
}

// place returns the file and line of the panic that is being handled.
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
	return "unknown place"
}

// Done returns a channel that is closed when the read has ended. For a nil read it returns nil, which never is.
func (r *Read[T]) Done() <-chan struct{} {
	if r == nil {
		return nil
	}
	return r.done
}

// Err waits for the end of the read, however long that takes, and returns its error.
func (r *Read[T]) Err() error {
	<-r.done
	return r.answer.Err
}

// Wait returns the result of the read. The timeout counts from the start of the read: if the read has already
// been out for longer, Wait returns a [StuckError] at once. It returns [ErrBrokenOff] if ctx ends. In both
// cases the read goes on.
func (r *Read[T]) Wait(ctx context.Context, timeout time.Duration) (T, error) {
	timer := time.NewTimer(timeout - r.age())
	defer timer.Stop()
	var err error
	select {
	case <-r.done:
	case <-timer.C:
		err = StuckError{r.age()}
	case <-ctx.Done():
		err = ErrBrokenOff
	}
	select {
	case <-r.done: // the read may have ended at the same time
		return r.answer.Value, r.answer.Err
	default:
		var none T
		return none, err
	}
}

// A Set is a set of reads that may hang, each with a key. While a read of a key is out, Start joins that one
// and begins no second read. The zero value is ready to use. A Set is safe for concurrent use.
type Set[K comparable] struct {
	mu  sync.Mutex
	out map[K]running // a *Read of the type that the reads of the key have
}

type running interface{ age() time.Duration }

func (r *Read[T]) age() time.Duration { return time.Since(r.began) }

// Start begins a read, or joins the one of the same key that is out, and returns it. If the read panics, that
// is its error.
func Start[K comparable, T any](all *Set[K], key K, read func() (T, error)) *Read[T] {
	all.mu.Lock()
	defer all.mu.Unlock()
	if out, ok := all.out[key]; ok {
		return out.(*Read[T])
	}
	r := begin(func() (T, error) {
		defer func() {
			all.mu.Lock()
			defer all.mu.Unlock()
			delete(all.out, key)
		}()
		return read()
	})
	all.add(key, r)
	return r
}

// add puts a read into the set. The caller holds all.mu.
func (all *Set[K]) add(key K, r running) {
	if all.out == nil {
		all.out = map[K]running{}
	}
	all.out[key] = r
}

// Keys returns the keys of the reads that are out, in no order.
func (all *Set[K]) Keys() []K {
	all.mu.Lock()
	defer all.mu.Unlock()
	return slices.Collect(maps.Keys(all.out))
}

// Stuck returns an error that says for how long the read of a key has been out; 0 if none is out.
func (all *Set[K]) Stuck(key K) (e StuckError) {
	all.mu.Lock()
	defer all.mu.Unlock()
	if out, ok := all.out[key]; ok {
		e.Out = out.age()
	}
	return e
}

// Row makes one read for each key, one after the other in one goroutine. A goroutine and a timer for each small
// file of /proc would cost more than the read. The argument of read is the index of the key.
//
// It returns the answers in the order of the keys. If a read is out for longer than the timeout, or if ctx
// ends, Row returns the answers before that read, and the reason. That read stays in the set until it comes
// back. The reads after it are never made.
func Row[K comparable, T any](ctx context.Context, all *Set[K], keys []K, timeout time.Duration, read func(int) (T, error)) ([]Answer[T], error) {
	answers, began, left := make([]Answer[T], 0, len(keys)), time.Now(), (*Read[T])(nil) // guarded by all.mu; left is a read for which nobody waits any more
	task := Go(func() error {
		for i, key := range keys {
			a := try(func() (T, error) { return read(i) })
			all.mu.Lock()
			if left != nil {
				left.answer = a
				delete(all.out, key)
				all.mu.Unlock()
				return nil
			}
			answers, began = append(answers, a), time.Now()
			all.mu.Unlock()
		}
		return nil
	})
	leave := func() (more time.Duration, err error) { // gives up the read that is out if its time is over
		all.mu.Lock()
		defer all.mu.Unlock()
		switch out := time.Since(began); {
		case len(answers) == len(keys):
			return 0, nil
		case ctx.Err() != nil:
			err = ErrBrokenOff
		case out < timeout:
			return timeout - out, nil
		default:
			err = StuckError{out}
		}
		left = &Read[T]{began: began, done: task.done}
		all.add(keys[len(answers)], left)
		return 0, err
	}
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	for {
		select {
		case <-task.done:
			return answers, nil
		case <-timer.C:
		case <-ctx.Done():
		}
		more, err := leave()
		if more <= 0 {
			return answers, err
		}
		timer.Reset(more)
	}
}
