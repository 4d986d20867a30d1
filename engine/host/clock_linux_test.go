package host

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine/evidence"
)

// setClocks are clocks that go only when they are told to.
type setClocks struct {
	wall time.Time
	mono time.Duration
}

func (c *setClocks) pass(wall, mono time.Duration) {
	c.wall = c.wall.Add(wall)
	c.mono += mono
}

func (c *setClocks) watch() *stepWatch {
	return &stepWatch{readWall: func() time.Time { return c.wall }, readMono: func() time.Duration { return c.mono }}
}

func TestStepWatch(t *testing.T) {
	const look = 5 * time.Second
	type passed struct{ wall, mono time.Duration }
	tests := []struct {
		name  string
		looks []passed
		want  evidence.Clock
	}{
		{"at once", nil, evidence.Clock{}},
		{"both alike", []passed{{look, look}, {look, look}}, evidence.Clock{Watched: 2 * look}},
		{"forward", []passed{{look + time.Hour, look}}, evidence.Clock{Watched: look, Step: time.Hour, Steps: 1}},
		{"back", []passed{{look - time.Minute, look}, {look, look}}, evidence.Clock{Watched: 2 * look, Step: -time.Minute, StepAge: look, Steps: 1}},
		{"the machine slept", []passed{{look + 8*time.Hour, look}, {look, look}}, evidence.Clock{Watched: 2 * look, Step: 8 * time.Hour, StepAge: look, Steps: 1}},
		{"too small", []passed{{look + 499*time.Millisecond, look}, {look - 499*time.Millisecond, look}}, evidence.Clock{Watched: 2 * look}},
		{"just enough", []passed{{look - 500*time.Millisecond, look}}, evidence.Clock{Watched: look, Step: -500 * time.Millisecond, Steps: 1}},
		{"there and back", []passed{{look + time.Hour, look}, {look - time.Hour, look}}, evidence.Clock{Watched: 2 * look, Step: -time.Hour, Steps: 2}},
		{"the largest counts", []passed{{look, look}, {look - time.Hour, look}, {look + time.Second, look}}, evidence.Clock{Watched: 3 * look, Step: -time.Hour, StepAge: look, Steps: 2}},
		{"slewed", []passed{{look + 400*time.Millisecond, look}, {look + 400*time.Millisecond, look}}, evidence.Clock{Watched: 2 * look}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			clocks := &setClocks{wall: time.Unix(1795229011, 0)}
			s := clocks.watch()
			s.look()
			got := s.look()
			for _, p := range tt.looks {
				clocks.pass(p.wall, p.mono)
				got = s.look()
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A program that is held up between the two readings sees no step in it.
func TestStepWatchHeldUp(t *testing.T) {
	clocks := &setClocks{wall: time.Unix(1795229011, 0)}
	heldUp := 0
	s := clocks.watch()
	s.look()
	wall := s.readWall
	s.readWall = func() time.Time {
		now := wall()
		if heldUp > 0 {
			heldUp--
			clocks.pass(time.Second, time.Second)
		}
		return now
	}
	for _, times := range []int{1, 3, 0} {
		heldUp = times
		if got := s.look(); got.Steps != 0 {
			t.Errorf("held up %d times: %+v, want no step", times, got)
		}
	}
	clocks.pass(time.Hour, 0)
	if got := s.look(); got.Steps != 1 || got.Step != time.Hour {
		t.Errorf("after a step: %+v, want it", got)
	}
}
