package host

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"sync"
	"time"
)

const (
	// limit is how long any part of a look may take: long enough for a busy
	// node, and short enough to look every 5 s.
	limit = 2 * time.Second

	// grace is for handing over what ended exactly at the limit.
	grace = 100 * time.Millisecond
)

// errBrokenOff is why there is no answer when the look's context ends.
var errBrokenOff = errors.New("the look was broken off")

// A stuckError says that a read has not come back.
type stuckError struct{ out time.Duration }

func (e stuckError) Error() string {
	return fmt.Sprintf("no answer for %v", e.out.Round(time.Second))
}

// reads are reads that may hang, even for ever and whatever their context says,
// each in a goroutine of its own. Of one key at most one is out at a time: who
// comes while it is joins it, so that what hangs is never begun twice. The zero
// value is ready. Safe for concurrent use.
type reads[K comparable] struct {
	mu  sync.Mutex
	out map[K]any // of *read, of the type that the key's reads have
}

// A read is one read under way.
type read[T any] struct {
	began time.Time
	done  chan struct{} // closed when what follows is set
	value T
	panic string // with its stack; empty if there was none
}

// start begins a read, or joins the one that is out.
func start[K comparable, T any](all *reads[K], key K, f func() T) *read[T] {
	all.mu.Lock()
	defer all.mu.Unlock()
	if out, ok := all.out[key]; ok {
		return out.(*read[T])
	}
	r := &read[T]{began: time.Now(), done: make(chan struct{})}
	if all.out == nil {
		all.out = map[K]any{}
	}
	all.out[key] = r
	go func() {
		defer func() {
			if value := recover(); value != nil {
				r.panic = fmt.Sprintf("host: %v\n\n%s", value, debug.Stack())
			}
			all.mu.Lock()
			defer all.mu.Unlock()
			delete(all.out, key)
			close(r.done)
		}()
		r.value = f()
	}()
	return r
}

// wait returns what was read. It gives up when the read has been out for that
// long, at once if it has been already, and when ctx ends. A panic of the read
// goes on here, where the program's owner can put the terminal in order.
func (r *read[T]) wait(ctx context.Context, timeout time.Duration) (T, error) {
	timer := time.NewTimer(timeout - time.Since(r.began))
	defer timer.Stop()
	var err error
	select {
	case <-r.done:
	case <-timer.C:
		err = stuckError{time.Since(r.began)}
	case <-ctx.Done():
		err = errBrokenOff
	}
	select {
	case <-r.done: // it may have ended together with the others
	default:
		var none T
		return none, err
	}
	if r.panic != "" {
		panic(r.panic)
	}
	return r.value, nil
}

// keys returns what is being read, in no order.
func (all *reads[K]) keys() []K {
	all.mu.Lock()
	defer all.mu.Unlock()
	if len(all.out) == 0 {
		return nil
	}
	return slices.Collect(maps.Keys(all.out))
}

// A row is reads that are made one after the other in one goroutine: for small files of
// /proc to begin a goroutine and a timer for each costs more than to read them. None may panic.
type row[K comparable, T any] struct {
	all    *reads[K]
	keys   []K
	ended  chan struct{}
	values []T       // of the keys that have been read; this and what follows belongs to who holds all.mu
	began  time.Time // the one that is out
	left   *read[T]  // the one that is out, once nobody waits for it any more
}

// startRow begins to read what the keys stand for, by their place among them. The caller
// must not change them.
func startRow[K comparable, T any](all *reads[K], keys []K, read func(int) T) *row[K, T] {
	r := &row[K, T]{all: all, keys: keys, ended: make(chan struct{}), values: make([]T, 0, len(keys)), began: time.Now()}
	go func() {
		defer close(r.ended)
		for i, key := range keys {
			if !r.put(key, read(i)) {
				return
			}
		}
	}()
	return r
}

// put adds what was read. It returns false if that read was left behind.
func (r *row[K, T]) put(key K, value T) bool {
	r.all.mu.Lock()
	defer r.all.mu.Unlock()
	if r.left != nil {
		r.left.value = value
		delete(r.all.out, key)
		return false
	}
	r.values, r.began = append(r.values, value), time.Now()
	return true
}

// wait returns what was read, in the order of the keys. Where one read is out for that
// long, or ctx ends, it returns what came before it, and the error of that one, which is
// out until it comes back; those after it have not begun.
func (r *row[K, T]) wait(ctx context.Context, timeout time.Duration) ([]T, error) {
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	for {
		select {
		case <-r.ended:
			return r.values, nil
		case <-timer.C:
		case <-ctx.Done():
		}
		more, err := r.leave(ctx, timeout)
		if more <= 0 {
			return r.values, err
		}
		timer.Reset(more)
	}
}

// leave leaves the read behind that is out, and says why. If it may be out for longer
// it returns for how long.
func (r *row[K, T]) leave(ctx context.Context, timeout time.Duration) (more time.Duration, err error) {
	r.all.mu.Lock()
	defer r.all.mu.Unlock()
	if len(r.values) == len(r.keys) {
		return 0, nil
	}
	out := time.Since(r.began)
	switch {
	case ctx.Err() != nil:
		err = errBrokenOff
	case out < timeout:
		return timeout - out, nil
	default:
		err = stuckError{out}
	}
	r.left = &read[T]{began: r.began, done: r.ended}
	if r.all.out == nil {
		r.all.out = map[K]any{}
	}
	r.all.out[r.keys[len(r.values)]] = r.left
	return 0, err
}
