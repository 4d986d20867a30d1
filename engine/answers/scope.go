package answers

import (
	"errors"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/call"
)

const (
	// DownForSure is how many lists in a row must find no runtime before that is reported though other calls
	// are answered.
	DownForSure = 3
	// AllHung is how many objects must hang, with none answered, so that the operation hangs and not the
	// objects.
	AllHung = 8
	// slowestLeast is how many answers are needed to say that everything became slow.
	slowestLeast = 5
	// SlowSample is how many calls must have been made to speak of half of them.
	SlowSample = 3
)

// A Scope says how much of the runtime is out of order, the least first. The rules use it and the facts behind
// it, and not what other rules found.
type Scope uint8

const (
	Fine        Scope = iota // no call hangs; one may fail with an error of its own
	TooEarly                 // a call is late, and it is not known yet whether others are answered
	ObjectsHang              // the status of single sandboxes or containers hangs
	AllSlow                  // calls take longer and longer: what hangs is only slow as well
	Flaky                    // calls find the runtime only now and then
	ListHangs                // a list hangs, other calls are answered
	NoStatus                 // no status of any sandbox or container is answered
	Silent                   // no call that is about containers is answered
	Refused                  // no runtime is there, or all calls are answered with an error
)

// Facts are what a scope was decided by.
type Facts struct {
	Refusals []*Failure // for Refused, and for Silent if connections are taken but nothing is answered: the calls that fail, the longest first
	Silence  *Hang      // for Silent: the call that has hung longest
	Fell     bool       // for Silent: the runtime became silent in the middle of one bounded look
	Flaky    Flakiness  // for Flaky; its Failed is 0 if the runtime is not flaky
	Every    []*Hang    // for NoStatus: the calls that hang
	Blamed   []*Hang    // for ObjectsHang and ListHangs: the calls whose object is at fault
}

// Whole reports whether hardly any call about containers can be answered, so that
// nothing that hangs or fails says anything about its object.
func (s Scope) Whole() bool { return s >= Silent }

// decide returns the scope: the widest one that the calls show. It also sets the facts.
func (r *Reading) decide() Scope {
	r.Flaky = r.flakiness()
	switch {
	case r.isRefused():
		if r.saysNothing() {
			return Silent
		}
		return Refused
	case r.slowsDown():
		return AllSlow
	case r.isSilent():
		return Silent
	case r.everyStatusHangs():
		return NoStatus
	}
	early := r.blame()
	h := r.List()
	switch {
	case h != nil && h.Sure && !r.Early(h):
		return ListHangs
	case r.Flaky.Failed > 0:
		return Flaky
	case len(r.Blamed) > 0:
		return ObjectsHang
	case h != nil || early:
		return TooEarly
	}
	return Fine
}

// isRefused reports whether lists, Status and Version find no runtime, or are all answered with an error, and
// no other call was answered since. It sets Refusals.
func (r *Reading) isRefused() bool {
	if last := r.wentAway(); len(last) > 0 {
		r.Refusals = last
		return true
	}
	all := r.failedAlike()
	if len(all) == 0 || r.workedSince(all) {
		return false
	}
	long := slices.ContainsFunc(all, func(f *Failure) bool { return f.InRow >= DownForSure })
	there := slices.ContainsFunc(all, func(f *Failure) bool { return !IsAway(f.Err) })
	if (r.Flaky.Failed > 0 || there) && r.Policy.Bounds().Outages > 0 && !long {
		return false // so few in a row may be chance, if the runtime is there, or is there now and then
	}
	slices.SortStableFunc(all, func(a, b *Failure) int { return a.First.Compare(b.First) })
	r.Refusals = all
	return true
}

// saysNothing reports whether the calls fail because their connections are taken and then nothing is answered.
// Each call waits for that for some seconds and fails then, so the silence has lasted since the last answer. It
// sets Silence.
func (r *Reading) saysNothing() bool {
	for _, f := range r.Refusals {
		if !errors.Is(f.Err, call.ErrSilent) {
			return false
		}
	}
	f := r.Refusals[0]
	r.Silence = &Hang{Flight: f.Flight, Sure: true, InRow: f.InRow, Err: f.Err}
	r.Silence.Since = r.Started
	for i := range r.Calls {
		r.Silence.Since = Later(r.Silence.Since, r.Calls[i].LastOK)
	}
	r.Silence.Took = r.At.Sub(r.Silence.Since)
	return true
}

// wentAway returns the calls that were made last in one bounded look, if they found no runtime, whatever was
// answered before.
func (r *Reading) wentAway() []*Failure {
	f := r.StatusErr
	if !r.Policy.Bounds().OneMoment || f == nil || !IsAway(f.Err) {
		return nil
	}
	for i := range r.Calls {
		if r.Calls[i].LastOK.After(f.Since) {
			return nil
		}
	}
	last := []*Failure{f}
	if e := r.VersionErr; e != nil && e.Since.After(r.Started) && IsAway(e.Err) {
		last = append(last, e)
	}
	return last
}

// failedAlike returns the lists, Status and Version that failed last, if they found no runtime. If none is of
// that kind, it returns them if lists and Status are both answered with an error.
func (r *Reading) failedAlike() []*Failure {
	var away, other []*Failure
	for _, f := range r.Failures() {
		switch {
		case f == nil || !IsBad(f.Err) || IsUnreadable(f.Err):
		case IsAway(f.Err):
			away = append(away, f)
		default:
			other = append(other, f)
		}
	}
	if len(away) == 0 && r.Failure != nil && r.StatusErr != nil && len(other) >= 2 {
		return other
	}
	return away
}

