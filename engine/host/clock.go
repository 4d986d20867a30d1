package host

import (
	"context"
	"time"

	"github.com/plegtop/plegtop/engine/evidence"
)

const (
	// leastStep is what counts as a step: below it may be the correction of a
	// clock that is only a little off, or the delay between two readings.
	leastStep = 500 * time.Millisecond

	// mostBetween is how far apart the readings of the two clocks may be.
	mostBetween = 50 * time.Millisecond
)

// A clockPair is the node's two clocks.
type clockPair struct {
	wall func() time.Time
	mono func() time.Duration // since any moment, and never set
}

func realClocks() clockPair {
	began := time.Now()
	return clockPair{
		wall: func() time.Time { return time.Now().Round(0) }, // without its monotonic reading
		mono: func() time.Duration { return time.Since(began) },
	}
}

// read returns the time of both clocks at one moment; ok is false if the program
// was held up between them each time, so that they cannot be compared.
func (c clockPair) read() (wall time.Time, mono time.Duration, ok bool) {
	for range 3 {
		before := c.mono()
		wall = c.wall()
		mono = c.mono()
		if mono-before < mostBetween {
			return wall, mono, true
		}
	}
	return wall, mono, false
}

// clock is the part that tells of steps of the node's clock. It begins to compare
// at once.
func clock(clocks clockPair) part {
	steps := newStepWatch(clocks)
	at := func(r *evidence.Report) *evidence.Clock { return &r.Clock }
	return partOf("clock", at, func(context.Context) evidence.Clock { return steps.look() }, nil) // nothing of it can hang
}

// A stepWatch compares the clocks from look to look. It belongs to one
// goroutine at a time.
type stepWatch struct {
	clocks      clockPair
	isComparing bool      // false until the clocks were read once
	wall        time.Time // at the reading before
	mono        time.Duration

	seen         evidence.Clock
	from, stepAt time.Duration // of the first reading and of the largest step, by mono
}

// newStepWatch begins to compare at once, so that the first look can already
// tell of what happened before it.
func newStepWatch(clocks clockPair) *stepWatch {
	s := &stepWatch{clocks: clocks}
	s.look()
	return s
}

func (s *stepWatch) look() evidence.Clock {
	wall, mono, ok := s.clocks.read()
	if ok {
		s.compare(wall, mono)
	}
	if s.isComparing {
		s.seen.Watched = mono - s.from
	}
	if s.seen.Steps > 0 {
		s.seen.StepAge = mono - s.stepAt
	}
	return s.seen
}

func (s *stepWatch) compare(wall time.Time, mono time.Duration) {
	step := wall.Sub(s.wall) - (mono - s.mono)
	switch {
	case !s.isComparing:
		s.isComparing, s.from = true, mono
	case step.Abs() >= leastStep:
		s.seen.Steps++
		if step.Abs() >= s.seen.Step.Abs() {
			s.seen.Step, s.stepAt = step, mono
		}
	}
	s.wall, s.mono = wall, mono
}
