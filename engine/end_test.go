package engine_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/sources"
)

var asks = []string{"Version", "Status", "ListPodSandbox", "ListContainers", "PodSandboxStatus", "ContainerStatus"}

// Run returns at once, whatever is out, or half a second later if the runtime ignores that we give its call up.
// The answer that comes later changes nothing.
func TestRunEndsWhateverIsOut(t *testing.T) {
	for _, op := range asks {
		for _, deaf := range []bool{false, true} {
			bubble(t, engine.Config{}, func(r *scripted) {
				onePod(r)
				r.behave([]string{op}, &behaviour{gate: make(chan struct{}), deaf: deaf}, false)
			}, func(e *running) {
				time.Sleep(500 * time.Millisecond)
				began := time.Now()
				e.stop()
				if took := time.Since(began); deaf && took != 500*time.Millisecond || !deaf && took != 0 {
					t.Errorf("%s, deaf %v: Run took %v to end", op, deaf, took)
				}
				was, observed := e.newest(), len(e.tape.observations)
				e.r.change(func() { e.r.open(nil) })
				if now := e.after(time.Minute); now != was || len(e.tape.observations) != observed {
					t.Errorf("%s: a late answer was taken in", op)
				}
			})
		}
	}
}

func TestRunTwice(t *testing.T) {
	bubble(t, engine.Config{}, nil, func(e *running) {
		if err := e.Run(e.t.Context()); err == nil {
			t.Error("the second Run returned nil")
		}
	})
}

// Whatever Examine does when its context ends, it returns at once with what there is, and leaves no call
// behind.
func TestExamineEndsWithItsContext(t *testing.T) {
	for _, hangs := range [][]string{
		{"Version"}, {"Status"}, {"ListPodSandbox"}, {"ListContainers"}, {"ContainerStatus"}, {"Version", "Status", "ListPodSandbox"},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := newScripted(t)
			pods([]string{"a", "b"}, "app", "log")(r)
			r.hang(hangs...)
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			defer cancel()
			began := time.Now()
			s, err := engine.Examine(ctx, engine.Config{Runtime: r}, engine.Examination{})
			if took := time.Since(began); err != nil || s == nil || took != 300*time.Millisecond {
				t.Errorf("%s: after %v: %v", hangs, took, err)
			}
			synctest.Wait()
			r.change(func() {
				if len(r.out) > 0 {
					t.Errorf("%s: left behind: %v", hangs, r.out)
				}
			})
		})
	}
}

// However the runtime behaves, Examine returns by its deadline, and shows no more afterwards.
func TestExamineReturnsByItsDeadline(t *testing.T) {
	for _, deaf := range asks {
		synctest.Test(t, func(t *testing.T) {
			r := newScripted(t)
			for i := range 30 {
				r.pod(fmt.Sprintf("p%03d", i), []string{"app", "log"})
			}
			r.hang("ContainerStatus")
			r.deafen(deaf)
			shown := 0 // without a lock: one goroutine at a time calls
			x := engine.Examination{Deadline: 3 * time.Second, Progress: func(*engine.Snapshot) { shown++ }}
			began := time.Now()
			s, err := engine.Examine(t.Context(), engine.Config{Runtime: r}, x)
			if took := time.Since(began); err != nil || took > x.Deadline || took < time.Second {
				t.Errorf("%s: after %v: %v", deaf, took, err)
			}
			was, by := shown, s.Sweep
			time.Sleep(time.Minute)
			r.change(func() { r.open(nil) })
			if synctest.Wait(); shown != was || s.Sweep != by {
				t.Errorf("%s: it goes on after it has returned", deaf)
			}
		})
	}
}

// An examination shows how far it has come, ten times a second at most.
func TestExamineShowsItsProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newScripted(t)
		for i := range 20 {
			r.pod(fmt.Sprintf("p%03d", i), []string{"app", "log"})
		}
		r.behave([]string{"ContainerStatus"}, &behaviour{delay: 200 * time.Millisecond}, false)
		var seen []*engine.Snapshot
		s := must(engine.Examine(t.Context(), engine.Config{Runtime: r}, engine.Examination{Progress: func(s *engine.Snapshot) { seen = append(seen, s) }}))
		done := 0
		for i, now := range seen {
			if i > 0 && (now.Seq != seen[i-1].Seq+1 || i < len(seen)-1 && now.At.Sub(seen[i-1].At) < 100*time.Millisecond) {
				t.Errorf("snapshot %d at %v after %d at %v", now.Seq, now.At, seen[i-1].Seq, seen[i-1].At)
			}
			if now.Sweep != nil && now.Sweep.Done < done {
				t.Errorf("%d objects were asked, and then %d", done, now.Sweep.Done)
			} else if now.Sweep != nil {
				done = now.Sweep.Done
			}
		}
		if len(seen) < 10 || done != s.Sweep.Total || len(s.Workers.All) > 0 {
			t.Errorf("%d snapshots, the last with %d of %d; %d workers", len(seen), done, s.Sweep.Total, len(s.Workers.All))
		}
	})
}

// A stream that does not end when it should delays the end only for a limited time.
func TestDeafStreamHoldsUpNobody(t *testing.T) {
	var deaf chan struct{}
	opened := 0
	run := func(ctx context.Context, _ func(pleg.Upstream)) error {
		opened++
		<-deaf
		return context.Cause(ctx)
	}
	bubble(t, engine.Config{Streams: []engine.Stream{{Source: sources.FromCgroup, On: true, Run: run}}}, func(*scripted) { deaf = make(chan struct{}) }, func(e *running) {
		e.after(time.Minute)
		began := time.Now()
		ctx, cancel := context.WithTimeout(e.t.Context(), time.Second)
		defer cancel()
		if e.HoldStreams(ctx); time.Since(began) != time.Second {
			t.Errorf("held for %v", time.Since(began))
		}
		e.ReleaseStreams()
		e.after(time.Minute)
		began = time.Now()
		if e.stop(); time.Since(began) > time.Second || opened != 1 {
			t.Errorf("stopped after %v, opened %d times", time.Since(began), opened)
		}
		close(deaf)
	})
}

// What a person asks for changes the model while lanes are at work; the race detector looks on.
func TestSettingsChangeWhileLanesWork(t *testing.T) {
	bubble(t, engine.Config{Release: pleg.Newest}, onePod, func(e *running) {
		for i := range 300 {
			e.RelistNow()
			e.SetPeriod(time.Duration(1+i%2) * time.Second)
			e.Sweep()
			if i%10 == 0 {
				synctest.Wait()
			}
		}
	})
}
