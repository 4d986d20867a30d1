package diagnose

import (
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/past"
	"github.com/plegtop/plegtop/engine/pleg"
)

// settled returns a healthy node whose relists have been good for long, with r as
// its last two looks.
func (n *node) settled(r *evidence.Report) *node {
	before := *r
	n.Memory.IdleSince, n.Memory.LookBefore = ago(time.Hour), &before
	return n
}

func silentAnswer() evidence.Answer {
	return evidence.Answer{Asked: true, Took: 2 * time.Second, TimedOut: true, Err: "no answer within 2s"}
}

func nobodyThere() evidence.Answer {
	return evidence.Answer{Asked: true, Refused: true, URL: "http://127.0.0.1:10248/healthz", Err: "not available: connection refused"}
}

func TestKubeletStuck(t *testing.T) {
	late := func(r *evidence.Report) { r.Kubelet.LastSeen = r.At.Add(-2 * time.Minute) }
	veryLate := func(r *evidence.Report) { r.Kubelet.LastSeen = r.At.Add(-200 * time.Second) }
	failing := evidence.Answer{Asked: true, Text: "internal server error: sync Loop took longer than expected"}
	state := func(s evidence.State) func(*node, *evidence.Report) {
		return func(n *node, r *evidence.Report) {
			d := r.Processes.Daemons
			d[1].State, d[1].For, d[1].PID = s, 12*time.Second, 4711
			r.Kubelet = evidence.Kubelet{Ping: silentAnswer(), Metrics: silentAnswer()}
			n.hangFailure() // whatever the runtime does
		}
	}
	tests := []hostTest{
		{"well", func(*node, *evidence.Report) {}, "", 0, Subject{}},
		{"no way to its metrics", func(_ *node, r *evidence.Report) {
			r.Kubelet = evidence.Kubelet{Ping: r.Kubelet.Ping, Metrics: evidence.Answer{Asked: true, Err: "401 Unauthorized"}}
		}, "", 0, Subject{}},
		{"late", func(_ *node, r *evidence.Report) { late(r) }, "the last relist of the kubelet began 2m0s ago, ours 1s ago", Warning, Subject{}},
		{"later than its threshold", func(_ *node, r *evidence.Report) { veryLate(r) }, "the last relist of the kubelet began 3m20s ago", Critical, Subject{}},
		{"short threshold of ours", func(n *node, _ *evidence.Report) { n.Threshold = 3 * time.Second }, "", 0, Subject{}},
		{"a clock ahead of ours", func(_ *node, r *evidence.Report) { r.Kubelet.LastSeen = r.At.Add(time.Hour) }, "", 0, Subject{}},
		{"never measured", func(_ *node, r *evidence.Report) { r.Kubelet.LastSeen = time.Time{} }, "", 0, Subject{}},
		{"events instead of relists", func(_ *node, r *evidence.Report) { r.Kubelet.StillFor = 4 * time.Minute }, "", 0, Subject{}},
		{"the alpha form of events, which sets the time of the last relist", func(_ *node, r *evidence.Report) {
			veryLate(r)
			r.Kubelet.Version, r.Kubelet.Streams = "v1.36.2", 1
		}, "", 0, Subject{}},
		{"metrics alone hang, as while a shim is stopped", func(_ *node, r *evidence.Report) {
			r.Kubelet = evidence.Kubelet{Ping: r.Kubelet.Ping, Metrics: silentAnswer()}
		}, "", 0, Subject{}},
		{"its sync loop stands", func(n *node, r *evidence.Report) {
			r.Kubelet.SyncLoop, n.Memory.LookBefore.Kubelet.SyncLoop = failing, failing
		}, "/healthz/syncloop fails: internal server error: sync Loop took longer than expected", Critical, Subject{}},
		{"the ping hangs", func(n *node, r *evidence.Report) {
			r.Kubelet.Ping, n.Memory.LookBefore.Kubelet.Ping = silentAnswer(), silentAnswer()
		}, "the ping gives no answer within 2s", Critical, Subject{}},
		{"the ping hangs at one look", func(_ *node, r *evidence.Report) { r.Kubelet.Ping = silentAnswer() }, "", 0, Subject{}},
		{"stopped", state(evidence.Stopped), "the kubelet's process, pid 4711, is stopped (T) for 14s", Critical, Subject{}},
		{"frozen", state(evidence.Frozen), "the kubelet's process, pid 4711, is frozen by its control group for 14s", Critical, Subject{}},
		{"stopped, and goes on by now", func(n *node, r *evidence.Report) {
			answers := r.Kubelet
			state(evidence.Stopped)(n, r)
			r.Kubelet = answers
		}, "", 0, Subject{}},
		{"waits for a disk", state(evidence.Uninterrupted), "", 0, Subject{}},
		{"ours is no better", func(n *node, r *evidence.Report) { late(r); n.Health.Healthy = false }, "", 0, Subject{}},
		{"our list failed", func(n *node, r *evidence.Report) { late(r); n.hangFailure() }, "", 0, Subject{}},
		{"our list is old", func(n *node, r *evidence.Report) { late(r); n.Health.ListedAt = ago(2 * time.Minute) }, "", 0, Subject{}},
		{"ours was long itself", func(n *node, r *evidence.Report) { late(r); n.Relists.Last = time.Minute }, "", 0, Subject{}},
		{"right after ours was long", func(n *node, r *evidence.Report) { veryLate(r); n.Memory.IdleSince = ago(59 * time.Second) }, "", 0, Subject{}},
		{"read before ours was good", func(n *node, r *evidence.Report) { veryLate(r); r.Kubelet.ReadAt = ago(time.Hour) }, "", 0, Subject{}},
	}
	for i, tt := range tests {
		tests[i].change = func(n *node, r *evidence.Report) { tt.change(n.settled(r), r) }
	}
	runHostTests(t, by(&kubeletStuck), healthy, tests)

	// One look cannot recognise a runtime that has just come back.
	runHostTests(t, by(&kubeletStuck), checked, []hostTest{
		{"late", func(_ *node, r *evidence.Report) { veryLate(r) }, "the last relist of the kubelet began 3m20s ago", Warning, Subject{}},
		{"its sync loop stands", func(_ *node, r *evidence.Report) { r.Kubelet.SyncLoop = failing }, "/healthz/syncloop fails", Warning, Subject{}},
		{"stopped", state(evidence.Stopped), "the kubelet's process, pid 4711, is stopped (T)", Critical, Subject{}},
	})
	n := healthy(1)
	r := looked(n)
	state(evidence.Stopped)(n, r)
	in := n.input()
	in.Evidence = r
	if next := find(&kubeletStuck, factsOf(in))[0].Next; next[len(next)-1].Command != "kill -CONT 4711" || next[len(next)-1].Risky() {
		t.Errorf("next = %+v, want kill -CONT", next)
	}
}

