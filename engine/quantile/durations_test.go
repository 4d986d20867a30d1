package quantile

import (
	"testing"
	"time"
)

func TestDurations(t *testing.T) {
	var d Durations
	if a, b, c := d.Quantiles(); a != 0 || b != 0 || c != 0 {
		t.Errorf("quantiles of nothing = %v, %v, %v", a, b, c)
	}
	d.Add(-time.Second)
	d.Add(5 * time.Hour)
	if _, _, p99 := d.Quantiles(); d.Max() != 5*time.Hour || p99 < longest || p99 > longest*101/100 {
		t.Errorf("max %v, p99 %v", d.Max(), p99)
	}
}

// A duration that is as long as a limit is in the bucket behind it, and what was read before
// does not change.
func TestBuckets(t *testing.T) {
	var d Durations
	for _, took := range []time.Duration{0, 299 * time.Microsecond, 300 * time.Microsecond, 2 * time.Second, 30 * time.Second, time.Hour, 5 * time.Hour} {
		d.Add(took)
	}
	early := d.Buckets()
	d.Add(time.Hour)
	if want := (Buckets{0: 2, 1: 1, 8: 1, 11: 3}); early != want {
		t.Errorf("buckets %v, want %v", early, want)
	}
	last := len(early) - 1
	if limit, shorter := early.Limit(8); limit != 3*time.Second || !shorter {
		t.Errorf("the bucket of 2s ends at %v: %v", limit, shorter)
	}
	if limit, shorter := early.Limit(last); limit != 30*time.Second || shorter {
		t.Errorf("the last one begins at %v: %v", limit, shorter)
	}
}
