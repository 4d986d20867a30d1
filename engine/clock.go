package engine

import (
	"math"
	"time"
)

const maxSpeed = 10_000

// A clock is the engine's time: the real one, or one that runs faster. Timers
// always run on real time. It is a value and safe for concurrent use.
type clock struct {
	real   bool
	start  time.Time // the engine's time at the real moment origin
	origin time.Time
	speed  float64
}

func newClock(c Config) clock {
	k := clock{start: c.Start, origin: c.Origin, speed: c.Speed}
	k.real = k.speed == 1 && k.start.IsZero() && k.origin.IsZero()
	if k.origin.IsZero() {
		k.origin = time.Now()
	}
	if k.start.IsZero() {
		k.start = k.origin
	}
	return k
}

// now returns the engine's time. In real time it has a monotonic reading and
// follows the steps of the wall clock; otherwise it never steps at all.
func (c clock) now() time.Time {
	if c.real {
		return time.Now()
	}
	return c.start.Add(time.Duration(float64(time.Since(c.origin)) * c.speed))
}

// wait returns how much real time it takes until d has passed. It rounds up,
// so that a timer never fires before the time has come.
func (c clock) wait(d time.Duration) time.Duration {
	if c.speed == 1 {
		return d
	}
	return time.Duration(math.Ceil(float64(d) / c.speed))
}
