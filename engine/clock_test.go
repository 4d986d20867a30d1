package engine

import (
	"math"
	"time"
)

// A paced clock shows start at the real moment origin, and goes speed times as fast as
// the real one.
type paced struct {
	start, origin time.Time
	speed         float64
}

func (p paced) Now() time.Time {
	return p.start.Add(time.Duration(float64(time.Since(p.origin)) * p.speed))
}

func (p paced) Real(d time.Duration) time.Duration {
	return time.Duration(math.Ceil(float64(d) / p.speed))
}
