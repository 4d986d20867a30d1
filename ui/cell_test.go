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

func TestReady(t *testing.T) {
	for _, tt := range []struct {
		running, wanted int
		want            string
	}{
		{0, 0, "0/0"}, {1, 2, "1/2"}, {99, 100, "99/+"}, {0, 411, "0/411"}, {0, 4110, "0/4k"}, {3999, 4110, "3k/4k"}, {7, 20_000, "7/20k"}, {412, 20_000, "412/+"},
	} {
		if got := string(appendReady(nil, tt.running, tt.wanted, 5)); got != tt.want {
			t.Errorf("%d of %d: %q, want %q", tt.running, tt.wanted, got, tt.want)
		}
	}
}
