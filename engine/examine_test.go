package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

// examine runs test in a bubble with what an examination of a fake runtime says
// and how long it took.
func examine(t *testing.T, x Examination, prepare func(*fakeRuntime), test func(t *testing.T, r *fakeRuntime, s *Snapshot, took time.Duration)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		fake := newFake(t)
		prepare(fake)
		began := time.Now()
		s, err := Examine(t.Context(), Config{Runtime: fake}, x)
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
		if made := r.made(); len(made) != 4+330 {
			t.Errorf("%d calls, want each once", len(made))
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
		if len(s.Pods) != 110 || p.Status == nil || len(p.Status.Containers) != 2 || p.InspectLast != 15*time.Millisecond || p.Failures != 0 || p.Reinspect {
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
		if took > 4*time.Second {
			t.Errorf("took %v", took)
		}
		p := hasPod(t, s, "p050")
		if p.Status != nil || !errors.Is(p.StatusErr, call.ErrDeadline) || p.Failures != 1 || p.InspectLast != 2*time.Second+10*time.Millisecond {
			t.Errorf("pod = %+v", p)
		}
		if !s.Health.Healthy || !s.Node.Ready || len(s.Sweep.Hung) != 1 || s.Relists.History[0].Failures != 1 || s.Relists.Last < 2*time.Second {
			t.Errorf("health %+v, sweep %+v, relists %+v", s.Health, s.Sweep, s.Relists)
		}
	})
}

func TestExamineIsCutOffByItsDeadline(t *testing.T) {
	all := func(r *fakeRuntime) {
		pairs(30)(r)
		r.exit("p000/app", 0, "Completed")
		r.script("ContainerStatus", behaviour{hang: true})
	}
	examine(t, Examination{Deadline: 7 * time.Second}, all, func(t *testing.T, r *fakeRuntime, s *Snapshot, took time.Duration) {
		w := s.Sweep
		if took > 7*time.Second || !w.CutOff || w.Done >= w.Total || len(w.Hung) != 12 || len(s.InFlight) != 4 {
			t.Errorf("after %v: sweep %+v, in flight %+v", took, w, s.InFlight)
		}
		if slices.Contains(ids(w.Hung), "p000/app") {
			t.Error("an exited container was asked before running ones")
		}
		if p := hasPod(t, s, "p029"); p.Status != nil || p.StatusErr != nil || p.Inspected != 0 || p.Failures != 0 {
			t.Errorf("a pod that was not asked = %+v", p)
		}
	})
}

func TestExamineWhereListsFail(t *testing.T) {
	tooLarge := &call.Error{Op: call.ListContainers, Kind: call.ErrTooLarge, Code: "ResourceExhausted", Text: "20 MiB"}
	tests := []struct {
		name       string
		key        string
		script     behaviour
		failed     call.Operation
		containers int
		sandboxes  int
		partial    string
		took       time.Duration
	}{
		{"sandboxes hang", "ListPodSandbox", behaviour{hang: true}, call.ListPodSandbox, 6, 0, "the containers only: ListPodSandbox gave no answer", 8 * time.Second},
		{"sandboxes fail", "ListPodSandbox", behaviour{err: notFound(call.ListPodSandbox)}, call.ListPodSandbox, 6, 0, "the containers only: ListPodSandbox failed", 0},
		{"containers hang", "ListContainers", behaviour{hang: true}, call.ListContainers, 0, 3, "the sandboxes only: ListContainers gave no answer", 8 * time.Second},
		{"runtime is away", "ListContainers", behaviour{err: unavailable(call.ListContainers)}, call.ListContainers, 0, 3, "the sandboxes only: ListContainers failed", time.Second},
		{"containers too large", "ListContainers ", behaviour{err: tooLarge}, call.ListContainers, 6, 3, "the list of all containers was too large, so they were listed pod by pod: 3 of 3 pods", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			prepare := func(r *fakeRuntime) {
				pairs(3)(r)
				if strings.HasSuffix(tt.key, " ") { // the list of all only
					for i := range 3 {
						r.script(fmt.Sprintf("%suid-p%03d", tt.key, i), behaviour{})
					}
				}
				r.script(strings.TrimSpace(tt.key), tt.script)
			}
			examine(t, Examination{}, prepare, func(t *testing.T, r *fakeRuntime, s *Snapshot, took time.Duration) {
				if s.Failure == nil || s.Failure.Op != tt.failed || s.Partial != tt.partial || took != tt.took {
					t.Errorf("after %v: failure %+v, partial %q", took, s.Failure, s.Partial)
				}
				if s.Health.Healthy || s.Health.Verdict != "pleg has yet to be successful" || s.Node.Message != "PLEG is not healthy: pleg has yet to be successful" {
					t.Errorf("health %+v, node %+v", s.Health, s.Node)
				}
				if s.Counts.Containers != tt.containers || s.Counts.Sandboxes != tt.sandboxes || s.Sweep.Done != tt.containers+tt.sandboxes {
					t.Errorf("counts %+v, sweep %+v", s.Counts, s.Sweep)
				}
				if p := hasPod(t, s, "p001"); p.Status == nil || !s.Relists.History[0].Failed {
					t.Errorf("pod %+v, relists %+v", p, s.Relists)
				}
			})
		})
	}
}