// A runtime hung for minutes and is back: our relists recover first, and what was read of the kubelet is still about
// the hang for some time.
func TestKubeletIsNotStuckAfterARecovery(t *testing.T) {
	n, w := healthy(2), newWitness()
	start, hung := now, 434*time.Second
	lastSeen := start.Add(-time.Second)
	catchesUp := hung + 12*time.Second
	ask := func(at time.Duration, catchesUp time.Duration) []Finding {
		s := n.Snapshot
		s.At = start.Add(at)
		s.Health.ListedAt, s.Health.SettledAt = s.At.Add(-time.Second), s.At.Add(-time.Second)
		r := looked(n)
		r.At, r.Kubelet.ReadAt = s.At, s.At
		r.Kubelet.LastSeen = s.At.Add(-2 * time.Second)
		if at < hung {
			s.Health.ListedAt = start
			s.Health.Healthy = at < 3*time.Minute
			r.Kubelet.Metrics, r.Kubelet.SyncLoop = silentAnswer(), silentAnswer()
		}
		if at < catchesUp {
			r.Kubelet.LastSeen = lastSeen
		}
		w.Add(engine.Update{Snapshot: &s})
		w.AddReport(r)
		s.Memory = w.Read()
		return find(&kubeletStuck, factsOf(Input{Snapshot: &s, Evidence: r}))
	}
	at := time.Duration(0)
	for ; at < hung+5*time.Minute; at += 5 * time.Second {
		if found := ask(at, catchesUp); found != nil {
			t.Fatalf("after %v: %+v", at, found)
		}
	}
	lastSeen = start.Add(at)
	var found []Finding
	for ; found == nil && at < 2*time.Hour; at += 5 * time.Second {
		found = ask(at, 3*time.Hour)
	}
	if took := at - lastSeen.Sub(start); found == nil || took > 2*time.Minute {
		t.Errorf("a kubelet that stands while ours goes on is told after %v: %+v", took, found)
	}
}

