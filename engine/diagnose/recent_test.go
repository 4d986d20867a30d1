package diagnose

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/kubelet"
	"github.com/plegtop/plegtop/engine/past"
	"github.com/plegtop/plegtop/engine/pleg"
)

// What hung with a whole runtime may not hang any more after the runtime has come back.
func TestProbesHoldWhileTheirCallIsOut(t *testing.T) {
	n := healthy(5)
	for _, f := range []call.Flight{n.flight(1, "", 0), n.flight(2, "app", 0)} {
		n.probe(f, failure(f.Op, call.ErrDeadline, tooLate))
		p := &n.Probes[len(n.Probes)-1]
		p.Since, p.At, p.Took = ago(5*time.Second), ago(3*time.Second), 2*time.Second
	}
	wantIDs(t, n.diagnose())
	n.hangOn(3, "app", 8*time.Second)
	if found := n.diagnose(); len(found) == 0 {
		t.Error("nothing found while the relist waits")
	}
}

// became makes the recent answers of the runtime late, although it was fast before.
func (n *node) became(took time.Duration) *node {
	n.relisted(append(repeat(20, engine.Relist{Took: 9 * time.Millisecond, List: 9 * time.Millisecond}), repeat(7, engine.Relist{Took: 2 * took, List: 2 * took})...)...)
	n.Memory.Status = []time.Duration{took, took}
	for _, op := range []call.Operation{call.Status, call.ListPodSandbox, call.ListContainers} {
		n.calls(op).Last = took
	}
	for _, op := range []call.Operation{call.PodSandboxStatus, call.ContainerStatus} {
		n.calls(op).LastOK, n.calls(op).Last = ago(30*time.Second), time.Millisecond
	}
	return n
}

func TestSlowOfLate(t *testing.T) {
	n := healthy(5).became(800 * time.Millisecond)
	wantIDs(t, n.diagnose(), RuntimeSlow)
	firstSays(t, n.diagnose(), "take 800ms or more")

	n.calls(call.ContainerStatus).LastOK = ago(time.Second) // a fast one of late
	if found := n.diagnose(); has(found, RuntimeSlow) {
		t.Error("slow though a status came at once")
	}
}

func TestOneLateStatusIsNotSlow(t *testing.T) {
	n := healthy(5).became(120 * time.Millisecond)
	n.Memory.Status = []time.Duration{time.Millisecond, 300 * time.Millisecond}
	wantIDs(t, n.diagnose())
}

// Other calls are not fast because they once were.
func TestSlowListAmongSlowCalls(t *testing.T) {
	n := healthy(5).became(2400 * time.Millisecond)
	if op, took := n.facts().slowList(); took > 0 {
		t.Errorf("%v is called slow", op)
	}
	n.Memory.Status = []time.Duration{time.Millisecond, time.Millisecond}
	found := find(&runtimeSlow, n.facts())
	if len(found) != 1 || !strings.Contains(found[0].Summary, "takes 2.4s, while other calls are fast") {
		t.Errorf("found %+v", found)
	}
}

// Pods are not blamed if the runtime goes away again and again.
func TestNoPodIsBlamedWhileTheRuntimeComesAndGoes(t *testing.T) {
	n := healthy(5).podFails(2, "app", call.ErrUnavailable, cutText, 12)
	wantIDs(t, n.diagnose(), InspectFailing)
	n.Memory.Outages.Times = []past.Outage{{At: ago(30 * time.Second)}}
	wantIDs(t, n.diagnose())
	n.Memory.Outages = past.Outages{Away: true, Times: []past.Outage{{At: ago(5 * time.Minute)}}}
	wantIDs(t, n.diagnose())
}

// The code for a message over its limit has other reasons as well.
func TestOutOfSomethingElse(t *testing.T) {
	n := checked(5).fail(call.ListContainers, call.ErrTooLarge, "too many concurrent requests", 1).noList()
	wantIDs(t, n.diagnose(), PLEGUnhealthy)
	firstSays(t, n.diagnose(), "ListContainers fails: ResourceExhausted: too many concurrent requests")
}

