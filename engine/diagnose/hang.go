package diagnose

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
)

// A hang is a call that is late, or that its deadline ended without an answer.
// Its Since is when the first of them in a row began.
type hang struct {
	call.Flight
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

// read notes what hangs.
func (v *view) read() {
	for _, f := range v.InFlight {
		// A runtime that has just come back has had the call for as long only.
		if took := v.At.Sub(later(f.Since, v.Memory.Back.At)); took >= answers.Late && took >= v.lateAfter(f.Op) {
			v.note(&hang{Flight: f, out: true, sure: took >= v.hungAfter(f.Op), took: f.Elapsed(v.At)})
		}
	}
	for _, f := range failures(v.Snapshot) {
		v.noteFailure(f)
	}
	for i := range v.Probes {
		v.noteProbe(v.Probes[i])
	}
	v.noteSweep()
	for i := range v.objects {
		if v.Policy.Bounds().Swept {
			put(&v.swept, v.objects[i].Pod.UID, true)
		}
	}
	for p := range v.podsWith((*podFacts).fails) {
		if p.Failure != nil {
			v.failing++
			v.notePod(p)
		}
	}
	slices.SortStableFunc(v.objects, func(a, b hang) int {
		return cmp.Or(cmp.Compare(urgency(&a), urgency(&b)), a.Since.Compare(b.Since))
	})
}

// urgency puts first what holds up a relist right now, then what is out.
func urgency(h *hang) int {
	switch {
	case h.out && h.By == call.ByRelist:
		return 0
	case h.out:
		return 1
	}
	return 2
}

// note keeps a hang unless the same is known already, and then adds to that.
func (v *view) note(h *hang) {
	if !h.Op.AboutObject() {
		if h.Op < call.PodSandboxStatus { // the event stream is meant to stay out
			v.general[h.Op].merge(h)
		}
		return
	}
	what := target{h.Op, h.ID}
	if i, known := v.places[what]; known {
		v.objects[i].merge(h)
		return
	}
	v.places[what] = len(v.objects)
	v.objects = append(v.objects, *h)
}

// merge adds to a hang what another one of the same call says: the older start, and
// of the rest what is out.
func (was *hang) merge(h *hang) {
	if was.Since.IsZero() {
		*was = *h
		return
	}
	if h.Since.Before(was.Since) {
		was.Since = h.Since
	}
	was.out, was.sure, was.swept = was.out || h.out, was.sure || h.sure, was.swept && h.swept
	was.took, was.inRow = max(was.took, h.took), max(was.inRow, h.inRow)
	if was.err == nil {
		was.err = h.err
	}
}

// noteFailure keeps a call that its deadline ended, which may be nil. A success
// would have taken it out of the snapshot.
func (v *view) noteFailure(f *answers.Failure) {
	if f == nil || !v.ranOut(f.Err, v.lasted(f)) || f.Since.Before(v.Memory.Back.At) {
		return
	}
	h := &hang{Flight: f.Flight, sure: true, took: v.lasted(f), inRow: f.InRow, err: f.Err}
	if began := f.First.Add(-h.took); f.InRow > 1 && began.Before(h.Since) {
		h.Since = began
	}
	v.note(h)
}

// lasted returns how long a failed call was out. Its failure may have been taken
// in some time after it returned.
func (v *view) lasted(f *answers.Failure) time.Duration {
	end := f.At
	if last := v.sums(f.Op).LastErrAt; !f.Op.AboutObject() && last.After(f.Since) && last.Before(end) {
		end = last
	}
	return max(end.Sub(f.Since), 0)
}

// ranOut reports whether a call was ended by its own deadline, which may be short
// in a sweep. A runtime may pass on at once that somebody else gave it no answer
// in time: that is an answer.
func (v *view) ranOut(err error, took time.Duration) bool {
	limit := answers.Late
	if v.Sweep != nil && v.Sweep.Timeout > 0 {
		limit = min(limit, v.Sweep.Timeout)
	}
	return errors.Is(err, call.ErrDeadline) && took >= limit
}

// noteProbe keeps a probe that its deadline ended, unless its like was answered
// after that. It holds as long as the call of the relist is out for which it was
// made: once that has come back, what hung with it need not hang any more.
func (v *view) noteProbe(p answers.Probe) {
	if p.At.IsZero() || p.Since.Before(v.Memory.Back.At) || !v.ranOut(p.Err, p.Took) || v.At.Sub(p.At) > v.Policy.Bounds().FreshFor || !v.relistWaits(p.Since) {
		return
	}
	if p.Op.AboutObject() && v.heardSince(p.Flight, p.At) || !p.Op.AboutObject() && v.sums(p.Op).LastOK.After(p.At) {
		return
	}
	v.note(&hang{Flight: p.Flight, sure: true, took: p.Took, inRow: 1, err: p.Err})
}

// relistWaits reports whether a call of the relist is out since before a moment.
func (v *view) relistWaits(since time.Time) bool {
	for i := range v.InFlight {
		if f := &v.InFlight[i]; f.By == call.ByRelist && f.Since.Before(since) {
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
		// Who looks once asks for an object once: that the rest of its pod was answered
		// says nothing of it.
		if w.Ended.IsZero() && !o.Since.Before(v.Memory.Back.At) || !w.Ended.IsZero() && (v.Policy.Bounds().Swept || !v.heardSince(o.Flight, askedLast(w))) {
			v.note(&hang{Flight: o.Flight, sure: true, took: o.Took, inRow: o.InRow, err: o.Err, swept: true})
		}
	}
}

// sweep returns the last sweep, or the one under way, as long as what it found
// can still be so; nil if it cannot.
func (v *view) sweep() *answers.Sweep {
	w := v.Sweep
	if w == nil || !w.Ended.IsZero() && v.At.Sub(askedLast(w)) > v.Policy.Bounds().FreshFor {
		return nil
	}
	return w
}

// askedLast returns when a sweep that is over asked last for what hung or failed.
func askedLast(w *answers.Sweep) time.Time { return later(w.Checked, w.Ended) }

// notePod keeps the call that ended a pod's last inspection, if that was its
// deadline. What a sweep in one bounded look says of the pod is more exact.
func (v *view) notePod(p *engine.Pod) {
	if p.Failure.Op.AboutObject() && !v.swept[p.UID] {
		v.noteFailure(p.Failure)
	}
}

// hangs reports whether calls of an operation that is about no object hang.
func (v *view) hangs(op call.Operation) bool { return !v.general[op].Since.IsZero() }

// list returns the list call that hangs; nil if none does.
func (v *view) list() *hang {
	for _, op := range [...]call.Operation{call.ListPodSandbox, call.ListContainers} {
		if v.hangs(op) {
			return &v.general[op]
		}
	}
	return nil
}

// began returns when the trouble of a hang began, for the question what was
// answered since. All calls of one bounded look are taken as made at the same time.
func (v *view) began(h *hang) time.Time {
	switch {
	case v.Policy.Bounds().OneMoment:
		return v.Started
	case h.swept && v.Sweep.Began.Before(h.Since):
		return v.Sweep.Began
	}
	return h.Since
}

// unanswered says for how long a call has had no answer.
func (v *view) unanswered(h *hang) string {
	switch since := v.At.Sub(h.Since); {
	case h.out:
		return "got no answer for " + going(max(h.took, since))
	case h.inRow > 1:
		return "got no answer for " + going(since)
	}
	return "got no answer within " + span(h.took)
}

// severity of a hang: critical when it goes on. A single one of two or three seconds
// is over before anybody could look, and holds up a relist no longer than many
// changed pods do. What a call about the whole runtime takes there nobody knows
// before one was answered: a running engine waits twice as long unless nothing else
// is answered, either. One bounded look does not come back to see.
func (v *view) severity(h *hang) Severity {
	lasted, wait := max(h.took, v.At.Sub(h.Since)), v.Policy.Bounds().HungLong
	if h.swept && h.inRow < 2 {
		lasted = h.took // nobody has asked since
	}
	if l := v.list(); l != nil && h.Op.AboutObject() {
		lasted = max(lasted, l.took) // which may wait for it
	}
	if !h.Op.AboutObject() && !v.scope.whole() && v.sums(h.Op).LastOK.IsZero() {
		wait *= 2
	}
	if h.sure && lasted >= wait {
		return Critical
	}
	return Warning
}

// hangLine says how long a call has been out, or when its deadline ended it.
func (v *view) hangLine(h *hang) string {
	what := h.Op.String()
	if h.Op.AboutObject() {
		what += " of " + objectOf(h.Flight)
	}
	switch {
	case h.out && h.inRow > 0:
		return fmt.Sprintf("%s is out for %s, after %s that got no answer, since %s", what, going(h.took), count(h.inRow, "call"), v.clock(h.Since))
	case h.out:
		return fmt.Sprintf("%s is out for %s, since %s", what, going(h.took), v.clock(h.Since))
	case h.inRow > 1:
		return fmt.Sprintf("%s got no answer within %s, %d times in a row since %s", what, span(h.took), h.inRow, v.clock(h.Since))
	}
	return fmt.Sprintf("%s got no answer within %s, %s ago", what, span(h.took), going(v.At.Sub(h.Since)))
}
