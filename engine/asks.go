package engine

import (
	"time"

	"github.com/plegtop/plegtop/engine/pleg"
)

// mostAsks is how many asks wait at most: the kubelet's relistRequests. Further ones are lost.
const mostAsks = 200

// asks are the relists of one pod that the stream has asked for, the oldest first. As in
// the kubelet nobody looks whether a pod is among them already.
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
	if len(q.waiting) == mostAsks {
		q.lost++
		return
	}
	q.waiting = append(q.waiting, a)
}

func (q *asks) next() (ask, bool) {
	if len(q.waiting) == 0 {
		return ask{}, false
	}
	a := q.waiting[0]
	q.waiting = q.waiting[1:]
	return a, true
}
