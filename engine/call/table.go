package call

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"time"
)

// An ID is the number of a call. The caller gives each call its own number.
type ID uint64

// A Table is what is known of the calls to a runtime: which are out, how the last call for
// each target went, and how long calls usually take. [Table.State] says how one call stands,
// [Table.Extent] how much of the runtime is in trouble.
//
// Its exported fields are its whole state, to be written down and read again. Only Busy is
// for others to set. Time must not go back from one method to the next. A Table belongs to
// one goroutine.
type Table struct {
	Busy bool      // tasks on the node wait for the CPU half of the time or more, and every call waits with them
	Back time.Time // when the runtime last came back after it had answered nothing; zero for never. Calls from before accuse nobody
	Out  []OutCall // oldest first
	Ops  [operations]Answers

	flights []Flight // of Out; nil when stale
}

// An OutCall is a call that has not returned.
type OutCall struct {
	ID      ID
	Flight  Flight
	Timeout time.Duration // after which it is ended; 0 for never
}

// Answers is what is known of the calls of one operation that have returned.
type Answers struct {
	Answered time.Time // when the runtime last answered one, even with an error
	Good     time.Time // when one last succeeded
	Last     Known     // the last one that was about the whole runtime
	// Troubled has the objects whose last call failed or got no answer, by id. Of the two lists it has
	// the pods that were asked for alone, by UID. A good answer removes its object.
	Troubled map[string]*Known
	Recent   []time.Duration // how long the last good answers took, oldest first; without lists of one pod
}

const (
	// recentKept is how many answers say what is usual: those of the last relists.
	recentKept = 20
	// troubledMost is how many objects of an operation are kept. If more hang, the objects are not
	// the cause.
	troubledMost = 1000
)

// A Known is the result of the last call for one target. It is zero before a call has returned,
// and for an object whose last call succeeded.
type Known struct {
	Flight Flight    // the last call
	At     time.Time // when it returned
	Err    *Error    // nil if it succeeded; "the object has gone" is a success
	RanOut bool      // its own time ran out; false if the runtime passes on another's timeout at once
	InRow  int       // how many calls in a row ended in this way: ran out, or failed otherwise
	First  time.Time // when the first of those began
	Failed time.Time // when the first of those returned
}

// Took returns how long the call was out.
func (k *Known) Took() time.Duration { return k.At.Sub(k.Flight.Since) }

// NewTable returns a table of a runtime that nobody has called.
func NewTable() *Table { return &Table{} }

// Began notes that a call is out since f.Since.
func (t *Table) Began(id ID, f Flight, timeout time.Duration) {
	t.Out, t.flights = append(t.Out, OutCall{id, f, timeout}), nil
}

// Ended notes that a call has returned, or that nobody waits for it any more; err is nil if it
// succeeded. Ended returns the call, and false if it was not out.
func (t *Table) Ended(id ID, at time.Time, err *Error) (OutCall, bool) {
	i := slices.IndexFunc(t.Out, func(c OutCall) bool { return c.ID == id })
	if i < 0 {
		return OutCall{}, false
	}
	c := t.Out[i]
	if err != nil && err.Kind == ErrNotFound {
		err = nil
	}
	back := err == nil && t.comesBack(c.Flight, at)
	t.Out, t.flights = slices.Delete(t.Out, i, i+1), nil
	if back {
		t.Back = at
	}
	if err == nil || err.Kind != ErrCanceled { // we canceled it: that says nothing of the runtime
		t.returned(c, at, err)
	}
	return c, true
}

// returned notes the outcome of a call.
func (t *Table) returned(c OutCall, at time.Time, err *Error) {
	f, a := c.Flight, &t.Ops[c.Flight.Op]
	if isAnswer(err) {
		a.Answered = at
	}
	target := f.target()
	if err == nil {
		a.Good = at
		if !f.Op.IsList() || target == "" {
			a.Recent = append(a.Recent, at.Sub(f.Since))
			a.Recent = a.Recent[max(0, len(a.Recent)-recentKept):]
		}
	}
	was := t.Known(f.Op, target)
	k := Known{Flight: f, At: at, Err: err, RanOut: ranOut(err, at.Sub(f.Since), c.Timeout)}
	switch {
	case err == nil:
	case was.Err != nil && was.RanOut == k.RanOut:
		k.InRow, k.First, k.Failed = was.InRow+1, was.First, was.Failed
	default:
		k.InRow, k.First, k.Failed = 1, f.Since, at
	}
	switch {
	case target == "":
		a.Last = k
	case err == nil:
		delete(a.Troubled, target)
	default:
		a.keep(target, &k)
	}
}

// keep keeps a target that is in trouble, in place of the oldest if there are too many.
func (a *Answers) keep(target string, k *Known) {
	if a.Troubled == nil {
		a.Troubled = make(map[string]*Known)
	}
	if len(a.Troubled) >= troubledMost && a.Troubled[target] == nil {
		oldest := slices.MinFunc(slices.Collect(maps.Values(a.Troubled)), func(a, b *Known) int {
			return cmp.Or(a.Flight.Since.Compare(b.Flight.Since), cmp.Compare(a.Flight.target(), b.Flight.target()))
		})
		delete(a.Troubled, oldest.Flight.target())
	}
	a.Troubled[target] = k
}

// Flights returns the calls that are out, oldest first. The caller may keep them. It returns
// the same slice until something changes.
func (t *Table) Flights() []Flight {
	if t.flights == nil {
		for _, c := range t.Out {
			t.flights = append(t.flights, c.Flight)
		}
	}
	return t.flights
}

// InWay returns the call that is out and blocks f at a moment, and false if f may be made. We
// never ask the runtime twice at a time for the same thing, with one exception: a search lists
// the containers of one pod while a list of all surely hangs.
func (t *Table) InWay(f Flight, at time.Time) (Flight, bool) {
	for _, c := range t.Out {
		surelyHangs := c.Flight.Op == ListContainers && c.Flight.target() == "" && c.Flight.Elapsed(at) >= SurelyHangs
		beside := f.By == BySearch && f.Op.IsList() && f.target() != "" && surelyHangs
		if c.Flight.SameTarget(f) && !beside {
			return c.Flight, true
		}
	}
	return Flight{}, false
}

// Known returns what is known of one target of an operation. The target is the id of an object,
// the UID of a pod for a list, or empty for the whole runtime.
func (t *Table) Known(op Operation, target string) Known {
	if target == "" {
		return t.Ops[op].Last
	}
	if k := t.Ops[op].Troubled[target]; k != nil {
		return *k
	}
	return Known{}
}

// target returns what distinguishes f from other calls of its operation: the id of an object,
// or the UID of the pod for a list; empty for the whole runtime.
func (f Flight) target() string {
	if f.Op.IsList() {
		return string(f.Pod.UID)
	}
	return f.ID
}

// sameTarget is [Flight.SameTarget], but distinguishes lists.
func (f Flight) sameTarget(g Flight) bool { return f.Op == g.Op && f.target() == g.target() }

// isAnswer reports whether the runtime has answered, even with an error.
func isAnswer(err *Error) bool {
	return err == nil || err.Kind != ErrDeadline && !errors.Is(err.Kind, ErrUnavailable) && err.Kind != ErrCanceled
}

// ranOut reports whether a call was ended by its own deadline.
func ranOut(err *Error, took, timeout time.Duration) bool {
	limit := LateAfter
	if timeout > 0 {
		limit = min(limit, timeout)
	}
	return err != nil && err.Kind == ErrDeadline && took >= limit
}
