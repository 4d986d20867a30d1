package engine

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/answers"
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

func callsOf(calls []string, op call.Operation) (n int) {
	for _, c := range calls {
		if strings.HasPrefix(c, op.String()) {
			n++
		}
	}
	return n
}

func TestExamineWhereTheRuntimeGoesAwayMidSweep(t *testing.T) {
	dies := func(r *fakeRuntime) {
		steady(r)
		time.AfterFunc(700*time.Millisecond, func() {
			for _, op := range call.Operations() {
				r.script(op.String(), behaviour{err: unavailable(op)})
			}
		})
	}
	examine(t, Examination{}, dies, func(t *testing.T, r *fakeRuntime, s *Snapshot, took time.Duration) {
		for _, f := range []*answers.Failure{s.StatusErr, s.VersionErr} {
			if f == nil || !errors.Is(f.Err, call.ErrUnavailable) || f.InRow != 1+retries || f.At.Sub(s.Started) < 700*time.Millisecond {
				t.Errorf("failure = %+v", f)
			}
		}
		w := s.Sweep
		if !w.CutOff || w.GivenUp != wentAway || w.Done >= w.Total || w.Failed != nil || w.Hung != nil || took > 2*time.Second {
			t.Errorf("after %v: sweep %+v", took, w)
		}
		made := r.made()
		if n := callsOf(made, call.Status); n != 4 {
			t.Errorf("%d Status, want one, and three tries of the second", n)
		}
		if after := len(made) - w.Done; after > 4+2*4+4 {
			t.Errorf("%d calls beside those that were answered: it went on", after)
		}
		if i := slices.IndexFunc(s.Pods, func(p *Pod) bool { return p.StatusErr != nil }); i >= 0 {
			t.Errorf("accused: %+v", s.Pods[i])
		}
	})
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

// What nobody listened for is not asked for a second time at once.
func TestExamineWaitsBeforeTheSecondAsking(t *testing.T) {
	flaky := func(r *fakeRuntime) {
		pairs(2)(r)
		r.script("ContainerStatus p000/app", behaviour{err: unavailable(call.ContainerStatus)})
		time.AfterFunc(answers.RetryAfter-time.Millisecond, r.behave)
	}
	examine(t, Examination{}, flaky, func(t *testing.T, r *fakeRuntime, s *Snapshot, took time.Duration) {
		if s.Sweep.Flaky != 1 || s.Sweep.Failed != nil || took > answers.RetryAfter+glance {
			t.Errorf("after %v: sweep %+v", took, s.Sweep)
		}
	})
}

func TestExamineOfADeadlockMidSweep(t *testing.T) {
	for _, deadline := range []time.Duration{5 * time.Second, 20 * time.Second} {
		for name, first := range map[string][]string{"nothing else": nil, "one that hung before": {"p000/app"}} {
			stuck := func(r *fakeRuntime) {
				steady(r)
				for _, id := range first {
					r.script("ContainerStatus "+id, behaviour{hang: true})
				}
				time.AfterFunc(990*time.Millisecond, func() { r.all(behaviour{hang: true}) })
			}
			examine(t, Examination{Deadline: deadline}, stuck, func(t *testing.T, r *fakeRuntime, s *Snapshot, took time.Duration) {
				if f := s.StatusErr; f == nil || !errors.Is(f.Err, call.ErrDeadline) || f.Since.Before(s.Sweep.Began) || s.VersionErr != nil {
					t.Errorf("%s: status %+v, version %+v", name, s.StatusErr, s.VersionErr)
				}
				w := s.Sweep
				if !w.CutOff || w.GivenUp != silentToo || !slices.Equal(ids(w.Hung), first) || w.Done >= w.Total || len(s.InFlight) != 0 {
					t.Errorf("%s: sweep %+v, in flight %+v", name, w, s.InFlight)
				}
				if want := 4200 * time.Millisecond; took > want {
					t.Errorf("%s: took %v, want no more than %v", name, took, want)
				}
				accused := slices.DeleteFunc(slices.Clone(s.Pods), func(p *Pod) bool { return p.StatusErr == nil })
				if len(accused) != len(first) {
					t.Errorf("%s: %d pods are accused", name, len(accused))
				}
			})
		}
	}
}

// A runtime that stands still before the very last answers is none the less
// asked whether it does.
func TestExamineOfADeadlockAtTheEndOfTheSweep(t *testing.T) {
	stuck := func(r *fakeRuntime) {
		steady(r)
		time.AfterFunc(2230*time.Millisecond, func() { r.all(behaviour{hang: true}) })
	}
	examine(t, Examination{}, stuck, func(t *testing.T, r *fakeRuntime, s *Snapshot, took time.Duration) {
		if s.StatusErr == nil || s.Sweep.GivenUp != silentToo || s.Sweep.Hung != nil || s.Sweep.Done != 448 {
			t.Errorf("after %v: status %+v, sweep %+v", took, s.StatusErr, s.Sweep)
		}
		if i := slices.IndexFunc(s.Pods, func(p *Pod) bool { return p.StatusErr != nil }); i >= 0 {
			t.Errorf("accused: %+v", s.Pods[i])
		}
	})
}

func TestExamineGoesOnWhereManyHangAlone(t *testing.T) {
	var stuck []string
	for i := range 20 {
		stuck = append(stuck, fmt.Sprintf("p%03d/app", i))
	}
	many := func(r *fakeRuntime) {
		pairs(30)(r)
		r.hang(stuck...)
	}
	examine(t, Examination{}, many, func(t *testing.T, r *fakeRuntime, s *Snapshot, took time.Duration) {
		if w := s.Sweep; w.CutOff || w.Done != 90 || !slices.Equal(ids(w.Hung), stuck) || s.StatusErr != nil || took > 13*time.Second {
			t.Errorf("after %v: sweep %+v, status %+v", took, w, s.StatusErr)
		}
		if n := callsOf(r.made(), call.Status); n < 2 || n > 7 {
			t.Errorf("%d Status in 10 s", n)
		}
	})
}

// Status hanging alone accuses nobody and clears nobody.
func TestExamineWhereOnlyStatusHangsLater(t *testing.T) {
	stuck := []string{"p000/app", "p001/app", "p002/app", "p003/app", "p020/app"}
	later := func(r *fakeRuntime) {
		pairs(200)(r)
		r.script("ContainerStatus", behaviour{delay: 40 * time.Millisecond})
		r.script("PodSandboxStatus", behaviour{delay: 40 * time.Millisecond})
		for _, id := range stuck {
			r.script("ContainerStatus "+id, behaviour{hang: true})
		}
		time.AfterFunc(10*time.Millisecond, func() { r.script("Status", behaviour{hang: true}) })
	}
	examine(t, Examination{Width: 5}, later, func(t *testing.T, r *fakeRuntime, s *Snapshot, took time.Duration) {
		if w := s.Sweep; w.CutOff || w.Done != 600 || !slices.Equal(ids(w.Hung), stuck) {
			t.Errorf("after %v: sweep %+v", took, w)
		}
		if s.StatusErr == nil {
			t.Error("so many hung, and Status was not asked for again")
		}
	})
}

// What the end of the examination cuts short says nothing of the runtime.
func TestExamineIsCutOffBeforeItKnows(t *testing.T) {
	stuck := func(r *fakeRuntime) {
		pairs(150)(r)
		r.script("ContainerStatus", behaviour{delay: 40 * time.Millisecond})
		r.script("PodSandboxStatus", behaviour{delay: 40 * time.Millisecond})
		time.AfterFunc(2900*time.Millisecond, func() { r.all(behaviour{hang: true}) })
	}
	examine(t, Examination{Deadline: 5 * time.Second}, stuck, func(t *testing.T, r *fakeRuntime, s *Snapshot, took time.Duration) {
		if w := s.Sweep; !w.CutOff || w.GivenUp != "" || w.Hung != nil || s.StatusErr != nil || took > 5*time.Second {
			t.Errorf("after %v: sweep %+v, status %+v", took, w, s.StatusErr)
		}
	})
}

func TestExamineWhereVersionHangs(t *testing.T) {
	hangs := func(r *fakeRuntime) {
		pairs(60)(r)
		r.hang("p050/log")
		r.script("Version", behaviour{hang: true})
	}
	examine(t, Examination{}, hangs, func(t *testing.T, r *fakeRuntime, s *Snapshot, took time.Duration) {
		if w := s.Sweep; w.Refused != "" || w.Done != 180 || !slices.Equal(ids(w.Hung), []string{"p050/log"}) {
			t.Errorf("after %v: sweep %+v", took, w)
		}
		if s.VersionErr == nil || !errors.Is(s.VersionErr.Err, call.ErrDeadline) || took != 8*time.Second {
			t.Errorf("after %v: version %+v", took, s.VersionErr)
		}
	})
	both := func(r *fakeRuntime) {
		hangs(r)
		r.script("Status", behaviour{err: notFound(call.Status)})
	}
	examine(t, Examination{}, both, func(t *testing.T, r *fakeRuntime, s *Snapshot, took time.Duration) {
		if !strings.HasPrefix(s.Sweep.Refused, "Version: no reply for 1") {
			t.Errorf("sweep = %+v", s.Sweep)
		}
	})
}