func TestCrashLoopTellsTheLastDeaths(t *testing.T) {
	n := checked(1)
	var all []instance
	for i := range 50 {
		all = append(all, instance{uint32(60 - i), false, time.Duration(10+40*i) * time.Second, time.Second, 1, "Error"})
	}
	n.instances(0, "app", all...)
	for i := range n.pod(0).Status.Containers {
		n.pod(0).Status.Containers[i].ID = fmt.Sprintf("%02d%s", i, strings.Repeat("f", 62))
	}
	f := find(&crashLoop, n.facts())[0]
	told := strings.Join(f.Evidence, "\n")
	if strings.Count(told, "exit code") != namedDeaths || !strings.Contains(f.Summary, "died 61 times") {
		t.Errorf("evidence:\n%s", told)
	}
	if strings.Count(told, "fffffffffff)") != namedDeaths || strings.Contains(told, strings.Repeat("f", 12)) {
		t.Errorf("evidence has not 8 ids of 13 digits:\n%s", told)
	}
}

func TestVerdictIsToldOnce(t *testing.T) {
	n := healthy(5).unhealthy()
	n.Node = kubelet.Node{Known: true, Reason: "KubeletNotReady", Message: "PLEG is not healthy: " + n.Health.Verdict}
	told := strings.Join(n.diagnose()[0].Evidence, "\n")
	if strings.Count(told, n.Health.Verdict) != 1 {
		t.Errorf("evidence:\n%s", told)
	}
}

// The pod's failure says which of two containers of one name it was.
func TestTheFailureNamesTheObject(t *testing.T) {
	n := healthy(5).podFails(2, "app", call.ErrDeadline, tooLate, 1)
	p := n.pod(2)
	p.Old.Containers = append(p.Old.Containers, pleg.Container{ID: "older", Name: "app", State: pleg.Exited, SandboxID: "sandbox-2"})
	p.Failure.ID = "older"
	if got := n.diagnose(); len(got) != 1 || got[0].Subject.ID != "older" {
		t.Errorf("found %+v", got)
	}
	p.Failure.Since = p.Failure.At.Add(-5 * time.Millisecond) // of an inspection that took long, the call that was passed on did not
	wantIDs(t, n.diagnose())
	p.Failure.InRow = 9
	wantIDs(t, n.diagnose(), InspectFailing)
}

// A probe that somebody else's deadline ended at once was answered.
func TestDeadlinePassedOnToAProbe(t *testing.T) {
	n := healthy(5).hangOn(3, "app", 8*time.Second).probe(call.Flight{Op: call.Status}, nil)
	n.probe(n.flight(1, "app", 0), failure(call.ContainerStatus, call.ErrDeadline, "ttrpc: context deadline exceeded"))
	if got := gist(n.diagnose()); got != "critical inspect-hung ContainerStatus ns-0/pod-00003/app\n" {
		t.Error(got)
	}
}

// A kubelet that has long been up does not report what a kubelet that starts now reports.
func TestNoListYetIsNoVerdict(t *testing.T) {
	n := healthy(5).new(40*time.Second).hang(call.ListPodSandbox, 40*time.Second).probesAnswered()
	n.Pods, n.Health = nil, kubelet.Health{Verdict: "pleg has yet to be successful"}
	wantIDs(t, n.diagnose(), ListHung)
	n.Node.PLEG = "PLEG is not healthy: pleg was last seen active 3m18.652721733s ago; threshold is 3m0s"
	found := n.diagnose()
	wantIDs(t, found, ListHung, PLEGUnhealthy)
	if said := strings.Join(found[1].Evidence, "\n"); !strings.Contains(said, "a kubelet that sees the same says: PLEG is not healthy: pleg was last seen active 3m19s ago; threshold is 3m0s") || strings.Contains(said, "yet to be") {
		t.Error(said)
	}
}

func TestRounded(t *testing.T) {
	for text, want := range map[string]string{
		"pleg was last seen active 3m18.652721733s ago; threshold is 3m0s": "pleg was last seen active 3m19s ago; threshold is 3m0s",
		"1h2m3.4s, 0.25s, 12.7s and v1.2s3":                                "1h2m3s, 0.25s, 13s and v1.2s3",
		"":                                                                 "",
	} {
		if got := Rounded(text); got != want {
			t.Errorf("Rounded(%q) = %q, want %q", text, got, want)
		}
	}
}
