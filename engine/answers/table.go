// Package answers has what is known of the calls to a runtime: which are out, how the last ones went, since
// when a call fails or gives no answer, and what all of that says about the runtime. The model of package
// engine keeps it and decides by it what to do. Package diagnose decides by it what to report.
//
// All durations that mean something about calls are in durations.go, each with its reason. The package reads no
// clock and does no I/O. Its values may be shared as long as nobody changes them.
package answers

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/call"
)

// A Table is what is known of the calls to a runtime at one moment. Nobody changes it.
type Table struct {
	InFlight   []call.Flight // oldest first
	Calls      []Calls       // one for each operation, in the order of call.Operations
	Failure    *Failure      // the last failed list of all pods, until one succeeds
	StatusErr  *Failure      // the last failed Status, until one succeeds
	VersionErr *Failure      // the last failed Version, until one succeeds
	Probes     []Outcome     // the last probe of each operation while a call of a relist hung, in the order of call.Operations; none once no call hangs any more and the runtime answers
	Sweep      *Sweep        // the last one, or the one under way; nil if there was none
	UsualList  time.Duration // how long both lists together took lately; 0 if none has succeeded
}

// StateOf returns the state of the calls of an operation about the whole runtime that are out or have returned
// recently. It also returns how long the call took that shows this state.
func (t *Table) StateOf(op call.Operation, at time.Time, recent time.Duration) (State, time.Duration) {
	for _, f := range t.InFlight {
		if f.Op == op && f.Elapsed(at) > Late {
			return IsLate, f.Elapsed(at)
		}
	}
	sums, failures := t.Sums(op), t.Failures()
	switch last := Later(sums.LastOK, sums.LastErrAt); {
	case last.IsZero() || at.Sub(last) >= recent:
		return Unknown, 0
	case sums.Last > Late:
		return IsSlow, sums.Last
	case slices.ContainsFunc(failures[:], func(f *Failure) bool { return f != nil && f.Op == op }):
		return Fails, sums.Last
	}
	return InTime, sums.Last
}

// Stalled reports whether a call about no object is slow now, or was slow a moment ago: a call that hangs at
// the same time may only have waited together with it.
func (t *Table) Stalled(at time.Time) bool {
	for _, op := range [...]call.Operation{call.Status, call.Version} {
		for _, f := range t.InFlight {
			if f.Op == op && f.Elapsed(at) >= Late/2 {
				return true
			}
		}
		sums := t.Sums(op)
		if sums.Last >= Late/2 && at.Sub(Later(sums.LastOK, sums.LastErrAt)) <= Hung {
			return true
		}
	}
	return false
}

// TooSlow returns in words why the runtime cannot be asked for much now; empty if it can. If Status is known to
// be quick, a slow Version does not matter. An answer from long ago does not count, because neither call is
// made during a pause.
func (t *Table) TooSlow(at time.Time, recent time.Duration) string {
	for _, op := range [...]call.Operation{call.Status, call.Version} {
		switch state, took := t.StateOf(op, at, recent); state {
		case IsLate:
			return fmt.Sprintf("%v: no reply for %v", op, took.Round(100*time.Millisecond))
		case IsSlow:
			return fmt.Sprintf("the last %v took %v", op, took.Round(100*time.Millisecond))
		case InTime:
			return ""
		}
	}
	return ""
}

// UsualList returns how long both lists together usually take, from their times in the last relists; 0 if there
// are none. It is the median, or the shorter of the last two times if that is longer: it shows sooner that a
// runtime has become slow. It sorts took.
func UsualList(took []time.Duration) time.Duration {
	if len(took) == 0 {
		return 0
	}
	last := slices.Min(took[max(0, len(took)-2):])
	slices.Sort(took)
	return max(took[(len(took)-1)/2], last)
}

// TwiceUsual returns the time above which a call of an operation takes longer than usual. It is twice the
// longest of these: the median of the operation, the lowest median of all operations, and for a list also what
// the last lists took. The usual time counts as UsualMost at most.
func (t *Table) TwiceUsual(op call.Operation) time.Duration { return 2 * t.usual(op) }

func (t *Table) usual(op call.Operation) time.Duration {
	took := t.quickest()
	if sums := t.Sums(op); !sums.LastOK.IsZero() {
		took = max(took, sums.P50)
	}
	if op.IsList() {
		took = max(took, t.UsualList)
	}
	return min(took, UsualMost)
}

// Failures returns the last failures of the lists, Status and Version; nil for what has not failed.
func (t *Table) Failures() [3]*Failure { return [...]*Failure{t.Failure, t.StatusErr, t.VersionErr} }

