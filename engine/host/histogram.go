package host

import (
	"maps"
	"math"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/evidence"
)

// A histogram is a Prometheus histogram. The zero value is an empty one.
type histogram struct {
	buckets map[float64]float64 // how many values were at most the key
	count   float64
	sum     float64 // seconds
}

// add takes in one series of the histogram, without the name they share.
func (h *histogram) add(suffix string, upTo float64, value float64) {
	switch suffix {
	case "_count":
		h.count += value
	case "_sum":
		h.sum += value
	case "_bucket":
		if h.buckets == nil {
			h.buckets = map[float64]float64{}
		}
		h.buckets[upTo] += value
	}
}

// timing sums h up.
func (h *histogram) timing() evidence.Timing {
	t := evidence.Timing{Count: whole(h.count), Sum: seconds(h.sum)}
	var p50, p99 float64
	p50, _ = h.quantile(0.50)
	p99, t.Beyond = h.quantile(0.99)
	t.P50, t.P99 = seconds(p50), seconds(p99)
	return t
}

// quantile returns the value below which the share q of all values lies, as if
// those of one bucket were spread evenly over it. If it lies in the bucket
// without a bound, beyond is true and the value is the greatest bound there is.
func (h *histogram) quantile(q float64) (value float64, beyond bool) {
	if whole(h.count) == 0 {
		return 0, false
	}
	rank := q * h.count
	var lower, below float64
	for _, upper := range slices.Sorted(maps.Keys(h.buckets)) {
		upTo := max(h.buckets[upper], below) // fewer than in the bucket before would make no sense
		if math.IsInf(upper, 1) {
			break
		}
		if upTo >= rank && upTo > below {
			return lower + (upper-lower)*(rank-below)/(upTo-below), false
		}
		lower, below = upper, upTo
	}
	return lower, true
}

// whole returns a count as a number that fits, 0 for what is none.
func whole(v float64) uint64 {
	if v >= 1<<63 {
		return 1 << 63
	}
	if v > 0 { // false for NaN
		return uint64(v)
	}
	return 0
}

// seconds returns a length of time that fits, 0 for what is none.
func seconds(v float64) time.Duration {
	if ns := v * float64(time.Second); ns < math.MaxInt64 && ns > math.MinInt64 {
		return time.Duration(ns)
	}
	switch {
	case v > 0:
		return math.MaxInt64
	case v < 0:
		return math.MinInt64
	}
	return 0
}
