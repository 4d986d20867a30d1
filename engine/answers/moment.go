package answers

import (
	"time"

	"github.com/plegtop/plegtop/engine/call"
)

// A Moment is a table and what else says what it means.
type Moment struct {
	*Table
	At, Started time.Time
	Policy      Policy
	Back        time.Time  // when the runtime came back last: what was asked before accuses nobody
	Busy        bool       // tasks wait for the CPU in [BusyShare] percent of all time
	Away        Flakiness  // how often the runtime went away within [FlakyFor]
	Failing     []*Failure // of the pods whose last inspection failed
	Heard       Heard
}

// A Heard knows what was heard of objects.
type Heard interface {
	// HeardSince reports whether anything was heard of the object of a call after a moment:
	// what is older accuses it no longer.
	HeardSince(f call.Flight, since time.Time) bool
}

// A State says how a call stands, or the calls of an operation.
type State uint8

const (
	Unknown State = iota // of an operation: none has been out for long, and none has returned recently
	InTime               // also of the event stream, which is meant to stay out
	IsSlow               // the last one took long
	Fails                // the last one failed at once
	IsLate               // it is out, and spoken of
	Hangs
)

// State returns how a call stands that is out. A runtime that has just come back has had
// it for as long only.
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

// LateAfter is how long a call of an operation is out before it is late. A runtime that
// is slow does not hang, nor does one that waits for the CPU with all others.
func (m *Moment) LateAfter(op call.Operation) time.Duration {
	return max(m.UnlessBusy(Late, HungLong), m.TwiceUsual(op))
}

// HungAfter is how long it is out before it hangs.
func (m *Moment) HungAfter(op call.Operation) time.Duration {
	least := Hung
	if f := m.Failure; op.IsList() && (f == nil || f.Op != op || !m.RanOut(f.Err, m.Lasted(f))) { // one that follows a hang hangs again, mostly
		least = HungList
	}
	return max(m.UnlessBusy(least, HungLong), 3*m.usual(op))
}

// SlowFrom is what half of the calls take at least where the runtime is slow.
func (m *Moment) SlowFrom() time.Duration { return m.UnlessBusy(Slow, SlowBusy) }

// UnlessBusy returns usual, or on a busy node busy.
func (m *Moment) UnlessBusy(usual, busy time.Duration) time.Duration {
	if m.Busy {
		return busy
	}
	return usual
}