// Sums returns how the calls of one operation went.
func (t *Table) Sums(op call.Operation) Calls {
	for i := range t.Calls {
		if t.Calls[i].Op == op {
			return t.Calls[i]
		}
	}
	return Calls{Op: op}
}

// StatusCalls are the operations whose calls are each about one object.
var StatusCalls = []call.Operation{call.PodSandboxStatus, call.ContainerStatus}

// Later returns the later of two moments.
func Later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// quickest returns the lowest median of all operations; 0 if no call was answered well.
func (t *Table) quickest() time.Duration {
	var least time.Duration
	for i := range t.Calls {
		c := &t.Calls[i]
		if c.Op < call.GetContainerEvents && !c.LastOK.IsZero() && (least == 0 || c.P50 < least) {
			least = c.P50
		}
	}
	return least
}

// ProbeTime returns how long the last probe of an operation took, if it was answered well after a moment; false
// if not.
func (t *Table) ProbeTime(op call.Operation, since time.Time) (time.Duration, bool) {
	for i := range t.Probes {
		if p := &t.Probes[i]; p.Op == op && p.Err == nil && p.At.After(since) {
			return p.Took, true
		}
	}
	return 0, false
}

// Answered reports whether the runtime answered a call of an operation after a moment, even if with an error.
func (t *Table) Answered(op call.Operation, since time.Time) bool {
	if sums := t.Sums(op); sums.LastOK.After(since) || sums.LastErrAt.After(since) && IsAnswer(sums.LastErr) {
		return true
	}
	for i := range t.Probes {
		if p := &t.Probes[i]; p.Op == op && p.At.After(since) && IsAnswer(p.Err) {
			return true
		}
	}
	return false
}

// ObjectsAnswered reports whether the runtime answered any status call of an object after a moment.
func (t *Table) ObjectsAnswered(since time.Time) bool {
	if t.Answered(call.PodSandboxStatus, since) || t.Answered(call.ContainerStatus, since) {
		return true
	}
	w := t.Sweep
	return w != nil && !w.Began.Before(since) && w.Done > len(w.Hung)
}

// ContainersAnswered reports whether the runtime answered a list or the status call of an object after a
// moment.
func (t *Table) ContainersAnswered(since time.Time) bool {
	return t.Answered(call.ListPodSandbox, since) || t.Answered(call.ListContainers, since) || t.ObjectsAnswered(since)
}

// Lasted returns how long a failed call was out. The failure may have been noted some time after the call
// returned.
func (t *Table) Lasted(f *Failure) time.Duration {
	end := f.At
	if last := t.Sums(f.Op).LastErrAt; !f.Op.AboutObject() && last.After(f.Since) && last.Before(end) {
		end = last
	}
	return max(end.Sub(f.Since), 0)
}

// RanOut reports whether a call was ended by its own deadline, which may be short in a sweep. If the runtime
// passes on at once that somebody else did not answer in time, that is an answer.
func (t *Table) RanOut(err error, took time.Duration) bool {
	limit := Late
	if t.Sweep != nil && t.Sweep.Timeout > 0 {
		limit = min(limit, t.Sweep.Timeout)
	}
	return errors.Is(err, call.ErrDeadline) && took >= limit
}

// OwnError reports whether an error is the runtime's own answer about an object. A hang, a runtime that is not
// there, and an object that has gone do not count.
func (t *Table) OwnError(err error, took time.Duration) bool {
	switch {
	case err == nil, errors.Is(err, call.ErrNotFound):
		return false
	case errors.Is(err, call.ErrDeadline):
		return !t.RanOut(err, took)
	}
	return IsAnswer(err)
}

// slowShare is the share of all calls that must be of slow operations. Operations that are called only once
// have few calls, and these may be fast by chance.
const slowShare = 0.75

// HalfSlow returns the lowest median of the slow operations, if almost all calls are of slow operations; 0 if
// not. An operation is slow if its median is at least from.
func (t *Table) HalfSlow(from time.Duration) time.Duration {
	var slow, all uint64
	var least time.Duration
	for i := range t.Calls {
		c := &t.Calls[i]
		if c.Op == call.GetContainerEvents {
			continue
		}
		all += c.Count
		if c.P50 >= from && c.Count >= SlowSample && !c.LastOK.IsZero() {
			slow += c.Count
			if least == 0 || c.P50 < least {
				least = c.P50
			}
		}
	}
	if float64(slow) < slowShare*float64(all) {
		return 0
	}
	return least
}
