package engine

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/ledger"
	"github.com/plegtop/plegtop/engine/pleg"
)

// mode is what the machine makes of the runtime's event stream, beside what the core does.
type mode struct {
	passive
	attempts int       // in a row to have a stream that did not last
	gap      bool      // there was no stream for a while, also at the start, and none since that lasts
	reason   string    // why the stream is given up for good; empty if it is not
	touchAt  time.Time // when the cache's time moves next
	lostAt   time.Time // when a relist makes up for events that came too fast; zero if none did
	inPhase  bool      // our relists are made when the node's kubelet makes its own
	fellAt   time.Time // when the stream was given up; zero if it was not
	asks     asks

	applied, ignored, asked, repeated uint64
}

// applyStream takes in one event of the runtime's stream.
func (m *machine) applyStream(e SourceEvent) {
	if m.core.Mode() == pleg.Generic {
		return
	}
	out := m.core.Apply(m.now, e.Upstream)
	if out.Ignored != "" {
		m.mode.ignored++
		return
	}
	m.mode.applied++
	if out.Relist != "" {
		m.mode.asked++
		m.mode.asks.add(ask{e.Status.PodRef, m.now})
	}
	if m.core.Evented() {
		m.pods.streamed(m.core, e.Upstream)
		m.release()
	}
}

// streamUp says that the runtime's stream has been open for a second: what failed before
// does not count any more. What happened before it was open again no event tells, and a
// relist may have been too early for: one more finds it. A kubelet leaves that to the next
// one that is due, which may be 300 s away.
func (m *machine) streamUp() {
	if m.core.Mode() == pleg.Generic {
		return
	}
	if m.mode.gap {
		m.relistForStream()
	}
	m.mode.attempts, m.mode.gap = 0, false
}

// streamBroke says that the runtime's stream is over, though we did not end it. It
// returns why the mode gives it up for good; empty if it does not. Where the mode goes by
// the stream a relist makes up for what was lost. (kubelet 1.36, EventedPLEG.watchEventsChannel)
func (m *machine) streamBroke(in StreamEnded, notEnabled bool) (givenUp string) {
	if m.core.Mode() == pleg.Generic {
		return ""
	}
	m.relistForStream()
	d := &m.mode
	switch d.attempts++; {
	case notEnabled:
		d.reason = notEnabledReason(in)
	case d.attempts < pleg.StreamAttempts:
		return ""
	default:
		d.reason = fmt.Sprintf("the event stream broke %d times in a row: %s", d.attempts, in.Text)
	}
	return d.reason
}

// streamLost says that events of the runtime's stream came too fast and were lost. Where
// the mode goes by them a relist is to find the rest, soon but not at the stream's pace.
func (m *machine) streamLost() {
	if m.core.Evented() && m.mode.lostAt.IsZero() {
		m.mode.lostAt = m.now.Add(m.period)
	}
}

// relistForStream has all pods relisted, after the pause if there is one.
func (m *machine) relistForStream() {
	if m.pause.on {
		m.pause.deferred.relist = true
	} else {
		m.wanted.relist = true
	}
}

// relistPeriod returns the time from the end of one relist to the start of the next: the
// kubelet's where it goes by the stream, whatever people asked for.
func (m *machine) relistPeriod() time.Duration {
	if m.core.Evented() {
		return pleg.EventedPeriod
	}
	return m.period
}

// advance moves the cache's time, and notes what becomes of the stream.
func (d *mode) advance(m *machine) {
	if m.core.Mode() == pleg.Generic {
		return
	}
	d.reason = cmp.Or(d.reason, m.sources.lacks(ledger.FromCRI))
	if !d.lostAt.IsZero() && !m.now.Before(d.lostAt) {
		d.lostAt = time.Time{}
		m.relistForStream()
	}
	if m.core.Evented() && !m.now.Before(d.touchAt) {
		m.core.Touch(m.now)
		d.touchAt = m.now.Add(pleg.TouchEvery)
	}
	d.fallBack(m)
}

// fallBack falls back from a stream that was given up, once the relist is over that its
// last loss has asked for: the kubelet waits for that, too.
func (d *mode) fallBack(m *machine) {
	if d.reason == "" || m.policy.Once || m.core.Mode() == pleg.Generic || m.relists.now != nil || m.wanted.relist || m.pause.deferred.relist {
		return
	}
	m.core.FallBack()
	d.fellAt = m.now
	m.sources.fellBack(m, ledger.FromCRI, d.reason)
	m.relists.schedule(m.relistPeriod())
	m.changed = true
}

// follow has a relist of ours made when a look shows that the node's kubelet has made one
// by itself, unless ours was made then anyway: where both go by events relists are 300 s
// apart, and after a fall-back the age of its list is to be that of ours.
func (d *mode) follow(m *machine, k *evidence.Kubelet) {
	if !m.core.Evented() || m.evidence == nil || !k.Evented() || k.FellBack() {
		return
	}
	was := &m.evidence.Kubelet
	if !k.Metrics.OK || !was.Metrics.OK || k.Relist.Count <= was.Relist.Count {
		return
	}
	if d.inPhase = true; m.now.Sub(m.core.ListedAt()) > 2*lookPeriod {
		m.relistForStream()
	}
}

