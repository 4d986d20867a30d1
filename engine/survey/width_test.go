package survey

import (
	"slices"
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

// Once time is enough again it is no more than was asked for, step by step.
func TestWidthComesBack(t *testing.T) {
	w, width := width{least: 4}, 4
	var widths []int
	for i := range 9 * asMany {
		left := 30_000
		if i >= 4*asMany {
			left = 300
		}
		if now := w.answered(10*time.Millisecond, width, left, 20*time.Second); now != width {
			width = now
			widths = append(widths, now)
		}
	}
	if want := []int{8, 16, 8, 4}; !slices.Equal(widths, want) {
		t.Errorf("%v at once, want %v", widths, want)
	}
}

// What hung while many were asked at once is accused once it was outrun by as many as are
// out at once by then: many more have answered since.
func TestGiveUpAfterTheWidthCameBack(t *testing.T) {
	s := NewSweep(time.Time{}, make([]call.Flight, 10_000), nil, answers.Policy{Width: 4, CallTimeout: answers.Hung}, time.Time{}.Add(20*time.Second), nil)
	s.Asking.Width, s.Width = mostAtOnce, mostAtOnce
	begun := func(ms int) answers.Outcome {
		at := time.Time{}.Add(time.Duration(ms) * time.Millisecond)
		return answers.Outcome{Flight: call.Flight{Since: at}, At: at.Add(time.Millisecond), Took: time.Millisecond}
	}
	for i := range 10 * asMany {
		place, _ := s.Asking.Next(time.Time{})
		o := begun(i / 100)
		if i == 10*asMany-10 {
			o.Took, o.Err = answers.Hung, timedOut
		} else if i > 10*asMany-10 {
			o = begun(100)
		}
		s.take(place, o)
	}
	s.GiveUp(time.Time{}.Add(3*time.Second), "it is silent")
	if r := s.Result(); s.Asking.Width != 4 || r.Width != mostAtOnce || len(r.Hung) != 1 {
		t.Errorf("%d at once in the end, %d at most, %d hung", s.Asking.Width, r.Width, len(r.Hung))
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

// One object that hangs does not slow down the others: its two seconds are no answer.
func TestHangKeepsWidth(t *testing.T) {
	s := NewSweep(time.Time{}, make([]call.Flight, 10_000), nil, answers.Policy{Width: 4, CallTimeout: answers.Hung}, time.Time{}.Add(time.Second), nil)
	for i := range 10 * asMany {
		place, _ := s.Asking.Next(time.Time{})
		o := answers.Outcome{Took: time.Millisecond}
		if i == 3*asMany {
			o = answers.Outcome{Took: answers.Hung, Err: timedOut}
		}
		s.take(place, o)
	}
	if s.Asking.Width <= 4 {
		t.Errorf("%d at once after one object of many has hung", s.Asking.Width)
	}
}
