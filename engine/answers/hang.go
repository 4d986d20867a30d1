package answers

import (
	"cmp"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

// A Hang is a call that is late, or a call that reached its deadline without an answer. If several in a row
// did, Since is the start of the first.
type Hang struct {
	call.Flight
	Out   bool          // still out; if not, Err says how it ended
	Sure  bool          // it has hung so long that it is not just slow
	Took  time.Duration // how long it has been out so far, or until its deadline
	InRow int           // how many in a row ended at their deadline, if that is known
	Err   error         // nil if none has ended yet
	Swept bool          // found by a sweep that is over
}

// A Reading says what one moment shows of the runtime: what hangs, and how much of the runtime is out of order.
type Reading struct {
	Moment
	General  [call.PodSandboxStatus]Hang // by operation: Version, Status and the lists; Since is zero if it does not hang
	Statuses []Hang                      // status calls: of the relist first, then those that hang longest
	Scope    Scope
	Facts

	places map[Target]int // places in Statuses, until Statuses is sorted
}

// Read sets r to what a moment shows. If nothing hangs, it allocates only the first time.
func (r *Reading) Read(m Moment) {
	if r.places == nil {
		r.places = make(map[Target]int, len(m.Failing))
	}
	clear(r.places)
	r.Statuses = slices.Grow(r.Statuses[:0], len(m.Failing))
	*r = Reading{Moment: m, Statuses: r.Statuses[:0], places: r.places}
	r.read()
	r.Scope = r.decide()
}

// A Target is what a status call is about, by its operation and its object's id.
type Target struct {
	Op call.Operation
	ID string
}

// read notes all calls that hang.
func (r *Reading) read() {
	for _, f := range r.InFlight {
		if s := r.State(f); s != InTime {
			r.note(&Hang{Flight: f, Out: true, Sure: s == Hangs, Took: f.Elapsed(r.At)})
		}
	}
	for _, f := range r.Failures() {
		r.noteFailure(f)
	}
	for i := range r.Probes {
		r.noteProbe(r.Probes[i])
	}
	r.noteSweep()
	swept := make(map[pleg.UID]bool)
	if r.Policy.Bounds().Swept { // in one bounded look, what the sweep shows of a pod is more exact
		for i := range r.Statuses {
			swept[r.Statuses[i].Pod.UID] = true
		}
	}
	for _, f := range r.Failing {
		if f.Op.AboutObject() && !swept[f.Pod.UID] {
			r.noteFailure(f)
		}
	}
	slices.SortStableFunc(r.Statuses, func(a, b Hang) int {
		return cmp.Or(cmp.Compare(urgency(&a), urgency(&b)), a.Since.Compare(b.Since))
	})
}

// urgency returns the rank of a hang for sorting: first what holds up a relist right now, then what is out,
// then the rest.
func urgency(h *Hang) int {
	switch {
	case h.Out && h.By == call.ByRelist:
		return 0
	case h.Out:
		return 1
	}
	return 2
}

// note adds a hang. If the same call is already known to hang, it merges the two.
func (r *Reading) note(h *Hang) {
	if !h.Op.AboutObject() {
		if h.Op < call.PodSandboxStatus { // the event stream stays out by design
			r.General[h.Op].merge(h)
		}
		return
	}
	what := Target{h.Op, h.ID}
	if i, known := r.places[what]; known {
		r.Statuses[i].merge(h)
		return
	}
	r.places[what] = len(r.Statuses)
	r.Statuses = append(r.Statuses, *h)
}

// merge adds what another hang of the same call shows: the earlier start, the longer time, and whether it is
// still out.
func (was *Hang) merge(h *Hang) {
	if was.Since.IsZero() {
		*was = *h
		return
	}
	if h.Since.Before(was.Since) {
		was.Since = h.Since
	}
	was.Out, was.Sure, was.Swept = was.Out || h.Out, was.Sure || h.Sure, was.Swept && h.Swept
	was.Took, was.InRow = max(was.Took, h.Took), max(was.InRow, h.InRow)
	if was.Err == nil {
		was.Err = h.Err
	}
}

// noteFailure notes a call that was ended by its deadline; f may be nil. If a later call had succeeded, f would
// not be in the snapshot any more.
func (r *Reading) noteFailure(f *Failure) {
	if f == nil || !r.RanOut(f.Err, r.Lasted(f)) || f.Since.Before(r.Back) {
		return
	}
	h := &Hang{Flight: f.Flight, Sure: true, Took: r.Lasted(f), InRow: f.InRow, Err: f.Err}
	if began := f.First.Add(-h.Took); f.InRow > 1 && began.Before(h.Since) {
		h.Since = began
	}
	r.note(h)
}

// noteProbe notes a probe that was ended by its deadline, unless the same was answered after that. The probe
// counts only while the call of the relist is out for which it was made: once that call has come back, what
// hung together with it need not hang any more.
func (r *Reading) noteProbe(p Outcome) {
	if p.At.IsZero() || p.Since.Before(r.Back) || !r.RanOut(p.Err, p.Took) || r.At.Sub(p.At) > r.Policy.Bounds().FreshFor || !r.relistWaits(p.Since) {
		return
	}
	if p.Op.AboutObject() && r.Heard.HeardSince(p.Flight, p.At) || !p.Op.AboutObject() && r.Sums(p.Op).LastOK.After(p.At) {
		return
	}
	r.note(&Hang{Flight: p.Flight, Sure: true, Took: p.Took, InRow: 1, Err: p.Err})
}

// relistWaits reports whether a call of the relist is out that began before a moment.
func (r *Reading) relistWaits(since time.Time) bool {
	for i := range r.InFlight {
		if f := &r.InFlight[i]; f.By == call.ByRelist && f.Since.Before(since) {
			return true
		}
	}
	return false
}

// noteSweep notes the objects that hung in the last sweep.
func (r *Reading) noteSweep() {
	w := r.FreshSweep()
	if w == nil {
		return
	}
	for _, o := range w.Hung {
		asked := o.Since
		if o.InRow > 1 {
			asked = Later(asked, o.At.Add(-w.Timeout)) // the start of the last of these calls
		}
		// A single look asks for each object only once. That the rest of a pod was answered says nothing about
		// the object.
		heard := !w.Ended.IsZero() && !r.Policy.Bounds().Swept && r.Heard.HeardSince(o.Flight, w.AskedLast())
		if !heard && !asked.Before(r.Back) {
			r.note(&Hang{Flight: o.Flight, Sure: true, Took: o.Took, InRow: o.InRow, Err: o.Err, Swept: true})
		}
	}
}

// FreshSweep returns the last sweep, or the one under way, as long as what it found may still be true; nil if
// not.
func (r *Reading) FreshSweep() *Sweep {
	w := r.Sweep
	if w == nil || !w.Ended.IsZero() && r.At.Sub(w.AskedLast()) > r.Policy.Bounds().FreshFor {
		return nil
	}
	return w
}

// Hangs reports whether a call of an operation hangs; op must be about no object.
func (r *Reading) Hangs(op call.Operation) bool { return !r.General[op].Since.IsZero() }

// EachHang yields all calls that hang, those about the whole runtime first.
func (r *Reading) EachHang(yield func(*Hang) bool) {
	for op := range r.General {
		if r.Hangs(call.Operation(op)) && !yield(&r.General[op]) {
			return
		}
	}
	for i := range r.Statuses {
		if !yield(&r.Statuses[i]) {
			return
		}
	}
}

// List returns the list call that hangs; nil if none does.
func (r *Reading) List() *Hang {
	for _, op := range [...]call.Operation{call.ListPodSandbox, call.ListContainers} {
		if r.Hangs(op) {
			return &r.General[op]
		}
	}
	return nil
}

// BeganAt returns when the trouble of a hang began, to find out what was answered since. In one bounded look
// all calls count as made at the same time.
func (r *Reading) BeganAt(h *Hang) time.Time {
	switch {
	case r.Policy.Bounds().OneMoment:
		return r.Started
	case h.Swept && r.Sweep.Began.Before(h.Since):
		return r.Sweep.Began
	}
	return h.Since
}

// AnswerTime returns how long an operation takes, if it was answered well after a moment; false if it was not.
// It is the time of the probe if there is one, or else what half of all calls take.
func (r *Reading) AnswerTime(op call.Operation, since time.Time) (time.Duration, bool) {
	if int(op) < len(r.General) && r.Hangs(op) {
		return 0, false
	}
	if took, ok := r.ProbeTime(op, since); ok {
		return took, true
	}
	if sums := r.Sums(op); sums.LastOK.After(since) {
		return sums.P50, true
	}
	return 0, false
}

// Early reports whether it is too early to say that only this call hangs. The call has been out for so short a
// time that the probes, which would show it, are still out. One bounded look has no probes, and asks for
// everything else anyway.
func (r *Reading) Early(h *Hang) bool {
	if !h.Out || h.Err != nil || r.Policy.Bounds().ProbeAfter == 0 || r.ContainersAnswered(h.Since) {
		return false
	}
	if r.Answered(call.Status, h.Since) { // it is still open whether another object is answered
		return h.Op.AboutObject() && h.Took < Hung+2*Late && r.probing(call.Operation.AboutObject)
	}
	return h.Took < ProbesBegin || h.Took < Hung+Late && r.probing(func(op call.Operation) bool { return op != call.GetContainerEvents })
}

// probing reports whether a call for which such returns true is out and will show whether the runtime answers.
func (r *Reading) probing(such func(call.Operation) bool) bool {
	return slices.ContainsFunc(r.InFlight, func(f call.Flight) bool {
		return (f.By == call.ByProbe || f.By == call.ByStatusLoop) && such(f.Op)
	})
}
