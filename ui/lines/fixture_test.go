package lines

import (
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/kubelet"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/waits"
)

// checked is when the fixtures' checks ended. JSON has it in UTC, text not at
// all, so that goldens do not depend on the time zone.
var checked = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

const ms = time.Millisecond

var (
	nfsPod = pleg.PodRef{UID: "7f1c7b5e-1111-4222-8333-444455556666", Namespace: "default", Name: "nfs-client"}
	cart   = pleg.PodRef{UID: "0c0ffee0-1111-4222-8333-444455556666", Namespace: "shop", Name: "cart-7d9c8b6f5d-x2v4q"}
)

const nfsID = "3f2a9b1c0d4e5f60718293a4b5c6d7e8f90123456789abcdef0123456789abcd"

// scenes are the checks of which goldens are kept.
var scenes = []struct {
	name string
	make func() diagnose.Update
}{
	{"healthy", healthyCheck},
	{"hung", hungCheck},
	{"down", downCheck},
	{"warnings", warningsCheck},
	{"chain", chainCheck},
	{"hostile", hostileCheck},
}

var options = CheckOptions{Node: "worker-3", Source: "cri", Endpoint: "unix:///run/containerd/containerd.sock", KubeletVersion: "v1.36.2"}

// found is a check of s with these findings.
func found(s *engine.Snapshot, findings ...diagnose.Finding) diagnose.Update {
	s.Policy.Once = true
	return diagnose.Update{Update: engine.Update{Snapshot: s}, Findings: findings, Headline: diagnose.Headline{Word: "HEALTHY"}}
}

func healthyCheck() diagnose.Update {
	s := &engine.Snapshot{
		At: checked, Started: checked.Add(-350 * ms),
		Release: pleg.Newest, Threshold: 3 * time.Minute,
		Version: pleg.Version{RuntimeName: "containerd", RuntimeVersion: "v2.4.2", APIVersion: "v1"},
		Health:  kubelet.Health{Healthy: true, ListedAt: checked.Add(-340 * ms), SettledAt: checked.Add(-10 * ms)},
		Conditions: []pleg.Condition{
			{Type: "RuntimeReady", Status: true}, {Type: "NetworkReady", Status: true},
			{Type: "ContainerdHasNoDeprecationWarnings", Reason: "ContainerdHasDeprecationWarnings", Message: `{"cgroupv1":"soon"}`},
		},
		Counts: engine.Counts{Pods: 110, Sandboxes: 110, Containers: 220, Running: 218, Exited: 2},
		Table: answers.Table{Sweep: &answers.Sweep{
			Began: checked.Add(-300 * ms), Ended: checked.Add(-10 * ms), Width: 4, Timeout: 2 * time.Second,
			Total: 330, Done: 330, Serial: 610 * ms,
			Slowest: []answers.Outcome{{Flight: call.Flight{By: call.BySweep, Op: call.ContainerStatus, Pod: cart, Container: "app", ID: "c0ffee"}, Took: 12 * ms}},
		}},
		Evidence: nodeReport(),
		Node:     kubelet.Node{Ready: true, Reason: "KubeletReady", Message: "kubelet is posting ready status", Known: true},
	}
	for _, op := range call.Operations() {
		s.Calls = append(s.Calls, answers.Calls{Op: op})
	}
	for op, c := range map[call.Operation]answers.Calls{
		call.Version:          {Count: 1, P50: 400 * time.Microsecond, P99: 400 * time.Microsecond, Max: 400 * time.Microsecond, ResponseBytes: 48, LastResponseBytes: 48},
		call.Status:           {Count: 1, P50: ms, P99: ms, Max: ms, ResponseBytes: 512, LastResponseBytes: 512},
		call.ListPodSandbox:   {Count: 1, P50: 4 * ms, P99: 4 * ms, Max: 4 * ms, ResponseBytes: 70_000, LastResponseBytes: 70_000},
		call.ListContainers:   {Count: 1, P50: 6 * ms, P99: 6 * ms, Max: 6 * ms, ResponseBytes: 260_000, LastResponseBytes: 260_000},
		call.PodSandboxStatus: {Count: 110, P50: ms, P99: 3 * ms, Max: 4 * ms, ResponseBytes: 220_000, LastResponseBytes: 2000},
		call.ContainerStatus:  {Count: 220, P50: ms, P99: 3 * ms, Max: 12 * ms, ResponseBytes: 1_300_000, LastResponseBytes: 6000},
	} {
		c.Op = op
		s.Calls[op] = c
	}
	for i := range s.Calls {
		s.Calls[i].Gone = uint64(i % 3)
	}
	return found(s)
}

