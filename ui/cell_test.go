package ui

import (
	"testing"
	"time"
)

// TestFiguresStandStill holds that figures at which nobody looks for a second do
// not change each second.
func TestFiguresStandStill(t *testing.T) {
	for d, want := range map[time.Duration]string{0: "now", 4 * time.Second: "now", 5 * time.Second: "5s", 9 * time.Second: "5s", 19 * time.Second: "10s", 3 * time.Minute: "3m"} {
		if got := string(appendLately(nil, d)); got != want {
			t.Errorf("%v ago: %q, want %q", d, got, want)
		}
	}
	for n, want := range map[uint64]uint64{7: 7, 812: 810, 1500: 1500, 14 << 10: 14 << 10, 449<<10 + 5: 440 << 10, 1<<30 - 1: 1000 << 20} {
		if got := coarseBytes(n); got != want {
			t.Errorf("coarseBytes(%d) = %d, want %d", n, got, want)
		}
	}
}
