package engine

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

const (
	longest     = time.Hour // what takes longer counts as this, except in max
	significant = 2         // decimal digits of a quantile
)

// A durations is a distribution of durations, from a microsecond to an hour. It
// takes about 26 KB once it has one, however many it gets. Not safe for
// concurrent use.
type durations struct {
	histogram *hdrhistogram.Histogram
	max       time.Duration // exact
}

func (d *durations) add(took time.Duration) {
	if d.histogram == nil {
		d.histogram = hdrhistogram.New(1, longest.Microseconds(), significant)
	}
	took = max(took, 0)
	d.max = max(d.max, took)
	// In range by construction: the histogram cannot refuse it.
	_ = d.histogram.RecordValue(min(took, longest).Microseconds())
}

// quantiles returns p50, p90 and p99; all 0 if there were no durations.
func (d *durations) quantiles() (p50, p90, p99 time.Duration) {
	if d.histogram == nil {
		return 0, 0, 0
	}
	at := d.histogram.ValueAtPercentilesSlice([]float64{50, 90, 99})
	return d.micro(at[0]), d.micro(at[1]), d.micro(at[2])
}

// micro turns a value of the histogram, which is rounded up, into a duration.
func (d *durations) micro(v int64) time.Duration {
	return min(time.Duration(v)*time.Microsecond, d.max)
}
