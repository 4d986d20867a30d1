package engine_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/past"
	"github.com/plegtop/plegtop/engine/pleg"
)

// A pod that did not change is the same pointer in the next snapshot, in whatever order the runtime lists it. A
// pod that did change leaves the old snapshot as it was.
func TestWhatDidNotChangeIsTheSamePointer(t *testing.T) {
	bubble(t, engine.Config{}, pods([]string{"a", "b"}, "app", "log"), func(e *running) {
		e.Sweep()
		was := e.after(5 * time.Second)
		e.r.flip("b/app")
		now := e.after(5 * time.Second)
		if was.Pods[0] != now.Pods[0] || was.Pods[1] == now.Pods[1] || was.Objects != now.Objects {
			t.Error("want a and the objects to be the same, and b to have changed")
		}
		if was.Pods[1].Seen().Containers[0].State != pleg.Running || now.Pods[1].Seen().Containers[0].State != pleg.Exited {
			t.Error("an old snapshot has changed, or the new one has not")
		}
		e.r.change(func() { slices.Reverse(e.r.containers); slices.Reverse(e.r.sandboxes) })
		same := e.after(5 * time.Second)
		switch {
		case same.Relists.Count <= now.Relists.Count || len(now.Pods) != 2 || now.Sweep == nil || len(now.Workers.All) != 2:
			t.Fatalf("the snapshot shows too little: %+v", now)
		case &now.Pods[0] != &same.Pods[0]:
			t.Error("the pods")
		case now.Objects != same.Objects:
			t.Error("the objects")
		case now.Sweep != same.Sweep:
			t.Error("the check of all")
		case &now.Workers.All[0] != &same.Workers.All[0]:
			t.Error("the workers")
		}
		if p := same.Pods[0]; p.Current != p.Old {
			t.Error("both ends of a quiet pod's record take memory")
		}
		e.r.restart("b/app")
		if later := e.after(5 * time.Second); was.Pods[0] != later.Pods[0] || later.Objects == now.Objects || !later.Objects.Has("b/app.1") || now.Objects.Has("b/app.1") {
			t.Error("want a to be the same, and the objects to have changed")
		}
	})
}

// The kubelet takes a created container and one in an unknown state for the same; people do not.
func TestStatesThatTheKubeletTakesForTheSameAreShown(t *testing.T) {
	bubble(t, engine.Config{}, onePod, func(e *running) {
		e.r.set("web/app", "created")
		was := e.after(5 * time.Second)
		e.r.set("web/app", "unknown")
		if now := e.after(5 * time.Second); was.Pods[0] == now.Pods[0] || was.Counts.Created != 1 || now.Counts.Unknown != 1 {
			t.Errorf("first %+v, then %+v", was.Counts, now.Counts)
		}
	})
}

// A pod keeps the deaths of its containers, with what the runtime says about them. A container that was dead
// when it was first seen does not count.
func TestDeathsAreKeptByPod(t *testing.T) {
	bubble(t, engine.Config{}, func(r *scripted) {
		pods([]string{"web", "old"}, "app")(r)
		r.exit("old/app", 1, "Error")
	}, func(e *running) {
		before := e.after(1500 * time.Millisecond)
		var want []past.Death
		for i, id := range []string{"web/app", "web/app.1"} {
			died := time.Now()
			e.r.exit(id, 137, "OOMKilled")
			want = append([]past.Death{{Container: "app", ID: id, At: died, Known: true, ExitCode: 137, Reason: "OOMKilled"}}, want...)
			s := e.after(2 * time.Second)
			if diff := cmp.Diff(want, podOf(t, s, "web").Deaths, plain); diff != "" {
				t.Errorf("after %d deaths (- want, + got):\n%s", i+1, diff)
			}
			e.r.restart("web/app")
			time.Sleep(2 * time.Second)
		}
		if podOf(t, before, "web").Deaths != nil || podOf(t, e.newest(), "old").Deaths != nil {
			t.Error("an old snapshot has changed, or what was dead at the start has died now")
		}
		for i := range 20 {
			e.r.exit("web/app."+string(rune('0'+i+2)), 1, "Error")
			e.r.restart("web/app")
			time.Sleep(2 * time.Second)
		}
		if kept := len(podOf(t, e.newest(), "web").Deaths); kept != 8 {
			t.Errorf("%d deaths are kept", kept)
		}
	})
}
