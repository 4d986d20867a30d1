// Package quantile keeps distributions of durations, in little memory.
package quantile

import (
	"encoding/binary"
	"errors"
	"slices"
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
		d.histogram = newHistogram()
	}
	took = max(took, 0)
	d.max = max(d.max, took)
	// In range by construction: the histogram cannot refuse it.
	_ = d.histogram.RecordValue(min(took, longest).Microseconds())
}

func newHistogram() *hdrhistogram.Histogram {
	return hdrhistogram.New(1, longest.Microseconds(), significant)
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

// MarshalBinary returns all of d, for a checkpoint: Max in nanoseconds, then pairs of a duration
// in microseconds and how many had it, all as unsigned varints. An empty d is no bytes at all.
func (d Durations) MarshalBinary() (b []byte, err error) {
	if d.histogram == nil {
		return nil, nil
	}
	b = binary.AppendUvarint(b, uint64(d.max))
	for _, bar := range d.histogram.Distribution() {
		if bar.Count > 0 {
			b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(bar.From)), uint64(bar.Count))
		}
	}
	return b, nil
}

// UnmarshalBinary sets d to what MarshalBinary wrote. It refuses what it did not write.
func (d *Durations) UnmarshalBinary(b []byte) error {
	*d = Durations{}
	if len(b) == 0 {
		return nil
	}
	next := func() int64 {
		v, n := binary.Uvarint(b)
		b = b[max(n, 0):]
		if n <= 0 {
			return -1
		}
		return int64(v)
	}
	restored := Durations{max: time.Duration(next()), histogram: newHistogram()}
	for len(b) > 0 {
		took, count := next(), next()
		if took < 0 || count <= 0 || restored.histogram.RecordValues(took, count) != nil {
			return errors.New("decode durations: no duration and count")
		}
	}
	if restored.max < 0 || restored.Count() <= 0 {
		return errors.New("decode durations: nothing is counted")
	}
	*d = restored
	return nil
}

// bounds are where a [Histogram] counts, in seconds: where the kubelet's own histograms of relists
// and of calls to the runtime do, and up to 4 min, between which and 10 s, or 5 min, those tell
// nothing apart. (kubelet_pleg_relist_duration_seconds, kubelet_runtime_operations_duration_seconds)
var bounds = [...]float64{
	.005, .01, .0125, .025, .03125, .05, .078125, .1, .1953125, .25, .48828125, .5, 1, 1.220703125, 2.5, 3.0517578125, 5,
	7.62939453125, 10, 19.073486328125, 30, 47.6837158203125, 60, 119.20928955078125, 120, 180, 240, 298.0232238769531, 745.0580596923828,
}

// RelistBounds are those of the kubelet's histogram of relists, and on from there.
var RelistBounds = []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120, 180, 240}

// CallBounds are those of the kubelet's histogram of calls, and some more of half a minute to four.
var CallBounds = []float64{
	.005, .0125, .03125, .078125, .1953125, .48828125, 1.220703125, 3.0517578125, 7.62939453125, 19.073486328125,
	30, 47.6837158203125, 60, 119.20928955078125, 120, 180, 240, 298.0232238769531, 745.0580596923828,
}

// A Histogram is a distribution as Prometheus has it. It is a value, so that a reader keeps one
// at no cost.
type Histogram struct {
	Sum    time.Duration
	Counts [len(bounds) + 1]uint64 // those as long as a bound, and longer than the one before; the last one the rest
}

// Add takes in one more.
func (h *Histogram) Add(took time.Duration) {
	h.Sum += took
	i, _ := slices.BinarySearch(bounds[:], took.Seconds())
	h.Counts[i]++
}

// Count returns how many there are.
func (h *Histogram) Count() (n uint64) {
	for _, c := range h.Counts {
		n += c
	}
	return n
}

// UpTo returns how many took no longer than each of some bounds, which are [RelistBounds] or
// [CallBounds].
func (h *Histogram) UpTo(some []float64) map[float64]uint64 {
	all, n := make(map[float64]uint64, len(some)), uint64(0)
	for i, bound := range bounds {
		n += h.Counts[i]
		if slices.Contains(some, bound) {
			all[bound] = n
		}
	}
	return all
}
