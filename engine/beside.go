package engine

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/plegtop/plegtop/engine/guard"
)

// resting is how many goroutines wait for more work at most: a relist makes one call after
// the other.
const resting = 2

// A beside runs what may take long or hang beside the loop. Whatever is still at work is left
// alone, so that what hangs holds up nothing. What has ended is used again: a new goroutine's
// stack would have to grow for each call anew.
type beside struct {
	ctx   context.Context // ends those that rest
	tasks sync.WaitGroup
	idle  chan func() // to one that rests
	rests atomic.Int32
}

func newBeside(ctx context.Context) *beside {
	return &beside{ctx: ctx, idle: make(chan func())}
}

// do has work done at once.
func (b *beside) do(work func()) {
	select {
	case b.idle <- work:
	default:
		b.tasks.Go(func() { b.begin(work) })
	}
}

func (b *beside) begin(work func()) {
	defer guard.Catch()
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

// wait waits for all work, after the end of the context and not for long.
func (b *beside) wait(limit time.Duration) {
	done := make(chan struct{})
	guard.Go(func() {
		b.tasks.Wait()
		close(done)
	})
	timer := time.NewTimer(max(min(limit, atEnd), 0))
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
}
