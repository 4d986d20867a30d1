package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/podworker"
)

func idsOf(all []answers.Outcome) (ids []string) {
	for _, o := range all {
		ids = append(ids, o.ID)
	}
	slices.Sort(ids)
	return ids
}

// If more objects hang than are asked at a time, each has its turn: those that answer are soon known to be
// well.
func TestEachThatHangsIsAskedInTurn(t *testing.T) {
	bubble(t, engine.Config{}, func(r *scripted) {
		for i := range 200 {
			r.pod(fmt.Sprintf("p%03d", i), []string{"app"})
		}
	}, func(e *running) {
		e.after(500 * time.Millisecond)
		var keys, stuck []string
		for i := range 38 {
			stuck = append(stuck, fmt.Sprintf("p%03d/app", 3*i))
			keys = append(keys, "ContainerStatus "+stuck[i])
		}
		e.r.hang(keys...)
		e.Sweep()
		if s := e.after(time.Minute); s.Sweep.Ended.IsZero() || !slices.Equal(idsOf(s.Sweep.Hung), stuck) {
			t.Fatalf("%d hang, want %d", len(s.Sweep.Hung), len(stuck))
		}
		e.r.behave(keys[28:], nil, false)
		if s := e.after(90 * time.Second); !slices.Equal(idsOf(s.Sweep.Hung), stuck[:28]) {
			t.Errorf("%d hang: %v", len(s.Sweep.Hung), idsOf(s.Sweep.Hung))
		}
		time.Sleep(4 * time.Minute) // then nobody asks any more
		synctest.Wait()
		e.r.take(func(madeCall) bool { return true })
		e.after(time.Minute)
		if own := e.r.take(func(c madeCall) bool { return c.own }); len(own) > 0 {
			t.Errorf("%d calls of its own, six minutes later", len(own))
		}
	})
}

// A container that several pods list is asked for once, and each pod has the answer.
func TestObjectOfSeveralPodsIsAskedForOnce(t *testing.T) {
	for _, fails := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			r := newScripted(t)
			for i := range 50 {
				name := fmt.Sprintf("p%02d", i)
				r.pod(name, nil)
				r.container(name, "app", "one", 0)
			}
			if fails {
				r.behave([]string{"ContainerStatus"}, &behaviour{err: failure(0, "Unknown", "it is broken")}, false)
			}
			s := must(engine.Examine(t.Context(), engine.Config{Runtime: r}, engine.Examination{}))
			if s.Sweep.Total != 51 || s.Sweep.Done != 51 || len(s.Pods) != 50 {
				t.Errorf("%d of %d objects of %d pods were asked for, want 51", s.Sweep.Done, s.Sweep.Total, len(s.Pods))
			}
			for _, p := range s.Pods {
				switch {
				case !fails && (p.Status == nil || len(p.Status.Containers) != 1 || p.Failure != nil):
					t.Errorf("%v has the status %+v", p, p.Status)
				case fails && (p.Failure == nil || p.Failure.Pod != p.PodRef):
					t.Errorf("%v failed with %+v", p, p.Failure)
				}
			}
		})
	}
}

// If a kubelet reports what its workers do, the snapshot shows that.
func TestWorkersOfAKubeletThatReportsThem(t *testing.T) {
	reported := podworker.Workers{Acting: true, All: []*podworker.Worker{{Pod: podRef("web"), State: podworker.Syncing}, {Pod: podRef("api")}}}
	bubble(t, engine.Config{Workers: func() podworker.Workers { return reported }}, onePod, func(e *running) {
		if s := e.after(2 * time.Second); !s.Workers.Acting || len(s.Workers.All) != 2 || s.Workers.All[0] != reported.All[0] {
			t.Errorf("workers %+v, want the kubelet's", s.Workers)
		}
	})
}

// If a request for raw answers is given up at once, it leaves no call behind for which others would wait.
func TestRawGivenUpAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := begin(t, engine.Config{}, onePod)
		e.after(2500 * time.Millisecond)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		for range 100 { // a select takes one of two at random
			if _, err := e.Raw(ctx, "web"); !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
		}
		for _, f := range e.after(time.Second).InFlight {
			t.Errorf("still out: %v of %s by %v", f.Op, f.ID, f.By)
		}
		e.stop()
	})
}
