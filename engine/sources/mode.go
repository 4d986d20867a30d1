package sources

import (
	"fmt"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/pleg"
)

// mostAsks is how many asks wait at most. Later ones are dropped. (kubelet 1.36 and later:
// capacity of the channel relistRequests)
const mostAsks = 200

const notSwitchedOn = "the event stream is not switched on"

// A ModeState says how the kubelet uses the runtime's event stream.
type ModeState struct {
	Mode     pleg.Mode // the mode that holds now
	Asked    pleg.Mode // the mode that was asked for
	Reason   string    // why the two modes differ: it fell back for good; else empty. Not cleaned
	Attempts int       // how many of the five attempts to have a stream have ended
	Ignored  uint64    // events of the stream that led to nothing
	Asks     uint64    // events that asked for a relist of one pod
	AsksLost uint64    // how many of these came when 200 were waiting, and were dropped
}

// An Ask is a request for one relist of a pod.
type Ask struct {
	Pod pleg.PodRef
	At  time.Time
}

// evented reports whether the kubelet uses the runtime's stream. (kubelet 1.37, evented.go)
func (o *Observer) evented() bool { return o.Mode.Mode == pleg.Evented }

// ask takes in one event of the runtime's stream. A stopped event asks for a relist of its pod.
// The kubelet keeps two asks for one pod. We keep one, so that a nonsensical stream costs the
// runtime no more than that.
func (o *Observer) ask(at time.Time, u *pleg.Upstream) {
	if !o.evented() {
		return
	}
	uid := u.Asks()
	if uid == "" {
		o.Mode.Ignored++
		return
	}
	o.Mode.Asks++
	if i := slices.IndexFunc(o.Asks, func(a Ask) bool { return a.Pod.UID == uid }); i >= 0 {
		o.Asks[i].At = at
	} else if len(o.Asks) < mostAsks {
		o.Asks = append(o.Asks, Ask{u.Status.PodRef, at})
	} else {
		o.Mode.AsksLost++
	}
}

// NextAsk returns the pod that the relist lane is to relist next; false if none waits. The lane
// asks between two relists, and not while paused.
func (o *Observer) NextAsk() (pod pleg.PodRef, ok bool) {
	if len(o.Asks) == 0 {
		return pod, false
	}
	return o.Asks[0].Pod, true
}

// Relisting notes that a relist of one pod has begun. It answers the asks for that pod.
func (o *Observer) Relisting(uid pleg.UID) {
	o.Asks = slices.DeleteFunc(o.Asks, func(a Ask) bool { return a.Pod.UID == uid })
}

// Listed notes that a relist of all pods is over, that its lists succeeded, and when it began.
// Asks from before its start are skipped. (kubelet 1.36, workerLoopIteration)
func (o *Observer) Listed(began time.Time) {
	o.Asks = slices.DeleteFunc(o.Asks, func(a Ask) bool { return !a.At.After(began) })
}

// countEnd counts an end of the runtime's stream that we did not cause. The kubelet counts each
// end, also of a stream that lasted for days. It never waits after an end, and gives up at the
// fifth.
func (o *Observer) countEnd(at time.Time, w *Watch) {
	if !o.evented() {
		return
	}
	if o.Mode.Attempts++; o.Mode.Attempts < pleg.StreamAttempts {
		w.State.NextAt = at
		return
	}
	reason := w.State.Reason
	if w.State.State == StreamLost {
		reason = fmt.Sprintf("the event stream ended %d times: %s", o.Mode.Attempts, reason)
	}
	o.fallBack(at, reason)
}

// checkMode gives the mode up if its stream cannot be opened, or if the kubelet is older than
// the mode.
func (o *Observer) checkMode(at time.Time) {
	if !o.evented() {
		return
	}
	w, err := o.watch(FromCRI), o.Config.Mode.Check(o.Config.Release)
	switch {
	case err != nil:
		o.fallBack(at, err.Error())
	case o.Config.Once:
	case w == nil:
		o.fallBack(at, notSwitchedOn)
	case w.State.State == StreamRefused:
		o.fallBack(at, w.State.Reason)
	}
}

// fallBack gives the evented mode up for good. A stream that people asked for goes on as a
// source.
func (o *Observer) fallBack(at time.Time, reason string) {
	o.Mode.Mode, o.Mode.Reason = pleg.Generic, reason
	if w := o.watch(FromCRI); w != nil && !w.open() && w.State.State != StreamRefused {
		o.turn(at, w, StreamFellBack, reason)
	}
}
