package diagnose

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/kubelet"
	"github.com/plegtop/plegtop/engine/past"
	"github.com/plegtop/plegtop/engine/pleg"
)

// firstSays fails unless the first finding's summary, evidence or next steps contain each of these.
func firstSays(t *testing.T, findings []Finding, want ...string) {
	t.Helper()
	if len(findings) == 0 {
		t.Fatal("no finding")
	}
	f := findings[0]
	answered(t, f)
	all := f.Summary + "\n" + strings.Join(f.Evidence, "\n")
	for _, s := range f.Next {
		all += "\n" + s.String()
	}
	for _, w := range want {
		if !strings.Contains(all, w) {
			t.Errorf("first finding lacks %q:\n%s", w, all)
		}
	}
}

func TestInspectHungHasFigures(t *testing.T) {
	n := healthy(5).hangOn(3, "app", 108*time.Second).probesAnswered()
	firstSays(t, n.diagnose(),
		"ContainerStatus of ns-0/pod-00003/app got no answer for 1m48s",
		"unhealthy in 1m12s if this call does not return",
		"its deadline ends it in 12s",
		"meanwhile answered: Version in 2ms, Status in 2ms, PodSandboxStatus in 2ms, ContainerStatus in 2ms",
		"crictl inspect container-3-0", "RISK: containers live on",
	)
}

func TestInspectHungNamesItsProcess(t *testing.T) {
	in := healthy(5).hangOn(3, "app", 47*time.Second).input()
	in.Endpoint = "unix:///run/k3s/containerd/containerd.sock"
	in.Evidence = &evidence.Report{At: now, Processes: evidence.Processes{
		Containers: map[string][]evidence.Process{"container-3-0": {
			{PID: 4242, Command: "nginx", State: evidence.Sleeping},
			{PID: 4243, Command: "cat", State: evidence.Uninterrupted, For: 46 * time.Second, Wchan: "rpc_wait_bit_killable"},
		}},
		Shims: []evidence.Process{{PID: 4000, Command: "containerd-shim", State: evidence.Sleeping, Sandbox: "sandbox-3"}},
	}}
	firstSays(t, find(&inspectHung, factsOf(in)),
		"its process: pid 4243 (cat) is in uninterruptible sleep (D) for 46s, waits in rpc_wait_bit_killable",
		"its shim: pid 4000", "cat /proc/4243/stack", "end what cat (pid 4243) waits for first",
		"crictl -r unix:///run/k3s/containerd/containerd.sock inspect container-3-0",
	)
}

func TestCountdownIsTheKubelets(t *testing.T) {
	n := healthy(5).hangOn(3, "", 47*time.Second)
	n.Health.ListedAt = ago(50 * time.Second) // the relist began before the call
	n.Threshold, n.Timeout = time.Minute, 30*time.Minute
	firstSays(t, n.diagnose(), "unhealthy in 10s if this call does not return")
}

// PLEG stays healthy if the relist ends before the threshold.
func TestCountdownEndsWithTheRelist(t *testing.T) {
	n := healthy(5).hangOn(3, "app", 47*time.Second)
	n.Phase.EndsBy = now.Add(72 * time.Second)
	found := n.diagnose()
	firstSays(t, found, "this relist ends in 1m12s, at the deadline of its calls; PLEG stays healthy, this pod's events are held back, and all others are late: each relist waits as long")
	if said := strings.Join(found[0].Evidence, "\n"); strings.Contains(said, "unhealthy in") || strings.Contains(said, "its deadline ends it") {
		t.Errorf("says %s", said)
	}
}