func nodeReport() *evidence.Report {
	return &evidence.Report{
		At: checked, Took: 80 * ms,
		Processes: evidence.Processes{
			Partial: "cut off after 2s",
			Daemons: []evidence.Process{{PID: 812, Command: "containerd", State: evidence.Frozen, Thread: 815, For: time.Second, Mount: evidence.Mount{Point: "/data"}, Freezer: "/sys/fs/cgroup/c/cgroup.freeze"}},
		},
		Usage:    []evidence.Usage{{Name: "containerd", PID: 812, CPU: 0.4, Memory: 120 << 20, Threads: 31}, {Name: "kubelet", PID: 901, CPU: -1, Memory: 95 << 20, Threads: 22}},
		Pressure: evidence.Pressure{CPU: evidence.Stall{Some10: 12.4, Some60: 9}, IO: evidence.Stall{Some10: 3, Full10: 1.5}},
		State:    evidence.Disk{Path: "/run/containerd", Total: 1 << 30, Free: 1 << 29, ReadOnly: "mounted so"},
		Limits:   []evidence.Limit{{Of: "containerd", PID: 812, What: evidence.OpenFiles, Used: 900, Most: 1024, Path: "/proc/812/limits"}},
		Devices:  []evidence.Device{{Number: "8:16", Name: "sdb", InFlight: 3, Still: time.Second}},
		Disk:     evidence.Disk{Path: "/var/lib/containerd", Total: 100 << 30, Free: 41 << 30, Inodes: 6_500_000, InodesUnused: 6_000_000},
		Kubelet: evidence.Kubelet{
			Version: "v1.36.2",
			Ping:    evidence.Answer{Asked: true, URL: "http://127.0.0.1:10248/healthz", Took: 2 * ms, Text: "ok", OK: true},
			Health:  evidence.Answer{Asked: true, Took: 3 * ms, Text: "ok", OK: true}, SyncLoop: evidence.Answer{Asked: true, Took: 3 * ms, Text: "ok", OK: true},
			Metrics: evidence.Answer{Asked: true, Took: 30 * ms, OK: true}, ReadAt: checked.Add(-40 * ms),
			Relist: evidence.Timing{Count: 99, Sum: 2 * time.Second, Mean: 20 * ms}, LastSeen: checked.Add(-time.Second),
			Interval: evidence.Timing{Count: 98, Mean: 1003 * ms},
		},
	}
}

func hungCheck() diagnose.Update {
	r := healthyCheck()
	s := r.Snapshot
	f := call.Flight{By: call.BySweep, Op: call.ContainerStatus, Pod: nfsPod, Container: "app", ID: nfsID}
	late := &call.Error{Op: call.ContainerStatus, Kind: call.ErrDeadline, Code: "DeadlineExceeded", Text: "context deadline exceeded"}
	s.Sweep.Hung = []answers.Outcome{{Flight: f, Took: 2 * time.Second, Err: late}}
	s.Health.SettledAt = time.Time{}
	s.Calls[call.ContainerStatus].Errors, s.Calls[call.ContainerStatus].Max = 1, 2*time.Second
	s.Calls[call.ContainerStatus].LastErr = late
	s.Calls[call.ContainerStatus].InFlight = 1
	s.InFlight = []call.Flight{f}
	s.InFlight[0].Since = checked.Add(-12 * time.Second)
	r.Headline = diagnose.Headline{
		Word: "INSPECTION HANGS", Severity: diagnose.Critical, Text: "ContainerStatus of default/nfs-client/app is not answered (pid 4711, D in nfs4)",
		Clock: diagnose.Clock{What: "PLEG unhealthy", In: 168 * time.Second},
	}
	r.Findings = []diagnose.Finding{
		{
			ID: diagnose.InspectHung, Severity: diagnose.Critical,
			Summary: "ContainerStatus of default/nfs-client/app: no reply for 12s, while 329 other objects answer within 12ms",
			Subject: diagnose.Subject{Operation: "ContainerStatus", ObjectRef: pleg.ObjectRef{ID: nfsID, Pod: nfsPod, Container: "app"}},
			Evidence: []string{
				"no answer in 2s, and none in 12s when asked again; the kubelet waits for 2m0s, twice in each relist",
				"Version answered in 0.4ms, Status in 1ms, 110 of 110 PodSandboxStatus in 1ms (p50)",
			},
			Next: []diagnose.Step{
				{Kind: diagnose.Look, Text: "the same question by hand: it hangs too", Command: "timeout 5 crictl inspect " + nfsID},
				{Kind: diagnose.Look, Text: "look for a process in D state and what it waits for", Command: "ps -eo pid,stat,wchan:32,comm | awk '$2 ~ /^D/'"},
				{Text: "end the shim; the pod's containers die with it", Command: "kill -9 4711", Kind: diagnose.Act, Risk: "it may do harm", Scope: "pod"},
				{Text: "drain the node and reboot it", Kind: diagnose.Act, Risk: "it may do harm", Scope: "pod"},
			},
		},
		{
			ID: diagnose.PLEGUnhealthy, Severity: diagnose.Warning, Cause: diagnose.InspectHung,
			Summary:  "PLEG becomes unhealthy in 2m48s if this call does not return",
			Evidence: []string{"list age 12s of 3m0s"},
		},
	}
	return r
}

