package lines

import (
	"time"

	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/waits"
)

var payments = pleg.PodRef{UID: "0c0ffee0-2222-4222-8333-444455556666", Namespace: "shop", Name: "payments-6c8f9d7b5-t8wfx"}

// held is the container whose lock is held in [chained].
const held = "5e1f9b1c0d4e5f60718293a4b5c6d7e8f90123456789abcdef0123456789abcd"

// chained is what a diagnosis makes of lists that hang behind a helper: a chain of 8
// links, one of which is only likely.
func chained() []diagnose.Finding {
	cut := diagnose.Step{Text: "ends the update; the lock is let go, and the kubelet tries again", Command: "kill 4800", Kind: diagnose.Act, Risk: "it may do harm", Scope: "pod"}
	return []diagnose.Finding{{
		ID: diagnose.ListHung, Severity: diagnose.Critical,
		Summary: "ListContainers hangs behind shop/payments-6c8f9d7b5-t8wfx payments: runc update has run for 10m (pid 4800)",
		Subject: diagnose.Subject{Operation: "ListContainers", ObjectRef: pleg.ObjectRef{ID: held, Pod: payments, Container: "payments"}},
		Evidence: []string{
			"ContainerStatus of shop/payments-6c8f9d7b5-t8wfx payments is not answered either, 16 others are within 3ms",
			"41 goroutines wait for the status of container payments (shop/payments-6c8f9d7b5-t8wfx); goroutine 1234 has held it for 10m in ttrpc Task.Update",
			"looks like containerd#13733, fixed in 2.4.3",
		},
		Next: []diagnose.Step{
			{Kind: diagnose.Look, Text: "what it runs, and for what that waits", Command: "pstree -aclp 4800; cat /proc/4800/wchan /proc/4800/stack"},
			cut,
		},
		Chain: []diagnose.Link{
			{Kind: waits.Relist, Name: "relist"},
			{Kind: waits.Call, Name: "ListContainers", Proof: "out for 3m12s"},
			{Kind: waits.Lock, Name: "status lock of shop/payments-6c8f9d7b5-t8wfx payments", ID: held, Proof: "41 goroutines wait for it, ListContainers among them"},
			{Kind: waits.Goroutine, ID: "1234", Name: "goroutine 1234, UpdateContainerResources", Proof: "it has held the lock for 10m, by the dump of containerd"},
			{Kind: waits.Shim, ID: "4711", Name: "shim", Proof: "the goroutine waits in ttrpc Task.Update"},
			{Kind: waits.Helper, ID: "4800", Name: "runc update for 10m", Proof: "child of the shim", Cut: &cut},
			{Kind: waits.Kernel, Name: "D in nfs4_do_setattr", Proof: "/proc/4800/stack"},
			{Kind: waits.Server, Name: "10.0.0.9:/vol"},
		},
	}, {
		ID: diagnose.PLEGUnhealthy, Severity: diagnose.Warning, Cause: diagnose.ListHung,
		Summary: "PLEG becomes unhealthy in 2m48s if this call does not return",
	}}
}

// deep is what is read of a node where something hangs.
func deep() *evidence.Deep {
	return &evidence.Deep{
		Objects: evidence.Objects{
			Source: evidence.Source{From: "/proc/*/cgroup, /run/containerd/io.containerd.runtime.v2.task/k8s.io", Took: 9 * time.Millisecond},
			All:    []evidence.Object{{ObjectRef: pleg.ObjectRef{ID: held, Pod: payments, Container: "payments"}}, {ObjectRef: pleg.ObjectRef{ID: "x", Sandbox: true}}},
		},
		Stacks: evidence.Stacks{
			Source: evidence.Source{From: "/run/containerd/debug.sock", Took: 412 * time.Millisecond, Bytes: 3 << 20, Partial: "cut off after 5s"},
			At:     checked.Add(-20 * time.Second), Program: "containerd", Total: 4312,
			Groups: []evidence.Group{
				{Count: 41, State: "sync.RWMutex.RLock", Longest: 10 * time.Minute, First: 991, Frames: []string{"sync.runtime_SemacquireRWMutexR", "sync.(*RWMutex).RLock", "store/container.(*statusStorage).Get", "cri.(*criService).ListContainers"}},
				{Count: 1, State: "select", Longest: 10 * time.Minute, First: 1234, Frames: []string{"ttrpc.(*Client).Call", "task.(*ttrpctaskClient).Update"}},
			},
			Locks: []evidence.Lock{{
				Of: "container status", Address: "0x25a8b9a40380", Waiters: 41, Longest: 10 * time.Minute, Calls: []string{"ListContainers", "ContainerStatus"}, Likely: true,
				Holder: evidence.Goroutine{Number: 1234, State: "select", For: 10 * time.Minute, Call: "UpdateContainerResources", Doing: "ttrpc Task.Update", Container: held, Frames: []string{"ttrpc.(*Client).Call"}},
			}},
			Open: []evidence.Goroutine{{Number: 1300, State: "IO wait", For: 9 * time.Minute, Call: "StopContainer", Doing: "ttrpc Task.Kill", Frames: []string{"ttrpc.(*Client).Call"}}},
		},
		Calls: evidence.RuntimeCalls{
			Source:   evidence.Source{From: "http://127.0.0.1:1338/v1/metrics", Took: 3 * time.Millisecond, Bytes: 12 << 10},
			InFlight: []evidence.InFlight{{Method: "ListContainers", Count: 40, For: 3 * time.Minute}, {Method: "UpdateContainerResources", Count: 1, For: 10 * time.Minute}},
		},
		Units: evidence.Units{
			Source: evidence.Source{From: "/run/systemd/private", Took: 2 * time.Millisecond},
			All:    []evidence.Unit{{Name: "containerd.service", State: "active", Restarts: 2, Up: 3 * time.Hour}, {Name: "kubelet.service", Up: 72 * time.Hour}},
		},
	}
}

func chainCheck() diagnose.Update {
	r := hungCheck()
	node := nodeReport()
	node.Deep = deep()
	node.Kernel.Source = evidence.Source{From: "/dev/kmsg", Missing: "not permitted: run as root"}
	node.Processes.Helpers = []evidence.Process{
		{PID: 4800, Parent: 4711, Command: "runc", Verb: "update", State: evidence.Uninterrupted, For: 10 * time.Minute, Age: 10 * time.Minute, Wchan: "nfs4_do_setattr", Container: held, Own: true},
		{PID: 5120, Parent: 812, Command: "calico", Verb: "CNI ADD", Pod: pleg.PodRef{Namespace: "shop", Name: "new"}, State: evidence.Sleeping, Age: 3 * time.Second, Wchan: "do_wait"},
	}
	r.Snapshot.Evidence = node
	r.Findings = chained()
	r.Headline = diagnose.Headline{Word: "LISTS HANG", Severity: diagnose.Critical, Text: "lists hang, blocked by runc update (10m)", Clock: r.Headline.Clock}
	return r
}
