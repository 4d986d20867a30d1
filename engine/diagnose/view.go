package diagnose

import (
	"cmp"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
)

// What a duration means, for every rule. A runtime whose calls all take seconds
// gets more time: see [view.lateAfter] and [view.hungAfter].
const (
	// callLate is how long a call is out before it is spoken of. On a busy node
	// the slowest of many thousand calls took an eighth of it.
	callLate = time.Second
	// callHung is how long a call is out before it counts as hanging: what a sweep
	// gives each call, four thousand times what a status call takes.
	callHung = 2 * time.Second
	// answerFresh is how far back an answer, good or bad, still tells how things
	// are. While a call hangs the engine probes every 5 s and may take 8 s for it.
	answerFresh = 20 * time.Second
	// failingLong is how long calls must fail in a row, with no success between,
	// for that to be no restart of the runtime and no chance.
	failingLong = 10 * time.Second
	// usualMost bounds what is taken for usual: what takes longer hangs, however
	// often it does.
	usualMost = 10 * time.Second
)

// A view is what is known at one moment, read once for all rules. On a node where
// nothing hangs it allocates nothing. No finding refers to it.
type view struct {
	*engine.Snapshot
	past     *History
	evidence *evidence.Report // of the node; nil if nobody looked
	endpoint string

	general [call.PodSandboxStatus]hang // by operation: Version, Status and the lists; no Since if that does not hang
	objects []hang                      // status calls: of the relist first, then those that hang longest
	places  map[target]int              // in objects, until these are sorted
	swept   map[pleg.UID]bool           // pods of which a sweep says what hangs, in one bounded look
	failing int                         // pods whose last inspection failed
	scope   scope                       // see [view.decide]
	facts
}

// A hang is a call that is late, or that its deadline ended without an answer.
// Its Since is when the first of them in a row began.
type hang struct {
	engine.Flight
	out   bool          // still out; if not, err says how it ended
	sure  bool          // for so long that it is not just slow
	took  time.Duration // so far, or until its deadline
	inRow int           // how many ended so before, if it is known
	err   error         // nil if none has ended yet
	swept bool          // found by a sweep that is over
}

// A target is what a status call is about, by its operation and its object's id.
type target struct {
	op call.Operation
	id string
}

var views = sync.Pool{New: func() any { return new(view) }}

// newView reads an input. Who calls it may put the view back into the pool.
func newView(in Input) *view {
	v := views.Get().(*view)
	*v = view{Snapshot: in.Snapshot, past: in.History, evidence: in.Evidence, endpoint: in.Endpoint, objects: v.objects[:0]}
	if v.past == nil {
		v.past = &noHistory
	}
	v.read()
	v.scope = v.decide()
	return v
}

var noHistory History // read only

// read notes what hangs.
func (v *view) read() {
	for _, f := range v.InFlight {
		if took := f.Elapsed(v.At); took >= callLate && took >= v.lateAfter(f.Op) {
			v.note(hang{Flight: f, out: true, sure: took >= v.hungAfter(f.Op), took: took})
		}
	}
	v.noteFailure(v.VersionErr)
	v.noteFailure(v.StatusErr)
	v.noteFailure(v.Failure)
	for i := range v.Probes {
		v.noteProbe(v.Probes[i])
	}
	v.noteSweep()
	if v.Policy.Once && len(v.objects) > 0 {
		v.swept = make(map[pleg.UID]bool)
		for i := range v.objects {
			v.swept[v.objects[i].Pod.UID] = true
		}
	}
	for _, p := range v.Pods {
		if p.Failure != nil {
			v.failing++
			v.notePod(p)
		}
	}
	slices.SortStableFunc(v.objects, func(a, b hang) int {
		return cmp.Or(cmp.Compare(urgency(a), urgency(b)), a.Since.Compare(b.Since))
	})
}

// lateAfter is how long a call of an operation is out before it is late, and
// hungAfter before it hangs. A runtime that is slow does not hang.
func (v *view) lateAfter(op call.Operation) time.Duration { return max(callLate, 2*v.usual(op)) }
func (v *view) hungAfter(op call.Operation) time.Duration { return max(callHung, 3*v.usual(op)) }

