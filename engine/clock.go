package engine

import (
	"sync"
	"time"
)

// A Clock is an engine's time. It may pass faster than the real one, on which timers
// run, and change its pace; it never goes back. It must be safe for concurrent use.
type Clock interface {
	Now() time.Time
	// Real returns how much real time it takes, at the present pace, until d has
	// passed. It rounds up, so that a timer never fires before the time has come.
	Real(d time.Duration) time.Duration
}

// LeastStep is the least difference between the wall clock and the time since the start that
// counts as a change of the wall clock. A smaller one comes from reading both clocks one after the
// other.
const LeastStep = 10 * time.Millisecond

// realTime has a monotonic reading and follows the steps of the wall clock. Between two steps its
// wall time is a base plus the monotonic time since then, to the nanosecond, as a recording keeps
// it: [time.Now] reads the two clocks one after the other, and a replay would be some nanoseconds
// off.
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