func TestWhatIsPostedNext(t *testing.T) {
	n := healthy(5).hang(call.Version, 40*time.Second)
	n.Node.PostingHeld, n.Node.Next = ago(40*time.Second), kubelet.Posting{From: now.Add(75 * time.Second), To: now.Add(85 * time.Second)}
	if got, want := n.facts().posting(), "the kubelet posts nothing while it waits for Version, which has had no answer for 40s; NotReady is posted between 09:28:08 and 09:28:18 at the latest"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	n.Node.PostingHeld, n.Node.Next.Ready = time.Time{}, true
	if got, want := n.facts().posting(), "Ready is posted between 09:28:08 and 09:28:18 if all goes on so"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestManyHungObjects(t *testing.T) {
	n := checked(40)
	for i := range 20 {
		n.sweepHung(i, "app")
	}
	found := n.diagnose()
	if len(found) != hungMost+1 {
		t.Fatalf("%d findings, want %d in full and one for the rest", len(found), hungMost)
	}
	firstSays(t, found, "100 of 120 objects asked for were answered")
	rest := found[hungMost]
	if rest.Summary != "15 more objects gave no answer" || rest.Severity != Critical || len(rest.Evidence) != 15 {
		t.Errorf("the rest: %+v", rest)
	}
	named := strings.Join(rest.Evidence, "\n")
	for _, f := range found[:hungMost] {
		if strings.Contains(named, f.Subject.Pod.String()) {
			t.Errorf("%v is named twice", f.Subject.Pod)
		}
	}
}

func TestWholeOperationHangs(t *testing.T) {
	n := checked(40)
	for i := range 20 {
		n.sweepHung(i, "app")
	}
	*n.calls(call.ContainerStatus) = answers.Calls{Op: call.ContainerStatus, Count: 20, Errors: 20}
	found := n.diagnose()
	if gist(found) != "critical inspect-hung ContainerStatus\n" {
		t.Error(gist(found))
	}
	firstSays(t, found, "ContainerStatus has no answer for any of the 20 objects that it was asked for")
}

// The headline is as severe as the finding behind it, because check's exit code depends on both. Each object was asked
// for once, with 2 s. The finding is critical because no object was answered for longer than that.
func TestWholeOperationHangsHeadlineIsAsSevere(t *testing.T) {
	for lasted, want := range map[time.Duration]Severity{3 * time.Second: Warning, 18 * time.Second: Critical} {
		n := checked(40)
		n.Policy.Deadline, n.Started, n.Sweep.Began = 20*time.Second, ago(lasted), ago(lasted)
		for i := range 20 {
			n.sweepHung(i, "app")
			o := &n.Sweep.Hung[len(n.Sweep.Hung)-1]
			o.Since, o.At, o.Took, o.InRow = ago(lasted), ago(lasted-2*time.Second), 2*time.Second, 1
		}
		*n.calls(call.ContainerStatus) = answers.Calls{Op: call.ContainerStatus, Count: 20, Errors: 20}
		u := Once(&n.Snapshot, "")
		if h := u.Headline; h.Word != "NOT ANSWERING" || h.Severity != want || Worst(u.Findings) != want {
			t.Errorf("after %v: %s (%v), findings %s, want %v", lasted, h.Word, h.Severity, gist(u.Findings), want)
		}
	}
}

func TestBothOperationsHang(t *testing.T) {
	n := checked(12)
	for i := range 12 {
		n.sweepHung(i, "").sweepHung(i, "app").sweepHung(i, "sidecar")
	}
	for _, op := range []call.Operation{call.PodSandboxStatus, call.ContainerStatus} {
		*n.calls(op) = answers.Calls{Op: op, Count: 20, Errors: 20}
	}
	found := n.diagnose()
	if gist(found) != "critical inspect-hung\n" {
		t.Error(gist(found))
	}
	firstSays(t, found, "no status call is answered: 36 objects were asked for, without an answer")
}

func TestListTooBigHasFigures(t *testing.T) {
	n := healthy(30)
	n.calls(call.ListContainers).LastResponseBytes = 14 << 20
	for i, p := range n.Pods {
		if i < 20 { // by namespace: ns-0, then ns-1
			p.Old.Containers[0].State = pleg.Exited
		}
	}
	firstSays(t, n.diagnose(),
		"ListContainers answers with 14.0 MiB, 88% of the 16.0 MiB that the kubelet takes",
		"20 exited containers in a list of 60", "exited containers by pod: ns-0/pod-00000 1, ns-0/pod-00003 1",
	)
}

// TestListTooBigCountsOneMoment checks a node on which no list of all pods succeeds any more: the owner of a list, and
// how many of its containers have exited, both come from the pods that were listed one by one.
func TestListTooBigCountsOneMoment(t *testing.T) {
	n := checked(5).fail(call.ListContainers, call.ErrTooLarge, "grpc: received message larger than max (20123456 vs. 16777216)", 1)
	n.Beside = healthy(30).Pods
	for _, p := range n.Beside[:20] {
		p.Old.Containers[0].State = pleg.Exited
	}
	n.Counts.Containers, n.Counts.Sandboxes = 19_254, 5
	listed := 0
	for _, p := range n.Beside {
		listed += len(p.Old.Containers)
	}
	firstSays(t, n.diagnose(), fmt.Sprintf("20 exited containers in a list of %d", listed), "exited containers by pod: ns-0/pod-00000 1")
}

func TestListOverTheLimitParsesTheSizes(t *testing.T) {
	n := checked(5).fail(call.ListContainers, call.ErrTooLarge, "grpc: received message larger than max (20123456 vs. 16777216)", 1).noList()
	firstSays(t, n.diagnose(), "ListContainers answers with 19.2 MiB, and the kubelet takes at most 16.0 MiB", "20,123,456 bytes of 16,777,216, 120%", "ctr -n k8s.io containers list -q")
}

func TestRuntimeUnresponsiveSaysWhatIsAnswered(t *testing.T) {
	n := healthy(5).hang(call.ListPodSandbox, 14*time.Second).hang(call.Status, 10*time.Second).probe(call.Flight{Op: call.Version}, nil)
	n.Node.DownAt = now.Add(18 * time.Second)
	in := n.input()
	in.Evidence = looked(n)
	found := Diagnose(in)
	firstSays(t, found, "no list and no status has come back for 14s", "only Version is answered, in 2ms", `"container runtime is down" in 18s`)
	if f := found[0]; !f.check().Dumps() || strings.Contains(fmt.Sprint(f.Next), "crictl") {
		t.Errorf("Version is answered, and what is to be done is %v", f.Next)
	}
}

func TestRuntimeSlowHasPressureBesideIt(t *testing.T) {
	in := checked(5).slowBy(300*time.Millisecond, answeringOps...).input()
	in.Evidence = &evidence.Report{Pressure: evidence.Pressure{IO: evidence.Stall{Some60: 71}}, Usage: []evidence.Usage{{Name: "containerd", CPU: 1.7, Memory: 300 << 20}}}
	firstSays(t, Diagnose(in), "half of all calls take 300ms", "io 71%", "containerd takes 1.7 cores and 300.0 MiB")
}

// A quota of its own control group makes a runtime slow on a node that has nothing else to do.
func TestRuntimeSlowNamesItsQuota(t *testing.T) {
	in := checked(5).slowBy(300*time.Millisecond, answeringOps...).input()
	in.Evidence = &evidence.Report{Usage: []evidence.Usage{{Name: "containerd", CPU: -1, Quota: 0.2}}}
	firstSays(t, Diagnose(in), "the control group of containerd may use 0.2 cores at most", "raise the CPU quota of the runtime's unit (CPUQuota)")
}

// A call that has been out for three seconds does not hang on that node either.
func TestNothingHangsSoSoonOnABusyNode(t *testing.T) {
	for share, want := range map[float64]int{0: 1, 60: 0} {
		in := healthy(5).hang(call.ListContainers, 3*time.Second).input()
		in.Evidence = &evidence.Report{Pressure: evidence.Pressure{CPU: evidence.Stall{Some10: share}}}
		if found := Diagnose(in); len(found) != want {
			t.Errorf("tasks wait for %v %% of the time: found %s", share, gist(found))
		}
	}
}

// If everything waits for the CPU, the runtime's calls do, too.
func TestRuntimeIsNotSlowOnABusyNode(t *testing.T) {
	for took, want := range map[time.Duration][]ID{300 * time.Millisecond: nil, 700 * time.Millisecond: {RuntimeSlow}} {
		in := checked(5).slowBy(took, answeringOps...).input()
		in.Evidence = &evidence.Report{Pressure: evidence.Pressure{CPU: evidence.Stall{Some10: 95, Some60: 90}}}
		wantIDs(t, Diagnose(in), want...)
	}
}

// The one kind of status call that is slow is named.
func TestSlowStatusCallsAreNamed(t *testing.T) {
	for _, op := range []call.Operation{call.PodSandboxStatus, call.ContainerStatus} {
		found := checked(5).slowBy(2500*time.Millisecond, op).diagnose()
		firstSays(t, found, "half of all "+op.String()+" calls take 2.5s or more, whichever object they ask for")
	}
}

func TestRelistSlowChurnHasTheProduct(t *testing.T) {
	n := healthy(300)
	n.Phase = engine.Phase{Step: engine.Inspecting, Began: ago(20 * time.Second), Done: 200, Total: 300}
	firstSays(t, n.diagnose(), "200 changed pods have kept a relist busy for 20s so far", "200 changed pods x 100ms", "it has yet to inspect 100 pods")
	n.Threshold = 19 * time.Second
	if found := n.diagnose(); found[0].Severity != Critical {
		t.Error("a relist longer than the threshold is not critical")
	}
}

func TestInspectFailingIsWordForWord(t *testing.T) {
	text := "failed to get task: \x1b[31mttrpc: closed\u202e: unknown"
	firstSays(t, healthy(5).podFails(2, "app", call.ErrOther, text, 7).diagnose(), "Unknown: "+text, "failed 7 times in a row, for 7s since 09:26:46")
}

// If inspections fail and then succeed by themselves, or if the runtime comes and goes, a pod that fails three times is
// not to blame.
func TestFailuresByChanceBlameNoPod(t *testing.T) {
	recovered := []time.Time{ago(50 * time.Second), ago(30 * time.Second), ago(3 * time.Second)}
	for _, tt := range []struct {
		name   string
		times  int
		change func(*node)
		want   []ID
	}{
		{"all else is well", 3, func(*node) {}, []ID{InspectFailing}},
		{"three succeeded again", 3, func(n *node) { n.Memory.Recovered = recovered }, nil},
		{"three did, one long ago", 3, func(n *node) { n.Memory.Recovered = []time.Time{ago(70 * time.Second), recovered[1], recovered[2]} }, []ID{InspectFailing}},
		{"it never succeeds", failsSteadily, func(n *node) { n.Memory.Recovered = recovered }, []ID{InspectFailing}},
	} {
		n := healthy(9).podFails(7, "app", call.ErrOther, "broken", tt.times)
		tt.change(n)
		if got := ids(find(&inspectFailing, n.facts())); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
	n := healthy(9).podFails(7, "app", call.ErrOther, "broken", failsInRow)
	n.Memory.Outages.Times = []past.Outage{{At: ago(50 * time.Second)}, {At: ago(40 * time.Second)}, {At: ago(30 * time.Second)}}
	if got := find(&inspectFailing, n.facts()); got != nil {
		t.Errorf("on a runtime that comes and goes: %s", gist(got))
	}
}

// In a check of all, objects fail twice by chance: of those that failed once, the same share fails again.
func TestFailuresByChanceInACheckBlameNoPod(t *testing.T) {
	pods := "warning inspect-failing ContainerStatus ns-0/pod-00003/app\nwarning inspect-failing ContainerStatus ns-1/pod-00004/app\n"
	for flaky, want := range map[int]string{14: "warning inspect-failing\n", 2: pods} {
		n := checked(40).sweepFailed(3, "app", call.ErrOther, "broken").sweepFailed(4, "app", call.ErrOther, "broken")
		n.Sweep.Flaky, n.calls(call.ContainerStatus).LastErr = flaky, n.Sweep.Failed[0].Err
		got := find(&inspectFailing, n.facts())
		if gist(got) != want {
			t.Errorf("%d of 120 fail once, two twice: %s", flaky, gist(got))
		}
		if flaky == 14 {
			firstSays(t, got, "the status of 16 of 120 objects failed, for most only until it was asked for again", "14 were answered when asked for again, 2 failed twice: no pod is to blame", "broken")
		}
	}
	n := checked(40).sweepFailed(3, "app", call.ErrOther, "broken")
	n.Sweep.Flaky = flakyObjects - 1
	if got := gist(find(&inspectFailing, n.facts())); got != "warning inspect-failing ContainerStatus ns-0/pod-00003/app\n" {
		t.Errorf("one fails twice, two fail once: %s", got)
	}
	n = checked(40)
	if n.Sweep.Flaky = flakyObjects - 1; find(&inspectFailing, n.facts()) != nil {
		t.Errorf("two that failed once are reported: %s", gist(find(&inspectFailing, n.facts())))
	}
}

// A step for the first of many pods is no step for the rest.
func TestTheRestOfFailingPodsRestartsNothing(t *testing.T) {
	n := healthy(20)
	for i := range 16 {
		n.podFails(i, "app", call.ErrOther, "broken", 5)
		f := n.pod(i).Failure
		f.Pod.Name, f.Err = fmt.Sprintf("p%d", i), &call.Error{Op: f.Op, Kind: call.ErrOther, Code: fmt.Sprint("Code", i%5), Text: "broken"}
	}
	found := find(&inspectFailing, n.facts())
	rest := found[len(found)-1]
	if rest.Count != 6 || slices.ContainsFunc(rest.Next, func(s Step) bool { return strings.Contains(s.Command, "restart") }) {
		t.Errorf("%s: %v", rest.Summary, rest.Next)
	}
}

func TestFlakyNeedsSeveralBouts(t *testing.T) {
	n := healthy(5)
	n.past = newWitness()
	for bout := 1; bout <= answers.Outages; bout++ {
		wantIDs(t, n.diagnose())
		n.fail(call.ListPodSandbox, call.ErrUnavailable, "connection refused", 1)
		n.past.Add(engine.Update{Snapshot: &n.Snapshot})
		back := *n
		back.Failure = nil
		back.Calls = slices.Clone(n.Calls)
		back.Calls[call.ListPodSandbox].LastOK = now
		n = &back
		n.past.Add(engine.Update{Snapshot: &n.Snapshot})
	}
	firstSays(t, n.diagnose(), "3 of", "3 with Unavailable", "was away 3 times in the last 10 minutes")
	n.At = now.Add(2 * time.Minute)
	if has(find(&runtimeDown, n.facts()), RuntimeDown) {
		t.Error("still flaky two minutes later")
	}
}
