package diagnose

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/past"
	"github.com/plegtop/plegtop/engine/pleg"
)

// A look shows the shim of a sandbox that has been removed since.
func TestShimOfDepartedSandbox(t *testing.T) {
	n := healthy(3)
	in := n.input()
	in.Evidence, in.Endpoint = looked(n), ourSocket
	n.Gone = past.Gone{{ID: n.Pods[2].Seen().Sandboxes[0].ID, At: n.At}}
	n.Pods = slices.Clone(n.Pods[:2])
	if got := find(&orphanShims, factsOf(in)); got != nil {
		t.Errorf("just removed: %+v", got)
	}
	n.Gone = nil
	wantIDs(t, find(&orphanShims, factsOf(in)), OrphanShims)
}

func TestOrphanShims(t *testing.T) {
	lose := func(r *evidence.Report) { shimOf(r, 1).Sandbox = "lost" }
	runHostTests(t, by(&orphanShims), checked, []hostTest{
		{"nothing", func(*node, *evidence.Report) {}, "", 0, Subject{}},
		{"one", func(_ *node, r *evidence.Report) { lose(r) }, "shims go on with 1 sandbox that containerd does not list", Warning, Subject{ObjectRef: pleg.ObjectRef{ID: "lost", Sandbox: true}}},
		{"all of them, empty list", func(n *node, _ *evidence.Report) { n.Pods = n.Pods[:0] }, "containerd has forgotten 3 sandboxes whose work goes on; it may have another root or state folder", Critical, Subject{}},
		{"half of them", func(n *node, r *evidence.Report) {
			n.Pods = n.Pods[:1]
			r.Processes.Shims = append(r.Processes.Shims, evidence.Process{PID: 90, Own: true, Sandbox: "sandbox-0"})
		}, "containerd has forgotten 2 sandboxes whose work goes on; it may have another root or state folder", Critical, Subject{}},
		{"less than half", func(n *node, r *evidence.Report) {
			n.Pods = n.Pods[:2]
			for i := range 3 {
				r.Processes.Shims = append(r.Processes.Shims, evidence.Process{PID: 90 + i, Own: true, Sandbox: "sandbox-0", Age: time.Hour})
			}
		}, "containerd has forgotten 1 sandbox whose work goes on", Warning, Subject{}},
		{"all of them, and nothing lives below", func(n *node, r *evidence.Report) {
			n.Pods = n.Pods[:0]
			clear(r.Processes.Containers)
		}, "shims go on with 3 sandboxes that containerd does not list", Warning, Subject{}},
		{"the runtime has forgotten one", func(n *node, r *evidence.Report) {
			restarted(r, 14*time.Second)
			n.Pods = n.Pods[:2]
		}, "containerd has forgotten 1 sandbox whose work goes on: it began 16s ago", Warning, Subject{}},
		{"all of them, and the runtime has begun before", func(n *node, r *evidence.Report) {
			restarted(r, 48*time.Hour)
			n.Pods = n.Pods[:0]
		}, "shims go on with 3 sandboxes that containerd does not list", Warning, Subject{}},
		{"its network is being set up", func(n *node, r *evidence.Report) {
			n.Pods = n.Pods[:2]
			r.Processes.Helpers = []evidence.Process{{PID: 80, Own: true, Command: "calico", Verb: "CNI ADD", Container: "sandbox-2"}}
		}, "", 0, Subject{}},
		{"the runtime has begun before it", func(n *node, r *evidence.Report) {
			restarted(r, 48*time.Hour)
			n.Pods = n.Pods[:2]
		}, "shims go on with 1 sandbox that containerd does not list", Warning, Subject{}},
		{"of another runtime", func(_ *node, r *evidence.Report) {
			lose(r)
			shimOfLost(r).Own = false
		}, "", 0, Subject{}},
		{"of one container", func(_ *node, r *evidence.Report) { shimOf(r, 1).Sandbox = "container-1-0" }, "", 0, Subject{}},
		{"just started", func(_ *node, r *evidence.Report) { lose(r); shimOfLost(r).Age = 50 * time.Second }, "", 0, Subject{}},
		{"list failed", func(n *node, r *evidence.Report) { lose(r); n.hangFailure() }, "", 0, Subject{}},
		{"list not whole", func(n *node, r *evidence.Report) { lose(r); n.Anomalies.NoMetadata = 1 }, "", 0, Subject{}},
		{"old list", func(n *node, r *evidence.Report) { lose(r); n.Health.ListedAt = ago(time.Minute) }, "", 0, Subject{}},
		{"no list since a pause", func(n *node, r *evidence.Report) {
			lose(r)
			n.Policy.Once, n.Resumed = false, ago(100*time.Millisecond)
		}, "", 0, Subject{}},
		{"never listed", func(n *node, r *evidence.Report) { lose(r); n.Pods = nil }, "", 0, Subject{}},
	})
}

