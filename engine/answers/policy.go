package answers

import (
	"time"

	"github.com/plegtop/plegtop/engine/call"
)

// A Policy says how a machine looks at its runtime: again and again as the kubelet
// does, or once within a bounded time. Every snapshot has the one it was made by.
type Policy struct {
	Once        bool
	ListTimeout time.Duration // of lists, Status and Version; the kubelet's for a running engine
	CallTimeout time.Duration // of the calls that are ours: status calls of a sweep, probes
	Width       int           // how many status calls of a sweep are out at most
	Deadline    time.Duration // of the whole, if Once
}

// Limit returns for how long a running engine waits for a call: as long as the kubelet does
// for what the kubelet asks too, and less for what is ours.
func (p Policy) Limit(f call.Flight) time.Duration {
	switch f.By {
	case call.ByProbe, call.BySweep, call.BySearch:
		return p.CallTimeout
	}
	return p.ListTimeout
}

// HungLong is how long the status of an object hangs to be critical: see the duration of
// that name. A look that is made once goes on asking for [HungOnce], or for a quarter of its
// time.
func (p Policy) HungLong() time.Duration {
	if p.Once {
		return min(HungOnce, p.Deadline/4)
	}
	return HungLong
}
