package engine

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
)

// looker keeps when it was asked to look, since the first time, and how deep; it answers
// with what it is told.
type looker struct {
	report func(n int) *evidence.Report

	mu    sync.Mutex // guards what follows
	began time.Time
	asked []time.Duration
	deep  []bool
	// missed is what it was asked about by id.
	missed [][]string
}

func (l *looker) look(_ context.Context, ask Looking) (*evidence.Report, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.began.IsZero() {
		l.began = time.Now()
	}
	l.asked, l.deep, l.missed = append(l.asked, time.Since(l.began)), append(l.deep, ask.Deep), append(l.missed, ask.Missed)
	r := l.report(len(l.asked))
	r.At = time.Now()
	return r, nil
}

// made returns when it was asked so far, and how deep.
func (l *looker) made() (asked []time.Duration, deep []bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.asked), slices.Clone(l.deep)
}

func helper(age time.Duration) evidence.Report {
	return evidence.Report{Processes: evidence.Processes{Helpers: []evidence.Process{{State: evidence.Sleeping, Verb: "kill", Age: age, Own: true}}}}
}

// A helper that is late is looked into as a call that hangs, at once.
func TestLateHelperIsLookedInto(t *testing.T) {
	l := &looker{report: func(int) *evidence.Report { return new(helper(time.Minute)) }}
	examineWith(t, Config{Look: l.look}, Examination{}, pairs(1), func(t *testing.T, _ *fakeRuntime, s *Snapshot, took time.Duration) {
		if _, deep := l.made(); !slices.Equal(deep, []bool{false, true}) || took != 0 || s.Evidence == nil {
			t.Errorf("deep looks %v after %v", deep, took)
		}
	})
}

// What a look still reads is looked for again, by one who looks once not for long.
func TestPendingIsLookedForAgain(t *testing.T) {
	pending := func(n int) *evidence.Report {
		r := helper(time.Minute)
		r.Deep = &evidence.Deep{Stacks: evidence.Stacks{Source: evidence.Source{Pending: n < 4}}}
		return &r
	}
	for _, tt := range []struct {
		report func(int) *evidence.Report
		looks  int
		took   time.Duration
	}{
		{pending, 4, 2 * pendingWait},
		{func(int) *evidence.Report { return pending(0) }, 8, pendingMost},
	} {
		l := &looker{report: tt.report}
		examineWith(t, Config{Look: l.look}, Examination{}, pairs(1), func(t *testing.T, _ *fakeRuntime, _ *Snapshot, took time.Duration) {
			if asked, _ := l.made(); len(asked) != tt.looks || took != tt.took {
				t.Errorf("%d looks in %v, want %d in %v", len(asked), took, tt.looks, tt.took)
			}
		})
	}
}

func nothingSeen(int) *evidence.Report { return new(evidence.Report) }

// One look cannot tell a process that is stuck from one that is at work. A
// second one is made only where that is the question.
func TestDoubtIsLookedAtTwice(t *testing.T) {
	for _, tt := range []struct {
		name  string
		found evidence.Report
		want  []time.Duration
	}{
		{"asleep", evidence.Report{Processes: evidence.Processes{Shims: []evidence.Process{{State: evidence.Sleeping}}}}, []time.Duration{0}},
		{"stopped", evidence.Report{Processes: evidence.Processes{Shims: []evidence.Process{{State: evidence.Stopped}}}}, []time.Duration{0}},
		{"in the kernel", evidence.Report{Processes: evidence.Processes{Helpers: []evidence.Process{{State: evidence.Uninterrupted}}}}, []time.Duration{0, secondLook}},
		{"seen there a moment ago", evidence.Report{Processes: evidence.Processes{Helpers: []evidence.Process{{State: evidence.Uninterrupted, For: secondLook - 1}}}}, []time.Duration{0, secondLook}},
		{"for long", evidence.Report{Processes: evidence.Processes{Helpers: []evidence.Process{{State: evidence.Uninterrupted, For: secondLook}}}}, []time.Duration{0}},
		{"frozen", evidence.Report{Processes: evidence.Processes{Containers: map[string][]evidence.Process{"a": {{State: evidence.Frozen}}}}}, []time.Duration{0, secondLook}},
		{"busy kubelet", evidence.Report{Kubelet: evidence.Kubelet{Ping: evidence.Answer{TimedOut: true}}}, []time.Duration{0, secondLook}},
		{"young helper", helper(time.Second), []time.Duration{0}},
		{"helper that is nearly late", helper(3 * time.Second), []time.Duration{0, 2 * time.Second}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := &looker{report: func(int) *evidence.Report { return new(tt.found) }}
			examineWith(t, Config{Look: l.look}, Examination{}, pairs(1), func(t *testing.T, _ *fakeRuntime, s *Snapshot, _ time.Duration) {
				if asked, deep := l.made(); !slices.Equal(asked, tt.want) || slices.Contains(deep, true) || s.Evidence == nil {
					t.Errorf("looks after %v, deep %v, want %v", asked, deep, tt.want)
				}
			})
		})
	}
}

// A running engine looks every 5 s, and deeper as soon as a call of the relist hangs.
func TestHangIsLookedIntoAtOnce(t *testing.T) {
	l := &looker{report: nothingSeen}
	bubble(t, Config{Look: l.look}, onePod, func(b *bench) {
		b.after(6 * time.Second)
		asked, deep := l.made()
		if want := []time.Duration{0, 5 * time.Second}; !slices.Equal(asked, want) || slices.Contains(deep, true) {
			t.Errorf("healthy: looks after %v, deep %v", asked, deep)
		}
		b.fake.script("ListContainers", behaviour{hang: true})
		b.after(10 * time.Second)
		asked, deep = l.made()
		i := slices.Index(deep, true)
		if i < 0 || asked[i] > 10*time.Second || slices.Contains(deep[i:], false) || len(deep[i:]) != 2 {
			t.Errorf("hanging: looks after %v, deep %v", asked, deep)
		}
		b.fake.behave()
		b.after(2 * time.Minute)
		if _, deep := l.made(); deep[len(deep)-1] {
			t.Errorf("healthy again: deep %v", deep)
		}
	})
}

