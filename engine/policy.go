package engine

import "time"

// A Policy says how a machine looks at its runtime: again and again as the kubelet
// does, or once within a bounded time. Every [Snapshot] has the one it was made by.
type Policy struct {
	Once        bool
	ListTimeout time.Duration // of lists, Status and Version; the kubelet's for a running engine
	CallTimeout time.Duration // of the calls that are ours: status calls of a sweep, probes
	Width       int           // how many status calls of a sweep are out at most
	Deadline    time.Duration // of the whole, if Once
}

// The calls of a look that is made once: what people wait for.
const (
	sweepWidth   = 4
	callTimeout  = 2 * time.Second // a healthy runtime takes milliseconds, a busy one some hundred
	deadline     = 20 * time.Second
	longer       = 4 // times the timeout of a status call, for lists, Status and Version;
	halvesSilent = 3 // halves of it, where none of them but Version is answered, and for the second list where the first one hung
	retries      = 2 // of a call that fails at once
)

// running is the policy of an engine that goes on: the kubelet's, and for what the
// kubelet does not do, ours.
func running(c Config) Policy {
	return Policy{ListTimeout: c.Timeout, CallTimeout: callTimeout, Width: sweepWidth}
}

// silence is for how long at most a call that costs nothing may be out before a
// runtime that has answered nothing else is taken for silent.
func (p Policy) silence() time.Duration { return halvesSilent * p.CallTimeout / 2 }

// kubelets returns how a call is made that the kubelet makes, too.
func (p Policy) kubelets(f Flight) callSpec {
	w := callSpec{Flight: f, timeout: p.ListTimeout}
	if p.Once {
		w.tries, w.bounded, w.endsEarly = 1+retries, true, true
	}
	return w
}

// own returns how a call is made that only we make: it must hold up nothing.
func (p Policy) own(f Flight) callSpec {
	return callSpec{Flight: f, timeout: p.CallTimeout, bounded: true, yields: true}
}
