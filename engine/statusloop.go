package engine

import (
	"errors"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

// statusPeriod is the kubelet's: from the end of one Status to the next.
const statusPeriod = 5 * time.Second

// A statusLoop asks for what the runtime says of itself, apart from all relists:
// Status as the kubelet does, and beside it Version, when that is not known, or the
// runtime may be another one by now.
type statusLoop struct {
	nextAt        time.Time // when Status is due; zero if it is not asked for by itself any more
	statusOut     bool
	versionOut    bool
	versionWanted bool

	version      pleg.Version
	versionFound pleg.Anomalies // in the last answer to Version
	conditions   []pleg.Condition
	statusFound  pleg.Anomalies // in the last answer to Status
	failure      *Failure       // of Status
	versionErr   *Failure       // of Version

	versionTook, statusTook promptness // of the last answers, good or not
}

// A promptness is how long a call took that returned at a certain time.
type promptness struct {
	at   time.Time
	took time.Duration
}

// suspect notes that a call failed: a runtime that was away may come back as
// another version.
func (l *statusLoop) suspect(err error) {
	l.versionWanted = l.versionWanted || errors.Is(err, call.ErrUnavailable)
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
	due := l.due(m)
	if due.IsZero() || m.now.Before(due) {
		return
	}
	if l.versionWanted && !l.versionOut {
		l.versionOut = true
		m.calls.want(m.now, m.policy.kubelets(Flight{By: ByStatusLoop, Op: call.Version}))
	}
	l.statusOut = true
	m.calls.want(m.now, m.policy.kubelets(Flight{By: ByStatusLoop, Op: call.Status}))
}

// out reports whether a call is out, or waits for its turn.
func (l *statusLoop) out() bool { return l.statusOut || l.versionOut }

// askAgain asks for Status at once, and for Version unless that is out. What comes of
// them soon counts as what came of the first.
func (l *statusLoop) askAgain(m *machine, version bool) {
	again := m.policy.own(Flight{By: ByStatusLoop, Op: call.Status})
	again.tag, again.tries, again.yields = recheckTag, 1+retries, false
	if !l.statusOut {
		l.statusOut = true
		m.calls.want(m.now, again)
	}
	if version && !l.versionOut {
		l.versionOut = true
		again.Op = call.Version
		m.calls.want(m.now, again)
	}
}

// answered takes in Status or Version.
func (l *statusLoop) answered(m *machine, a *answer) {
	cutShort := a.tag == recheckTag && m.check.cutShort(m.now, a)
	if a.Op == call.Version {
		l.versionOut = false
		if !cutShort {
			l.tookVersion(m, a)
		}
		return
	}
	l.statusOut = false
	if cutShort {
		m.recheck.out = false
		return
	}
	l.tookStatus(m, a)
	if a.tag == recheckTag {
		m.recheckAnswered(a)
	}
}

func (l *statusLoop) tookVersion(m *machine, a *answer) {
	l.versionWanted = a.err != nil
	l.versionTook = promptness{a.at, a.took}
	version, _ := a.value.(pleg.Version)
	m.changed = m.changed || a.err != nil || l.versionErr != nil || l.version != version
	if a.err != nil {
		l.versionErr = l.versionErr.again(a)
		return
	}
	l.versionErr, l.version, l.versionFound = nil, version, a.found
}

func (l *statusLoop) tookStatus(m *machine, a *answer) {
	l.statusTook = promptness{a.at, a.took}
	l.nextAt = time.Time{}
	if !m.policy.Once {
		l.nextAt = a.at.Add(statusPeriod)
	}
	conditions, _ := a.value.([]pleg.Condition)
	m.changed = m.changed || a.err != nil || l.failure != nil || !slices.Equal(l.conditions, conditions)
	if a.err != nil {
		l.failure = l.failure.again(a)
		l.suspect(a.err)
		return
	}
	l.failure, l.conditions, l.statusFound = nil, conditions, a.found
	m.kubelet.loop.status(a.at, conditions)
}

// isQuick reports whether the last Status was answered, at once and not long ago.
func (l *statusLoop) isQuick(now time.Time, recent time.Duration) bool {
	return l.failure == nil && !l.statusTook.at.IsZero() && l.statusTook.took <= sluggish && now.Sub(l.statusTook.at) < recent
}
