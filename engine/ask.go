package engine

import (
	"context"
	"errors"
	"time"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

// grace is how long, in real time, a call may be late in heeding its deadline
// before whoever made it goes on without it.
const grace = 100 * time.Millisecond

// An answer is what came of one call.
type answer[T any] struct {
	Flight
	value T
	found pleg.Anomalies
	took  time.Duration
	err   error
	tries int // by an examination that insists; else 0
}

// A question is one method of the [Runtime], with its argument.
type question[T any] func(context.Context) (T, pleg.Anomalies, error)

// ask makes a call for somebody who must not wait longer than its deadline,
// even for a runtime that does not heed it. Such a call stays in the ledger
// until it returns. While the call's like is out it waits for that instead, no
// longer than until that one has taken as much time, and then counts as hung
// without having been made: nothing is asked twice at once.
func ask[T any](ctx context.Context, d *driver, f Flight, timeout time.Duration, put question[T]) answer[T] {
	if other, busy := d.ledger.giveWay(ctx, f, timeout); busy {
		cause := context.Cause(ctx)
		if cause == nil {
			cause = context.DeadlineExceeded
		}
		return answer[T]{Flight: other, took: other.Elapsed(d.clock.now()), err: outOfTurn(f.Op, cause)}
	}
	ctx, cancel := context.WithTimeout(ctx, d.clock.wait(timeout))
	defer cancel()
	f.Since = d.clock.now()
	returned := make(chan answer[T], 1)
	d.spawn(func() {
		a := answer[T]{}
		a.Flight, a.err = d.callWithin(ctx, f, timeout, func(ctx context.Context) (err error) {
			a.value, a.found, err = put(ctx)
			return err
		})
		a.took = a.Elapsed(d.clock.now())
		returned <- a
	})
	return await(ctx, d, f, returned)
}

func await[T any](ctx context.Context, d *driver, f Flight, returned <-chan answer[T]) answer[T] {
	select {
	case a := <-returned:
		return a
	case <-ctx.Done():
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case a := <-returned:
		return a
	case <-timer.C:
	}
	return answer[T]{Flight: f, took: f.Elapsed(d.clock.now()), err: overdue(f.Op, ctx.Err())}
}

// overdue is the error for a call that did not return although its context
// had ended.
func overdue(op call.Operation, cause error) error {
	e := &call.Error{Op: op, Kind: call.ErrDeadline, Code: "DeadlineExceeded", Text: "no answer, and the call does not return"}
	if !errors.Is(cause, context.DeadlineExceeded) {
		e.Kind, e.Code = call.ErrCanceled, "Canceled"
	}
	return e
}
