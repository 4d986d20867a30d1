package engine

import (
	"slices"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/call"
)

// steady lets every status call take 20 ms: the sweep of 150 pods takes 2.25 s.
func steady(r *fakeRuntime) {
	pairs(150)(r)
	r.script("ContainerStatus", behaviour{delay: 20 * time.Millisecond})
	r.script("PodSandboxStatus", behaviour{delay: 20 * time.Millisecond})
}

// all sets what all calls but Version do.
func (r *fakeRuntime) all(b behaviour) {
	for _, op := range call.Operations()[1:] {
		r.script(op.String(), b)
	}
}

func TestExamineWhereTheRuntimeComesBack(t *testing.T) {
	restarts := func(r *fakeRuntime) {
		steady(r)
		r.script("ContainerStatus p149/app", behaviour{hang: true})
		time.AfterFunc(700*time.Millisecond, func() {
			for _, op := range call.Operations() {
				r.script(op.String(), behaviour{err: unavailable(op)})
			}
		})
		time.AfterFunc(1500*time.Millisecond, func() {
			for _, op := range call.Operations() {
				r.script(op.String(), behaviour{delay: 20 * time.Millisecond})
			}
		})
	}
	examine(t, Examination{}, restarts, func(t *testing.T, r *fakeRuntime, s *Snapshot, took time.Duration) {
		w := s.Sweep
		if w.CutOff || w.Done != 450 || w.Flaky == 0 || w.Failed != nil || !slices.Equal(ids(w.Hung), []string{"p149/app"}) {
			t.Errorf("after %v: sweep %+v", took, w)
		}
		if s.StatusErr != nil || s.VersionErr != nil {
			t.Errorf("status %+v, version %+v", s.StatusErr, s.VersionErr)
		}
	})
}
