package diagnose

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/call"
)

const (
	// late is how long a call is out before it is spoken of. On a busy node the
	// slowest of many thousand calls took an eighth of it.
	late = time.Second
	// hung is how long a call is out before it counts as hanging: what a sweep
	// gives each call, four thousand times what a status call takes.
	hung = 2 * time.Second
	// lately is how far back an answer still shows that the runtime answers.
	// While a call hangs the engine probes every 5 s and may take 8 s for it.
	lately = 20 * time.Second
	// sweepHolds is how long what a sweep found is held to be so, while nothing
	// else is known of the object.
	sweepHolds = 5 * time.Minute
)

// A hang is a call that is late, or that its deadline ended without an answer.
// Its Since is when the first of them in a row began.
type hang struct {
	engine.Flight
	out   bool          // still out; if not, err says how it ended
	took  time.Duration // so far, or until its deadline
	inRow int           // how many ended so before, if it is known
	err   error         // nil if none has ended yet
	swept bool          // found by a sweep that is over
}

// sure reports whether the call has been out so long that it is not just slow.
func (h hang) sure() bool { return h.took >= hung || h.err != nil }

// A reading is what the snapshot says of the runtime's answers: which calls
// hang, by operation for those that are about the whole runtime, by object for
// the others.
type reading struct {
	*engine.Snapshot
	general [call.PodSandboxStatus]hang // by operation: Version, Status and the lists; no Since if that does not hang
	objects []hang                      // of the relist first, then those that hang longest
	pace    *pace                       // of Status; nil if nobody looked
}

// read takes a reading. On a node where nothing hangs it allocates nothing.
func read(s *engine.Snapshot) reading {
	r := reading{Snapshot: s}
	for _, f := range s.InFlight {
		if took := f.Elapsed(s.At); took >= late && took >= r.patience(f.Op) {
			r.note(hang{Flight: f, out: true, took: took})
		}
	}
	r.noteFailure(s.VersionErr)
	r.noteFailure(s.StatusErr)
	r.noteFailure(s.Failure)
	for i := range s.Probes {
		r.noteProbe(s.Probes[i])
	}
	r.noteSweep()
	r.notePods()
	slices.SortStableFunc(r.objects, func(a, b hang) int {
		return cmp.Or(cmp.Compare(urgency(a), urgency(b)), a.Since.Compare(b.Since))
	})
	return r
}

// patience is how long a call of an operation is out before it is late, where
// half of its like, or of all calls, take a second themselves: a runtime that is
// slow does not hang.
func (r *reading) patience(op call.Operation) time.Duration {
	return 2 * min(max(r.sums(op).P50, r.quickest()), hung)
}

