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
