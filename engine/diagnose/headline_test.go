package diagnose

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/kubelet"
	"github.com/plegtop/plegtop/engine/pleg"
)

// allWell is the headline of a node of five pods.
var allWell = Headline{Word: "HEALTHY", Text: "5 pods, 10 containers, every call is answered", Node: NodeReadyNow}

// notReady makes the node NotReady for a while.
func (n *node) notReady(since time.Duration) *node {
	n.Node.Ready, n.Node.Since = false, ago(since)
	return n
}

// starting makes the node one whose kubelet starts now and has no Status.
func starting(n *node) *node {
	n.Node = kubelet.Node{Known: true, RuntimeDown: "container runtime status check may not have completed yet", Reason: "KubeletNotReady"}
	return n
}

func TestHeadline(t *testing.T) {
	critical := func(word, text, clock string) Headline {
		return Headline{Word: word, Severity: Critical, Text: text, Clock: Clock{What: clock}}
	}
	warning := func(word, text, clock string) Headline {
		return Headline{Word: word, Severity: Warning, Text: text, Clock: Clock{What: clock}}
	}
	const soonUnhealthy = "PLEG unhealthy"
	down := func(n *node, in time.Duration) *node {
		n.Node.DownAt = now.Add(in)
		n.Node.Next = kubelet.Posting{From: now.Add(in), To: now.Add(in + 10*time.Second)}
		return n
	}
	tests := []struct {
		name string
		node *node
		want Headline
	}{
		{"nothing is wrong", healthy(5), allWell},
		{"check", checked(5), allWell},
		{"short threshold", func() *node { n := healthy(5); n.Threshold = 3 * time.Second; return n }(), allWell},
		{"something mild", healthy(5).crashes(0, "api", 6, 1), Headline{Word: "DEGRADED", Severity: Warning, Text: "node stays Ready, 1 warning, about an application: crash loop of ns-0/api/app"}},
		{"before the first list", func() *node {
			n := healthy(5).new(2*time.Second).hang(call.ListPodSandbox, 500*time.Millisecond)
			n.Pods, n.Health = nil, kubelet.Health{Verdict: "pleg has yet to be successful"}
			return n
		}(), Headline{Word: "STARTING", Text: "waiting for the first list"}},
		{"a list is too big", healthy(5).fail(call.ListContainers, call.ErrTooLarge, overTheTop, 40), critical("LISTS FAIL", "ListContainers answers with 19.2 MiB, and the kubelet takes at most 16.0 MiB", "")},
		{"a list and Status failed, whose limit comes first", healthy(5).fail(call.ListPodSandbox, call.ErrOther, "locked", 1).fail(call.Status, call.ErrOther, "busy", 1), warning("AT RISK", "Status failed once: Unknown: busy", "")},
		{"a list failed once", healthy(5).fail(call.ListPodSandbox, call.ErrOther, "locked", 1), warning("AT RISK", "ListPodSandbox failed once: Unknown: locked", "")},
		{"a list fails", healthy(5).fail(call.ListPodSandbox, call.ErrOther, "locked", 10), critical("LISTS FAIL", "ListPodSandbox fails: Unknown: locked", "")},
		{"a list that fails is late", healthy(5).fail(call.ListPodSandbox, call.ErrOther, "locked", 10).hang(call.ListContainers, 1500*time.Millisecond).probesAnswered(),
			critical("LISTS FAIL", "ListPodSandbox fails: Unknown: locked", "")},
		{"list and Status are late", healthy(5).hang(call.ListPodSandbox, 1800*time.Millisecond).hang(call.Status, 1200*time.Millisecond),
			warning("SLOW?", "the relist waits for ListPodSandbox since 1s", "")},
		{"a list fails in check", checked(5).fail(call.ListPodSandbox, call.ErrOther, "locked", 1).noList(), critical("LISTS FAIL", "ListPodSandbox fails: Unknown: locked", "")},
		{"nobody is there", healthy(5).dead(4), warning("RUNTIME DOWN", "no call reaches the runtime: connection refused", "")},
		{"nobody is there for long", down(healthy(5).dead(12), 18*time.Second), critical("RUNTIME DOWN", "no call reaches the runtime: connection refused", "NotReady")},
		{"nobody is there, in check", checked(5).fail(call.Status, call.ErrUnavailable, notThere, 1).fail(call.ListPodSandbox, call.ErrUnavailable, notThere, 1).noList(),
			critical("RUNTIME DOWN", "no call reaches the runtime: connection refused", "")},
		{"nobody is there, and the node is not ready", healthy(5).dead(40).notReady(10 * time.Second),
			critical("RUNTIME DOWN", "NotReady since "+clock(ago(10*time.Second), now)+": no call reaches the runtime: connection refused", soonUnhealthy)},
		{"and not since today", healthy(5).dead(40).notReady(10 * time.Hour),
			critical("RUNTIME DOWN", "NotReady since 2026-03-13 23:26:53: no call reaches the runtime: connection refused", soonUnhealthy)},
		{"one inspection failed", healthy(5).podFails(1, "app", call.ErrOther, "broken", 1), Headline{Word: "HEALTHY", Text: "5 pods, 10 containers, the last inspection of 1 pod failed"}},
		{"one Status failed", healthy(5).fail(call.Status, call.ErrOther, "locked", 1), Headline{Word: "HEALTHY", Text: "5 pods, 10 containers, the last Status failed"}},
		{"stopped", down(healthy(5).hang(call.ListPodSandbox, 6*time.Second).hang(call.Version, 3*time.Second).hang(call.Status, 3*time.Second), 20*time.Second),
			critical("NOT ANSWERING", "no list and no status is answered", "NotReady")},
		{"a list hangs", healthy(5).hang(call.ListContainers, 5*time.Second).probesAnswered(), critical("LISTS HANG", "ListContainers got no answer for 5s", "")},
		{"a list hangs behind a status", healthy(5).hang(call.ListContainers, 12*time.Second).probesAnswered().fly(healthy(5).flight(2, "sidecar", 3*time.Second)),
			critical("LISTS HANG", "lists hang, blocked by ns-2/pod-00002/sidecar", "")},
		{"an inspection is late", healthy(5).hangOn(3, "app", 1500*time.Millisecond).probesAnswered(), warning("SLOW?", "the relist waits for ContainerStatus of ns-0/pod-00003/app since 1s", "")},
		{"an inspection hangs", healthy(5).hangOn(3, "app", 47*time.Second).probesAnswered(), critical("AT RISK", "ContainerStatus of ns-0/pod-00003/app: no reply for 47s", soonUnhealthy)},
		{"of a pod without a name", func() *node {
			n := healthy(5).hangOn(3, "app", 47*time.Second).probesAnswered()
			n.InFlight[0].Pod, n.InFlight[0].Container, n.InFlight[0].ID = pleg.PodRef{}, "", strings.Repeat("0123456789", 7)[:64]
			return n
		}(), critical("AT RISK", "ContainerStatus of 0123456789012 (of a pod whose name is not known): no reply for 47s", soonUnhealthy)},
		{"unhealthy, since an inspection hangs", healthy(5).hangOn(3, "app", 3*time.Minute).probesAnswered().unhealthy(), critical("UNHEALTHY", "ContainerStatus of ns-0/pod-00003/app: no reply for 3m0s", "")},
		{"unhealthy", healthy(5).unhealthy(), critical("UNHEALTHY", "no relist has listed the pods for 4m0s; the threshold is 3m0s", "")},
		{"soon unhealthy", func() *node { n := healthy(5); n.Health.ListedAt = ago(160 * time.Second); return n }(), warning("AT RISK", "no relist has listed the pods for 2m40s; the threshold is 3m0s", soonUnhealthy)},
		{"soon unhealthy, and was paused", func() *node {
			n := healthy(5)
			n.Health.ListedAt, n.Health.UnhealthyAt = ago(20*time.Minute), now.Add(20*time.Second)
			return n
		}(), warning("AT RISK", "no relist has listed the pods for 2m40s; the threshold is 3m0s", soonUnhealthy)},
		{"Status hangs", down(healthy(5).hang(call.Status, 20*time.Second), 10*time.Second), critical("STATUS HANGS", "Status got no answer for 20s", "NotReady")},
		{"Status fails in check", checked(5).fail(call.Status, call.ErrOther, "locked", 1), critical("STATUS FAILS", "Status fails: Unknown: locked", "")},
		{"no Status for too long", func() *node {
			n := healthy(5).fail(call.Status, call.ErrOther, "locked", 9)
			n.Node.RuntimeDown = "container runtime is down"
			return n.notReady(10 * time.Second)
		}(), critical("NOT READY", "since 09:26:43: no Status is answered well: container runtime is down", "")},
		{"no Status for too long, and nothing posted", func() *node {
			n := down(healthy(5).fail(call.Status, call.ErrOther, "locked", 9), 3*time.Second)
			n.Node.RuntimeDown = "container runtime is down"
			return n
		}(), critical("LOOP STOPPED", "no Status is answered well: container runtime is down", "NotReady")},
		{"well again, and not posted", func() *node {
			n := healthy(5).notReady(10 * time.Second)
			n.Node.Next = kubelet.Posting{Ready: true, From: now.Add(time.Second), To: now.Add(11 * time.Second)}
			return n
		}(), warning("NOT READY", "recovered; the kubelet has yet to post Ready", "Ready")},
		{"well again but for a warning, and not posted", func() *node {
			n := healthy(5).crashes(0, "api", 6, 1).notReady(10 * time.Second)
			n.Node.Next = kubelet.Posting{Ready: true, From: now.Add(time.Second), To: now.Add(11 * time.Second)}
			return n
		}(), warning("NOT READY", "recovered; the kubelet has yet to post Ready; 1 warning, about an application: crash loop of ns-0/api/app", "Ready")},
		{"well again, and posted or not", func() *node {
			n := healthy(5).notReady(10 * time.Second)
			n.Node.Next = kubelet.Posting{Ready: true, From: now, To: now.Add(9 * time.Second)}
			return n
		}(), warning("NOT READY", "recovered; the kubelet may have yet to post Ready", "Ready")},
		{"an inspection hangs, and its deadline comes first", func() *node {
			n := healthy(5).hangOn(3, "app", 47*time.Second).probesAnswered()
			n.Phase.EndsBy = now.Add(73 * time.Second)
			return n
		}(), critical("INSPECTION HANGS", "ContainerStatus of ns-0/pod-00003/app: no reply for 47s; PLEG stays healthy, all events are late", "relist ends")},
		{"Status hangs in check", starting(checked(5).hang(call.Status, 5*time.Second)), critical("STATUS HANGS", "Status got no answer for 5s", "NotReady")},
		{"Status fails in check, as the kubelet's does", starting(checked(5).fail(call.Status, call.ErrOther, "locked", 1)), critical("STATUS FAILS", "Status fails: Unknown: locked", "NotReady")},
		{"no network", healthy(5).condition("NetworkReady").notReady(10 * time.Second), critical("NOT READY", "since 09:26:43: the runtime says that its network is not ready: Broken", "")},
		{"no network, in check", checked(5).condition("NetworkReady"), critical("AT RISK", "the runtime says that its network is not ready: Broken", "NotReady")},
		{"not ready itself, in check", checked(5).condition("RuntimeReady"), critical("LOOP STOPPED", "the runtime says that it is not ready: Broken", "NotReady")},
		{"no network in check, and Version fails", checked(5).condition("NetworkReady").fail(call.Version, call.ErrOther, "locked", 1), critical("AT RISK", "the runtime says that its network is not ready: Broken", "")},
		{"no network, and nothing posted", healthy(5).condition("NetworkReady"), critical("AT RISK", "the runtime says that its network is not ready: Broken", "")},
		{"not ready itself, and nothing posted", healthy(5).condition("RuntimeReady"), critical("LOOP STOPPED", "the runtime says that it is not ready: Broken", "")},
		{"check was cut off", func() *node { n := checked(5); n.Sweep.Done, n.Sweep.CutOff = 4, true; return n }(), warning("NOT ALL SEEN", "4 of 15 objects asked: cut off by the deadline", "")},
		{"check was cut off, beside something mild", func() *node {
			n := checked(5).crashes(0, "api", 6, 1)
			n.Sweep.Done, n.Sweep.CutOff = 4, true
			return n
		}(), warning("NOT ALL SEEN", "4 of 15 objects asked: cut off by the deadline", "")},
		{"a sweep of a running engine was cut off", func() *node { n := healthy(5); n.Sweep = &answers.Sweep{Total: 15, CutOff: true, Ended: now}; return n }(), allWell},
		{"entries without an id", func() *node { n := healthy(5); n.Anomalies.NoID = 95000; return n }(), warning("NOT ALL SEEN", "95,000 objects listed without an id, which nobody can ask for", "")},
		{"a list near its limit", func() *node {
			n := healthy(5)
			n.calls(call.ListContainers).LastResponseBytes = 15 << 20
			return n
		}(), warning("AT RISK", readyNow+"ListContainers answers with 15.0 MiB, 94% of the 16.0 MiB that the kubelet takes", "")},
		{"slow", checked(5).slowBy(300*time.Millisecond, answeringOps...), warning("SLOW", readyNow+"half of all calls take 300ms or more, whatever they ask", "")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v := tt.node.facts()
			found := v.diagnose()
			got := v.headline(found).made()
			c := got.Clock
			if c.What != "" && (c.In+c.To <= 0 || c.In < 0 || c.In > 3*time.Minute) {
				t.Errorf("%s in %v", c.What, c.In)
			}
			if c.To != 0 && c.To <= c.In {
				t.Errorf("clock %+v", c)
			}
			got.Clock.In, got.Clock.To, got.Node, got.about, got.ofPart, tt.want.Node = 0, 0, "", "", false, ""
			if got != tt.want || !isHeadWord(got.Word) || got.Sound() != (got.Word == "HEALTHY") {
				t.Errorf("headline %+v\nwant     %+v", got, tt.want)
			}
		})
	}
}