// restarted gives a node a runtime process that is surely its own and has run for this long.
func restarted(r *evidence.Report, age time.Duration) {
	r.Processes.Daemons[0].Own, r.Processes.Daemons[0].Age = true, age
}

// A start with another root forgets all sandboxes. They left the lists lately, but that hides the trouble only until a
// look has seen their work go on.
func TestForgottenIsToldAtOnce(t *testing.T) {
	for gone, want := range map[time.Duration]int{5 * time.Second: 1, time.Second: 0} {
		n := healthy(3)
		in := n.input()
		in.Evidence, in.Endpoint = looked(n), "unix://"+ourSocket
		restarted(in.Evidence, 12*time.Second)
		for _, p := range n.Pods {
			n.Gone = append(n.Gone, past.Left{ID: p.Seen().Sandboxes[0].ID, At: ago(gone)})
		}
		n.Pods = n.Pods[:0]
		if got := find(&orphanShims, factsOf(in)); len(got) != want || want == 1 && got[0].Severity != Critical {
			t.Errorf("gone for %v: %+v, want %d", gone, got, want)
		}
	}
}

// If the runtime has only forgotten the pods, no step ends their work.
func TestForgottenAreNotKilled(t *testing.T) {
	for left, lost := range map[int]bool{0: true, 2: false} {
		n := healthy(3)
		in := n.input()
		in.Evidence, in.Endpoint = looked(n), "unix://"+ourSocket
		restarted(in.Evidence, 14*time.Second)
		n.Pods = n.Pods[:left]
		n.Evidence = in.Evidence
		u := Once(in.Snapshot, in.Endpoint)
		f := u.Findings[0]
		said := fmt.Sprint(f.Next)
		if f.ID != OrphanShims || strings.Contains(said, "kill") || !strings.Contains(said, `grep -nE "^ *(root|state|imports)" /etc/containerd/config.toml`) || !strings.Contains(said, "readlink /proc/10") {
			t.Errorf("%d left: %s", left, said)
		}
		if act := f.act(); act.Command != "" || !strings.Contains(act.Text, "end no shim") {
			t.Errorf("act %q", act)
		}
		if h := u.Headline; h.Word != "DEGRADED" || lost != (h.Severity == Critical) || !strings.HasPrefix(h.Text, "node stays Ready, ") {
			t.Errorf("headline %+v", h)
		}
	}
}

// Shims that are left over are ended one by one, and what lives below them is named.
func TestOneOrphanIsEnded(t *testing.T) {
	n := checked(3)
	in := n.input()
	in.Evidence, in.Endpoint = looked(n), "unix://"+ourSocket
	shim := shimOf(in.Evidence, 1)
	shim.Sandbox = "lost"
	in.Evidence.Processes.Containers["left"] = []evidence.Process{{PID: 7, Parent: shim.PID, Command: "nginx", State: evidence.Sleeping, Age: time.Hour}}
	restarted(in.Evidence, 48*time.Hour)
	if act, want := find(&orphanShims, factsOf(in))[0].act(), "end by hand what lives below each"; !strings.HasPrefix(act.Text, want) {
		t.Errorf("%q, want %q", act, want)
	}
	delete(in.Evidence.Processes.Containers, "left")
	other := shimOf(in.Evidence, 2)
	other.Sandbox = "lost-2"
	if act, want := find(&orphanShims, factsOf(in))[0].act(), fmt.Sprintf("kill -9 %d", shim.PID); act.Command != want {
		t.Errorf("of two: %q, want %q", act, want)
	}
}

func shimOfLost(r *evidence.Report) *evidence.Process {
	return &r.Processes.Shims[slices.IndexFunc(r.Processes.Shims, func(p evidence.Process) bool { return p.Sandbox == "lost" })]
}

// Another shim changes the finding, and the finding continues.
func TestASecondOrphanShim(t *testing.T) {
	at := func(after time.Duration, lost int) engine.Update {
		n := healthy(3)
		n.Evidence = looked(n)
		for i := range lost {
			shimOf(n.Evidence, i).Sandbox = fmt.Sprint("lost-", i)
		}
		return n.after(after)
	}
	all := play(t, at(0, 1), at(3*second, 1), at(6*second, 2), at(9*second, 2), at(20*second, 1), at(23*second, 1))
	if got, want := turns(all), "3s began warning orphan-shims\n"; got != want {
		t.Errorf("turns %q, want %q", got, want)
	}
}
