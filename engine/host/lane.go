package host

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
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

// A stuckError says that a read has not come back.
type stuckError struct{ out time.Duration }

func (e stuckError) Error() string {
	return fmt.Sprintf("no answer for %v", e.out.Round(time.Second))
}

// A lane holds one kind of read that may hang, even for ever and whatever its
// context says. At most one is out at a time: who comes while it is joins it.
// The zero value is ready. Safe for concurrent use.
type lane[T any] struct {
	mu  sync.Mutex
	out *reading[T] // nil if none is
}

// A reading is one read under way, in a goroutine of its own.
type reading[T any] struct {
	began time.Time
	done  chan struct{} // closed when what follows is set
	value T
	panic string // with its stack; empty if there was none
}

// start begins a read, or joins the one that is out. The read's context ends at
// the limit, not with ctx: another may have joined.
func (l *lane[T]) start(ctx context.Context, read func(context.Context) T) *reading[T] {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.out == nil {
		l.out = &reading[T]{began: time.Now(), done: make(chan struct{})}
		go l.run(context.WithoutCancel(ctx), l.out, read)
	}
	return l.out
}

func (l *lane[T]) run(ctx context.Context, r *reading[T], read func(context.Context) T) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	defer func() {
		if value := recover(); value != nil {
			r.panic = fmt.Sprintf("host: %v\n\n%s", value, debug.Stack())
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		l.out = nil
		close(r.done)
	}()
	r.value = read(ctx)
}

// wait returns what was read. It gives up when the read has been out for longer
// than the limit, at once if it has been already, and when ctx ends. A panic of
// the read goes on here, where the program's owner can put the terminal in order.
func (r *reading[T]) wait(ctx context.Context) (T, error) {
	timer := time.NewTimer(limit + grace - time.Since(r.began))
	defer timer.Stop()
	var err error
	select {
	case <-r.done:
	case <-timer.C:
		err = stuckError{time.Since(r.began)}
	case <-ctx.Done():
		err = context.Cause(ctx)
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

// because says in plain words why a wait was given up.
func because(err error) string {
	if _, stuck := errors.AsType[stuckError](err); !stuck {
		return "the look was broken off" // its context ended
	}
	return err.Error()
}
