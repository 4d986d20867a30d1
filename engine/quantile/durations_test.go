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

// A checkpoint holds all of a distribution, and bytes of something else are refused.
func TestDurationsInACheckpoint(t *testing.T) {
	var d, restored Durations
	for want := range 3 { // empty, with one, with two
		b, err := d.MarshalBinary()
		if err != nil || (len(b) == 0) != (want == 0) {
			t.Fatalf("%d: %d bytes, %v", want, len(b), err)
		}
		if err := restored.UnmarshalBinary(b); err != nil || restored.Count() != int64(want) || restored.Max() != d.Max() || restored.At(1) != d.At(1) {
			t.Errorf("%d: restored %d, max %v, %v", want, restored.Count(), restored.Max(), err)
		}
		restored.Add(time.Minute) // it goes on
		d.Add(time.Duration(want+1) * 5 * time.Hour)
	}
	for _, b := range []string{"\x01", "\x01\x01", "\x01\x01\x00", "\xff\xff", "\x01\xff\xff\xff\xff\xff\x01\x01", "\x01\x01\x01\xff"} {
		if err := restored.UnmarshalBinary([]byte(b)); err == nil {
			t.Errorf("%q is taken", b)
		}
	}
}
