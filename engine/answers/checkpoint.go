package answers

import (
	"maps"
	"time"

	"github.com/fxamacker/cbor/v2"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/quantile"
)

// A value that holds an error is written with the [call.Error] in the error's chain, and is read back with
// that. CBOR has no interfaces.

// encoding keeps times to the nanosecond.
var encoding = func() cbor.EncMode {
	mode, err := cbor.EncOptions{Time: cbor.TimeRFC3339Nano}.EncMode()
	if err != nil {
		panic(err) // the options are constant
	}
	return mode
}()

// These types have the fields of the types that they are made from, without their methods. In a plain value the
// outer error takes the place of the inner one.
type (
	failure Failure
	outcome Outcome
	calls   Calls

	plainFailure struct {
		failure
		Err *call.Error
	}
	plainOutcome struct {
		outcome
		Err *call.Error
	}
	plainCalls struct {
		calls
		LastErr *call.Error
	}
)

// MarshalCBOR writes f down for a checkpoint.
func (f Failure) MarshalCBOR() ([]byte, error) {
	return encoding.Marshal(plainFailure{failure(f), call.ErrorOf(f.Op, f.Err)})
}

// UnmarshalCBOR reads what MarshalCBOR wrote.
func (f *Failure) UnmarshalCBOR(b []byte) error {
	var p plainFailure
	err := cbor.Unmarshal(b, &p)
	*f = Failure(p.failure)
	f.Err = asError(p.Err)
	return err
}

// MarshalCBOR writes o down for a checkpoint.
func (o Outcome) MarshalCBOR() ([]byte, error) {
	return encoding.Marshal(plainOutcome{outcome(o), call.ErrorOf(o.Op, o.Err)})
}

// UnmarshalCBOR reads what MarshalCBOR wrote.
func (o *Outcome) UnmarshalCBOR(b []byte) error {
	var p plainOutcome
	err := cbor.Unmarshal(b, &p)
	*o = Outcome(p.outcome)
	o.Err = asError(p.Err)
	return err
}

// MarshalCBOR writes c down for a checkpoint.
func (c Calls) MarshalCBOR() ([]byte, error) {
	return encoding.Marshal(plainCalls{calls(c), call.ErrorOf(c.Op, c.LastErr)})
}

// UnmarshalCBOR reads what MarshalCBOR wrote.
func (c *Calls) UnmarshalCBOR(b []byte) error {
	var p plainCalls
	err := cbor.Unmarshal(b, &p)
	*c = Calls(p.calls)
	c.LastErr = asError(p.LastErr)
	return err
}

// asError returns e as an error. For nil it returns a nil error, and not an error that holds a nil pointer.
func asError(e *call.Error) error {
	if e == nil {
		return nil
	}
	return e
}

// A SumsState is the whole state of [Sums], for a checkpoint.
type SumsState struct {
	Start time.Time
	ByOp  []OperationState
}

// An OperationState is the state of one operation. A [SumsState] has them in the order of [call.Operations].
type OperationState struct {
	Calls Calls
	Took  quantile.Durations
	Codes map[string]uint64
	Now   Second // the second that is not over yet; none if its Count is 0
}

// State returns the state. The caller must not change it, and must not use s while the state is read.
func (s *Sums) State() SumsState {
	state := SumsState{Start: s.start}
	for i := range s.byOp {
		o := &s.byOp[i]
		state.ByOp = append(state.ByOp, OperationState{o.read(), o.took, o.codes, o.now})
	}
	return state
}

// Restore sets s to a state.
func (s *Sums) Restore(state SumsState) {
	*s = NewSums(state.Start)
	for i, o := range state.ByOp[:min(len(state.ByOp), len(s.byOp))] {
		s.byOp[i] = operationSum{Calls: o.Calls, took: o.Took, codes: maps.Clone(o.Codes), now: o.Now}
	}
}
