package survey

import (
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
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

// Where the width shrinks while more calls are out nobody is asked before fewer are.
func TestSweepShrinks(t *testing.T) {
	s := NewSweep(time.Time{}, make([]call.Flight, 10_000), nil, answers.Policy{Width: 4, CallTimeout: answers.Hung}, time.Time{}.Add(time.Second), nil)
	now, took := time.Time{}, 10*time.Millisecond
	var out []int
	most := 0
	for range 20 * asMany {
		for place, more := s.Asking.Next(now); more; place, more = s.Asking.Next(now) {
			out = append(out, place)
		}
		most = max(most, len(out))
		if s.Asking.Width == mostAtOnce {
			took = 100 * time.Millisecond
		}
		s.take(out[0], answers.Outcome{Took: took, At: now})
		out = out[1:]
	}
	if most != mostAtOnce || len(out) >= 2*4 {
		t.Errorf("%d calls were out at once, and %d in the end; want %d and about 4", most, len(out), mostAtOnce)
	}
}
