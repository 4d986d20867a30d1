// Package answers is what is known of the calls to a runtime: which are out, how the
// last ones went, since when a call fails or gives no answer, and what all of that says
// of the runtime. The machine of package engine keeps it and asks it what to do;
// package diagnose asks it what to say.
//
// All durations that mean something about calls stand in durations.go, each with its
// reason. The package reads no clock and does no I/O; its values may be shared as long
// as nobody changes them.
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
	Probes     []Outcome     // what was asked while a call of a relist hung, the last of each operation, in the order of call.Operations; gone when no call hangs any more and the runtime answers
	Sweep      *Sweep        // the last one, or the one under way; nil if there was none
	UsualList  time.Duration // what both lists together take of late; 0 if none has succeeded
}

// StateOf returns how the calls of an operation about the whole runtime stand that are out
// or have returned recently, and how long the one that says so took.
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

// Stalled reports whether a call that is about no object is slow now, or was a moment ago:
// what hangs at the same time may only have waited with it.
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

// TooSlow says in words why the runtime cannot be asked for much now; empty if it can. That
// Version is slow does not matter where Status is known to be quick. What either took long
// ago does not count: neither is asked for while paused.
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

// UsualList returns what both lists together usually take, given what they took in relists
// of late, which it sorts: what half of them took, or each of the last two, which tell
// sooner of a runtime that has become slow. 0 for none.
func UsualList(took []time.Duration) time.Duration {
	if len(took) == 0 {
		return 0
	}
	last := slices.Min(took[max(0, len(took)-2):])
	slices.Sort(took)
	return max(took[(len(took)-1)/2], last)
}

// TwiceUsual is how long a call of an operation takes that takes longer than such calls
// do: twice what half of the same take, or of all calls, and of a list also what the last
// ones took.
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

// Failures returns how the lists, Status and Version failed last; nil for what did not.
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

// StatusCalls are the operations of which each call is about one object.
var StatusCalls = []call.Operation{call.PodSandboxStatus, call.ContainerStatus}

// Later returns the later of two moments.
func Later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// quickest returns the least of what half of the calls of each operation take.
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

// ProbeTime returns how long the last probe of an operation took that was answered
// well after a moment.
func (t *Table) ProbeTime(op call.Operation, since time.Time) (time.Duration, bool) {
	for i := range t.Probes {
		if p := &t.Probes[i]; p.Op == op && p.Err == nil && p.At.After(since) {
			return p.Took, true
		}
	}
	return 0, false
}

// Answered reports whether a call of an operation came back after a moment,
// with whatever answer.
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

// ObjectsAnswered reports whether any status of an object came back after a
// moment.
func (t *Table) ObjectsAnswered(since time.Time) bool {
	if t.Answered(call.PodSandboxStatus, since) || t.Answered(call.ContainerStatus, since) {
		return true
	}
	w := t.Sweep
	return w != nil && !w.Began.Before(since) && w.Done > len(w.Hung)
}

// ContainersAnswered reports whether a list or an object's status came back after
// a moment.
func (t *Table) ContainersAnswered(since time.Time) bool {
	return t.Answered(call.ListPodSandbox, since) || t.Answered(call.ListContainers, since) || t.ObjectsAnswered(since)
}

// Lasted returns how long a failed call was out. Its failure may have been taken
// in some time after it returned.
func (t *Table) Lasted(f *Failure) time.Duration {
	end := f.At
	if last := t.Sums(f.Op).LastErrAt; !f.Op.AboutObject() && last.After(f.Since) && last.Before(end) {
		end = last
	}
	return max(end.Sub(f.Since), 0)
}

// RanOut reports whether a call was ended by its own deadline, which may be short
// in a sweep. A runtime may pass on at once that somebody else gave it no answer
// in time: that is an answer.
func (t *Table) RanOut(err error, took time.Duration) bool {
	limit := Late
	if t.Sweep != nil && t.Sweep.Timeout > 0 {
		limit = min(limit, t.Sweep.Timeout)
	}
	return errors.Is(err, call.ErrDeadline) && took >= limit
}

// OwnError reports whether an error is the runtime's answer about an object: no
// hang, no runtime that is away, no object that has gone.
func (t *Table) OwnError(err error, took time.Duration) bool {
	switch {
	case err == nil, errors.Is(err, call.ErrNotFound):
		return false
	case errors.Is(err, call.ErrDeadline):
		return !t.RanOut(err, took)
	}
	return IsAnswer(err)
}

// slowShare is the part of all calls that must be of operations of which half are
// slow; those that are asked for once each are few, and fast by chance.
const slowShare = 0.75

// HalfSlow returns what half of the calls of the slow operations take at least, if
// almost all calls are of such; 0 if not. Slow is what takes that long in half of its calls.
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