func TestExamineListsPodByPodForALimitedTime(t *testing.T) {
	tooLarge := func(r *fakeRuntime) {
		pairs(10)(r)
		r.script("ListContainers", behaviour{err: &call.Error{Op: call.ListContainers, Kind: call.ErrTooLarge, Code: "ResourceExhausted"}})
		for i := range 10 {
			r.script(fmt.Sprintf("ListContainers uid-p%03d", i), behaviour{delay: 900 * time.Millisecond})
		}
	}
	examine(t, Examination{}, tooLarge, func(t *testing.T, r *fakeRuntime, s *Snapshot, took time.Duration) {
		if took != byPodLimit || !strings.HasSuffix(s.Partial, ": 4 of 10 pods") || s.Counts.Containers != 8 || s.Sweep.Done != 18 {
			t.Errorf("after %v: %q, %+v, sweep %+v", took, s.Partial, s.Counts, s.Sweep)
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

// One answer is enough to be patient with the rest.
func TestExamineWaitsForARuntimeThatLives(t *testing.T) {
	for status, want := range map[time.Duration]time.Duration{2 * time.Second: 7 * time.Second, 4 * time.Second: 3 * time.Second} {
		slow := func(r *fakeRuntime) {
			pairs(2)(r)
			r.script("Status", behaviour{delay: status})
			r.script("ListPodSandbox", behaviour{delay: 7 * time.Second})
		}
		examine(t, Examination{}, slow, func(t *testing.T, r *fakeRuntime, s *Snapshot, took time.Duration) {
			if took != want || (s.Failure == nil) != (want == 7*time.Second) {
				t.Errorf("Status took %v: after %v: failure %+v, want it after %v", status, took, s.Failure, want)
			}
		})
	}
}

func TestExamineWhereAllHangs(t *testing.T) {
	for _, deaf := range []bool{false, true} {
		all := func(r *fakeRuntime) {
			closed := make(chan struct{})
			pairs(2)(r)
			for _, op := range call.Operations() {
				r.script(op.String(), behaviour{hang: true})
				if deaf {
					r.script(op.String(), behaviour{deaf: closed})
				}
			}
			if deaf {
				time.AfterFunc(time.Minute, func() { close(closed) })
			}
		}
		examine(t, Examination{}, all, func(t *testing.T, r *fakeRuntime, s *Snapshot, took time.Duration) {
			lists, out := 3*time.Second, 0
			if deaf {
				lists, out = lists+grace+patienceAtEnd, 3
			}
			if took != lists || s.Pods != nil || s.Sweep.Refused == "" || len(s.InFlight) != out {
				t.Errorf("deaf %v: after %v: pods %v, sweep %+v, in flight %+v", deaf, took, s.Pods, s.Sweep, s.InFlight)
			}
			for _, f := range []*Failure{s.Failure, s.StatusErr, s.VersionErr} {
				if f == nil || !errors.Is(f.Err, call.ErrDeadline) {
					t.Errorf("deaf %v: failure %+v", deaf, f)
				}
			}
			want := "[" + statusNotChecked + ", PLEG is not healthy: pleg has yet to be successful, network state unknown]"
			if s.Node.Message != want || !s.Node.Known {
				t.Errorf("node = %+v", s.Node)
			}
			time.Sleep(time.Minute)
		})
	}
}

func TestExamineRefusesToSweepASlowRuntime(t *testing.T) {
	slow := func(r *fakeRuntime) {
		pairs(2)(r)
		r.script("Status", behaviour{delay: 3 * time.Second})
	}
	examine(t, Examination{}, slow, func(t *testing.T, r *fakeRuntime, s *Snapshot, took time.Duration) {
		if took != 3*time.Second || !strings.HasPrefix(s.Sweep.Refused, "Status has been out for 1") || s.StatusErr != nil || !s.Health.Healthy {
			t.Errorf("after %v: sweep %+v, status %+v", took, s.Sweep, s.StatusErr)
		}
		if p := hasPod(t, s, "p001"); p.Inspected != 0 || s.Relists.Failed != 0 {
			t.Errorf("pod %+v, relists %+v", p, s.Relists)
		}
	})
}

func TestExamineEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := newFake(t)
		fake.script("ListPodSandbox", behaviour{hang: true})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		s, err := Examine(ctx, Config{Runtime: fake}, Examination{})
		if err != nil || time.Since(began) != time.Second || s.Version != fake.version || s.Health.Healthy {
			t.Errorf("after %v: %+v, %v", time.Since(began), s, err)
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

func TestExamineRefusesWhatCannotWork(t *testing.T) {
	for _, x := range []Examination{{Timeout: -1}, {Width: -1}, {Deadline: -1}} {
		if _, err := Examine(t.Context(), Config{Runtime: newFake(t)}, x); err == nil {
			t.Errorf("%+v: no error", x)
		}
	}
	if _, err := Examine(t.Context(), Config{}, Examination{}); err == nil {
		t.Error("no runtime: no error")
	}
}

func TestExamineHandsOnAPanic(t *testing.T) {
	for _, key := range []string{"Version", "ListContainers", "ContainerStatus"} {
		synctest.Test(t, func(t *testing.T) {
			fake := newFake(t)
			pairs(1)(fake)
			fake.script(key, behaviour{panics: "boom"})
			_, err := Examine(t.Context(), Config{Runtime: fake}, Examination{})
			if p, ok := errors.AsType[*PanicError](err); !ok || p.Value != "boom" {
				t.Errorf("%s: error %v", key, err)
			}
		})
	}
}

func TestOldestFirst(t *testing.T) {
	sandboxes := []pleg.ListedSandbox{
		{Pod: ref("new"), Sandbox: pleg.Sandbox{ID: "n", CreatedAt: time.Unix(3, 0)}},
		{Pod: ref("old"), Sandbox: pleg.Sandbox{ID: "o", CreatedAt: time.Unix(1, 0)}},
		{Pod: ref("new"), Sandbox: pleg.Sandbox{ID: "m", CreatedAt: time.Unix(2, 0)}},
	}
	if got := oldestFirst(sandboxes); !slices.Equal(got, []pleg.PodRef{ref("old"), ref("new")}) {
		t.Errorf("order = %v", got)
	}
}
