package engine

import (
	"context"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

// A statusLane asks the runtime for Status, or for Version, when the kubelet does: Status 5 s
// after the last answer, Version before each posting of the node's status. Each has a lane, so
// that neither waits for the other.
type statusLane struct {
	*hub
	op call.Operation
}

func (l statusLane) run(ctx context.Context) {
	f := call.Flight{By: call.ByStatusLoop, Op: l.op}
	for l.await(ctx, func(m *Model, now time.Time) (bool, time.Time) {
		due := m.statusDue(l.op)
		return !due.IsZero() && !now.Before(due), due
	}) {
		l.callOrRetry(ctx, f, l.start.statusTime())
		if ctx.Err() != nil {
			return
		}
	}
}

// statuses has what the runtime says about itself.
type statuses struct {
	NextAt       time.Time // when Status is asked for next; zero if it is not asked for by itself
	Version      pleg.Version
	VersionFound pleg.Anomalies // in the last answer to Version
	Conditions   []pleg.Condition
	StatusFound  pleg.Anomalies // in the last answer to Status
	StatusAt     time.Time      // when Status returned last, good or not; zero before
}

// statusDue returns when Status or Version is due; zero if it is not due by itself.
func (m *Model) statusDue(op call.Operation) time.Time {
	switch {
	case m.kubelet.Paused() || m.closed:
		return time.Time{}
	case m.start.Once:
		return m.statusDueOnce(op)
	case op == call.Version:
		return m.kubelet.VersionDue()
	}
	return m.status.NextAt
}

// began notes that a call is on its way. The table of calls and the sums already have it.
func (m *Model) began(f call.Flight) {
	switch {
	case f.By != call.ByStatusLoop:
	case f.Op == call.Version:
		m.once.Version = false
		m.kubelet.VersionBegan(m.now)
	default:
		m.once.AskAgain = false
	}
	m.asking.began(f)
}

func (m *Model) statusAnswered(a *answer) {
	if a.Flight.Op == call.Version {
		m.versionAnswered(a)
		return
	}
	s := &m.status
	s.StatusAt, s.NextAt = a.At, a.At.Add(call.StatusPeriod)
	conditions := append([]pleg.Condition{}, a.Answer.Conditions...) // never nil: an answer may have none
	m.news = m.news || a.Err != nil || m.known.StatusErr != nil || !slices.Equal(s.Conditions, conditions)
	if a.Err != nil {
		m.known.StatusErr = m.known.StatusErr.Again(a.Flight, a.At, a.Err, 1)
		return
	}
	m.known.StatusErr, s.Conditions, s.StatusFound = nil, conditions, a.Found
	m.kubelet.StatusAnswered(a.At, conditions)
}

func (m *Model) versionAnswered(a *answer) {
	m.kubelet.VersionReturned(a.At, a.ranOut())
	s := &m.status
	var version pleg.Version
	if v := a.Answer.Version; v != nil {
		version = *v
	}
	m.news = m.news || a.Err != nil || m.known.VersionErr != nil || s.Version != version
	if a.Err != nil {
		m.known.VersionErr = m.known.VersionErr.Again(a.Flight, a.At, a.Err, 1)
		return
	}
	m.known.VersionErr, s.Version, s.VersionFound = nil, version, a.Found
	m.sources.Version = version
}

// ranOut reports whether a call ended at its own deadline. A runtime may return DeadlineExceeded at
// once because something behind it ran out of time: that is an answer.
func ranOut(err *call.Error, took, limit time.Duration) bool {
	return err != nil && err.Kind == call.ErrDeadline && took >= limit-limit/10
}