func downCheck() diagnose.Update {
	refused := &call.Error{Op: call.ListPodSandbox, Kind: call.ErrUnavailable, Code: "Unavailable", Text: `connection error: desc = "transport: Error while dialing: dial unix /run/containerd/containerd.sock: connect: connection refused"`}
	s := &engine.Snapshot{
		At: checked, Started: checked.Add(-time.Second), Release: pleg.Newest, Threshold: 3 * time.Minute,
		Health: kubelet.Health{Verdict: "pleg has yet to be successful"},
		Table: answers.Table{
			Failure: &answers.Failure{
				Flight: call.Flight{Op: call.ListPodSandbox, Since: checked.Add(-900 * ms)}, Err: refused, At: checked.Add(-890 * ms), First: checked.Add(-890 * ms), InRow: 1,
			},
			Sweep: &answers.Sweep{Width: 4, Timeout: 2 * time.Second, Refused: "no list was answered"},
			Calls: []answers.Calls{{Op: call.Version, Count: 1, Errors: 1, LastErr: refused}, {Op: call.ListPodSandbox, Count: 1, Errors: 1, P50: ms, P99: ms, Max: ms, LastErr: refused}},
		},
		Node: kubelet.Node{Reason: "KubeletNotReady", Message: "[container runtime is down, PLEG is not healthy: pleg has yet to be successful]", Known: true},
	}
	u := found(s,
		diagnose.Finding{
			ID: diagnose.RuntimeDown, Severity: diagnose.Critical, Summary: "the runtime refuses connections",
			Subject:  diagnose.Subject{Operation: "ListPodSandbox"},
			Evidence: []string{refused.Error()},
			Next:     []diagnose.Step{{Kind: diagnose.Look, Text: "is it running?", Command: "systemctl status containerd"}},
		},
		diagnose.Finding{ID: diagnose.PLEGUnhealthy, Severity: diagnose.Critical, Cause: diagnose.RuntimeDown, Summary: "PLEG is not healthy: pleg has yet to be successful"},
		diagnose.Finding{ID: diagnose.RuntimeNotReady, Severity: diagnose.Critical, Cause: diagnose.RuntimeDown, Summary: "container runtime is down"},
	)
	u.Headline = diagnose.Headline{Word: "RUNTIME DOWN", Severity: diagnose.Critical, Text: "the runtime refuses connections"}
	return u
}

