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

// limits are where buckets end: each is about three times as long as the one before, from
// what a quick answer takes to what no caller waits for.
var limits = [...]time.Duration{
	300 * time.Microsecond, time.Millisecond, 3 * time.Millisecond, 10 * time.Millisecond, 30 * time.Millisecond, 100 * time.Millisecond,
	300 * time.Millisecond, time.Second, 3 * time.Second, 10 * time.Second, 30 * time.Second,
}

// Buckets counts durations by their length: each has those that are shorter than its limit
// and not shorter than the limit before, the last one the rest. It is a value, so that a
// reader keeps one at no cost.
type Buckets [len(limits) + 1]uint64

// Limit returns what the durations of a bucket are shorter than, and the last limit and false
// for the last one, whose durations are as long or longer.
func (Buckets) Limit(i int) (limit time.Duration, shorter bool) {
	return limits[min(i, len(limits)-1)], i < len(limits)
}

// Of returns the bucket of a duration.
func (Buckets) Of(d time.Duration) int {
	i := 0
	for i < len(limits) && d >= limits[i] {
		i++
	}
	return i
}

// Durations is a distribution of durations, from a microsecond to an hour. It
// takes about 26 KB once it has one, however many it gets.
type Durations struct {
	histogram *hdrhistogram.Histogram
	max       time.Duration // exact
	buckets   Buckets
}

// Add takes in one more.
func (d *Durations) Add(took time.Duration) {
	if d.histogram == nil {
		d.histogram = hdrhistogram.New(1, longest.Microseconds(), significant)
	}
	took = max(took, 0)
	d.max = max(d.max, took)
	d.buckets[d.buckets.Of(took)]++
	// In range by construction: the histogram cannot refuse it.
	_ = d.histogram.RecordValue(min(took, longest).Microseconds())
}

// Max returns the longest.
func (d *Durations) Max() time.Duration { return d.max }

// Buckets returns how many there are of which length, counted as they came.
func (d *Durations) Buckets() Buckets { return d.buckets }

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
