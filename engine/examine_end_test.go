package engine

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plegtop/plegtop/engine/call"
)

// Whatever it is doing when its context ends, it returns at once with what there
// is, and leaves no call behind.
func TestExamineEndsWithItsContextInEveryPhase(t *testing.T) {
	hang := behaviour{hang: true}
	tooLarge := behaviour{err: &call.Error{Op: call.ListContainers, Kind: call.ErrTooLarge, Code: "ResourceExhausted"}}
	phases := map[string]map[string]behaviour{
		"Version":          {"Version": hang},
		"Status":           {"Status": hang},
		"first list":       {"ListPodSandbox": hang},
		"second list":      {"ListContainers": hang},
		"wait for a retry": {"ListPodSandbox": {err: unavailable(call.ListPodSandbox)}},
		"pod by pod":       {"ListContainers": tooLarge, "ListContainers uid-p001": hang},
		"sweep":            {"ContainerStatus": hang},
		"everything":       {"Version": hang, "Status": hang, "ListPodSandbox": hang},
	}
	for name, script := range phases {
		synctest.Test(t, func(t *testing.T) {
			fake := newFake(t)
			pairs(2)(fake)
			for key, b := range script {
				fake.script(key, b)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			defer cancel()
			began := time.Now()
			s, err := Examine(ctx, Config{Runtime: fake}, Examination{})
			if took := time.Since(began); err != nil || s == nil || took != 300*time.Millisecond {
				t.Errorf("%s: after %v: %v", name, took, err)
			}
			synctest.Wait()
			fake.mu.Lock()
			defer fake.mu.Unlock()
			if len(fake.out) != 0 {
				t.Errorf("%s: left behind: %v", name, fake.out)
			}
		})
	}
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
		if p := hasPod(t, s, "p029"); p.Status != nil || p.StatusErr != nil || p.Inspected != 0 || p.Failure != nil {
			t.Errorf("a pod that was not asked = %+v", p)
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

// Where there is no time for a further try, the last one tells: nobody is there.
func TestExamineTellsWhatTheLastTryBrought(t *testing.T) {
	refuses := func(r *fakeRuntime) {
		for _, op := range []call.Operation{call.Version, call.Status, call.ListPodSandbox} {
			r.script(op.String(), behaviour{err: unavailable(op)})
		}
	}
	examine(t, Examination{Deadline: 200 * time.Millisecond}, refuses, func(t *testing.T, _ *fakeRuntime, s *Snapshot, took time.Duration) {
		if s.Failure == nil || !errors.Is(s.Failure.Err, call.ErrUnavailable) || s.StatusErr == nil || !errors.Is(s.StatusErr.Err, call.ErrUnavailable) {
			t.Errorf("after %v: list %+v, Status %+v", took, s.Failure, s.StatusErr)
		}
	})
}
