package engine

import (
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

// mostAsks is how many asks wait at most: the kubelet's relistRequests. Further ones are lost.
const mostAsks = 200

// syncLook is how long after one look the next one is made whether a pod is still synced.
const syncLook = 100 * time.Millisecond

// asks are the relists of one pod that the stream has asked for, the oldest first. A pod
// is among them once, where the kubelet relists it as often as it was asked for: one is
// enough, and a stream without sense must not cost the runtime more.
type asks struct {
	waiting []ask
	lost    uint64
	againAt time.Time // when to look whether the pods of all that wait are still being synced; zero if they are not
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

// next returns the next one whose turn it is. In [pleg.Preview] a pod that is being synced
// has to wait for the end of that, as far as a kubelet tells it (kubernetes PR 140692).
func (q *asks) next(m *machine) (ask, bool) {
	q.againAt = time.Time{}
	for i, a := range q.waiting {
		if m.core.Mode() != pleg.Preview || !m.workers.syncing(m, a.pod.UID) {
			q.waiting = slices.Delete(q.waiting, i, i+1)
			return a, true
		}
	}
	if len(q.waiting) > 0 {
		q.againAt = m.now.Add(syncLook)
	}
	return ask{}, false
}

// beginAsked relists the next pod of which the event stream asked for that, unless a
// relist of all has begun since, or people paused: then one of all comes first.
func (l *relists) beginAsked(m *machine) bool {
	for !m.pause.on {
		a, ok := m.mode.asks.next(m)
		if !ok {
			return false
		}
		if m.core.OnDemand() && a.at.After(m.core.ListedAt()) {
			l.now = &relist{pod: a.pod, began: m.now}
			m.calls.want(m.now, m.policy.kubelets(Flight{Op: call.ListPodSandbox, Pod: a.pod}))
			return true
		}
	}
	return false
}