// A warning about no pod is shown by its summary: "1 warning: clock step" would tell less.
func TestHeadlineSaysTheOneWarning(t *testing.T) {
	in := healthy(5).input()
	in.Evidence = &evidence.Report{Clock: evidence.Clock{Watched: time.Hour, Step: 2 * time.Minute, StepAge: 30 * time.Second, Steps: 1}}
	v := factsOf(in)
	if got, want := v.headline(v.diagnose()).Text, "node stays Ready, 1 warning: the time of the node jumped forward by 2m0s, 30s ago"; got != want {
		t.Errorf("headline %q, want %q", got, want)
	}
	n := healthy(2).lose(time.Minute, 0).lose(30*time.Second, 3, 1, 1, 2).lose(0, 3)
	v = n.facts()
	if got, want := v.headline(n.diagnose()).Text, "node stays Ready, 1 warning: the kubelet likely lost 3 events of 2 pods, the last 30s ago: its event channel was full"; got != want {
		t.Errorf("headline %q, want %q", got, want)
	}
}

// The process behind a call comes after the call's names.
func TestHeadlineNamesTheProcess(t *testing.T) {
	n := healthy(5).hang(call.ListContainers, 30*time.Second).probesAnswered()
	in := n.input()
	in.Evidence = looked(n)
	p := &in.Evidence.Processes.Containers["container-2-0"][0]
	p.State, p.For, p.Wchan = evidence.Uninterrupted, 30*time.Second, "nfs4_proc_getattr"
	said := func() string {
		v := factsOf(in)
		return v.headline(v.diagnose()).Text
	}
	if got, want := said(), "lists hang, likely blocked by ns-2/pod-00002/app (pid 1027, D in nfs4)"; got != want {
		t.Errorf("headline %q, want %q", got, want)
	}
	n.fly(n.flight(2, "app", 3*time.Second))
	in.Snapshot = &n.Snapshot
	if got, want := said(), "lists hang, blocked by ns-2/pod-00002/app (pid 1027, D in nfs4)"; got != want {
		t.Errorf("headline %q, want %q", got, want)
	}
}

