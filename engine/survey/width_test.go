package survey

import (
	"testing"
	"time"
)

// More is asked at once where time runs out, as long as no answer is slower for it.
func TestWidth(t *testing.T) {
	const ms = time.Millisecond
	for name, tt := range map[string]struct {
		left   int
		until  time.Duration
		answer func(width int) time.Duration // how long it takes where so many are asked at once
		want   int
	}{
		"time enough":       {4000, 20 * time.Second, func(int) time.Duration { return 10 * ms }, 4},
		"too little":        {30_000, 20 * time.Second, func(int) time.Duration { return 10 * ms }, 16},
		"far too little":    {90_000, 20 * time.Second, func(int) time.Duration { return 10 * ms }, 32},
		"a little more":     {12_000, 20 * time.Second, func(int) time.Duration { return 10 * ms }, 8},
		"slow answers":      {30_000, 20 * time.Second, func(int) time.Duration { return 100 * ms }, 4},
		"one by one":        {30_000, 20 * time.Second, func(width int) time.Duration { return time.Duration(width) * 2 * ms }, 4},
		"overtaxed by more": {30_000, 20 * time.Second, func(width int) time.Duration { return time.Duration(1+width/16) * 10 * ms }, 4},
	} {
		w, width := width{least: 4}, 4
		for range 10 * asMany {
			took := tt.answer(width)
			tt.left--
			tt.until -= took / time.Duration(width)
			width = w.answered(took, width, tt.left, tt.until)
		}
		if width != tt.want {
			t.Errorf("%s: %d at once, want %d", name, width, tt.want)
		}
	}
}
