package engine

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
)

// examine runs test in a bubble with what an examination of a fake runtime says
// and how long it took.
func examine(t *testing.T, x Examination, prepare func(*fakeRuntime), test func(t *testing.T, r *fakeRuntime, s *Snapshot, took time.Duration)) {
	t.Helper()
	examineWith(t, Config{}, x, prepare, test)
}

func examineWith(t *testing.T, c Config, x Examination, prepare func(*fakeRuntime), test func(t *testing.T, r *fakeRuntime, s *Snapshot, took time.Duration)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		fake := newFake(t)
		prepare(fake)
		c.Runtime = fake
		began := time.Now()
		s, err := Examine(t.Context(), c, x)
		if err != nil {
			t.Fatal(err)
		}
		test(t, fake, s, time.Since(began))
	})
}

func hasPod(t *testing.T, s *Snapshot, name string) *Pod {
	t.Helper()
	i := slices.IndexFunc(s.Pods, func(p *Pod) bool { return p.Name == name })
	if i < 0 {
		t.Fatalf("no pod %s in %v", name, s.Pods)
	}
	return s.Pods[i]
}

func TestExamineHealthyNode(t *testing.T) {
	healthy := func(r *fakeRuntime) {
		pairs(110)(r)
		r.hang()
		r.script("ListPodSandbox", behaviour{delay: 20 * time.Millisecond})
		r.script("ListContainers", behaviour{delay: 30 * time.Millisecond})
	}
	examine(t, Examination{}, healthy, func(t *testing.T, r *fakeRuntime, s *Snapshot, took time.Duration) {
		if limit := 50*time.Millisecond + 83*5*time.Millisecond; took > limit {
			t.Errorf("took %v, want no more than the calls themselves, %v", took, limit)
		}
		if made := r.made(); len(made) != 4+330+1 {
			t.Errorf("%d calls, want each once, and Status again at the end", len(made))
		}
		if !s.Health.Healthy || s.Health.ListedAt.IsZero() || s.Failure != nil || s.StatusErr != nil || s.VersionErr != nil || s.Partial != "" || len(s.InFlight) != 0 {
			t.Errorf("snapshot = %+v", s)
		}
		if n := s.Node; !n.Ready || !n.Known || n.Reason != readyReason {
			t.Errorf("node = %+v", n)
		}
		r50 := s.Relists.History
		if len(r50) != 1 || r50[0].Took != 50*time.Millisecond+330*5*time.Millisecond || r50[0].List != 50*time.Millisecond || r50[0].Inspected != 110 {
			t.Errorf("relists = %+v", s.Relists)
		}
		p := hasPod(t, s, "p042")
		if len(s.Pods) != 110 || p.Status == nil || len(p.Status.Containers) != 2 || p.InspectLast != 15*time.Millisecond || p.Failure != nil || p.Reinspect {
			t.Errorf("pod = %+v", p)
		}
		if s.Counts.Running != 220 || s.Sweep.Done != 330 || s.Version.RuntimeName != "fake" || len(s.Conditions) != 2 || s.Channel.Discarded != 0 {
			t.Errorf("counts %+v, sweep %+v, channel %+v", s.Counts, s.Sweep, s.Channel)
		}
	})
}

func TestExamineHungContainer(t *testing.T) {
	stuck := func(r *fakeRuntime) {
		pairs(110)(r)
		r.hang("p050/log")
	}
	examine(t, Examination{}, stuck, func(t *testing.T, r *fakeRuntime, s *Snapshot, took time.Duration) {
		if took > 5*time.Second {
			t.Errorf("took %v", took)
		}
		if h := s.Sweep.Hung; len(h) != 1 || h[0].InRow < 2 {
			t.Errorf("hung = %+v", h)
		}
		p := hasPod(t, s, "p050")
		if p.Status != nil || !errors.Is(p.StatusErr, call.ErrDeadline) || p.Failure.InRow != 1 || p.InspectLast != 2*time.Second+10*time.Millisecond {
			t.Errorf("pod = %+v", p)
		}
		if !s.Health.Healthy || !s.Node.Ready || len(s.Sweep.Hung) != 1 || s.Relists.History[0].Failures != 1 || s.Relists.Last < 2*time.Second {
			t.Errorf("health %+v, sweep %+v, relists %+v", s.Health, s.Sweep, s.Relists)
		}
	})
}

func TestExamineRuntimeThatIsRestarting(t *testing.T) {
	away := func(r *fakeRuntime) {
		pairs(2)(r)
		for _, op := range []call.Operation{call.Version, call.Status, call.ListPodSandbox} {
			r.script(op.String(), behaviour{err: unavailable(op)})
		}
		time.AfterFunc(700*time.Millisecond, r.behave)
	}
	examine(t, Examination{}, away, func(t *testing.T, r *fakeRuntime, s *Snapshot, took time.Duration) {
		if took != time.Second || !s.Health.Healthy || s.StatusErr != nil || s.VersionErr != nil || s.Sweep.Done != 6 {
			t.Errorf("after %v: health %+v, sweep %+v", took, s.Health, s.Sweep)
		}
	})
}

