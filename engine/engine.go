package engine

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

// patienceAtEnd is how long Run waits, in real time, for calls that do not
// return although they were cancelled.
const patienceAtEnd = 500 * time.Millisecond

// errRunsOnce says that an engine was run before.
var errRunsOnce = errors.New("engine: Run was called before")

// An Engine relists one runtime. Make it with [New] and run it once; its other
// methods may be called at any time from any goroutine.
type Engine struct {
	config   Config
	clock    clock
	core     *pleg.Core // owned by Run
	ledger   *ledger
	board    *board
	requests *requests

	ran   atomic.Bool
	ended chan struct{} // closed when Run returns
	raws  chan struct{} // holds one token while a Raw is under way
}

// New returns an engine that has not begun, or the error of [Config.Validate].
func New(c Config) (*Engine, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c = c.withDefaults()
	core, err := pleg.New(pleg.Config{Release: c.Release, Capacity: c.Capacity, Threshold: c.Threshold})
	if err != nil {
		return nil, err
	}
	k := newClock(c)
	return &Engine{
		config:   c,
		clock:    k,
		core:     core,
		ledger:   newLedger(k),
		board:    newBoard(c.Events),
		requests: newRequests(),
		ended:    make(chan struct{}),
		raws:     make(chan struct{}, 1),
	}, nil
}

// Run relists until ctx ends and then returns nil. It cancels the calls that
// are out and waits for them, but not for ever: a runtime that does not heed
// its context keeps its goroutine, not this one. A panic in any goroutine of
// the engine ends Run with a [PanicError]. It must be called only once.
func (e *Engine) Run(ctx context.Context) error {
	if e.ran.Swap(true) {
		return errRunsOnce
	}
	ctx, cancel := context.WithCancel(ctx)
	d := newDriver(e)
	defer func() {
		e.requests.close()
		e.board.stop()
		close(e.ended)
	}()
	err := d.run(ctx)
	cancel()
	d.wait()
	if err == nil {
		err = d.crash()
	}
	return err
}

// call makes one call: in its turn, with its deadline, and on record. The time
// that it waits for its turn counts, so that a [Engine.Raw] that hangs takes no
// more of a relist's time than the relist's own call would. It returns the call
// as the ledger had it.
func (e *Engine) call(ctx context.Context, f Flight, do func(context.Context) error) (Flight, error) {
	return e.callWithin(ctx, f, e.config.Timeout, do)
}

// callWithin is call with another deadline than the kubelet's.
func (e *Engine) callWithin(ctx context.Context, f Flight, timeout time.Duration, do func(context.Context) error) (_ Flight, err error) {
	var trace call.Trace
	ctx, cancel := context.WithTimeout(call.WithTrace(ctx, &trace), e.clock.wait(timeout))
	defer cancel()
	f.Since = e.clock.now()
	entered, err := e.ledger.enter(ctx, f)
	if err != nil {
		return f, outOfTurn(f.Op, err)
	}
	defer func() { e.ledger.leave(entered, trace, err) }()
	return entered.Flight, do(ctx)
}

// outOfTurn is the error for a call that was never made, because its like was
// out until its context ended.
func outOfTurn(op call.Operation, cause error) error {
	if errors.Is(cause, context.DeadlineExceeded) {
		return &call.Error{
			Op: op, Kind: call.ErrDeadline, Code: "DeadlineExceeded",
			Text: "an earlier call for the same object has not returned; it shows in the calls in flight",
		}
	}
	return &call.Error{Op: op, Kind: call.ErrCanceled, Code: "Canceled", Text: cause.Error()}
}

// A waitGroup that can be waited for no longer than some time.
type waitGroup struct{ sync.WaitGroup }

func (g *waitGroup) waitFor(limit time.Duration) {
	done := make(chan struct{})
	go func() {
		g.Wait()
		close(done)
	}()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
}