// workedSince reports whether any call except Version was answered well since all of these failures began.
func (r *Reading) workedSince(failures []*Failure) bool {
	since := r.Started
	for _, f := range failures {
		if !r.Policy.Bounds().OneMoment {
			since = Later(since, f.First)
		}
	}
	for i := range r.Calls {
		if c := &r.Calls[i]; c.Op != call.Version && c.LastOK.After(since) {
			return true
		}
	}
	return false
}

// slowsDown reports whether everything in one bounded look took longer and longer
// until calls were out for their whole time.
func (r *Reading) slowsDown() bool {
	w := r.Sweep
	if !r.Policy.Bounds().Swept || w == nil || w.Timeout <= 0 || len(w.Slowest) < slowestLeast || w.Slowest[len(w.Slowest)-1].Took < w.Timeout/2 {
		return false
	}
	return r.HalfSlow(Slow) > 0
}

// isSilent reports whether the runtime answers nothing about containers.
func (r *Reading) isSilent() bool {
	if r.Silence, r.Fell = r.fellSilent(); !r.Fell {
		r.Silence = r.unanswering()
	}
	return r.Silence != nil
}

// unanswering returns the call that has hung longest if nothing about containers is answered, else nil. Two
// kinds of calls must hang: one that the runtime answers from memory and one about its containers; or a list
// and the objects of two pods, because the objects of one pod may share a shim.
func (r *Reading) unanswering() *Hang {
	lists := r.List()
	work := lists
	switch {
	case lists != nil:
	case len(r.Statuses) == 0:
		return nil
	default:
		work = &r.Statuses[0]
	}
	for _, op := range []call.Operation{call.Version, call.Status} {
		if r.Hangs(op) && !r.ContainersAnswered(r.SinceFresh(&r.General[op])) {
			return slices.MinFunc([]*Hang{work, &r.General[op]}, BySince)
		}
	}
	if lists != nil && slices.ContainsFunc(r.Statuses, func(h Hang) bool { return h.Pod != r.Statuses[0].Pod }) && !r.ObjectsAnswered(r.SinceFresh(work)) {
		return work
	}
	return nil
}

// fellSilent returns the Status that had no answer at the end of one bounded look, if the sweep of that look
// blames no object: all that hangs has hung since the same moment.
func (r *Reading) fellSilent() (*Hang, bool) {
	f := r.StatusErr
	if !r.Policy.Bounds().Swept || f == nil || r.Sweep == nil || r.Sweep.GivenUp == "" || len(r.Sweep.Hung) > 0 || !f.Since.After(r.Sweep.Began) {
		return nil, false
	}
	return &r.General[call.Status], r.RanOut(f.Err, r.Lasted(f)) && !r.ObjectsAnswered(f.Since)
}

// SinceFresh returns when a hang began, or the time from which answers are fresh if that is later.
func (r *Reading) SinceFresh(h *Hang) time.Time {
	return Later(r.BeganAt(h), r.At.Add(-r.Policy.Bounds().FreshFor))
}

// everyStatusHangs reports whether all status calls hang, and not only those of single objects. Either many
// objects were asked for by one operation and none was answered; or the calls for two pods hang, and no object
// was answered since. In a running engine these two are the call that the relist waits for, and a probe of
// another pod. It sets Every.
func (r *Reading) everyStatusHangs() bool {
	for _, op := range StatusCalls {
		of := r.Hanging(func(h *Hang) bool { return h.Op == op })
		if len(of) >= AllHung && !r.Answered(op, r.BeganAt(slices.MinFunc(of, BySince))) {
			r.Every = append(r.Every, of...)
		}
	}
	if len(r.Every) == 0 {
		unheard := r.Hanging(r.Unheard)
		if slices.ContainsFunc(unheard, func(h *Hang) bool { return h.Pod != unheard[0].Pod || r.probedInVain(unheard[0]) }) {
			r.Every = unheard
		}
	}
	return len(r.Every) > 0
}

// probedInVain reports whether a probe was ended by its deadline while the relist waits for a call: only the
// last probe of each operation is known.
func (r *Reading) probedInVain(h *Hang) bool {
	return h.Out && h.By == call.ByRelist && slices.ContainsFunc(r.Calls, func(c Calls) bool {
		return c.Op.AboutObject() && c.LastErrAt.After(h.Since) && errors.Is(c.LastErr, call.ErrDeadline)
	})
}

// BySince compares two hangs by the time at which they began.
func BySince(a, b *Hang) int { return a.Since.Compare(b.Since) }

// Hanging returns the status calls that hang and for which such returns true; nil if there are none.
func (r *Reading) Hanging(such func(*Hang) bool) (all []*Hang) {
	for i := range r.Statuses {
		if h := &r.Statuses[i]; such(h) {
			all = append(all, h)
		}
	}
	return all
}

// Unheard reports whether no object at all was answered since a call began to hang.
func (r *Reading) Unheard(h *Hang) bool { return !r.ObjectsAnswered(r.BeganAt(h)) }

// blame sets Blamed, the calls whose object is at fault, and reports whether it is too early to judge others.
// If another object was answered at the same time, the object is certainly at fault. If nothing was heard of
// any other object, it is at fault too. But a call that was only made to learn whether anything is answered
// does not count then, and neither does one that is over.
func (r *Reading) blame() (early bool) {
	for i := range r.Statuses {
		switch h := &r.Statuses[i]; {
		case r.Policy.Bounds().OneMoment || !r.Unheard(h):
		case !h.Out, h.By == call.ByProbe, r.Early(h):
			early = true
			continue
		}
		r.Blamed = append(r.Blamed, &r.Statuses[i])
	}
	return early
}