// A process of a container that is in no list is named in plain words.
func TestHeadlineNamesWhatIsNotListed(t *testing.T) {
	n := checked(5).fail(call.ListContainers, call.ErrDeadline, tooLate, 1).noList()
	in := n.input()
	in.Evidence = looked(checked(5))
	p := &in.Evidence.Processes.Containers["container-2-0"][0]
	p.State, p.For, p.Wchan, p.Parent = evidence.Uninterrupted, 30*time.Second, "nfs4_proc_getattr", shimOf(in.Evidence, 2).PID
	v := factsOf(in)
	if got, want := v.headline(v.diagnose()).Text, "lists hang, likely blocked by container-2-0 (pid 1027, D in nfs4)"; got != want {
		t.Errorf("headline %q, want %q", got, want)
	}
}

// A node on which one call after the other takes a bit more than a second does not change between slow and well.
func TestSlowWordHolds(t *testing.T) {
	second := time.Second
	var all []engine.Update
	for at := time.Duration(0); at < 40*second; at += 200 * time.Millisecond {
		n := healthy(5)
		if out := at % (2 * second); out < 1400*time.Millisecond {
			n.hangOn(3, "app", out)
		}
		all = append(all, n.after(at))
	}
	for _, u := range play(t, all...) {
		if u.Headline.Word != "HEALTHY" {
			t.Fatalf("%v: %+v", u.Snapshot.At.Sub(now), u.Headline)
		}
	}
}

// TestSilenceAsksForTheGoroutines checks that a containerd that answers nothing is asked who holds its lock, as when
// only lists hang.
func TestSilenceAsksForTheGoroutines(t *testing.T) {
	n := healthy(5).hang(call.ListPodSandbox, 6*time.Second).hang(call.Version, 3*time.Second).hang(call.Status, 3*time.Second)
	n.Version.RuntimeName = "containerd"
	in := n.input()
	in.Evidence = looked(n)
	found := Diagnose(in)
	if i := slices.IndexFunc(found, func(f Finding) bool { return f.ID == RuntimeUnresponsive }); i < 0 || !slices.ContainsFunc(found[i].Next, func(s Step) bool { return s.Dumps() }) {
		t.Errorf("findings %+v", found)
	}
}
