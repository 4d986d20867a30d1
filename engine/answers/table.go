package answers

import "github.com/plegtop/plegtop/engine/call"

// A Table is what is known of the calls to a runtime at one moment. Nobody changes it.
type Table struct {
	InFlight   []call.Flight // oldest first
	Calls      []Calls       // one for each operation, in the order of call.Operations
	Failure    *Failure      // the last failed list of all pods, until one succeeds
	StatusErr  *Failure      // the last failed Status, until one succeeds
	VersionErr *Failure      // the last failed Version, until one succeeds
	Probes     []Probe       // what was asked while a call of a relist hung, the last of each operation, in the order of call.Operations; gone when no call hangs any more and the runtime answers
	Sweep      *Sweep        // the last one, or the one under way; nil if there was none
}

// Failures returns how the lists, Status and Version failed last; nil for what did not.
func (t *Table) Failures() [3]*Failure { return [...]*Failure{t.Failure, t.StatusErr, t.VersionErr} }

// Of returns how the calls of one operation went.
func (t *Table) Of(op call.Operation) Calls {
	for i := range t.Calls {
		if t.Calls[i].Op == op {
			return t.Calls[i]
		}
	}
	return Calls{Op: op}
}
