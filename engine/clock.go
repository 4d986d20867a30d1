package engine

import "time"

// A Clock is an engine's time. It may pass faster than the real one, on which timers
// run, and change its pace; it never goes back. It must be safe for concurrent use.
type Clock interface {
	Now() time.Time
	// Real returns how much real time it takes, at the present pace, until d has
	// passed. It rounds up, so that a timer never fires before the time has come.
	Real(d time.Duration) time.Duration
}

// realTime has a monotonic reading and follows the steps of the wall clock.
type realTime struct{}

func (realTime) Now() time.Time                     { return time.Now() }
func (realTime) Real(d time.Duration) time.Duration { return d }