// quickest returns the least of what half of the calls of each operation take.
func (r *reading) quickest() time.Duration {
	var least time.Duration
	for i := range r.Calls {
		c := &r.Calls[i]
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

// note keeps a hang unless the same is known already, and then adds to that.
func (r *reading) note(h hang) {
	if !aboutObject(h.Op) {
		if h.Op >= call.PodSandboxStatus {
			return // the event stream is meant to stay out
		}
		r.general[h.Op] = merge(r.general[h.Op], h)
		return
	}
	for i := range r.objects {
		if r.objects[i].Op == h.Op && r.objects[i].ID == h.ID {
			r.objects[i] = merge(r.objects[i], h)
			return
		}
	}
	r.objects = append(r.objects, h)
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
	was.out = was.out || h.out
	was.took = max(was.took, h.took)
	was.inRow = max(was.inRow, h.inRow)
	was.swept = was.swept && h.swept
	if was.err == nil {
		was.err = h.err
	}
	return was
}

// noteFailure keeps a call that its deadline ended, which may be nil. A success
// would have taken it out of the snapshot.
func (r *reading) noteFailure(f *engine.Failure) {
	if f == nil || !r.ranOut(f.Err, r.lasted(f)) {
		return
	}
	h := hang{Flight: f.Flight, took: r.lasted(f), inRow: f.InRow, err: f.Err}
	if began := f.First.Add(-h.took); f.InRow > 1 && began.Before(h.Since) {
		h.Since = began
	}
	r.note(h)
}

// lasted returns how long a failed call was out. Its failure may have been taken
// in some time after it returned.
func (r *reading) lasted(f *engine.Failure) time.Duration {
	end := f.At
	if last := r.sums(f.Op).LastErrAt; last.After(f.Since) && last.Before(end) {
		end = last
	}
	return max(end.Sub(f.Since), 0)
}

// ranOut reports whether a call was ended by its own deadline, which may be short
// in one pass. A runtime may pass on at once that somebody else gave it no answer
// in time: that is an answer.
func (r *reading) ranOut(err error, took time.Duration) bool {
	limit := late
	if r.Sweep != nil && r.Sweep.Timeout > 0 {
		limit = min(limit, r.Sweep.Timeout)
	}
	return errors.Is(err, call.ErrDeadline) && took >= limit
}

// noteProbe keeps a probe that its deadline ended, unless its like was answered
// after that. It holds as long as the call of the relist is out for which it was
// made: once that has come back, what hung with it need not hang any more.
func (r *reading) noteProbe(p engine.Probe) {
	if p.At.IsZero() || !errors.Is(p.Err, call.ErrDeadline) || r.At.Sub(p.At) > lately || !r.relistWaits(p.Since) {
		return
	}
	if !aboutObject(p.Op) && r.sums(p.Op).LastOK.After(p.At) {
		return
	}
	if aboutObject(p.Op) && r.inspectedSince(p.Flight, p.At) {
		return
	}
	r.note(hang{Flight: p.Flight, took: p.Took, inRow: 1, err: p.Err})
}

// relistWaits reports whether a call of the relist is out since before a moment.
func (r *reading) relistWaits(since time.Time) bool {
	for i := range r.InFlight {
		if f := &r.InFlight[i]; f.By == engine.ByRelist && f.Since.Before(since) {
			return true
		}
	}
	return false
}

// noteSweep keeps what the last sweep found to hang, as long as that holds.
func (r *reading) noteSweep() {
	w := r.Sweep
	if w == nil || len(w.Hung) == 0 || !r.sweepHolds(w) {
		return
	}
	for _, o := range w.Hung {
		if w.Ended.IsZero() || !r.inspectedSince(o.Flight, w.Ended) {
			r.note(hang{Flight: o.Flight, took: o.Took, inRow: 1, err: o.Err, swept: true})
		}
	}
}

// sweepHolds reports whether what a sweep found can still be so: it is fresh,
// and if a list hung while it went on, that has not come back since.
func (r *reading) sweepHolds(w *engine.Sweep) bool {
	if !w.Ended.IsZero() && r.At.Sub(w.Ended) > sweepHolds {
		return false
	}
	for i := range r.Relists.History {
		l := &r.Relists.History[i]
		if l.List >= hung && !l.Failed && l.At.Before(w.Began) && l.At.Add(l.List).After(w.Began) {
			return false
		}
	}
	return true
}

// sums returns the figures of one operation.
func (r *reading) sums(op call.Operation) engine.Calls { return sums(r.Snapshot, op) }

func sums(s *engine.Snapshot, op call.Operation) engine.Calls {
	for i := range s.Calls {
		if s.Calls[i].Op == op {
			return s.Calls[i]
		}
	}
	return engine.Calls{Op: op}
}

// hangs reports whether calls of an operation that is about no object hang.
func (r *reading) hangs(op call.Operation) bool { return !r.general[op].Since.IsZero() }

// list returns the list call that hangs.
func (r *reading) list() (hang, bool) {
	for _, op := range []call.Operation{call.ListPodSandbox, call.ListContainers} {
		if r.hangs(op) {
			return r.general[op], true
		}
	}
	return hang{}, false
}

// words returns what the runtime said, with the code but without the step and
// the pod that the engine put before it.
func words(err error) string {
	if e, ok := errors.AsType[*call.Error](err); ok {
		return e.Code + ": " + e.Text
	}
	return err.Error()
}
