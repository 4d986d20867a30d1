package ui

import (
	"fmt"
	"strings"
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

// held is the container whose lock is held in [Chained], helper what holds it.
var (
	held   = ID("payments", "shop", "payments-6c8f9d7b5-t8wfx") + ID("more")
	helper = evidence.Process{
		PID: 4800, Parent: 4711, Command: "runc", Verb: "update", State: evidence.Uninterrupted, For: 10 * time.Minute, Age: 10 * time.Minute,
		Wchan: "nfs4_do_setattr", Container: held, Own: true,
	}
)

// Chained is what a diagnosis makes of lists that hang behind a helper: a chain of 8
// links, one of which is only likely.
func Chained() []diagnose.Finding {
	all := Findings()
	pod := Find(Healthy(), "payments-6c8f9d7b5-t8wfx").PodRef
	cut := diagnose.Step{Text: "lets the lock go", Command: "kill 4800", Kind: diagnose.Act, Risk: "ends the update; the kubelet tries again", Scope: "pod"}
	all[0] = diagnose.Finding{
		ID: diagnose.ListHung, Severity: diagnose.Critical,
		Summary: "ListContainers hangs behind shop/payments-6c8f9d7b5-t8wfx payments: runc update has run for 10m (pid 4800)",
		Subject: diagnose.Subject{Operation: "ListContainers", ObjectRef: pleg.ObjectRef{ID: held, Pod: pod, Container: "payments"}},
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
	}
	all[2].Cause, all[3].Cause = diagnose.ListHung, diagnose.ListHung
	return all
}

// Deep is what is read of a node where something hangs.
func Deep() *evidence.Deep {
	return &evidence.Deep{
		Objects: evidence.Objects{
			Source: evidence.Source{From: "/proc/*/cgroup, /run/containerd/io.containerd.runtime.v2.task/k8s.io", Took: 9 * time.Millisecond},
			All:    []evidence.Object{{ObjectRef: pleg.ObjectRef{ID: held, Pod: pleg.PodRef{Namespace: "shop", Name: "payments-6c8f9d7b5-t8wfx"}, Container: "payments"}}, {ObjectRef: pleg.ObjectRef{ID: ID("x"), Sandbox: true}}},
		},
		Stacks: evidence.Stacks{
			Source: evidence.Source{From: "/run/containerd/debug.sock", Took: 412 * time.Millisecond, Bytes: 3 << 20, Partial: "cut off after 5s"},
			At:     Ago(20 * time.Second), Program: "containerd", Total: 4312,
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

// LookedDeep is a look at a node where something hangs.
func LookedDeep() evidence.Report {
	r := Looked()
	r.Deep = Deep()
	r.Kernel.Source = evidence.Source{From: "/dev/kmsg", Missing: "not permitted: run as root"}
	r.Processes.Objects = r.Deep.Objects.All[:1]
	r.Processes.Daemons = []evidence.Process{{PID: 812, Command: "containerd", State: evidence.Sleeping}}
	r.Processes.Shims = []evidence.Process{{PID: 4711, Command: "containerd-shim", State: evidence.Sleeping, Sandbox: ID("x")}}
	r.Processes.Helpers = []evidence.Process{helper, {PID: 5120, Parent: 812, Command: "calico", Verb: "CNI ADD", Pod: pleg.PodRef{Namespace: "shop", Name: "new"}, State: evidence.Sleeping, Age: 3 * time.Second, Wchan: "do_wait"}}
	return r
}

// Hung is a node on which the status of a container has been out for 47 s.
func Hung() *engine.Snapshot {
	s := Healthy()
	p := Find(s, "nfs-client")
	s.Health.ListedAt, s.Health.SettledAt, s.Health.UnhealthyAt = Ago(47*time.Second), Ago(49*time.Second), Noon.Add(133*time.Second)
	s.Phase = engine.Phase{Step: engine.Inspecting, Began: Ago(47 * time.Second), ListTook: 12 * time.Millisecond, Done: 3, Total: 17}
	s.InFlight = []call.Flight{{Op: call.ContainerStatus, Pod: p.PodRef, Container: "app", ID: p.Current.Containers[0].ID, Since: Ago(47 * time.Second)}}
	s.Calls[5].InFlight = 1
	return s
}

// Unhealthy is the same later: its PLEG is unhealthy.
func Unhealthy() *engine.Snapshot {
	s := Hung()
	s.Health = kubelet.Health{
		Verdict:  "pleg was last seen active 3m12.481s ago; threshold is 3m0s",
		ListedAt: Ago(192481 * time.Millisecond), SettledAt: Ago(194 * time.Second), Since: Ago(12 * time.Second), Flips: 3,
	}
	s.Phase.Began, s.InFlight[0].Since = Ago(192*time.Second), Ago(72*time.Second)
	p := Find(s, "nfs-client")
	p.Status, p.StatusErr, p.Failure, p.Reinspect = nil, errHung, &answers.Failure{Err: errHung, InRow: 2, First: Ago(100 * time.Second)}, true
	s.Calls[5].Errors, s.Calls[5].ByCode, s.Calls[5].LastErr, s.Calls[5].LastErrAt = 2, []answers.CodeCount{{Code: "DeadlineExceeded", Count: 2}}, errHung, Ago(72*time.Second)
	s.Channel.Discarded, s.Channel.Len = 12, 1000
	s.Anomalies.NoMetadata = 3
	return s
}

// Failing is a node whose lists have failed for 103 s.
func Failing() *engine.Snapshot {
	s := Healthy()
	s.Health.ListedAt, s.Health.SettledAt = Ago(104*time.Second), Ago(104*time.Second)
	s.Failure = &answers.Failure{Flight: call.Flight{Op: call.ListPodSandbox}, Err: fmt.Errorf("list pods: %w", errRefused), At: Ago(time.Second), First: Ago(103 * time.Second), InRow: 101}
	s.StatusErr = &answers.Failure{Flight: call.Flight{Op: call.Status}, Err: errRefused, At: Ago(time.Second), First: Ago(time.Second), InRow: 1}
	s.Conditions = []pleg.Condition{{Type: "NetworkReady", Reason: "NetworkPluginNotReady", Message: "cni plugin not initialized"}}
	s.Relists.Failed = 101
	for i := range 60 {
		s.Relists.History[60+i].Failed = true
	}
	s.Calls[2].Errors, s.Calls[2].ByCode, s.Calls[2].LastErr, s.Calls[2].LastErrAt = 101, []answers.CodeCount{{Code: "Unavailable", Count: 101}}, errRefused, Ago(time.Second)
	return s
}

// WithSweep is the healthy node with a sweep.
func WithSweep(w *answers.Sweep) *engine.Snapshot {
	s := Healthy()
	s.Sweep = w
	return s
}

// Nasty is what a terminal would obey, and worse.
const Nasty = "a\x1b[31mX\x1b]0;own\x07\u009b2J\x9b3m\r\n\tb\u202Egnp\u200B\x7f\xff\u2066"

// Long is the same, and too long for any screen.
var Long = Nasty + strings.Repeat("日", 4000)

// Hostile has hostile text in every field that a runtime fills.
func Hostile() *engine.Snapshot {
	s := Unhealthy()
	s.Version = pleg.Version{RuntimeName: Nasty, RuntimeVersion: Nasty, APIVersion: Nasty}
	s.Health.Verdict = Nasty
	s.Conditions = []pleg.Condition{{Type: "NetworkReady", Reason: Nasty, Message: Long}}
	s.Failure = &answers.Failure{Flight: call.Flight{Pod: pleg.PodRef{Name: Nasty}, Container: Nasty}, Err: &call.Error{Code: Nasty, Text: Long, Kind: call.ErrOther}, InRow: 3, First: Ago(time.Minute)}
	for i, p := range s.Pods {
		p.PodRef = pleg.PodRef{UID: pleg.UID(fmt.Sprint(i, Nasty)), Namespace: Nasty, Name: Nasty + p.Name}
		if i%2 == 1 {
			p.Name = Long
		}
		for j := range p.Current.Containers {
			c := &p.Current.Containers[j]
			c.Name, c.Image, c.ID = Nasty, Long, fmt.Sprint(j, Nasty)
		}
		for j := range p.Current.Sandboxes {
			p.Current.Sandboxes[j].ID = fmt.Sprint(j, "s", Nasty)
		}
		if p.Status != nil {
			for j := range p.Status.Containers {
				st := &p.Status.Containers[j]
				st.ID, st.Name, st.Reason, st.Message, st.Image = fmt.Sprint(j, Nasty), Nasty, Nasty, Long, Long
			}
			p.Status.IPs = []string{Nasty}
		}
		if p.StatusErr != nil {
			p.StatusErr = &call.Error{Code: Nasty, Text: Long, Kind: call.ErrOther}
		}
		p.LastEvent.Pod, p.LastEvent.Container = p.PodRef, Nasty
	}
	s.InFlight[0].Pod, s.InFlight[0].Container, s.InFlight[0].ID = s.Pods[0].PodRef, Nasty, Nasty
	for i := range s.Calls {
		s.Calls[i].ByCode = []answers.CodeCount{{Code: Nasty, Count: 3}}
		s.Calls[i].Errors, s.Calls[i].LastErr = 3, s.Failure.Err
	}
	return s
}