func TestKubeletGone(t *testing.T) {
	gone := func(r *evidence.Report) {
		r.Processes.Daemons = r.Processes.Daemons[:1]
		r.Kubelet = evidence.Kubelet{Ping: nobodyThere(), Health: nobodyThere(), SyncLoop: nobodyThere(), Metrics: nobodyThere()}
	}
	pods := func(r *evidence.Report) {
		r.Processes.KubeletRoots = map[string]string{"container-0-0": "/var/lib/kubelet/pods"}
	}
	was := func(n *node, since time.Duration) {
		n.Memory.Kubelet = past.Kubelet{Seen: ago(since), Process: evidence.Process{PID: 99, Command: "kubelet", Unit: "k0sworker.service"}, Gone: ago(since - 5*time.Second)}
	}
	tests := []hostTest{
		{"there", func(*node, *evidence.Report) {}, "", 0, Subject{}},
		{"never was", func(_ *node, r *evidence.Report) { gone(r) }, "", 0, Subject{}},
		{"never asked for", func(n *node, r *evidence.Report) { gone(r); was(n, time.Hour); r.Kubelet = evidence.Kubelet{} }, "", 0, Subject{}},
		{"its pods run", func(n *node, r *evidence.Report) { gone(r); pods(r); n.Memory.Kubelet.Gone = ago(time.Minute) }, "no kubelet runs here, though containers of its pods do", Critical, Subject{}},
		{"its pods run, for a moment", func(n *node, r *evidence.Report) { gone(r); pods(r); n.Memory.Kubelet.Gone = ago(10 * time.Second) }, "no kubelet runs here, though containers of its pods do", Warning, Subject{}},
		{"at the first look", func(n *node, r *evidence.Report) { gone(r); pods(r); n.Memory.Kubelet.Gone = r.At }, "", 0, Subject{}},
		{"was there", func(n *node, r *evidence.Report) { gone(r); was(n, time.Minute) }, "the kubelet is gone: it was there 1m0s ago", Critical, Subject{}},
		{"was there a moment ago", func(n *node, r *evidence.Report) { gone(r); was(n, 20*time.Second) }, "the kubelet is gone: it was there 20s ago", Warning, Subject{}},
		{"answers without a process that can be seen", func(n *node, r *evidence.Report) { pods(r); was(n, time.Minute); r.Processes.Daemons = nil }, "", 0, Subject{}},
		{"lets nobody in", func(n *node, r *evidence.Report) {
			gone(r)
			was(n, time.Minute)
			r.Kubelet.Health = evidence.Answer{Asked: true, Denied: true, Err: "not permitted: give a token"}
		}, "", 0, Subject{}},
		{"within k3s", func(n *node, r *evidence.Report) {
			gone(r)
			was(n, time.Minute)
			r.Processes.Daemons = append(r.Processes.Daemons, evidence.Process{PID: 5, Command: "k3s-server"})
		}, "", 0, Subject{}},
		{"in a container", func(n *node, r *evidence.Report) {
			gone(r)
			was(n, time.Minute)
			r.Processes.Containers["docker"] = []evidence.Process{{PID: 5, Command: "kubelet"}}
		}, "", 0, Subject{}},
		{"it is another runtime's that is there", func(n *node, r *evidence.Report) {
			gone(r)
			was(n, time.Minute)
			other := evidence.Process{PID: 5, Command: "kubelet"}
			r.Processes.OtherKubelet, r.Processes.Containers["docker"] = other, []evidence.Process{other}
		}, "the kubelet is gone: it was there 1m0s ago", Critical, Subject{}},
		{"it is that of a node within this one that is there", func(n *node, r *evidence.Report) {
			gone(r)
			was(n, time.Minute)
			r.Processes.Containers["kind"] = []evidence.Process{{PID: 5, Command: "kubelet", Nested: true}}
		}, "the kubelet is gone: it was there 1m0s ago", Critical, Subject{}},
		{"processes cannot be seen", func(n *node, r *evidence.Report) {
			gone(r)
			pods(r)
			n.Memory.Kubelet.Gone = ago(time.Minute)
			r.Processes.Partial = "hidden"
		}, "", 0, Subject{}},
	}
	runHostTests(t, by(&kubeletGone), healthy, tests)
	runHostTests(t, by(&kubeletGone), checked, []hostTest{
		{"its pods run", func(_ *node, r *evidence.Report) { gone(r); pods(r) }, "no kubelet runs here", Warning, Subject{}},
		{"another runtime's pods run", func(_ *node, r *evidence.Report) {
			gone(r)
			r.Processes.KubeletRoots = map[string]string{"theirs": "/var/lib/kubelet/pods"}
		}, "", 0, Subject{}},
		{"a pod runs of which the runtime has a folder", func(_ *node, r *evidence.Report) {
			gone(r)
			r.Processes.KubeletRoots = map[string]string{"unlisted": "/var/lib/kubelet/pods"}
			r.Deep = &evidence.Deep{Objects: evidence.Objects{All: []evidence.Object{{ObjectRef: pleg.ObjectRef{ID: "unlisted"}}}}}
		}, "no kubelet runs here", Warning, Subject{}},
		{"never was", func(_ *node, r *evidence.Report) { gone(r) }, "", 0, Subject{}},
	})

	n := healthy(3)
	r := looked(n)
	gone(r)
	was(n, time.Minute)
	in := n.input()
	in.Evidence = r
	f := Diagnose(in)
	wantIDs(t, f, KubeletGone)
	if !strings.Contains(f[0].Next[2].Command, "systemctl start k0sworker") {
		t.Errorf("next = %+v, want the unit that it ran in", f[0].Next)
	}
	if h := factsOf(in).headline(f); h.Word != "KUBELET GONE" {
		t.Errorf("headline = %+v", h)
	}
}
