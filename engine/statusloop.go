package engine

import (
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/survey"
)

// A statusLoop asks for what the runtime says of itself, apart from all relists:
// Status as the kubelet does, and Version when the [poster] does.
type statusLoop struct {
	nextAt     time.Time // when Status is due; zero if it is not asked for by itself any more
	statusOut  bool
	versionOut bool

	version      pleg.Version
	versionFound pleg.Anomalies // in the last answer to Version
	conditions   []pleg.Condition
	statusFound  pleg.Anomalies // in the last answer to Status
	statusAt     time.Time      // when it came, good or not
}

// due returns when Status is asked for by itself; zero if it is not.
func (l *statusLoop) due(m *machine) time.Time {
	if m.pause.on || l.statusOut {
		return time.Time{}
	}
	return l.nextAt
}

// advance makes the calls that are due. Neither waits for the other.
func (l *statusLoop) advance(m *machine) {
	if !l.versionOut && m.kubelet.poster.begins(m) {
		l.versionOut = true
		m.calls.want(m.now, m.policy.kubelets(call.Flight{By: call.ByStatusLoop, Op: call.Version}))
	}
	if due := l.due(m); !due.IsZero() && !m.now.Before(due) {
		l.statusOut = true
		m.calls.want(m.now, m.policy.kubelets(call.Flight{By: call.ByStatusLoop, Op: call.Status}))
	}
}

// isLate reports whether Status is, so that something may come of it.
func (l *statusLoop) isLate(m *machine, now time.Time) bool {
	p := m.calls.like(call.Flight{Op: call.Status})
	return p != nil && p.By == call.ByStatusLoop && now.Sub(p.Since) >= answers.Foretold
}

// out reports whether a call is out, or waits for its turn.
func (l *statusLoop) out() bool { return l.statusOut || l.versionOut }

// askAgain asks for Status at once, and for Version unless that is out. What comes of
// them soon counts as what came of the first.
func (l *statusLoop) askAgain(m *machine, version bool) *survey.Survey {
	p := survey.Policy{By: call.ByStatusLoop, Busy: survey.Queue, Tries: 1 + retries}
	var status *survey.Survey
	if !l.statusOut {
		l.statusOut = true
		status = m.askOne(p, call.Flight{Op: call.Status})
	}
	if version && !l.versionOut {
		l.versionOut = true
		m.askOne(p, call.Flight{Op: call.Version})
	}
	return status
}

func (l *statusLoop) answered(m *machine, a *answer) {
	cutShort := a.survey != nil && m.check.cutShort(m.now, a.err, a.took)
	if a.Op == call.Version {
		l.versionOut = false
		if !cutShort {
			l.tookVersion(m, a)
		}
		return
	}
	l.statusOut = false
	if cutShort {
		return
	}
	l.tookStatus(m, a)
	if a.survey != nil {
		m.sweep.rechecked(m, a)
	}
}

func (l *statusLoop) tookVersion(m *machine, a *answer) {
	m.kubelet.poster.returned(m, a)
	var version pleg.Version
	if v := a.value.Version; v != nil {
		version = *v
	}
	m.changed = m.changed || a.err != nil || m.known.VersionErr != nil || l.version != version
	if a.err != nil {
		m.known.VersionErr = m.known.VersionErr.Again(a.Flight, a.at, a.err, a.tries)
		return
	}
	m.known.VersionErr, l.version, l.versionFound = nil, version, a.found
}

func (l *statusLoop) tookStatus(m *machine, a *answer) {
	l.statusAt = a.at
	l.nextAt = time.Time{}
	if !m.policy.Once {
		l.nextAt = a.at.Add(answers.StatusPeriod)
	}
	conditions := append([]pleg.Condition{}, a.value.Conditions...) // an answer without any is one
	m.changed = m.changed || a.err != nil || m.known.StatusErr != nil || !slices.Equal(l.conditions, conditions)
	if a.err != nil {
		m.known.StatusErr = m.known.StatusErr.Again(a.Flight, a.at, a.err, a.tries)
		return
	}
	m.known.StatusErr, l.conditions, l.statusFound = nil, conditions, a.found
	m.kubelet.loop.status(a.at, conditions)
	m.kubelet.poster.answered(m)
}

func (l *statusLoop) fill(_ *machine, s *Snapshot) {
	s.Version, s.Conditions = l.version, l.conditions
	s.Anomalies = s.Anomalies.Add(l.versionFound).Add(l.statusFound)
}