// usual returns what a call of an operation takes there: what half of its like
// take, or of all calls, and of a list also what the last ones took.
func (v *view) usual(op call.Operation) time.Duration {
	took := v.quickest()
	if sums := v.sums(op); !sums.LastOK.IsZero() {
		took = max(took, sums.P50)
	}
	if h := v.Relists.History; aboutList(op) && len(h) >= slowRelists {
		took = max(took, usualList(h))
	}
	return min(took, usualMost)
}

// quickest returns the least of what half of the calls of each operation take.
func (v *view) quickest() time.Duration {
	var least time.Duration
	for i := range v.Calls {
		c := &v.Calls[i]
		if c.Op < call.GetContainerEvents && !c.LastOK.IsZero() && (least == 0 || c.P50 < least) {
			least = c.P50
		}
	}
	return least
}

// urgency puts first what holds up a relist right now, then what is out.
func urgency(h hang) int {
	switch {
	case h.out && h.By == engine.ByRelist:
		return 0
	case h.out:
		return 1
	}
	return 2
}

func aboutObject(op call.Operation) bool {
	return op == call.PodSandboxStatus || op == call.ContainerStatus
}

func aboutList(op call.Operation) bool { return op == call.ListPodSandbox || op == call.ListContainers }

// note keeps a hang unless the same is known already, and then adds to that.
func (v *view) note(h hang) {
	if !aboutObject(h.Op) {
		if h.Op < call.PodSandboxStatus { // the event stream is meant to stay out
			v.general[h.Op] = merge(v.general[h.Op], h)
		}
		return
	}
	what := target{h.Op, h.ID}
	if i, known := v.places[what]; known {
		v.objects[i] = merge(v.objects[i], h)
		return
	}
	if v.places == nil {
		v.places = make(map[target]int)
	}
	v.places[what] = len(v.objects)
	v.objects = append(v.objects, h)
}

// merge returns what two hangs of the same call say together: the older start,
// and of the rest what is out.
func merge(was, h hang) hang {
	if was.Since.IsZero() {
		return h
	}
	if h.Since.Before(was.Since) {
		was.Since = h.Since
	}
	was.out, was.sure, was.swept = was.out || h.out, was.sure || h.sure, was.swept && h.swept
	was.took, was.inRow = max(was.took, h.took), max(was.inRow, h.inRow)
	if was.err == nil {
		was.err = h.err
	}
	return was
}

// noteFailure keeps a call that its deadline ended, which may be nil. A success
// would have taken it out of the snapshot.
func (v *view) noteFailure(f *engine.Failure) {
	if f == nil || !v.ranOut(f.Err, v.lasted(f)) {
		return
	}
	h := hang{Flight: f.Flight, sure: true, took: v.lasted(f), inRow: f.InRow, err: f.Err}
	if began := f.First.Add(-h.took); f.InRow > 1 && began.Before(h.Since) {
		h.Since = began
	}
	v.note(h)
}

// lasted returns how long a failed call was out. Its failure may have been taken
// in some time after it returned.
func (v *view) lasted(f *engine.Failure) time.Duration {
	end := f.At
	if last := v.sums(f.Op).LastErrAt; !aboutObject(f.Op) && last.After(f.Since) && last.Before(end) {
		end = last
	}
	return max(end.Sub(f.Since), 0)
}

// ranOut reports whether a call was ended by its own deadline, which may be short
// in a sweep. A runtime may pass on at once that somebody else gave it no answer
// in time: that is an answer.
func (v *view) ranOut(err error, took time.Duration) bool {
	limit := callLate
	if v.Sweep != nil && v.Sweep.Timeout > 0 {
		limit = min(limit, v.Sweep.Timeout)
	}
	return errors.Is(err, call.ErrDeadline) && took >= limit
}

