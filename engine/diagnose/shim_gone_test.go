package diagnose

import (
	"slices"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
)

// killShim makes the shim of the second of three pods die some time ago, and the runtime see its end.
func killShim(n *node, r *evidence.Report, since time.Duration) {
	r.Processes.Shims = slices.DeleteFunc(r.Processes.Shims, func(p evidence.Process) bool { return p.Sandbox == "sandbox-1" })
	for _, id := range []string{"sandbox-1", "container-1-0", "container-1-1"} {
		delete(r.Processes.Containers, id)
	}
	p := n.pod(1)
	p.Old.Sandboxes[0].State, p.Status.Sandboxes[0].State = pleg.Exited, pleg.Exited
	for i := range p.Old.Containers {
		p.Old.Containers[i].State = pleg.Exited
		c := &p.Status.Containers[i]
		c.State, c.ExitCode, c.FinishedAt, c.Reason = pleg.Exited, exitLost, ago(since), "Error"
	}
}

// justKilled is the moment before: the containers are listed as running.
func justKilled(n *node, r *evidence.Report) {
	killShim(n, r, 10*time.Second)
	p := n.pod(1)
	for i := range p.Old.Containers {
		p.Old.Containers[i].State, p.Status.Containers[i].State = pleg.Running, pleg.Running
	}
}

func TestShimGone(t *testing.T) {
	sandbox := Subject{ObjectRef: pleg.ObjectRef{ID: "sandbox-1", Pod: healthyPod(1).PodRef, Sandbox: true}}
	app := Subject{ObjectRef: pleg.ObjectRef{ID: "container-1-0", Pod: healthyPod(1).PodRef, Container: "app"}}
	tests := []hostTest{
		{"killed", func(n *node, r *evidence.Report) { killShim(n, r, 30*time.Second) }, "ns-1/pod-00001 has lost its shim: 2 containers ended with exit code 255, 30s ago", Info, sandbox},
		{"killed long ago", func(n *node, r *evidence.Report) { killShim(n, r, 6*time.Minute) }, "", 0, Subject{}},
		{"another exit code", func(n *node, r *evidence.Report) {
			killShim(n, r, 30*time.Second)
			for i := range n.pod(1).Status.Containers {
				n.pod(1).Status.Containers[i].ExitCode = 137
			}
		}, "", 0, Subject{}},
		{"its shim is there", func(n *node, r *evidence.Report) {
			shims := slices.Clone(r.Processes.Shims)
			killShim(n, r, 30*time.Second)
			r.Processes.Shims = shims
		}, "the runtime could not reach the shim of ns-1/pod-00001, pid 1007, and has ended its 2 containers", Warning, sandbox},
		{"its shim is still there", func(n *node, r *evidence.Report) {
			shims := slices.Clone(r.Processes.Shims)
			killShim(n, r, 5*time.Second)
			r.Processes.Shims = shims
		}, "", 0, Subject{}},
		{"found gone at a restart", func(n *node, r *evidence.Report) {
			killShim(n, r, 30*time.Second)
			for i := range n.pod(1).Status.Containers {
				n.pod(1).Status.Containers[i].Reason = lostReason
			}
		}, "ns-1/pod-00001 has lost its shim: 2 containers ended with exit code 255, 30s ago", Info, sandbox},
		{"no shim is ours", func(n *node, r *evidence.Report) {
			killShim(n, r, 30*time.Second)
			for i := range r.Processes.Shims {
				r.Processes.Shims[i].Own = false
			}
		}, "", 0, Subject{}},
		{"the node has booted since", func(n *node, r *evidence.Report) {
			killShim(n, r, 30*time.Second)
			for i := range r.Processes.Shims {
				r.Processes.Shims[i].Age = 20 * time.Second
			}
		}, "", 0, Subject{}},
		{"look cut off", func(n *node, r *evidence.Report) {
			killShim(n, r, 30*time.Second)
			r.Processes.Partial = "cut off after 2s"
		}, "", 0, Subject{}},
		{"killed a moment ago", justKilled, "ns-1/pod-00001/app is listed as running, and has no process", Warning, app},
		{"killed a moment ago, and young", func(n *node, r *evidence.Report) {
			justKilled(n, r)
			for i := range n.pod(1).Status.Containers {
				n.pod(1).Status.Containers[i].StartedAt = r.At.Add(-time.Second)
			}
		}, "ns-1/pod-00001/app is listed as running, and has no process", Warning, app},
		{"younger than the look", func(n *node, r *evidence.Report) {
			justKilled(n, r)
			r.Took = 2 * time.Second
			for i := range n.pod(1).Status.Containers {
				n.pod(1).Status.Containers[i].StartedAt = r.At.Add(-time.Second)
			}
		}, "", 0, Subject{}},
		{"a sandbox without a shim of its own", func(n *node, r *evidence.Report) {
			justKilled(n, r)
			n.pod(1).Old.Sandboxes[0].State = pleg.Running
		}, "", 0, Subject{}},
	}
	t.Run("one pass", func(t *testing.T) { runHostTests(t, by(&ghostRunning), checked, tests) })
	t.Run("live", func(t *testing.T) {
		runHostTests(t, by(&ghostRunning), func(i int) *node {
			n := healthy(i)
			n.past = newWitness()
			return n
		}, seenTwice(tests))
	})
}

// A container that has neither its sandbox nor a process is reported once.
func TestKilledShimIsToldOnce(t *testing.T) {
	n := healthy(3)
	n.past = newWitness()
	r := looked(n)
	justKilled(n, r)
	n.pod(1).Orphaned = ago(2 * leftLasting)
	in := n.input()
	in.Evidence, in.Endpoint = r, "unix://"+ourSocket
	n.saw(r)
	if got := gist(append(find(&ghostRunning, factsOf(in)), leftRunning(factsOf(in))...)); got != "warning ghost-running ns-1/pod-00001/app\nwarning ghost-running ns-1/pod-00001/sidecar\n" {
		t.Error(got)
	}
}

// A look that had to be made twice ends a second after the lists.
func TestGhostOfASecondLook(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(n *node, r *evidence.Report)
		want   bool
	}{
		{"it may have just ended", func(*node, *evidence.Report) {}, false},
		{"the runtime was asked after it", func(n *node, r *evidence.Report) { n.pod(1).InspectedAt = r.At.Add(time.Millisecond) }, true},
		{"its shim is stopped", func(_ *node, r *evidence.Report) { shimOf(r, 1).State = evidence.Stopped }, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n := checked(3)
			r := looked(n)
			delete(r.Processes.Containers, "container-1-0")
			n.Health.ListedAt = ago(1500 * time.Millisecond)
			r.At = ago(100 * time.Millisecond)
			for _, p := range n.Pods {
				p.InspectedAt = ago(time.Second)
			}
			tt.change(n, r)
			in := n.input()
			in.Evidence, in.Endpoint = r, "unix://"+ourSocket
			if got := find(&ghostRunning, factsOf(in)); len(got) > 0 != tt.want {
				t.Errorf("found %+v, want one: %t", got, tt.want)
			}
		})
	}
}