// outOfPhase reports whether the list of the node's kubelet may be minutes older than ours:
// both go by events, and none of its relists was seen since we began.
func (d *mode) outOfPhase(m *machine) bool {
	return m.config.Mode.Writes(m.config.Release) && !d.inPhase && m.evidence != nil && m.evidence.Kubelet.Evented() &&
		(d.fellAt.IsZero() || m.core.ListedAt().Before(d.fellAt))
}

// lacks says in plain words why a source has no stream and will have none; empty if it
// has, or may have.
func (l *sources) lacks(source ledger.Source) string {
	switch s := l.of(source); {
	case s == nil || !s.wanted:
		return "the event stream is not switched on"
	case s.state.State == StreamRefused:
		return s.state.Reason
	}
	return ""
}

// fellBack says that the mode does without a source from now on. One that people have
// asked for observes, as in the generic mode; all others rest, and so does one that is
// refused.
func (l *sources) fellBack(m *machine, source ledger.Source, reason string) {
	switch s := l.of(source); {
	case s == nil || !s.wanted:
	case s.asked && s.state.State == StreamFellBack:
		s.gaveUp = false
		s.state.NextAt = m.now.Add(l.backOff(s.state.Tries, false))
	case s.gaveUp || s.state.State == StreamRefused:
		s.gaveUp = true
		s.rest(m, StreamFellBack, reason)
	}
}

// due returns when the cache's time moves next, or a relist makes up for lost events; zero
// if neither is to come.
func (d *mode) due(m *machine) time.Time {
	if !m.core.Evented() {
		return time.Time{}
	}
	return sooner(d.touchAt, d.lostAt)
}

func (d *mode) fill(m *machine, snapshot *Snapshot) {
	s := &snapshot.Mode
	*s = ModeState{
		Mode: m.core.Mode(), Asked: m.config.Mode, Attempts: d.attempts,
		Applied: d.applied, Ignored: d.ignored, Asks: d.asked, AsksLost: d.asks.lost, Repeated: d.repeated,
	}
	switch {
	case s.Mode == s.Asked:
	case d.reason != "":
		s.Reason = d.reason
	default:
		s.Reason = fmt.Sprintf("kubelet %v knows no event stream", m.config.Release)
	}
}

// verdict returns what the kubelet says of its PLEG by both of its health checks; nil if
// that is healthy.
func (m *machine) verdict(now time.Time) error {
	return cmp.Or(m.core.Healthy(now), m.core.HealthyEvented(now))
}

// eventedErr returns what the kubelet says of its second PLEG, which has a health check of
// its own; empty if that is healthy, or there is none.
func (m *machine) eventedErr(now time.Time) string {
	if err := m.core.HealthyEvented(now); err != nil {
		return "EventedPLEG is not healthy: " + err.Error()
	}
	return ""
}

// mostAsks is how many asks wait at most: the kubelet's relistRequests. Further ones are lost.
const mostAsks = 200

// asks are the relists of one pod that the stream has asked for, the oldest first. A pod
// is among them once, where the kubelet relists it as often as it was asked for: one is
// enough, and a stream without sense must not cost the runtime more.
type asks struct {
	waiting []ask
	lost    uint64
}

// An ask is for one relist of a pod, made at a certain time. Unlike [Engine.Reinspect] it
// has the pod inspected only if that has changed.
type ask struct {
	pod pleg.PodRef
	at  time.Time
}

func (q *asks) add(a ask) {
	if i := slices.IndexFunc(q.waiting, func(b ask) bool { return b.pod.UID == a.pod.UID }); i >= 0 {
		q.waiting[i].at = a.at
		return
	}
	if len(q.waiting) == mostAsks {
		q.lost++
		return
	}
	q.waiting = append(q.waiting, a)
}

// next takes the next one.
func (q *asks) next() (ask, bool) {
	if len(q.waiting) == 0 {
		return ask{}, false
	}
	a := q.waiting[0]
	q.waiting = slices.Delete(q.waiting, 0, 1)
	return a, true
}

// beginAsked relists the next pod of which the event stream asked for that, unless a
// relist of all has begun since, or people paused: then one of all comes first.
func (l *relists) beginAsked(m *machine) bool {
	for !m.pause.on {
		a, ok := m.mode.asks.next()
		if !ok {
			return false
		}
		if m.core.OnDemand() && a.at.After(m.core.ListedAt()) {
			l.now = &relist{pod: a.pod, began: m.now}
			m.calls.want(m.now, m.policy.kubelets(call.Flight{Op: call.ListPodSandbox, Pod: a.pod}))
			return true
		}
	}
	return false
}
