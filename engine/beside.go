package engine

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// resting is how many goroutines wait for more work at most: a relist makes one call after
// the other.
const resting = 2

// A beside runs what may take long or hang beside the loop. Whatever is still at work is left
// alone, so that what hangs holds up nothing. What has ended is used again: a new goroutine's
// stack would have to grow for each call anew.
type beside struct {
	ctx   context.Context // ends those that rest
	crash chan *PanicError
	tasks sync.WaitGroup
	idle  chan func() // to one that rests
	rests atomic.Int32
}

func newBeside(ctx context.Context) *beside {
	return &beside{ctx: ctx, crash: make(chan *PanicError, 1), idle: make(chan func())}
}

// do has work done at once. A panic in it is sent to crash.
func (b *beside) do(work func()) {
	select {
	case b.idle <- work:
	default:
		b.tasks.Go(func() { b.begin(work) })
	}
}

func (b *beside) begin(work func()) {
	defer caught(func(p *PanicError) {
		select {
		case b.crash <- p:
		default: // one is enough to end it all
		}
	})
	for work != nil {
		work()
		work = b.rest()
	}
}

// rest returns the next work, nil if there is none or enough others wait for it.
func (b *beside) rest() func() {
	defer b.rests.Add(-1)
	if b.rests.Add(1) > resting {
		return nil
	}
	select {
	case work := <-b.idle:
		return work
	case <-b.ctx.Done():
		return nil
	}
}

// wait waits for all work, after the end of the context and not for long. It returns the
// panic in it, if there was one.
func (b *beside) wait(limit time.Duration) error {
	done := make(chan struct{})
	go func() {
		b.tasks.Wait()
		close(done)
	}()
	timer := time.NewTimer(max(min(limit, atEnd), 0))
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
	select {
	case p := <-b.crash:
		return p
	default:
		return nil
	}
}
