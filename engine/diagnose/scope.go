package diagnose

import (
	"errors"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
)

// A scope says how much of the runtime is out of order, the least first. Rules go
// by it and by the facts behind it, and not by what other rules found.
type scope uint8

const (
	fine        scope = iota // no call hangs; one may fail with an error of its own
	tooEarly                 // a call is late, and nothing tells yet whether others are answered
	object                   // the status of single sandboxes or containers hangs
	slow                     // calls take longer and longer: what hangs is only slow as well
	flaky                    // calls find a runtime only now and then
	list                     // a list hangs, other calls are answered
	everyStatus              // no status of any sandbox or container is answered
	silent                   // no call that is about containers is answered
	refused                  // nobody is there, or all that is asked is answered with an error
)

// facts is what a scope was decided by.
type facts struct {
	refusals []*answers.Failure // of refused, and of silent if connections are taken and nothing said: the calls that fail, the longest first
	silence  *hang              // of silent: the call that has hung longest
	fell     bool               // of silent: it fell so in the midst of one bounded look
	flaky    flakiness          // of flaky; flaky.failed is 0 if the runtime is not
	every    []*hang            // of everyStatus: the calls that hang
	blamed   []*hang            // of object and list: those of which the object is at fault
}

// whole reports whether hardly any call about containers can be answered, so that
// nothing that hangs or fails says anything about its object.
func (s scope) whole() bool { return s >= silent }

// decide returns the scope. The widest that the calls show is taken.
func (v *view) decide() scope {
	v.flaky = v.flakiness()
	switch {
	case v.isRefused():
		if v.saysNothing() {
			return silent
		}
		return refused
	case v.slowsDown():
		return slow
	case v.isSilent():
		return silent
	case v.everyStatusHangs():
		return everyStatus
	}
	early := v.blame()
	h := v.list()
	switch {
	case h != nil && !v.early(h):
		return list
	case v.flaky.failed > 0:
		return flaky
	case len(v.blamed) > 0:
		return object
	case h != nil || early:
		return tooEarly
	}
	return fine
}

// isRefused reports whether lists, Status and Version find nobody there, or are
// all answered with an error, and no other call was answered since.
func (v *view) isRefused() bool {
	if last := v.wentAway(); len(last) > 0 {
		v.refusals = last
		return true
	}
	all := v.failedAlike()
	if len(all) == 0 || v.workedSince(all) {
		return false
	}
	long := slices.ContainsFunc(all, func(f *answers.Failure) bool { return f.InRow >= downForSure })
	if v.flaky.failed > 0 && v.Policy.Bounds().Outages > 0 && !long {
		return false // a runtime that is there now and then explains so few in a row
	}
	slices.SortStableFunc(all, func(a, b *answers.Failure) int { return a.First.Compare(b.First) })
	v.refusals = all
	return true
}

// saysNothing reports whether the calls that find nobody there do so because
// connections are taken and nothing is said on them. Each call waits for that for
// some seconds and fails then: the silence has lasted since the last answer.
func (v *view) saysNothing() bool {
	for _, f := range v.refusals {
		if !errors.Is(f.Err, call.ErrSilent) {
			return false
		}
	}
	f := v.refusals[0]
	v.silence = &hang{Flight: f.Flight, sure: true, inRow: f.InRow, err: f.Err}
	v.silence.Since = v.Started
	for i := range v.Calls {
		v.silence.Since = later(v.silence.Since, v.Calls[i].LastOK)
	}
	v.silence.took = v.At.Sub(v.silence.Since)
	return true
}

// wentAway returns the calls made last in one bounded look, if nobody was there
// for them, whatever was answered before.
func (v *view) wentAway() []*answers.Failure {
	f := v.StatusErr
	if !v.Policy.Bounds().OneMoment || f == nil || !errors.Is(f.Err, call.ErrUnavailable) {
		return nil
	}
	for i := range v.Calls {
		if v.Calls[i].LastOK.After(f.Since) {
			return nil
		}
	}
	last := []*answers.Failure{f}
	if e := v.VersionErr; e != nil && e.Since.After(v.Started) && errors.Is(e.Err, call.ErrUnavailable) {
		last = append(last, e)
	}
	return last
}

// failedAlike returns the lists, Status and Version that failed last, if nobody was
// there for them; or if lists and Status are both answered with an error.
func (v *view) failedAlike() []*answers.Failure {
	var away, other []*answers.Failure
	for _, f := range failures(v.Snapshot) {
		switch {
		case f == nil || !answersBadly(f.Err) || unreadable(f.Err):
		case errors.Is(f.Err, call.ErrUnavailable):
			away = append(away, f)
		default:
			other = append(other, f)
		}
	}
	if len(away) == 0 && v.Failure != nil && v.StatusErr != nil && len(other) >= 2 {
		return other
	}
	return away
}

// answersBadly reports whether an error can mean that the runtime does not work
// at all: it came at once, and not for the size of the answer.
func answersBadly(err error) bool {
	return !errors.Is(err, call.ErrDeadline) && !tooLarge(err) && !errors.Is(err, call.ErrCanceled)
}