// A large node, on which each list takes seconds, is not looked into for that, nor is
// every object asked for once a minute; a list that hangs there is.
func TestSlowListsAreNotLookedInto(t *testing.T) {
	for _, took := range []time.Duration{2500 * time.Millisecond, 12 * time.Second} {
		t.Run(took.String(), func(t *testing.T) { slowListsAreNotLookedInto(t, took) })
	}
}

func slowListsAreNotLookedInto(t *testing.T, took time.Duration) {
	l := &looker{report: nothingSeen}
	bubble(t, Config{Look: l.look}, onePod, func(b *bench) {
		b.after(5 * time.Second)
		b.fake.script("ListContainers", behaviour{delay: took})
		s := b.after(6 * took)
		_, before := l.made()
		swept := s.Sweep.Began
		s = b.after(3 * time.Minute)
		if _, deep := l.made(); slices.Contains(deep[len(before):], true) || !s.Sweep.Began.Equal(swept) {
			t.Errorf("deep looks %v, sweep %+v", deep[len(before):], s.Sweep)
		}
		b.fake.script("ListContainers", behaviour{hang: true})
		s = b.after(4*took + 4*time.Second)
		if _, deep := l.made(); !deep[len(deep)-1] || s.Sweep.Began.Equal(swept) {
			t.Errorf("hanging: deep looks %v, sweep %+v", deep[len(before):], s.Sweep)
		}
	})
}

// A runtime that is away is looked into as well, also by one that looks once; one that
// answers with an error is not.
func TestRuntimeThatIsAwayIsLookedInto(t *testing.T) {
	for name, err := range map[string]error{"away": unavailable(call.ListPodSandbox), "failing": &call.Error{Op: call.ListPodSandbox, Kind: call.ErrOther, Code: "Unknown"}} {
		refuses := func(r *fakeRuntime) {
			pairs(1)(r)
			r.script("ListPodSandbox", behaviour{err: err})
		}
		l := &looker{report: nothingSeen}
		examineWith(t, Config{Look: l.look}, Examination{}, refuses, func(t *testing.T, _ *fakeRuntime, _ *Snapshot, _ time.Duration) {
			if _, deep := l.made(); slices.Contains(deep, true) != (name == "away") || len(deep) > 3 {
				t.Errorf("%s: looks %v", name, deep)
			}
		})
	}
}

// A running engine looks at the node only when the first lists are there.
func TestFirstLookComesAfterTheLists(t *testing.T) {
	l := &looker{report: nothingSeen}
	bubble(t, Config{Look: l.look}, onePod, func(b *bench) {
		s := b.after(firstLook / 2)
		asked, _ := l.made()
		if s.Relists.Count == 0 || len(asked) > 0 {
			t.Errorf("%d relists and %d looks before the first look is due", s.Relists.Count, len(asked))
		}
		b.after(firstLook)
		if asked, _ := l.made(); len(asked) != 1 {
			t.Errorf("%d looks after %v, want one", len(asked), 3*firstLook/2)
		}
	})
}

// Of what the last look missed the next one finds out who holds it: at once where one looks once, and
// not of what may have come since, or lives elsewhere with all the others.
func TestWhatALookMissedIsAskedFor(t *testing.T) {
	lives := map[string][]evidence.Process{}
	for _, id := range []string{"p000/app", "p000/log", "p001/app", "p001/log", "p002/log"} {
		lives[id] = []evidence.Process{{PID: 7, State: evidence.Sleeping}}
	}
	some := func(int) *evidence.Report {
		return &evidence.Report{Processes: evidence.Processes{Containers: lives}}
	}
	const slowly = 100 * time.Millisecond
	late := func(n int) *evidence.Report { // after the relist is over
		time.Sleep(slowly)
		return some(n)
	}
	old := func(r *fakeRuntime) {
		pairs(3)(r)
		for i := range r.containers {
			r.containers[i].CreatedAt = time.Now().Add(-time.Minute)
		}
	}
	for _, tt := range []struct {
		name    string
		report  func(int) *evidence.Report
		prepare func(*fakeRuntime)
		looks   int
		took    time.Duration
	}{{"one", some, old, 2, 0}, {"by a look that takes longer than the relist", late, old, 2, 2 * slowly}, {"it is new", some, pairs(3), 1, 0}, {"all of them", nothingSeen, old, 1, 0}} {
		t.Run(tt.name, func(t *testing.T) {
			l := &looker{report: tt.report}
			examineWith(t, Config{Look: l.look}, Examination{}, tt.prepare, func(t *testing.T, _ *fakeRuntime, _ *Snapshot, took time.Duration) {
				if len(l.missed) != tt.looks || l.missed[0] != nil || took != tt.took || tt.looks == 2 && !slices.Equal(l.missed[1], []string{"p002/app"}) {
					t.Errorf("asked for %q in %v", l.missed, took)
				}
			})
		})
	}
	l := &looker{report: some}
	bubble(t, Config{Look: l.look}, old, func(b *bench) {
		b.after(6 * time.Second)
		if asked, deep := l.made(); len(asked) != 2 || slices.Contains(deep, true) || !slices.Equal(l.missed[1], []string{"p002/app"}) {
			t.Errorf("looks after %v, asked for %q", asked, l.missed)
		}
	})
}
