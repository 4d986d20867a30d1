package reads

import (
	"context"
	"time"
)

// A row is reads that are made one after the other in one goroutine: for small files of
// /proc to begin a goroutine and a timer for each costs more than to read them.
type row[K comparable, T any] struct {
	all    *Set[K]
	keys   []K
	task   *Task
	values []Answer[T] // of the keys that have been read; this and what follows belongs to who holds all.mu
	began  time.Time   // the one that is out
	left   *Read[T]    // the one that is out, once nobody waits for it any more
}

// Row reads what the keys stand for one after the other, by their place among them, and
// returns the answers in this order. Where one read is out for longer than the timeout,
// or ctx ends, it returns what came before it, and why there is no answer of that one,
// which is out until it comes back; those after it have not begun.
func Row[K comparable, T any](ctx context.Context, all *Set[K], keys []K, timeout time.Duration, read func(int) (T, error)) ([]Answer[T], error) {
	r := &row[K, T]{all: all, keys: keys, values: make([]Answer[T], 0, len(keys)), began: time.Now()}
	r.task = Go(func() error {
		for i, key := range keys {
			if !r.put(key, try(func() (T, error) { return read(i) })) {
				break
			}
		}
		return nil
	})
	return r.wait(ctx, timeout)
}

// put adds what was read. It returns false if that read was left behind.
func (r *row[K, T]) put(key K, a Answer[T]) bool {
	r.all.mu.Lock()
	defer r.all.mu.Unlock()
	if r.left != nil {
		r.left.answer = a
		delete(r.all.out, key)
		return false
	}
	r.values, r.began = append(r.values, a), time.Now()
	return true
}

func (r *row[K, T]) wait(ctx context.Context, timeout time.Duration) ([]Answer[T], error) {
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	for {
		select {
		case <-r.task.done:
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
		err = ErrBrokenOff
	case out < timeout:
		return timeout - out, nil
	default:
		err = StuckError{out}
	}
	r.left = &Read[T]{began: r.began, done: r.task.done}
	r.all.add(r.keys[len(r.values)], r.left)
	return 0, err
}
