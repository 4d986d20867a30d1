package engine

import (
	"fmt"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/ledger"
	"github.com/plegtop/plegtop/engine/pleg"
)

// mode is what the machine makes of the runtime's event stream.
type mode struct {
	passive
	attempts int    // how often the stream has ended by itself
	reason   string // why the stream is given up for good; empty if it is not
	asks     asks

	ignored, asked uint64
}

// modeNow returns the mode that holds: [pleg.Generic] once the stream is given up.
func (m *machine) modeNow() pleg.Mode {
	if m.mode.reason != "" {
		return pleg.Generic
	}
	return m.config.Mode
}

// applyStream takes in one event of the runtime's stream.
func (m *machine) applyStream(e SourceEvent) {
	switch {
	case m.modeNow() == pleg.Generic:
	case e.Asks() == "":
		m.mode.ignored++
	default:
		m.mode.asked++
		m.mode.asks.add(ask{e.Status.PodRef, m.now})
	}
}

// streamBroke counts an end of the runtime's stream that is not our doing. It reports
// whether the stream is to be opened again without a wait. The kubelet counts every end,
// also that of a stream which has lasted for days, and gives the stream up after five.
// (kubelet 1.37, evented.go)
func (m *machine) streamBroke(in StreamEnded, notEnabled bool) (again bool) {
	if m.modeNow() == pleg.Generic {
		return false
	}
	d := &m.mode
	if d.attempts++; d.attempts < pleg.StreamAttempts {
		return true
	}
	reason := fmt.Sprintf("the event stream ended %d times: %s", d.attempts, in.Text)
	if notEnabled {
		reason = notEnabledReason(in)
	}
	m.giveUpStream(reason)
	return false
}

// advance gives the stream up where there can be none. One that looks once opens no stream.
func (d *mode) advance(m *machine) {
	if m.modeNow() == pleg.Generic {
		return
	}
	reason := ""
	if !m.policy.Once {
		reason = m.sources.lacks(ledger.FromCRI)
	}
	if err := m.config.Mode.Check(m.config.Release); err != nil {
		reason = err.Error()
	}
	if reason != "" {
		m.giveUpStream(reason)
	}
}

// giveUpStream has the mode do without the runtime's stream, for good.
func (m *machine) giveUpStream(reason string) {
	m.mode.reason, m.changed = reason, true
	m.sources.fellBack(m, reason)
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

// fellBack says that the mode does without the runtime's stream from now on. One that
// people have asked for observes on, as in the generic mode; all others rest, and so does
// one that is refused.
func (l *sources) fellBack(m *machine, reason string) {
	s := l.of(ledger.FromCRI)
	if s == nil || !s.wanted {
		return
	}
	if !s.asked || s.state.State == StreamRefused {
		s.gaveUp = true
		s.rest(m, StreamFellBack, reason)
	} else if !s.running {
		s.turn(m, StreamFellBack, reason)
	}
}

func (d *mode) fill(m *machine, s *Snapshot) {
	s.Mode = ModeState{
		Mode: m.modeNow(), Asked: m.config.Mode, Reason: d.reason, Attempts: d.attempts,
		Ignored: d.ignored, Asks: d.asked, AsksLost: d.asks.lost,
	}
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
