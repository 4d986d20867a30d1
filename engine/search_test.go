package engine

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
)

// A running engine that is started on a sick node shows what check shows there.
func TestWhatCanBeSeenWhileListsDoNotSucceed(t *testing.T) {
	tooLarge := &call.Error{Op: call.ListContainers, Kind: call.ErrTooLarge, Code: "ResourceExhausted", Text: "20 MiB"}
	garbled := &call.Error{Op: call.ListContainers, Kind: call.ErrUnreadable, Text: "unreadable answer: entry 3"}
	refused := &call.Error{Op: call.ListPodSandbox, Kind: call.ErrOther, Code: "Unknown", Text: "boom"}
	tests := []struct {
		name                  string
		script                map[string]behaviour
		partial               string
		sandboxes, containers int
		hung                  []string
	}{
		{"the containers hang", map[string]behaviour{"ListContainers": {hang: true}, "PodSandboxStatus p001": {hang: true}},
			"the sandboxes only: ListContainers gave no answer", 3, 0, []string{"p001"}},
		{"the containers are too large", map[string]behaviour{
			"ListContainers": {err: tooLarge}, "ListContainers uid-p000": {}, "ListContainers uid-p001": {}, "ListContainers uid-p002": {}, "ContainerStatus p002/log": {hang: true},
		}, "the list of all containers was too large, so they were listed pod by pod: 3 of 3 pods", 3, 6, []string{"p002/log"}},
		{"a container cannot be read", map[string]behaviour{"ListContainers": {err: garbled}, "ListContainers uid-p000": {}, "ListContainers uid-p002": {}},
			"the list of all containers cannot be read, so they were listed pod by pod: 2 of 3 pods", 3, 4, nil},
		{"the sandboxes fail", map[string]behaviour{"ListPodSandbox": {err: refused}, "ContainerStatus p000/app": {hang: true}},
			"the containers only: ListPodSandbox failed", 0, 6, []string{"p000/app"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			sick := func(r *fakeRuntime) {
				pairs(3)(r)
				for key, b := range tt.script {
					r.script(key, b)
				}
			}
			bubble(t, Config{}, sick, func(b *bench) {
				s := b.after(9 * time.Second)
				if s.Partial != tt.partial || s.Counts.Sandboxes != tt.sandboxes || s.Counts.Containers != tt.containers || !s.Health.ListedAt.IsZero() {
					t.Errorf("partial %q, counts %+v, health %+v", s.Partial, s.Counts, s.Health)
				}
				if s.Sweep == nil || !slices.Equal(ids(s.Sweep.Hung), tt.hung) {
					t.Errorf("sweep = %+v", s.Sweep)
				}
				b.fake.behave()
				s = b.after(3 * time.Minute)
				if s.Partial != "" || s.Counts.Sandboxes != 3 || s.Counts.Containers != 6 || !s.Health.Healthy || b.podOf(s, "p001").Status == nil {
					t.Errorf("after it: partial %q, counts %+v, health %+v", s.Partial, s.Counts, s.Health)
				}
			})
		})
	}
}

// A list that has grown too large says nothing of its owners; its pods do.
func TestListThatBecomesTooLargeIsListedPodByPod(t *testing.T) {
	bubble(t, Config{}, pairs(3), func(b *bench) {
		b.after(500 * time.Millisecond)
		b.fake.pod("job", "a", "b", "c")
		b.fake.script("ListContainers", behaviour{err: &call.Error{Op: call.ListContainers, Kind: call.ErrTooLarge, Code: "ResourceExhausted"}})
		for _, name := range []string{"p000", "p001", "p002", "job"} {
			b.fake.script("ListContainers uid-"+name, behaviour{})
		}
		s := b.after(3 * time.Second)
		if len(s.Pods) != 3 || len(s.Beside) != 4 || len(s.Beside[0].Seen().Containers) != 3 || s.Partial != "" {
			t.Errorf("pods %v, beside %v, partial %q", s.Pods, s.Beside, s.Partial)
		}
		b.fake.behave()
		if s := b.after(2 * time.Second); len(s.Pods) != 4 || s.Beside != nil {
			t.Errorf("after it: pods %v, beside %v", s.Pods, s.Beside)
		}
	})
}

