package engine

import (
	"sync"
	"time"
)

// A Clock gives an engine its time. The time may run faster than real time and change its pace, but it never
// goes back. Timers run on real time. A Clock must be safe for concurrent use.
type Clock interface {
	Now() time.Time
	// Real returns the real time that d takes at the present pace. It rounds up, so that a timer
	// never fires too early.
	Real(d time.Duration) time.Duration
}

// LeastStep is the least difference between the wall clock and the monotonic clock that counts as a
// step of the wall clock. A smaller one comes from reading both clocks one after the other.
const LeastStep = 10 * time.Millisecond

// realTime has a monotonic reading and follows the steps of the wall clock. Between two steps its
// wall time is a base plus the monotonic time since then, to the nanosecond, as a recording keeps
// it. [time.Now] reads the two clocks one after the other: with it, a replay would be some
// nanoseconds off.
type realTime struct {
	mu   sync.Mutex
	base time.Time
}

func (r *realTime) Now() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	since := now.Sub(r.base)
	stepped := (now.Round(0).Sub(r.base.Round(0)) - since).Abs() >= LeastStep
	if r.base.IsZero() || stepped {
		r.base = now
		return now
	}
	return r.base.Add(since)
}

func (*realTime) Real(d time.Duration) time.Duration { return d }
