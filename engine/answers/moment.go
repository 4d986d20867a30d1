package answers

import (
	"time"

	"github.com/plegtop/plegtop/engine/call"
)

// A Moment is a table, with what is needed to judge it.
type Moment struct {
	*Table
	At, Started time.Time
	Policy      Policy
	Back        time.Time  // when the runtime came back last: a call from before that says nothing against its object
	Busy        bool       // tasks wait for the CPU in [BusyShare] percent of all time
	Away        Flakiness  // how often the runtime went away within [FlakyFor]
	Failing     []*Failure // the failures of the pods whose last inspection failed
	Heard       Heard
}

// A Heard knows when there was an answer about an object.
type Heard interface {
	// HeardSince reports whether there was any answer about the object of a call after a moment. What is older
	// says nothing against the object any more.
	HeardSince(f call.Flight, since time.Time) bool
}

// A State is the state of a call, or of the calls of an operation.
type State uint8

const (
	Unknown State = iota // for an operation: none has been out for long, and none has returned recently
	InTime               // also for the event stream, which stays out by design
	IsSlow               // the last one took long
	Fails                // the last one failed at once
	IsLate               // it is out for so long that it is reported
	Hangs
)

// State returns the state of a call that is out. If the runtime has just come back, the time counts only from
// then.
func (m *Moment) State(f call.Flight) State {
	took := m.At.Sub(Later(f.Since, m.Back))
	switch {
	case took < Late || f.Op == call.GetContainerEvents || took < m.LateAfter(f.Op):
		return InTime
	case took < m.HungAfter(f.Op):
		return IsLate
	}
	return Hangs
}

// LateAfter returns how long a call of an operation must be out to be late. A runtime that is slow does not
// hang, and neither does one that waits for the CPU like everything else.
func (m *Moment) LateAfter(op call.Operation) time.Duration {
	return max(m.UnlessBusy(Late, HungLong), m.TwiceUsual(op))
}

// HungAfter returns how long a call of an operation must be out to hang.
func (m *Moment) HungAfter(op call.Operation) time.Duration {
	least := Hung
	if f := m.Failure; op.IsList() && (f == nil || f.Op != op || !m.RanOut(f.Err, m.Lasted(f))) { // a list that follows one that hung mostly hangs again
		least = HungList
	}
	return max(m.UnlessBusy(least, HungLong), 3*m.usual(op))
}

// SlowFrom returns what half of the calls must take at least, so that the runtime is slow.
func (m *Moment) SlowFrom() time.Duration { return m.UnlessBusy(Slow, SlowBusy) }

// UnlessBusy returns busy on a busy node, else usual.
func (m *Moment) UnlessBusy(usual, busy time.Duration) time.Duration {
	if m.Busy {
		return busy
	}
	return usual
}
