package engine

import (
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

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