// What hung in a sweep is asked for again until it answers.
func TestAHangIsNotHeldAgainstAnObjectThatAnswers(t *testing.T) {
	bubble(t, Config{}, pairs(10), func(b *bench) {
		b.after(500 * time.Millisecond)
		b.fake.hang("p003/app", "p007/log")
		found := b.sweepNow(4 * time.Second)
		if !slices.Equal(ids(found.Hung), []string{"p003/app", "p007/log"}) {
			t.Fatalf("hung = %+v", found.Hung)
		}
		b.fake.script("ContainerStatus p003/app", behaviour{})
		s := b.after(8 * time.Second).Sweep
		if !slices.Equal(ids(s.Hung), []string{"p007/log"}) || !s.Checked.After(s.Ended) || s.Done != 30 || len(found.Hung) != 2 {
			t.Errorf("after one has answered: %+v", s)
		}
		if found.Hung[0].InRow != 1 || s.Hung[0].InRow != 2 && s.Hung[0].InRow != 3 || s.Hung[0].Took != 2*time.Second {
			t.Errorf("hung %d and then %d times", found.Hung[0].InRow, s.Hung[0].InRow)
		}
		b.fake.script("ContainerStatus p007/log", behaviour{})
		if s := b.after(8 * time.Second).Sweep; s.Hung != nil {
			t.Errorf("after both: %+v", s)
		}
		checked := b.fresh().Sweep.Checked
		if s := b.after(time.Minute).Sweep; !s.Checked.Equal(checked) {
			t.Error("what answers is asked for again and again")
		}
	})
}

// A runtime that goes at the very end of a look is told, though objects answer.
func TestExamineAsksForStatusAtItsEnd(t *testing.T) {
	fails := func(r *fakeRuntime) {
		steady(r)
		time.AfterFunc(time.Second, func() {
			r.script("Status", behaviour{err: &call.Error{Op: call.Status, Kind: call.ErrOther, Code: "Unknown", Text: "boom"}})
		})
	}
	examine(t, Examination{}, fails, func(t *testing.T, _ *fakeRuntime, s *Snapshot, took time.Duration) {
		if f := s.StatusErr; f == nil || f.InRow != 1+retries || s.Sweep.Done != 450 || s.Sweep.CutOff {
			t.Errorf("after %v: status %+v, sweep %+v", took, s.StatusErr, s.Sweep)
		}
	})
	once := func(r *fakeRuntime) {
		pairs(1)(r)
		r.script("ListContainers", behaviour{err: &call.Error{Op: call.ListContainers, Kind: call.ErrOther, Code: "Unknown", Text: "boom"}})
		time.AfterFunc(100*time.Millisecond, r.behave)
	}
	examine(t, Examination{}, once, func(t *testing.T, _ *fakeRuntime, s *Snapshot, took time.Duration) {
		if s.Failure != nil || s.Partial != "" || s.Sweep.Done != 3 || took != answers.RetryAfter {
			t.Errorf("after %v: a list that failed once: %+v, %q", took, s.Failure, s.Partial)
		}
	})
}

func TestEvidenceIsPartOfTheSnapshot(t *testing.T) {
	looks := 0
	look := func(ctx context.Context, _ Looking) (*evidence.Report, error) {
		if looks++; looks > 3 {
			return nil, errors.New("no more")
		}
		time.Sleep(5 * time.Second)
		return &evidence.Report{At: time.Now()}, nil
	}
	bubble(t, Config{Look: look}, onePod, func(b *bench) {
		if s := b.after(time.Second); s.Evidence != nil {
			t.Errorf("evidence before there was any: %+v", s.Evidence)
		}
		first := b.after(5 * time.Second).Evidence
		if later := b.after(time.Minute).Evidence; first == nil || later == nil || later.At.Sub(first.At) != 20*time.Second || looks != 4 {
			t.Errorf("after %d looks: %+v", looks, later)
		}
	})
	healthy := func(r *fakeRuntime) { pairs(1)(r) }
	looks = 0
	examineWith(t, Config{Look: look}, Examination{}, healthy, func(t *testing.T, _ *fakeRuntime, s *Snapshot, took time.Duration) {
		if s.Evidence == nil || looks != 1 || took != 5*time.Second {
			t.Errorf("after %v and %d looks: %+v", took, looks, s.Evidence)
		}
	})
}

func TestRawThatNobodyWaitsForIsEnded(t *testing.T) {
	bubble(t, Config{}, onePod, func(b *bench) {
		b.fresh()
		b.ask(b.Pause)
		b.fake.script("PodSandboxStatus", behaviour{hang: true})
		ctx, cancel := context.WithTimeout(b.t.Context(), time.Second)
		defer cancel()
		if _, err := b.Raw(ctx, "uid-web"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Raw = %v", err)
		}
		if s := b.fresh(); len(s.InFlight) != 0 {
			t.Errorf("in flight = %+v", s.InFlight)
		}
	})
}