// A hang that ends while there is time to ask again accuses nobody.
func TestExamineAsksAgain(t *testing.T) {
	stalls := func(r *fakeRuntime) {
		pairs(10)(r)
		r.hang("p005/log")
		time.AfterFunc(3500*time.Millisecond, r.behave)
	}
	examine(t, Examination{}, stalls, func(t *testing.T, r *fakeRuntime, s *Snapshot, took time.Duration) {
		if w := s.Sweep; w.Hung != nil || w.Failed != nil || w.Done != 30 {
			t.Errorf("after %v: sweep %+v", took, w)
		}
		if p := hasPod(t, s, "p005"); p.Status == nil || p.StatusErr != nil || s.Relists.History[0].Failures != 0 {
			t.Errorf("pod %+v, relists %+v", p, s.Relists)
		}
	})
}

func TestExamineSweepsASlowRuntime(t *testing.T) {
	slow := func(r *fakeRuntime) {
		pairs(2)(r)
		r.script("Status", behaviour{delay: 3 * time.Second})
	}
	examine(t, Examination{}, slow, func(t *testing.T, r *fakeRuntime, s *Snapshot, took time.Duration) {
		if took != 3*time.Second || s.Sweep.Refused != "" || s.Sweep.Done != 6 || s.StatusErr != nil || !s.Health.Healthy {
			t.Errorf("after %v: sweep %+v, status %+v", took, s.Sweep, s.StatusErr)
		}
		if p := hasPod(t, s, "p001"); p.Inspected == 0 || s.Relists.Failed != 0 {
			t.Errorf("pod %+v, relists %+v", p, s.Relists)
		}
	})
}

func TestExamineReportsProgress(t *testing.T) {
	var last time.Time
	var seen []int
	progress := func(s *Snapshot) {
		if s.At.Sub(last) < pace {
			t.Errorf("a snapshot only %v after the one before", s.At.Sub(last))
		}
		last = s.At
		if s.Sweep != nil {
			seen = append(seen, s.Sweep.Done)
		}
	}
	slow := func(r *fakeRuntime) {
		pairs(20)(r)
		r.script("ContainerStatus", behaviour{delay: 200 * time.Millisecond})
	}
	examine(t, Examination{Progress: progress}, slow, func(t *testing.T, r *fakeRuntime, s *Snapshot, took time.Duration) {
		if took != 2*time.Second || len(seen) < 10 || !slices.IsSorted(seen) || seen[len(seen)-1] < 40 {
			t.Errorf("after %v: progress %v", took, seen)
		}
	})
}

// What the node shows to stand still is asked for before all else: time may run out.
func TestExamineAsksTheSuspiciousFirst(t *testing.T) {
	slow := func(r *fakeRuntime) {
		pairs(110)(r)
		r.script("ContainerStatus", behaviour{delay: 50 * time.Millisecond})
		r.script("ContainerStatus p109/app", behaviour{delay: time.Hour})
	}
	for _, took := range []time.Duration{0, 300 * time.Millisecond} {
		l := &looker{report: func(int) *evidence.Report {
			time.Sleep(took)
			return &evidence.Report{Processes: evidence.Processes{Containers: map[string][]evidence.Process{"p109/app": {{PID: 7, State: evidence.Uninterrupted}}}}}
		}}
		examineWith(t, Config{Look: l.look}, Examination{Deadline: 3 * time.Second}, slow, func(t *testing.T, _ *fakeRuntime, s *Snapshot, _ time.Duration) {
			if s.Sweep.Done == s.Sweep.Total || len(s.Sweep.Hung) != 1 || s.Sweep.Hung[0].ID != "p109/app" {
				t.Errorf("a look of %v: %d of %d asked, %v hung", took, s.Sweep.Done, s.Sweep.Total, s.Sweep.Hung)
			}
		})
	}
}

// What stands in several pods is asked for once as well, and each of these has the answer.
func TestExamineAsksOnceForWhatIsInManyPods(t *testing.T) {
	for _, fails := range []bool{false, true} {
		examine(t, Examination{}, func(r *fakeRuntime) {
			for i := range 50 {
				r.pod(fmt.Sprintf("p%02d", i), "app")
				r.containers[i].ID = "one"
			}
			r.statuses["one"] = pleg.ContainerStatus{StartedAt: time.Now()}
			if fails {
				r.script("ContainerStatus one", behaviour{err: errors.New("it is broken")})
			}
		}, func(t *testing.T, r *fakeRuntime, s *Snapshot, _ time.Duration) {
			if s.Sweep.Total != 51 || s.Sweep.Done != 51 {
				t.Errorf("%d of %d asked, want 51", s.Sweep.Done, s.Sweep.Total)
			}
			for _, p := range s.Pods {
				switch {
				case !fails && (p.Status == nil || len(p.Status.Containers) != 1):
					t.Errorf("%v has the status %+v", p, p.Status)
				case fails && (p.Failure == nil || p.Failure.Pod != p.PodRef):
					t.Errorf("%v failed with %+v", p, p.Failure)
				}
			}
		})
	}
}
