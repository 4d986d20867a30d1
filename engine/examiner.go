package engine

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

const (
	longer       = 4 // times the timeout of a status call, for lists, Status and Version;
	silent       = 3 // halves of it, where none of them but Version is answered, and for the second list where the first one hung
	retries      = 2 // of a call that nobody listened for
	retryAfter   = 500 * time.Millisecond
	closingShare = 10 // one part in so many of the deadline is for coming to an end, but
	closingMost  = 400 * time.Millisecond
)

// An examiner is one examination under way. It has a driver's core, ledger and
// tasks, but turns of its own: it goes through its steps once.
type examiner struct {
	*driver
	x       Examination
	calls   context.Context // of all calls but the sweep's: ends at cut
	cut     time.Time       // no call is waited for any longer
	last    time.Time       // nothing is waited for any longer
	long    time.Duration   // timeout of all but the status calls
	short   time.Duration   // the same where no answer is to be expected
	heard   atomic.Bool     // something has been
	records *pleg.Core      // that has the pods; nil until there are any
	parts   map[pleg.UID]span
	answers []answer[partStatus] // by place in the sweep
	settled bool
	doubt   doubt
}

// A span is the places of a pod's parts in the sweep.
type span struct{ from, to int }

func newExaminer(ctx context.Context, e *Engine, x Examination) *examiner {
	m := &examiner{driver: newDriver(e), x: x, long: longer * x.Timeout, short: silent * x.Timeout / 2}
	m.ctx = ctx
	m.starting = true
	m.reader = startingSyncLoop()
	m.log.nextAt = time.Time{}
	m.core.Attend(true)
	m.show = x.Progress
	closing := min(x.Deadline/closingShare, closingMost)
	m.cut = m.started.Add(x.Deadline - closing)
	m.last = m.started.Add(x.Deadline - closing/4)
	return m
}

func (m *examiner) run() (s *Snapshot, err error) {
	defer caught(func(p *PanicError) { err = p })
	calls, cancel := context.WithTimeout(m.ctx, m.clock.wait(m.cut.Sub(m.started)))
	defer cancel()
	m.calls = calls
	m.askVersionOnce()
	m.askStatusOnce()
	m.listOnce()
	m.look(false)
	timer := time.NewTimer(glance)
	defer timer.Stop()
	for {
		select {
		case <-m.ctx.Done():
			return m.conclude(), nil
		case p := <-m.crashed:
			return nil, p
		case settle := <-m.results:
			m.busy--
			settle()
		case <-timer.C:
		}
		now := m.clock.now()
		m.advance(now)
		if m.over(now) {
			return m.conclude(), nil
		}
		m.publish(now)
		timer.Reset(m.idle(now))
	}
}

// leave waits for calls that were cut off to return, so that none is left
// behind, but neither long nor beyond the deadline.
func (m *examiner) leave() {
	rest := m.clock.wait(m.started.Add(m.x.Deadline).Sub(m.clock.now()))
	m.tasks.waitFor(min(rest, patienceAtEnd))
}

// advance takes the examination as far as it goes without an answer from the
// runtime.
func (m *examiner) advance(now time.Time) {
	if m.relist != nil && !m.relist.listed {
		return
	}
	if m.sweep == nil {
		m.beginSweep(now)
	}
	if m.sweep == nil {
		return
	}
	if now.Before(m.cut) {
		if m.doubtful(now) {
			m.askAgain(now)
		}
		m.sweep.held = m.hold(now)
		m.advanceSweep(now)
	} else {
		m.sweep.end(now, func(s *Sweep) { s.CutOff = true })
	}
	if m.sweep.ended() && !m.doubt.out {
		m.settle(now)
	}
}

// over reports whether nothing more is to come, or to be waited for.
func (m *examiner) over(now time.Time) bool {
	return m.settled && !m.vitals.versionOut && !m.vitals.statusOut && !m.looking || !now.Before(m.last)
}

// idle returns the real time until something is due.
func (m *examiner) idle(now time.Time) time.Duration {
	wait := glance
	if m.show != nil {
		wait = min(wait, m.press.wait(time.Now()))
	}
	for _, due := range []time.Time{m.cut, m.last} {
		if now.Before(due) {
			wait = min(wait, m.clock.wait(due.Sub(now)))
		}
	}
	return max(wait, time.Millisecond)
}

// conclude ends what is still under way and returns the last snapshot.
func (m *examiner) conclude() *Snapshot {
	now := m.clock.now()
	if m.sweeping() {
		m.sweep.end(now, func(s *Sweep) { s.Canceled, s.CutOff = m.ctx.Err() != nil, m.ctx.Err() == nil })
	}
	m.settle(now)
	m.verdict.take(now, m.core.Healthy(now) == nil)
	m.standing.take(now, m.node(now))
	m.press.seq++
	return m.snapshot(now)
}

func (m *examiner) askVersionOnce() {
	m.vitals.versionOut = true
	m.do(func(context.Context) func() {
		a := insist(m, func() answer[pleg.Version] {
			return patiently(m, Flight{By: ByVitals, Op: call.Version}, m.long, m.config.Runtime.Version)
		})
		return func() { m.tookVersion(a.Flight, a.value, a.found, a.err) }
	})
}

func (m *examiner) askStatusOnce() {
	m.vitals.statusOut = true
	m.do(func(context.Context) func() {
		a := insist(m, func() answer[[]pleg.Condition] {
			return patiently(m, Flight{By: ByVitals, Op: call.Status}, m.long, m.config.Runtime.Status)
		})
		return func() { m.tookStatus(a.Flight, a.value, a.found, a.err) }
	})
}

// insist makes a call again while it fails at once because nobody listens: a
// runtime that is being restarted is back soon.
func insist[T any](m *examiner, try func() answer[T]) answer[T] {
	a := try()
	a.tries = 1
	for range retries {
		if !errors.Is(a.err, call.ErrUnavailable) || a.took > sluggish {
			break
		}
		select {
		case <-time.After(m.clock.wait(retryAfter)):
		case <-m.calls.Done():
			return a
		}
		tries := a.tries
		a = try()
		a.tries = tries + 1
	}
	return a
}
