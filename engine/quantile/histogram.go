package quantile

import (
	"slices"
	"time"
)

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
