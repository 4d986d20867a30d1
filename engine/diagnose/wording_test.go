package diagnose

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
)

// What merely sleeps is at rest however long it does.
func TestSleepIsNotTimed(t *testing.T) {
	p := evidence.Process{PID: 7, Command: "containerd-shim", State: evidence.Sleeping, For: time.Second}
	if got := describe("its shim", p); got != "its shim: pid 7 (containerd-shim) is sleeping" {
		t.Error(got)
	}
	p.State = evidence.Stopped
	if got := describe("its shim", p); got != "its shim: pid 7 (containerd-shim) is stopped (T) for 1s" {
		t.Error(got)
	}
}

// A text on the screen changes with the second, not with each snapshot.
func TestTextsChangeWithTheSecond(t *testing.T) {
	at := func(more time.Duration) []Finding {
		n := healthy(5).instances(4, "app", instance{6, false, 40 * time.Second, 2 * time.Second, 1, "Error"})
		n.hangOn(3, "app", 4100*time.Millisecond).hang(call.Status, 3100*time.Millisecond).probesAnswered().condition("NetworkReady")
		n.At = n.At.Add(more)
		return n.diagnose()
	}
	text := func(all []Finding) (s []string) {
		for _, f := range all {
			s = append(append(s, f.Summary), f.Evidence...)
		}
		return s
	}
	if diff := cmp.Diff(text(at(100*time.Millisecond)), text(at(300*time.Millisecond))); diff != "" || len(at(0)) < 3 {
		t.Errorf("within a second (-before +after):\n%s", diff)
	}
}

// The views put the id before the summary.
func TestSummariesDoNotRepeatTheirID(t *testing.T) {
	for _, f := range everyFinding(t) {
		summary := strings.ToLower(strings.TrimPrefix(f.Summary, "the "))
		words := strings.ReplaceAll(string(f.ID), "-", " ")
		first, _, _ := strings.Cut(words, " ")
		if word, _, _ := strings.Cut(summary, " "); strings.HasPrefix(summary, words) || word == first {
			t.Errorf("%s: %s", f.ID, f.Summary)
		}
		if strings.HasSuffix(strings.TrimSuffix(f.Summary, "..."), ".") || strings.Contains(f.Summary, "  ") || strings.Contains(f.Summary, " 1 times") {
			t.Errorf("%s: %q is no clear sentence", f.ID, f.Summary)
		}
	}
}

// everyFinding returns findings of all kinds.
func everyFinding(t *testing.T) (all []Finding) {
	t.Helper()
	nodes := []*node{
		healthy(5).fail(call.ListPodSandbox, call.ErrUnavailable, notThere, 20),
		checked(5).fail(call.Status, call.ErrOther, "locked", 1).fail(call.ListPodSandbox, call.ErrOther, "locked", 1).noList(),
		checked(5).fail(call.Status, call.ErrOther, "broken", 1),
		healthy(5).fail(call.Status, call.ErrOther, "broken", 3),
		func() *node {
			n := checked(5)
			n.calls(call.ContainerStatus).ByCode = []answers.CodeCount{{Code: "Unavailable", Count: 3}}
			n.Sweep.Flaky = 3
			return n
		}(),
		healthy(5).hang(call.ListPodSandbox, 6*time.Second).hang(call.Version, 3*time.Second),
		healthy(5).hang(call.ListPodSandbox, 6*time.Second).hang(call.Status, 3*time.Second),
		healthy(5).hang(call.Status, 20*time.Second),
		healthy(5).hang(call.ListContainers, 5*time.Second).probesAnswered(),
		checked(5).slowBy(5*time.Second, call.ListContainers),
		checked(5).fail(call.ListContainers, call.ErrTooLarge, overTheTop, 1).noList(),
		checked(5).fail(call.ListContainers, call.ErrTooLarge, "no figures", 1).noList(),
		exited(2000),
		checked(40).sweepHung(1, ""), checked(40).sweepFailed(1, "app", call.ErrOther, "broken"),
		healthy(5).hangOn(1, "app", 4*time.Second).probe(call.Flight{Op: call.Status}, nil).probing(healthy(5).flight(3, "", 0), 2*time.Second),
		checked(5).slowBy(300*time.Millisecond, answeringOps...),
		checked(5).slowBy(700*time.Millisecond, call.PodSandboxStatus, call.ContainerStatus),
		healthy(300).relisted(engine.Relist{Took: 9 * time.Millisecond}, engine.Relist{Took: 40 * time.Second, List: 30 * time.Millisecond, Inspected: 280}),
		healthy(5).unhealthy(), healthy(5).condition("RuntimeReady").condition("NetworkReady"),
		checked(3).instances(0, "app", instance{6, false, 40 * time.Second, 2 * time.Second, 1, "Error"}),
	}
	for _, n := range nodes {
		found := n.diagnose()
		if len(found) == 0 {
			t.Errorf("a node without a finding: %+v", n.Snapshot.Failure)
		}
		all = append(all, found...)
	}
	for _, change := range []func(*node, *evidence.Report){
		justKilled,
		func(n *node, r *evidence.Report) { killShim(n, r, 30*time.Second) },
		func(_ *node, r *evidence.Report) { shimOf(r, 1).State = evidence.Stopped },
		func(_ *node, r *evidence.Report) { shimOf(r, 1).Sandbox = "lost" },
		func(_ *node, r *evidence.Report) { r.Pressure.IO = evidence.Stall{Full10: 80, Full60: 80} },
		func(_ *node, r *evidence.Report) { r.Disk.Free = 1 << 30 },
		func(_ *node, r *evidence.Report) { r.Kubelet.LastSeen = now.Add(-4 * time.Minute) },
		func(_ *node, r *evidence.Report) { r.Kubelet.Ping.OK, r.Kubelet.Ping.TimedOut = false, true },
		func(_ *node, r *evidence.Report) {
			r.Clock = evidence.Clock{Watched: time.Hour, Step: time.Minute, Steps: 1}
		},
		func(n *node, _ *evidence.Report) { n.shifted(30 * time.Hour) },
		func(_ *node, r *evidence.Report) {
			all := r.Processes.Containers["container-1-0"]
			all[0].State, all[0].For = evidence.Uninterrupted, time.Minute
		},
	} {
		n := checked(3)
		in := n.input()
		in.Evidence, in.Endpoint = looked(n), "unix://"+ourSocket
		change(n, in.Evidence)
		found := Diagnose(in)
		if len(found) == 0 {
			t.Errorf("a look without a finding: %+v", in.Evidence)
		}
		all = append(all, found...)
	}
	return all
}
