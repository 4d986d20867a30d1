package engine

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
)

// seen is what a node shows of the pods of pairs: every container by its control
// group, and by the runtime's folders, read in a deep look, what is named.
func seen(named ...evidence.Object) Look {
	return func(_ context.Context, ask Looking) (*evidence.Report, error) {
		r := new(evidence.Report)
		for _, id := range []string{"p000/app", "p001/app", "p002/app", "foreign"} {
			r.Processes.Objects = append(r.Processes.Objects, evidence.Object{ObjectRef: pleg.ObjectRef{ID: id}, From: "its control group"})
		}
		if ask.Deep {
			r.Deep = &evidence.Deep{Objects: evidence.Objects{All: named}}
		}
		return r, nil
	}
}

var lockHolder = evidence.Object{ObjectRef: pleg.ObjectRef{ID: "p001/app", Pod: pleg.PodRef{Namespace: "ns", Name: "p001", UID: "uid-p001"}, Container: "app"}, SandboxID: "p001"}

// statusLock is a runtime in which the lock of one container's status is held: its
// status and the list of all containers wait for it.
func statusLock(r *fakeRuntime) {
	pairs(3)(r)
	r.script("ListContainers", behaviour{hang: true})
	r.script("ContainerStatus p001/app", behaviour{hang: true})
}

func hungIDs(s *Snapshot) (ids []string) {
	if s.Sweep != nil {
		for _, o := range s.Sweep.Hung {
			ids = append(ids, o.ID)
		}
	}
	return ids
}

// One who looks once at a sick node names the holder within 5 s, though no list has it.
func TestExamineFindsWhoHoldsTheList(t *testing.T) {
	for _, tt := range []struct {
		name    string
		look    Look
		prepare func(*fakeRuntime)
		want    []call.Flight
		unknown []string
		within  time.Duration
	}{
		{"by the runtime's folder", seen(lockHolder), statusLock, []call.Flight{{Op: call.ContainerStatus, ID: "p001/app", Container: "app", Pod: ref("p001")}}, []string{"foreign"}, 4 * time.Second},
		{"by control groups alone", seen(), statusLock, []call.Flight{{Op: call.ContainerStatus, ID: "p001/app"}}, []string{"foreign"}, 4 * time.Second},
		{"named by its sandbox, which answers", seen(evidence.Object{ObjectRef: pleg.ObjectRef{ID: "p001/app"}, SandboxID: "p001"}), statusLock, []call.Flight{{Op: call.ContainerStatus, ID: "p001/app", Pod: ref("p001")}}, []string{"foreign"}, 4 * time.Second},
		{"lock of a sandbox", seen(evidence.Object{ObjectRef: pleg.ObjectRef{ID: "p002", Pod: pleg.PodRef{Namespace: "ns", Name: "p002", UID: "uid-p002"}, Sandbox: true}}), func(r *fakeRuntime) {
			pairs(3)(r)
			r.script("ListPodSandbox", behaviour{hang: true})
			r.script("PodSandboxStatus p002", behaviour{hang: true})
		}, []call.Flight{{Op: call.PodSandboxStatus, ID: "p002", Pod: ref("p002")}}, []string{"foreign"}, 4 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			examineWith(t, Config{Look: tt.look}, Examination{}, tt.prepare, func(t *testing.T, r *fakeRuntime, s *Snapshot, took time.Duration) {
				var hung []call.Flight
				for _, o := range s.Sweep.Hung {
					f := o.Flight
					f.Since, f.By = time.Time{}, 0
					hung = append(hung, f)
				}
				if diff := cmp.Diff(tt.want, hung); diff != "" {
					t.Error(diff)
				}
				var unknown []string
				for _, o := range s.Sweep.Unknown {
					unknown = append(unknown, o.ID)
				}
				if took > tt.within || !slices.Equal(unknown, tt.unknown) {
					t.Errorf("after %v, unknown %q; partial %q, failure %+v", took, unknown, s.Partial, s.Failure)
				}
				if s.Failure == nil || s.Evidence.Deep == nil || !s.Node.Known || s.StatusErr != nil {
					t.Errorf("failure %+v, node %+v, status %+v", s.Failure, s.Node, s.StatusErr)
				}
			})
		})
	}
}

// A list that is only slow is waited for, and what it brings is looked at as ever.
func TestExamineWaitsForAListThatIsSlow(t *testing.T) {
	slow := func(r *fakeRuntime) {
		pairs(3)(r)
		r.script("ListContainers", behaviour{delay: 4 * time.Second})
	}
	examineWith(t, Config{Look: seen()}, Examination{}, slow, func(t *testing.T, r *fakeRuntime, s *Snapshot, took time.Duration) {
		if took != 4*time.Second || s.Failure != nil || !s.Health.Healthy || s.Partial != "" || s.Sweep.Done != 9 || s.Sweep.Total != 9 || s.Sweep.Unknown != nil {
			t.Errorf("after %v: failure %+v, %+v, partial %q, sweep %+v", took, s.Failure, s.Health, s.Partial, s.Sweep)
		}
		if p := hasPod(t, s, "p001"); p.Status == nil || len(p.Status.Containers) != 2 {
			t.Errorf("pod %+v", p)
		}
	})
}