func warningsCheck() diagnose.Update {
	r := healthyCheck()
	s := r.Snapshot
	s.Partial = "no containers: ListContainers failed"
	s.Sweep.Done, s.Sweep.CutOff, s.Sweep.Flaky = 97, true, 2
	s.Sweep.Failed = []answers.Outcome{{
		Flight: call.Flight{By: call.BySweep, Op: call.PodSandboxStatus, Pod: cart, ID: "5a5a"}, Took: 3 * ms,
		Err: &call.Error{Op: call.PodSandboxStatus, Kind: call.ErrOther, Code: "Unknown", Text: "failed to load"},
	}}
	r.Snapshot.Evidence = nil
	r.Headline.Severity = diagnose.Warning
	r.Findings = []diagnose.Finding{
		{
			ID: diagnose.CrashLoop, Severity: diagnose.Warning, Summary: "2 pods of shop/cart: app died up to 7 times, the last with exit code 137",
			Subject: diagnose.Subject{ObjectRef: pleg.ObjectRef{ID: "c0ffee", Pod: cart, Container: "app"}},
			Group:   "shop/cart", Count: 2, Members: []diagnose.Subject{{ObjectRef: pleg.ObjectRef{ID: "c0ffee", Pod: cart, Container: "app"}}, {ObjectRef: pleg.ObjectRef{Pod: cart}}}, Since: checked.Add(-9 * time.Minute),
			Evidence: []string{"cart-7d9c8b6f5d-x2v4q app died 7 times", "cart-7d9c8b6f5d-x2v4q"},
		},
		{ID: diagnose.ClockStep, Severity: diagnose.Info, Summary: "the wall clock went back by 47s", Evidence: []string{"seen 12s ago"}},
	}
	return r
}

// hostile is what a runtime may say to do harm to a terminal.
const hostile = "a\x1b[2J\u009b31m\u202eb\x7f\r\n\t\u2028\x00\xff\xfe\U000e0041\u200b\ufeff<é>"

func hostileCheck() diagnose.Update {
	r := hungCheck()
	r.Snapshot.Version = pleg.Version{RuntimeName: hostile, RuntimeVersion: hostile, APIVersion: hostile}
	r.Snapshot.Conditions = []pleg.Condition{{Type: hostile}, {Type: "NetworkReady", Reason: hostile, Message: hostile}}
	r.Snapshot.Node = kubelet.Node{Reason: "KubeletNotReady", Message: hostile, Known: true}
	r.Snapshot.Health.Healthy, r.Snapshot.Health.Verdict = false, hostile
	pod := pleg.PodRef{UID: hostile, Namespace: hostile, Name: hostile}
	r.Snapshot.Sweep.Hung[0].Pod, r.Snapshot.Sweep.Hung[0].Container, r.Snapshot.Sweep.Hung[0].ID = pod, hostile, hostile
	r.Snapshot.InFlight[0].Pod = pod
	f := &r.Findings[0]
	f.Subject = diagnose.Subject{Operation: "ContainerStatus", ObjectRef: pleg.ObjectRef{ID: hostile, Pod: pod, Container: hostile}}
	f.Summary = "ContainerStatus of " + hostile
	f.Evidence = []string{hostile, hostile + hostile}
	f.Next = []diagnose.Step{{Text: hostile, Command: "crictl inspect '" + hostile + "'", Kind: diagnose.Act, Risk: "it may do harm", Scope: "pod"}}
	f.Chain = []diagnose.Link{{Kind: waits.Relist, Name: hostile}, {Kind: waits.Helper, ID: hostile, Name: hostile, Proof: hostile, Cut: &f.Next[0]}}
	r.Snapshot.Partial = hostile
	r.Headline.Word, r.Headline.Text, r.Headline.Clock.What = hostile, hostile, hostile
	r.Snapshot.Evidence.Usage[0].Name = hostile
	r.Snapshot.Evidence.Processes.Helpers = []evidence.Process{{Command: hostile, Verb: hostile, Container: hostile, Pod: pleg.PodRef{Namespace: hostile, Name: hostile}, Wchan: hostile, State: 0x9b}}
	from := evidence.Source{From: hostile, Partial: hostile}
	r.Snapshot.Evidence.Kernel = evidence.Kernel{Source: from, Lines: []evidence.KernelLine{{Kind: hostile, Text: hostile}}}
	r.Snapshot.Evidence.Deep = &evidence.Deep{
		Stacks: evidence.Stacks{Source: from, Program: hostile, Locks: []evidence.Lock{{Of: hostile, Calls: []string{hostile}, Holder: evidence.Goroutine{Number: 1, Call: hostile, Doing: hostile, Container: hostile}}}},
		Calls:  evidence.RuntimeCalls{Source: from, InFlight: []evidence.InFlight{{Method: hostile}}},
		Units:  evidence.Units{Source: evidence.Source{Missing: hostile}},
	}
	r.Snapshot.Evidence.Kubelet.Ping.Text = hostile
	return r
}
