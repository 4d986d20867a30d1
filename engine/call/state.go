package call

import (
	"fmt"
	"slices"
	"time"
)

// A State says how a call stands.
type State uint8

// The states of calls, the better ones first.
const (
	Unknown State = iota // no call is out, and none has returned
	InTime               // it is out and not late, or it was answered
	Slow                 // it was answered, and took long
	Failing              // it failed
	Late                 // it is out for longer than such calls take
	Hung                 // it is out for too long to be just slow, or its time ran out
)

// State returns the state of a call that is out, or else the outcome of the last call for its
// target. The event stream is meant to stay out, so it is in time.
func (t *Table) State(f Flight, at time.Time) State {
	if slices.ContainsFunc(t.Out, func(c OutCall) bool { return c.Flight.sameTarget(f) && c.Flight.Since.Equal(f.Since) }) {
		return t.outState(f, at)
	}
	k := t.Known(f.Op, f.target())
	switch {
	case k.At.IsZero():
		return Unknown
	case k.RanOut:
		return Hung
	case k.Err != nil:
		return Failing
	case k.Took() > LateAfter:
		return Slow
	}
	return InTime
}

// outState returns the state of a call that is out. If the runtime has just come back, the time
// counts only from then.
func (t *Table) outState(f Flight, at time.Time) State {
	out := at.Sub(latest(f.Since, t.Back))
	switch {
	case out < LateAfter, f.Op == GetContainerEvents, out < max(t.unlessBusy(LateAfter), 2*t.usual(f.Op)):
		return InTime
	case out < t.hungAfter(f.Op):
		return Late
	}
	return Hung
}

func (t *Table) hungAfter(op Operation) time.Duration {
	least := HungAfter
	if op.IsList() && !t.Ops[op].Last.RanOut { // after a list that hung, the next mostly hangs as well
		least = HungListAfter
	}
	return max(t.unlessBusy(least), 3*t.usual(op))
}

// unlessBusy returns d, or at least CriticalAfter on a busy node.
func (t *Table) unlessBusy(d time.Duration) time.Duration {
	if t.Busy {
		return max(d, CriticalAfter)
	}
	return d
}

// usual returns how long calls of an operation usually take. If all operations with answers are
// slow, an operation without answers counts as slow, too.
func (t *Table) usual(op Operation) time.Duration {
	var took time.Duration
	for o := range GetContainerEvents {
		if usual := t.Ops[o].usual(o); usual > 0 && (took == 0 || usual < took) {
			took = usual
		}
	}
	sandboxes, containers := t.Ops[ListPodSandbox].usual(ListPodSandbox), t.Ops[ListContainers].usual(ListContainers)
	if op.IsList() && sandboxes > 0 && containers > 0 { // what holds up one list holds up the other
		took = max(took, sandboxes+containers)
	}
	return min(max(took, t.Ops[op].usual(op)), UsualMost)
}

// usual returns the median time of the last good answers, or the shortest time of the last few
// if that is longer: the last few show sooner that a runtime has become slow. 0 if it is not
// known.
func (a *Answers) usual(op Operation) time.Duration {
	few, least, n := 2, 1, len(a.Recent)
	if op.AboutObject() { // objects of one pod may be slow together
		few, least = 5, 5
	}
	if n < least {
		return 0
	}
	var room [recentKept]time.Duration
	sorted := append(room[:0], a.Recent...)
	slices.Sort(sorted)
	return max(sorted[(n-1)/2], slices.Min(a.Recent[max(0, n-few):]))
}

// recentFor is how old an answer may be to say whether the runtime can be asked for much now.
// In that time Status was asked three times, so one slow answer alone does not decide. In a pause
// nobody asks.
const recentFor = 3 * StatusPeriod

// TooSlow says in plain words why the runtime cannot be asked for much now; empty if it can. It
// goes by Status, and by Version if nothing is known of Status. A Status that fails at once
// does not count.
func (t *Table) TooSlow(at time.Time) string {
	for _, op := range [...]Operation{Status, Version} {
		i := slices.IndexFunc(t.Out, func(c OutCall) bool { return c.Flight.Op == op })
		if i >= 0 && t.Out[i].Flight.Elapsed(at) > LateAfter {
			return fmt.Sprintf("%v: no reply for %v", op, t.Out[i].Flight.Elapsed(at).Round(100*time.Millisecond))
		}
		k := &t.Ops[op].Last
		switch {
		case k.At.IsZero() || at.Sub(k.At) >= recentFor:
		case k.Took() > LateAfter:
			return fmt.Sprintf("the last %v took %v", op, k.Took().Round(100*time.Millisecond))
		case k.Err == nil:
			return ""
		}
	}
	return ""
}
