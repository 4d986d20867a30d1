// Package quantile keeps distributions of durations, in little memory.
package quantile

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

const (
	longest     = time.Hour // what takes longer counts as this, except in Max
	significant = 2         // decimal digits of a quantile
)

// Durations is a distribution of durations, from a microsecond to an hour. It
// takes about 26 KB once it has one, however many it gets.
type Durations struct {
	histogram *hdrhistogram.Histogram
	max       time.Duration // exact
}

// Add takes in one more.
func (d *Durations) Add(took time.Duration) {
	if d.histogram == nil {
		d.histogram = hdrhistogram.New(1, longest.Microseconds(), significant)
	}
	took = max(took, 0)
	d.max = max(d.max, took)
	// In range by construction: the histogram cannot refuse it.
	_ = d.histogram.RecordValue(min(took, longest).Microseconds())
}

// Max returns the longest.
func (d *Durations) Max() time.Duration { return d.max }

// Count returns how many there are.
func (d *Durations) Count() int64 {
	if d.histogram == nil {
		return 0
	}
	return d.histogram.TotalCount()
}

// At returns the one that comes at a place in their order, from 1 on; 0 if there is none.
func (d *Durations) At(rank int64) time.Duration {
	if d.histogram == nil {
		return 0
	}
	return d.micro(d.histogram.ValueAtPercentile(100 * float64(rank) / float64(d.Count())))
}

// Quantiles returns p50, p90 and p99; all 0 if there were no durations.
func (d *Durations) Quantiles() (p50, p90, p99 time.Duration) {
	if d.histogram == nil {
		return 0, 0, 0
	}
	at := d.histogram.ValueAtPercentilesSlice([]float64{50, 90, 99})
	return d.micro(at[0]), d.micro(at[1]), d.micro(at[2])
}

// micro turns a value of the histogram, which is rounded up, into a duration.
func (d *Durations) micro(v int64) time.Duration {
	return min(time.Duration(v)*time.Microsecond, d.max)
}
