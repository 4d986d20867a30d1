package quantile

import (
	"slices"
	"testing"
	"time"
)

// As Prometheus counts, what takes as long as a bound is in the bucket of that bound.
func TestHistogram(t *testing.T) {
	var h Histogram
	for _, took := range []time.Duration{0, 5 * time.Millisecond, 6 * time.Millisecond, time.Second, 31 * time.Second, 4 * time.Minute, time.Hour} {
		h.Add(took)
	}
	early := h
	h.Add(time.Minute)
	if early.Count() != 7 || early.Sum != time.Hour+4*time.Minute+32*time.Second+11*time.Millisecond {
		t.Errorf("%d took %v", early.Count(), early.Sum)
	}
	upTo := early.UpTo(RelistBounds)
	for bound, want := range map[float64]uint64{.005: 2, .01: 3, .5: 3, 1: 4, 30: 4, 60: 5, 180: 5, 240: 6} {
		if upTo[bound] != want {
			t.Errorf("up to %v s: %d, want %d", bound, upTo[bound], want)
		}
	}
}

// A bound at which nothing is counted would be left out of what is told.
func TestBoundsAreCounted(t *testing.T) {
	if !slices.IsSorted(bounds[:]) {
		t.Error("bounds are in no order")
	}
	for _, some := range [][]float64{RelistBounds, CallBounds} {
		if upTo := new(Histogram).UpTo(some); len(upTo) != len(some) {
			t.Errorf("%v: only %d of them are counted", some, len(upTo))
		}
	}
}