// noteProbe keeps a probe that its deadline ended, unless its like was answered
// after that. It holds as long as the call of the relist is out for which it was
// made: once that has come back, what hung with it need not hang any more.
func (v *view) noteProbe(p engine.Probe) {
	if p.At.IsZero() || !v.ranOut(p.Err, p.Took) || v.At.Sub(p.At) > answerFresh || !v.relistWaits(p.Since) {
		return
	}
	if aboutObject(p.Op) && v.inspectedSince(p.Flight, p.At) || !aboutObject(p.Op) && v.sums(p.Op).LastOK.After(p.At) {
		return
	}
	v.note(hang{Flight: p.Flight, sure: true, took: p.Took, inRow: 1, err: p.Err})
}

// relistWaits reports whether a call of the relist is out since before a moment.
func (v *view) relistWaits(since time.Time) bool {
	for i := range v.InFlight {
		if f := &v.InFlight[i]; f.By == engine.ByRelist && f.Since.Before(since) {
			return true
		}
	}
	return false
}

// noteSweep keeps what the last sweep found to hang.
func (v *view) noteSweep() {
	w := v.sweep()
	if w == nil {
		return
	}
	for _, o := range w.Hung {
		if w.Ended.IsZero() || !v.inspectedSince(o.Flight, askedLast(w)) {
			v.note(hang{Flight: o.Flight, sure: true, took: o.Took, inRow: 1, err: o.Err, swept: true})
		}
	}
}

// sweep returns the last sweep, or the one under way, as long as what it found
// can still be so; nil if it cannot.
func (v *view) sweep() *engine.Sweep {
	w := v.Sweep
	if w == nil || !v.Policy.Once && !w.Ended.IsZero() && v.At.Sub(askedLast(w)) > answerFresh {
		return nil
	}
	return w
}

// askedLast returns when a sweep that is over asked last for what hung or failed.
func askedLast(w *engine.Sweep) time.Time { return later(w.Checked, w.Ended) }

// notePod keeps the call that ended a pod's last inspection, if that was its
// deadline. What a sweep in one bounded look says of the pod is more exact.
func (v *view) notePod(p *engine.Pod) {
	if aboutObject(p.Failure.Op) && !v.swept[p.UID] {
		v.noteFailure(p.Failure)
	}
}

// pod returns a pod that is listed; nil if it is not.
func (v *view) pod(ref pleg.PodRef) *engine.Pod {
	i, found := slices.BinarySearchFunc(v.Pods, ref, func(p *engine.Pod, ref pleg.PodRef) int {
		return cmp.Or(cmp.Compare(p.Namespace, ref.Namespace), cmp.Compare(p.Name, ref.Name), cmp.Compare(p.UID, ref.UID))
	})
	if !found {
		return nil
	}
	return v.Pods[i]
}

// seen returns what is listed of a pod; nothing, and never nil, if nothing is.
func seen(p *engine.Pod) *pleg.Pod { return cmp.Or(p.Seen(), &noPod) }

var noPod pleg.Pod // read only

// inspectedSince reports whether the pod of a call was inspected well after a
// moment, so that its object cannot hang any more.
func (v *view) inspectedSince(f engine.Flight, since time.Time) bool {
	p := v.pod(f.Pod)
	return p != nil && p.StatusErr == nil && p.InspectedAt.After(since)
}

// hangs reports whether calls of an operation that is about no object hang.
func (v *view) hangs(op call.Operation) bool { return !v.general[op].Since.IsZero() }

// list returns the list call that hangs.
func (v *view) list() (hang, bool) {
	for _, op := range []call.Operation{call.ListPodSandbox, call.ListContainers} {
		if v.hangs(op) {
			return v.general[op], true
		}
	}
	return hang{}, false
}

// began returns when the trouble of a hang began, for the question what was
// answered since. All calls of one bounded look are taken as made at the same time.
func (v *view) began(h hang) time.Time {
	switch {
	case v.Policy.Once:
		return v.Started
	case h.swept && v.Sweep.Began.Before(h.Since):
		return v.Sweep.Began
	}
	return h.Since
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
