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
	"github.com/plegtop/plegtop/engine/pleg"
)

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
		{"sandboxes hang", "ListPodSandbox", behaviour{hang: true}, call.ListPodSandbox, 6, 0, "the containers only: ListPodSandbox gave no answer", 12 * time.Second},
		{"sandboxes fail", "ListPodSandbox", behaviour{err: notFound(call.ListPodSandbox)}, call.ListPodSandbox, 6, 0, "the containers only: ListPodSandbox failed", 0},
		{"sandboxes are slow to fail", "ListPodSandbox", behaviour{delay: 7 * time.Second, err: notFound(call.ListPodSandbox)}, call.ListPodSandbox, 6, 0, "the containers only: ListPodSandbox failed", 7 * time.Second},
		{"containers hang", "ListContainers", behaviour{hang: true}, call.ListContainers, 0, 3, "the sandboxes only: ListContainers gave no answer", 16 * time.Second},
		{"the list of all containers hangs", "ListContainers ", behaviour{hang: true}, call.ListContainers, 6, 3, "the list of all containers gave no answer, so they were listed pod by pod: 3 of 3 pods", 12 * time.Second},
		{"runtime is away", "ListContainers", behaviour{err: unavailable(call.ListContainers)}, call.ListContainers, 0, 3, "the sandboxes only: ListContainers failed", 2 * time.Second},
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

// The pod whose list alone hangs, while others' are answered, holds up the list of all.
func TestExamineNamesThePodWhoseListHangs(t *testing.T) {
	for _, hangs := range [][]string{{"uid-p002"}, {"uid-p000"}, {"uid-p000", "uid-p001", "uid-p002", "uid-p003"}} {
		lists := func(r *fakeRuntime) {
			pairs(4)(r)
			for i := range 4 {
				r.script(fmt.Sprintf("ListContainers uid-p%03d", i), behaviour{})
			}
			r.script("ListContainers", behaviour{hang: true})
			for _, uid := range hangs {
				r.script("ListContainers "+uid, behaviour{hang: true})
			}
		}
		examine(t, Examination{}, lists, func(t *testing.T, r *fakeRuntime, s *Snapshot, took time.Duration) {
			want := []pleg.PodRef{ref(hangs[0][4:])}
			if len(hangs) > 1 { // nothing tells one from the rest
				want = nil
			}
			if !slices.Equal(s.Holders, want) || took > 16500*time.Millisecond {
				t.Errorf("%v: holders %v after %v: %s", hangs, s.Holders, took, s.Partial)
			}
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
		if took != answers.ByPodFor || !strings.HasSuffix(s.Partial, ": 4 of 10 pods") || s.Counts.Containers != 8 || s.Sweep.Done != 18 {
			t.Errorf("after %v: %q, %+v, sweep %+v", took, s.Partial, s.Counts, s.Sweep)
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
				lists, out = lists+answers.Grace+atEnd, 3
			}
			if took != lists || s.Pods != nil || s.Sweep.Refused == "" || len(s.InFlight) != out {
				t.Errorf("deaf %v: after %v: pods %v, sweep %+v, in flight %+v", deaf, took, s.Pods, s.Sweep, s.InFlight)
			}
			for _, f := range []*answers.Failure{s.Failure, s.StatusErr, s.VersionErr} {
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

// A list that the deadline cut off before its silence meant anything has not failed.
func TestExamineAccusesNoListThatItCutShort(t *testing.T) {
	slow := func(r *fakeRuntime) {
		r.pod("web", "app")
		r.script("ListContainers", behaviour{delay: time.Hour})
	}
	examine(t, Examination{Deadline: 500 * time.Millisecond}, slow, func(t *testing.T, _ *fakeRuntime, s *Snapshot, _ time.Duration) {
		if s.Failure != nil || !s.Health.ListedAt.IsZero() {
			t.Errorf("%+v, listed at %v", s.Failure, s.Health.ListedAt)
		}
	})
}
