package engine

import (
	"context"
	"errors"
	"time"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

// errSilence is why calls are given up while neither Status nor a list is
// answered.
var errSilence = errors.New("nothing is answered")

// patiently makes one of the examination's calls that may take long. It waits
// for the limit, but only for m.short if neither Status nor a list has been
// answered by then: a runtime that stands still has been given time enough, and
// people wait.
func patiently[T any](m *examiner, f Flight, limit time.Duration, put question[T]) answer[T] {
	ctx, giveUp := context.WithCancelCause(m.calls)
	defer giveUp(nil)
	timer := time.AfterFunc(m.clock.wait(m.short), func() {
		if !m.heard.Load() {
			giveUp(errSilence)
		}
	})
	defer timer.Stop()
	a := ask(ctx, m.driver, f, limit, func(ctx context.Context) (T, pleg.Anomalies, error) {
		value, found, err := put(ctx)
		return value, found, m.given(f.Op, context.Cause(ctx), err)
	})
	a.err = m.given(f.Op, context.Cause(ctx), a.err)
	if f.Op != call.Version && !late(a.took, m.short, a.err) {
		m.heard.Store(true)
	}
	return a
}

// given returns what a call that was given up on has come to: it was not
// answered in time, which is another thing than that we did not want to know.
func (m *examiner) given(op call.Operation, cause, err error) error {
	if err == nil || !errors.Is(cause, errSilence) || errors.Is(err, call.ErrDeadline) {
		return err
	}
	return &call.Error{
		Op: op, Kind: call.ErrDeadline, Code: "DeadlineExceeded",
		Text: "no answer for " + m.short.String() + ", and neither Status nor a list is answered",
	}
}

// late tells a call that hung, and was given up on after that time, from one
// whose error only says so: a runtime may pass on at once that somebody else
// gave it no answer in time.
func late(took, limit time.Duration, err error) bool {
	return errors.Is(err, call.ErrDeadline) && took >= limit-limit/10
}
