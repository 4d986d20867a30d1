package answers

import (
	"time"

	"github.com/plegtop/plegtop/engine/call"
)

// A Policy says how plegtop asks its runtime: again and again as the kubelet does, or once within a bounded
// time. Every snapshot has the policy under which it was made.
type Policy struct {
	Once        bool
	ListTimeout time.Duration // of lists, Status and Version; in a running engine it is the kubelet's
	CallTimeout time.Duration // of our own calls: status calls of a sweep, probes
	Width       int           // how many status calls of a sweep are out at most
	Deadline    time.Duration // of the whole look, if Once
}

// Limit returns how long a running engine waits for a call: as long as the kubelet for calls that the kubelet
// makes too, and less for our own.
func (p Policy) Limit(f call.Flight) time.Duration {
	switch f.By {
	case call.ByProbe, call.BySweep, call.BySearch:
		return p.CallTimeout
	}
	return p.ListTimeout
}

// HungLong returns how long the status of an object must hang to be critical: see the duration of that name. A
// look that is made once uses [HungOnce], or a quarter of its time if that is less.
func (p Policy) HungLong() time.Duration {
	if p.Once {
		return min(HungOnce, p.Deadline/4)
	}
	return HungLong
}
