package host

import (
	"maps"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/evidence"
)

// A histogram is a Prometheus histogram whose figures all make sense. Nil is an
// empty one.
type histogram struct {
	buckets map[float64]float64 // how many values were at most the key, without that of no bound
	count   float64
	sum     float64 // seconds
}

// timing sums h up.
func (h *histogram) timing() evidence.Timing {
	if h == nil {
		return evidence.Timing{}
	}
	t := evidence.Timing{Count: uint64(h.count), Sum: seconds(h.sum)}
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
	if uint64(h.count) == 0 {
		return 0, false
	}
	rank := q * h.count
	var lower, below float64
	for _, upper := range slices.Sorted(maps.Keys(h.buckets)) {
		upTo := max(h.buckets[upper], below) // fewer than in the bucket before would make no sense
		if upTo >= rank && upTo > below {
			return lower + (upper-lower)*(rank-below)/(upTo-below), false
		}
		lower, below = upper, upTo
	}
	return lower, true
}

func seconds(v float64) time.Duration { return time.Duration(v * float64(time.Second)) }
