package answers

import (
	"time"

	"github.com/plegtop/plegtop/engine/call"
)

// A Failure is a call that failed, and how long it has been failing so.
type Failure struct {
	call.Flight           // the last such call
	Err         error     // never nil; has a [call.Kind] in its chain
	At          time.Time // when the last one returned
	First       time.Time // when the first one in a row returned
	InRow       int       // how many in a row
}

// Took returns how long the call was out.
func (f *Failure) Took() time.Duration { return f.At.Sub(f.Since) }

// Again returns the failure that follows f, which may be nil, in a row. Each of tries,
// of which the last is f's flight, counts.
func (f *Failure) Again(next call.Flight, at time.Time, err error, tries int) *Failure {
	n := &Failure{Flight: next, Err: err, At: at, First: at, InRow: max(tries, 1)}
	if f != nil {
		n.First = f.First
		n.InRow += f.InRow
	}
	return n
}

// An Outcome is what came of a call that is ours: of a probe, made while another call
// hangs to see whether the runtime still answers, or of one object of a [Sweep].
type Outcome struct {
	call.Flight
	At    time.Time     `line:"-"` // when it returned; zero while it is out
	Took  time.Duration `line:"tookSeconds"`
	Err   error         `line:"error,omitempty"` // nil if it was answered
	InRow int           `line:"-"`               // of an object: how often in a row it gave no answer
}
