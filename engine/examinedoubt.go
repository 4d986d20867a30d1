package engine

import (
	"context"
	"errors"
	"time"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

// A doubt is whether the runtime is still there, in the midst of an
// examination's sweep or at its end. Status and Version are asked once more then.
type doubt struct {
	out     bool      // Status has not returned
	at      time.Time // when Status was asked last; zero if it was not
	refused bool      // since nobody listened for a call of the sweep, not since it hears nothing
}

// doubtful reports whether what came of the sweep, or did not, can be the fault
// of the whole runtime and not of what was asked for. What hangs alone costs a
// Status each time that a call could have come to its end.
func (m *examiner) doubtful(now time.Time) bool {
	s, d := m.sweep.sweeper, &m.doubt
	if d.out || s.sweep.Refused != "" || s.sweep.GivenUp != "" {
		return false
	}
	last := now.Sub(d.at) // very long if there was none
	if s.refused.After(d.at) && (last >= retryAfter || s.sweep.Done == s.sweep.Total) {
		return true
	}
	silent := s.out > 0 && now.Sub(s.heard) >= sluggish && last >= s.sweep.Timeout
	return silent || d.at.IsZero() && s.hung() >= s.sweep.Width
}

// askAgain asks for Status, and for Version unless that is out, beside the sweep.
func (m *examiner) askAgain(now time.Time) {
	m.doubt = doubt{out: true, at: now, refused: m.sweep.refused.After(m.doubt.at)}
	m.vitals.statusOut = true
	m.do(func(context.Context) func() {
		a := insist(m, func() answer[[]pleg.Condition] {
			return ask(m.calls, m.driver, Flight{By: ByVitals, Op: call.Status}, m.x.Timeout, m.config.Runtime.Status)
		})
		return func() { m.heardAgain(a) }
	})
	if m.vitals.versionOut {
		return
	}
	m.vitals.versionOut = true
	m.do(func(context.Context) func() {
		a := insist(m, func() answer[pleg.Version] {
			return ask(m.calls, m.driver, Flight{By: ByVitals, Op: call.Version}, m.x.Timeout, m.config.Runtime.Version)
		})
		return func() {
			m.vitals.versionOut = false
			if !m.cutShort(a.took, a.err) {
				m.tookVersion(a.Flight, a.value, a.found, a.err)
				m.vitals.versionErr.repeated(a.tries)
			}
		}
	})
}

// heardAgain takes in the second Status. If it did not come either, and nothing
// else since it was asked for, the sweep is given up.
func (m *examiner) heardAgain(a answer[[]pleg.Condition]) {
	m.doubt.out, m.vitals.statusOut = false, false
	if m.cutShort(a.took, a.err) {
		return
	}
	m.tookStatus(a.Flight, a.value, a.found, a.err)
	m.vitals.failure.repeated(a.tries)
	s := m.sweep.sweeper
	switch {
	case m.doubt.refused && errors.Is(a.err, call.ErrUnavailable):
		m.giveUpSweep(m.clock.now(), wentAway)
	case !m.silent():
	case errors.Is(a.err, call.ErrUnavailable):
		m.giveUpSweep(m.clock.now(), wentAway)
	case late(a.took, sluggish, a.err):
		m.giveUpSweep(m.clock.now(), silentToo)
	default:
		s.heard = m.clock.now()
	}
}

// repeated counts the tries that led to a failure, which may be nil and has not
// been handed out.
func (f *Failure) repeated(tries int) {
	if f != nil {
		f.InRow += tries - 1
	}
}

// cutShort reports whether a call was ended by the end of the examination before
// its silence meant anything.
func (m *examiner) cutShort(took time.Duration, err error) bool {
	unheard := errors.Is(err, call.ErrDeadline) || errors.Is(err, call.ErrCanceled)
	return unheard && m.calls.Err() != nil && took < sluggish
}

// silent reports whether the sweep heard nothing for some time when Status was
// asked for again, and has heard nothing since.
func (m *examiner) silent() bool { return m.doubt.at.Sub(m.sweep.heard) >= sluggish }

// hold reports whether the sweep is to make no call now: until it is known
// whether the runtime is there, and, since one that comes back needs a moment,
// before the second asking of those for which nobody listened.
func (m *examiner) hold(now time.Time) bool {
	s := m.sweep.sweeper
	return m.doubt.out && (m.doubt.refused || m.silent()) || s.retrying() && now.Before(s.refused.Add(retryAfter))
}
