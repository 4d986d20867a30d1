package host

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine/evidence"
)

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
			s := new(stepWatch)
			got := s.compare(0, 0)
			for _, p := range tt.looks {
				got = s.compare(p.wall, p.mono)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Each look is compared with the reading of the look before it.
func TestStepWatchReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStepWatch()
		var r evidence.Report
		for looks := range 2 {
			time.Sleep(5 * time.Second)
			put, err := s.read(t.Context(), nil)
			if put(&r); err != nil || r.Clock != (evidence.Clock{Watched: time.Duration(looks+1) * 5 * time.Second}) {
				t.Errorf("%+v, %v after %d looks", r.Clock, err, looks+1)
			}
		}
	})
}