// On a busy node, too, one who looks once names what hangs where a list does, or where
// there is no time to ask again.
func TestExamineNamesWhatHangsOnABusyNode(t *testing.T) {
	busy := func(ctx context.Context, ask Looking) (*evidence.Report, error) {
		r, err := seen()(ctx, ask)
		r.Pressure.CPU.Some10 = answers.BusyShare
		return r, err
	}
	for name, tt := range map[string]struct {
		look Examination
		list behaviour
	}{
		"a list hangs":     {list: behaviour{hang: true}},
		"a list fails":     {list: behaviour{err: &call.Error{Op: call.ListContainers, Kind: call.ErrOther}}},
		"a short deadline": {look: Examination{Deadline: 5 * time.Second}},
		"a long timeout":   {look: Examination{Timeout: 5 * time.Second}},
	} {
		last := func(r *fakeRuntime) { // the one that is asked last, so that nobody outruns it
			pairs(3)(r)
			r.script("PodSandboxStatus", behaviour{delay: 20 * time.Millisecond})
			r.script("ContainerStatus", behaviour{delay: 20 * time.Millisecond})
			r.script("ContainerStatus p002/app", behaviour{hang: true})
			r.script("ContainerStatus p002/log", behaviour{err: notFound(call.ContainerStatus)})
			r.exit("p002/app", 1, "")
			r.script("ListContainers", tt.list)
		}
		tt.look.Width = 1
		t.Run(name, func(t *testing.T) {
			examineWith(t, Config{Look: busy}, tt.look, last, func(t *testing.T, r *fakeRuntime, s *Snapshot, took time.Duration) {
				if !slices.Equal(hungIDs(s), []string{"p002/app"}) || took > 6*time.Second {
					t.Errorf("after %v: sweep %+v", took, s.Sweep)
				}
			})
		})
	}
}

// A pod is inspected by what the lists have of it, as by a kubelet: what the node alone
// shows accuses no pod, and is in no status.
func TestExamineInspectsWhatIsListed(t *testing.T) {
	inside := lockHolder
	inside.ID, inside.Pod = "p000/app", ref("p000")
	examineWith(t, Config{Look: seen(lockHolder, inside)}, Examination{}, statusLock, func(t *testing.T, r *fakeRuntime, s *Snapshot, took time.Duration) {
		for _, name := range []string{"p000", "p001"} {
			if p := hasPod(t, s, name); p.Status == nil || p.StatusErr != nil || len(p.Status.Containers) > 0 {
				t.Errorf("pod %s: status %+v, %v", name, p.Status, p.StatusErr)
			}
		}
	})
}

// An engine that is started on the sick node names it as soon.
func TestEngineStartedOnASickNodeFindsTheHolder(t *testing.T) {
	bubble(t, Config{Look: seen(lockHolder)}, statusLock, func(b *bench) {
		s := b.after(4 * time.Second)
		if ids := hungIDs(s); !slices.Equal(ids, []string{"p001/app"}) || s.Sweep.Hung[0].Pod != ref("p001") {
			t.Errorf("hung %v in %+v; probes %+v", ids, s.Sweep, s.Probes)
		}
		if n := countOf(b.fake.made(), "ListContainers"); n != 1 {
			t.Errorf("%d lists of containers", n)
		}
		b.fake.behave()
		if s := b.after(2*time.Minute + 10*time.Second); len(s.Pods) != 3 || s.Partial != "" {
			t.Errorf("once it is over: %d pods, partial %q", len(s.Pods), s.Partial)
		}
	})
}

// What the node shows is asked for only where lists do not tell it.
func TestHealthyNodeIsNotAskedForWhatItShows(t *testing.T) {
	bubble(t, Config{Look: seen()}, pairs(3), func(b *bench) {
		b.after(6 * time.Second)
		b.fake.made()
		b.ask(b.Sweep)
		s := b.after(10 * time.Second)
		if made := b.fake.made(); slices.Contains(made, "ContainerStatus foreign") || s.Sweep.Total != 9 || s.Sweep.Unknown != nil {
			t.Errorf("sweep %+v, calls %q", s.Sweep, made)
		}
	})
}

func countOf(calls []string, of string) (n int) {
	for _, c := range calls {
		if c == of {
			n++
		}
	}
	return n
}

// A first list that is only slow ends the search for what holds it up: a large node is not
// asked for all its objects by the way.
func TestListThatComesEndsItsSweep(t *testing.T) {
	slow := func(r *fakeRuntime) {
		pairs(3)(r)
		r.script("ListContainers", behaviour{delay: 3 * time.Second})
		r.script("ContainerStatus", behaviour{delay: 900 * time.Millisecond})
	}
	many := func(ctx context.Context, ask Looking) (*evidence.Report, error) {
		r, err := seen()(ctx, ask)
		for i := range 100 {
			r.Processes.Objects = append(r.Processes.Objects, evidence.Object{ObjectRef: pleg.ObjectRef{ID: fmt.Sprint(i)}})
		}
		return r, err
	}
	bubble(t, Config{Look: many}, slow, func(b *bench) {
		if s := b.after(2900 * time.Millisecond); s.Sweep == nil || s.Sweep.Done == 0 {
			t.Fatalf("before the list comes: %+v", s.Sweep)
		}
		b.fake.script("ListContainers", behaviour{})
		s := b.after(time.Second)
		if made := b.fake.made(); s.Sweep != nil || s.Failure != nil || slices.Contains(made, "ContainerStatus 99") {
			t.Errorf("after it: %+v, %q", s.Sweep, made)
		}
	})
}