// workedSince reports whether any call but Version was answered well since all of
// these fail.
func (v *view) workedSince(failures []*answers.Failure) bool {
	since := v.Started
	for _, f := range failures {
		if !v.Policy.Bounds().OneMoment {
			since = later(since, f.First)
		}
	}
	for i := range v.Calls {
		if c := &v.Calls[i]; c.Op != call.Version && c.LastOK.After(since) {
			return true
		}
	}
	return false
}

// slowsDown reports whether everything in one bounded look took longer and longer
// until calls were out for their whole time.
func (v *view) slowsDown() bool {
	w := v.Sweep
	if !v.Policy.Bounds().Swept || w == nil || w.Timeout <= 0 || len(w.Slowest) < fullHung || w.Slowest[len(w.Slowest)-1].Took < w.Timeout/2 {
		return false
	}
	return v.halfSlow(answers.Slow) > 0
}

// isSilent reports whether the runtime answers nothing about containers.
func (v *view) isSilent() bool {
	if v.silence, v.fell = v.fellSilent(); !v.fell {
		v.silence = v.unanswering()
	}
	return v.silence != nil
}

// unanswering returns the call that has hung longest where nothing about containers is
// answered; else nil. It takes two kinds of call that hang: one that the runtime answers
// from memory and one that is about its containers; or a list and the objects of two
// pods, since those of one may share a shim.
func (v *view) unanswering() *hang {
	lists := v.list()
	work := lists
	switch {
	case lists != nil:
	case len(v.objects) == 0:
		return nil
	default:
		work = &v.objects[0]
	}
	for _, op := range []call.Operation{call.Version, call.Status} {
		if v.hangs(op) && !v.containersAnswered(v.sinceFresh(&v.general[op])) {
			return slices.MinFunc([]*hang{work, &v.general[op]}, bySince)
		}
	}
	if lists != nil && slices.ContainsFunc(v.objects, func(h hang) bool { return h.Pod != v.objects[0].Pod }) && !v.objectsAnswered(v.sinceFresh(work)) {
		return work
	}
	return nil
}

// fellSilent returns the Status that had no answer at the end of one bounded look,
// where its sweep blames nobody for it: all that hangs does so since one moment.
func (v *view) fellSilent() (*hang, bool) {
	f := v.StatusErr
	if !v.Policy.Bounds().Swept || f == nil || v.Sweep == nil || v.Sweep.GivenUp == "" || len(v.Sweep.Hung) > 0 || !f.Since.After(v.Sweep.Began) {
		return nil, false
	}
	return &v.general[call.Status], v.ranOut(f.Err, v.lasted(f)) && !v.objectsAnswered(f.Since)
}

// sinceFresh returns when a hang began, or since when answers are fresh if it
// began before.
func (v *view) sinceFresh(h *hang) time.Time {
	return later(v.began(h), v.At.Add(-v.Policy.Bounds().FreshFor))
}

// everyStatusHangs reports whether it is not single objects that hang. Either many
// were asked for by one operation and none was answered; or the calls for two pods
// hang, and no object was answered since. While an engine runs, the call that the
// relist waits for is one of them, and a probe of another pod another.
func (v *view) everyStatusHangs() bool {
	for _, op := range statusCalls {
		of := v.hanging(func(h *hang) bool { return h.Op == op })
		if len(of) >= allHung && !v.answered(op, v.began(slices.MinFunc(of, bySince))) {
			v.every = append(v.every, of...)
		}
	}
	if len(v.every) == 0 {
		unheard := v.hanging(v.unheard)
		if slices.ContainsFunc(unheard, func(h *hang) bool { return h.Pod != unheard[0].Pod || v.probedInVain(unheard[0]) }) {
			v.every = unheard
		}
	}
	return len(v.every) > 0
}

// probedInVain reports whether a probe's deadline has passed while the relist waits
// for a call: of each operation only the last probe is known.
func (v *view) probedInVain(h *hang) bool {
	return h.out && h.By == call.ByRelist && slices.ContainsFunc(v.Calls, func(c answers.Calls) bool {
		return c.Op.AboutObject() && c.LastErrAt.After(h.Since) && errors.Is(c.LastErr, call.ErrDeadline)
	})
}

func bySince(a, b *hang) int { return a.Since.Compare(b.Since) }

// hanging returns the status calls that hang and are such; nil if there is none.
func (v *view) hanging(such func(*hang) bool) (all []*hang) {
	for i := range v.objects {
		if h := &v.objects[i]; such(h) {
			all = append(all, h)
		}
	}
	return all
}

// unheard reports whether no object at all was answered since a call hangs.
func (v *view) unheard(h *hang) bool { return !v.objectsAnswered(v.began(h)) }

// blame keeps the objects that are at fault for their calls, and reports whether it
// is too early to tell of others. Of those that another object was answered beside
// it is certain. Of others it is if nothing else has been heard of the rest: but not
// of what was asked for only to learn whether anything is answered, nor of what is
// over.
func (v *view) blame() (early bool) {
	for i := range v.objects {
		switch h := &v.objects[i]; {
		case v.Policy.Bounds().OneMoment || !v.unheard(h):
		case !h.out, h.By == call.ByProbe, v.early(h):
			early = true
			continue
		}
		v.blamed = append(v.blamed, &v.objects[i])
	}
	return early
}
