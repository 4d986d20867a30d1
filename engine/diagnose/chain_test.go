package diagnose

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/kubelet"
	"github.com/plegtop/plegtop/engine/past"
	"github.com/plegtop/plegtop/engine/pleg"
)

// tell spells out the chain of the first finding, each link on a line with its proof.
func tell(findings []Finding) string {
	var b strings.Builder
	i := slices.IndexFunc(findings, func(f Finding) bool { return len(f.Chain) > 0 })
	if i < 0 {
		return ""
	}
	f := findings[i]
	fmt.Fprintf(&b, "%v %s %s\n", f.Severity, f.ID, f.Subject.ID)
	for _, l := range f.Chain {
		fmt.Fprintf(&b, "%s [%s] %s", l.Kind, l.ID, l.Name)
		if l.Proof != "" {
			fmt.Fprintf(&b, ": %s", l.Proof)
		}
		if l.Cut != nil {
			fmt.Fprintf(&b, " CUT %s", l.Cut.Command)
			if l.Cut.Command == "" {
				b.WriteString(l.Cut.Text)
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

// sick is a node on which somebody looked once, and what the look showed.
type sick struct {
	*node
	r *evidence.Report
}

// listHangs is a node whose list of containers hangs in check, while all else answers.
func listHangs() sick {
	n := checked(3)
	r := looked(n)
	r.Deep = new(evidence.Deep)
	n.fail(call.ListContainers, call.ErrDeadline, tooLate, 1)
	n.Started = ago(12 * time.Second)
	n.Sweep.Began, n.Sweep.Ended = ago(11*time.Second), ago(9*time.Second)
	n.Health = kubelet.Health{Verdict: "pleg has yet to be successful"}
	return sick{n, r}
}

func (s sick) and(change func(s sick)) sick {
	change(s)
	return s
}

// helper makes the shim of the second pod call runc.
func (s sick) helper(verb, id string, change ...func(p *evidence.Process)) sick {
	p := evidence.Process{PID: 9000 + len(s.r.Processes.Helpers), Parent: shimOf(s.r, 1).PID, Command: "runc", Verb: verb, Own: true, Container: id, State: evidence.Sleeping, Age: 10*time.Minute + 3*time.Second}
	for _, c := range change {
		c(&p)
	}
	s.r.Processes.Helpers = append(s.r.Processes.Helpers, p)
	return s
}

// statusLock is containerd's lock of the status of one container; its holder asks the shim.
func statusLock(method, doing string) evidence.Lock {
	return evidence.Lock{
		Of: "container status", Address: "0x25a8b9a40380", Waiters: 41, Longest: 5 * time.Minute, Calls: []string{"ContainerStatus", "ListContainers"},
		Holder: evidence.Goroutine{Number: 1234, State: "select", For: 5 * time.Minute, Call: method, Doing: doing, Frames: []string{"github.com/containerd/ttrpc.(*Client).dispatch"}},
	}
}

func (s sick) locks(all ...evidence.Lock) sick {
	s.r.Deep.Stacks = evidence.Stacks{At: now, Program: "containerd", Total: 300, Locks: all}
	return s
}

func (s sick) diagnose() ([]Finding, Headline) {
	in := s.input()
	in.Evidence, in.Endpoint = s.r, "unix://"+ourSocket
	v := factsOf(in)
	found := v.diagnose()
	return found, v.headline(found)
}

var onNFS = evidence.Mount{Point: "/data", Type: "nfs4", Source: "10.0.0.9:/vol", Device: "0:57"}

// inNFS makes a process wait for a server.
func inNFS(p *evidence.Process) {
	p.State, p.For, p.Mount = evidence.Uninterrupted, time.Minute, onNFS
	p.Wchan, p.Stack = "rpc_wait_bit_killable", []string{"rpc_wait_bit_killable", "__rpc_execute", "nfs4_call_sync_sequence", "_nfs4_do_setattr", "nfs4_do_setattr"}
}

const relistLine = "relist [] relist\ncall [] ListContainers: ListContainers got no answer within 8s, 9s ago\n"

func TestChain(t *testing.T) {
	tests := []struct {
		name string
		sick sick
		want string
		line string
		end  string // of the headline
	}{
		{"runc update hangs, no dump", listHangs().and(func(s sick) { s.sweepHung(1, "app") }).helper("update", "container-1-0"),
			"critical helper-stuck container-1-0\n" + relistLine +
				"lock [] status lock of ns-1/pod-00001/app: its status call hangs, others are answered\n" +
				"container [container-1-0] ns-1/pod-00001/app: it is the status of this one\n" +
				"shim [1007] shim 1007: it waits for its child, pid 9000 (runc)\n" +
				"helper [9000] runc update (10m): child of the shim, named in its arguments CUT kill 9000\n",
			"relist -> ListContainers -> status lock of ns-1/pod-00001/app -> shim 1007 -> runc update (10m)",
			"blocked by ns-1/pod-00001/app -> runc update (10m)"},
		{"runc update hangs, with a dump", listHangs().and(func(s sick) { s.sweepHung(1, "app") }).helper("update", "container-1-0").locks(statusLock("UpdateContainerResources", "ttrpc Task.Update")),
			"critical helper-stuck container-1-0\n" + relistLine +
				"lock [0x25a8b9a40380] status lock of ns-1/pod-00001/app: 41 goroutines waiting for it in the runtime's own dump, ContainerStatus, ListContainers among them\n" +
				"goroutine [1234] goroutine 1234 in ttrpc Task.Update: same receiver address 0x25a8b9a40380 in the runtime's own dump\n" +
				"container [container-1-0] ns-1/pod-00001/app: its status call hangs, others are answered; its holder answers UpdateContainerResources, and runc update is at work on it\n" +
				"shim [1007] shim 1007: the goroutine waits for its answer to Task.Update\n" +
				"helper [9000] runc update (10m): child of the shim, named in its arguments CUT kill 9000\n",
			"relist -> ListContainers -> status lock of ns-1/pod-00001/app -> goroutine 1234 in ttrpc Task.Update -> shim 1007 -> runc update (10m)",
			" -> runc update (10m)"},
		{"in the kernel, for a file server", listHangs().and(func(s sick) { s.sweepHung(1, "app") }).helper("update", "container-1-0", inNFS),
			"critical process-stuck container-1-0\n" + relistLine +
				"lock [] status lock of ns-1/pod-00001/app: its status call hangs, others are answered\n" +
				"container [container-1-0] ns-1/pod-00001/app: it is the status of this one\n" +
				"shim [1007] shim 1007: it waits for its child, pid 9000 (runc)\n" +
				"helper [9000] runc update (10m): child of the shim, named in its arguments\n" +
				"kernel [nfs4_do_setattr] D in nfs4_do_setattr: its kernel stack\n" +
				"server [10.0.0.9:/vol] server 10.0.0.9:/vol: its system call is on that mount\n" +
				"mount [0:57] mount /data: mounted from there CUT bring the file server back, or its network; what waits for it then goes on without a loss\n",
			"relist -> ListContainers -> status lock of ns-1/pod-00001/app -> shim 1007 -> runc update (10m) -> D in nfs4_do_setattr, server 10.0.0.9:/vol -> mount /data",
			" -> runc update (10m) -> D in nfs4_do_setattr, server 10.0.0.9:/vol -> mount /data"},
		{"the holder is only likely", listHangs().and(func(s sick) { s.sweepHung(1, "app") }).locks(func() evidence.Lock {
			l := statusLock("UpdateContainerResources", "ttrpc Task.Update")
			l.Likely = true
			return l
		}()),
			"critical inspect-hung container-1-0\n" + relistLine +
				"lock [0x25a8b9a40380] status lock of ns-1/pod-00001/app: 41 goroutines waiting for it in the runtime's own dump, ContainerStatus, ListContainers among them\n" +
				"container [container-1-0] ns-1/pod-00001/app: it is the status of this one\n" +
				"goroutine [1234] goroutine 1234 in ttrpc Task.Update\n" +
				"shim [1007] shim 1007 CUT kill -9 1007\n",
			"relist -> ListContainers -> status lock of ns-1/pod-00001/app -> likely goroutine 1234 in ttrpc Task.Update -> likely shim 1007",
			"blocked by ns-1/pod-00001/app"},
		{"several containers hang: which of them the lock is of is only likely", listHangs().and(func(s sick) { s.sweepHung(1, "app").sweepHung(2, "app") }).locks(statusLock("UpdateContainerResources", "ttrpc Task.Update")),
			"critical inspect-hung container-1-0\n" + relistLine +
				"lock [] status lock of ns-1/pod-00001/app: its status call hangs, others are answered\n" +
				"container [container-1-0] ns-1/pod-00001/app: it is the status of this one\n" +
				"goroutine [1234] goroutine 1234 in ttrpc Task.Update\n" +
				"shim [1007] shim 1007 CUT kill -9 1007\n",
			"relist -> ListContainers -> status lock of ns-1/pod-00001/app -> likely goroutine 1234 in ttrpc Task.Update -> likely shim 1007",
			"blocked by ns-1/pod-00001/app and 1 more"},
		{"no list has the object", listHangs().and(func(s sick) {
			s.sweepHung(1, "app")
			h := &s.Sweep.Hung[0]
			h.Pod, h.Container, h.ID = pleg.PodRef{}, "", strings.Repeat("3f1a5c0d9b2e", 6)[:64]
			s.r.Processes.Containers[h.ID] = []evidence.Process{{PID: 4711, Parent: shimOf(s.r, 1).PID, Command: "nginx", State: evidence.Sleeping}}
			s.helper("update", h.ID)
		}),
			"critical helper-stuck " + strings.Repeat("3f1a5c0d9b2e", 6)[:64] + "\n" + relistLine +
				"lock [] status lock of 3f1a5c0d9b2e3 (of a pod whose name is not known): its status call hangs, others are answered\n" +
				"container [" + strings.Repeat("3f1a5c0d9b2e", 6)[:64] + "] 3f1a5c0d9b2e3 (of a pod whose name is not known): it is the status of this one\n" +
				"shim [1007] shim 1007: it waits for its child, pid 9000 (runc)\n" +
				"helper [9000] runc update (10m): child of the shim, named in its arguments CUT kill 9000\n",
			"relist -> ListContainers -> status lock of 3f1a5c0d9b2e3 (of a pod whose name is not known) -> shim 1007 -> runc update (10m)",
			"blocked by 3f1a5c0d9b2e3 (pid 4711 nginx) -> runc update (10m)"},
		{"a sandbox's lock, and its shim is stopped", func() sick {
			s := listHangs()
			s.Failure = nil
			s.node.fail(call.ListPodSandbox, call.ErrDeadline, tooLate, 1).sweepHung(1, "")
			shim := shimOf(s.r, 1)
			shim.State, shim.For = evidence.Stopped, time.Minute
			return s
		}(),
			"critical process-stuck sandbox-1\n" + strings.ReplaceAll(relistLine, "ListContainers", "ListPodSandbox") +
				"lock [] status lock of ns-1/pod-00001: its status call hangs, others are answered\n" +
				"container [sandbox-1] ns-1/pod-00001: it is the status of this one\n" +
				"shim [1007] shim 1007: it is stopped (T) and answers nobody CUT kill -CONT 1007\n" +
				"kernel [] stopped (T): its state\n",
			"relist -> ListPodSandbox -> status lock of ns-1/pod-00001 -> shim 1007 -> stopped (T)",
			"blocked by ns-1/pod-00001 (pid 1007, T)"},
		{"a list hangs, and nobody's status", listHangs(),
			"critical list-hung \n" + relistLine, "relist -> ListContainers", "ListContainers got no answer within 8s"},
		{"a list hangs, and the dump alone tells who holds it", listHangs().locks(func() evidence.Lock {
			l := statusLock("StopContainer", "ttrpc Task.Kill")
			l.Of, l.Calls, l.Holder.Container = "store.(*Store).List", []string{"ListContainers"}, "container-1-0"
			return l
		}()),
			"critical list-hung container-1-0\n" + relistLine +
				"lock [0x25a8b9a40380] lock of store.(*Store).List at 0x25a8b9a40380: 41 goroutines waiting for it in the runtime's own dump, ListContainers among them\n" +
				"goroutine [1234] goroutine 1234 in ttrpc Task.Kill: same receiver address 0x25a8b9a40380 in the runtime's own dump\n" +
				"container [container-1-0] ns-1/pod-00001/app: its stack names it\n" +
				"shim [1007] shim 1007: the goroutine waits for its answer to Task.Kill CUT kill -9 1007\n",
			"relist -> ListContainers -> lock of store.(*Store).List at 0x25a8b9a40380 -> goroutine 1234 in ttrpc Task.Kill -> ns-1/pod-00001/app -> shim 1007",
			" -> shim 1007"},
		{"two goroutines hold each other up", listHangs().locks(
			evidence.Lock{Of: "nri.(*local)", Address: "0xa", Waiters: 3, Calls: []string{"ListContainers"}, Holder: evidence.Goroutine{Number: 1, Call: "StartContainer", Doing: "another lock", Waits: "0xb"}},
			evidence.Lock{Of: "adaptation.(*Adaptation)", Address: "0xb", Waiters: 1, Holder: evidence.Goroutine{Number: 2, Doing: "another lock", Waits: "0xa"}},
		),
			"critical list-hung \n" + relistLine +
				"lock [0xa] lock of nri.(*local) at 0xa: 3 goroutines waiting for it in the runtime's own dump, ListContainers among them\n" +
				"goroutine [1] goroutine 1 waiting for another lock: same receiver address 0xa in the runtime's own dump\n" +
				"lock [0xb] lock of adaptation.(*Adaptation) at 0xb: it waits for the lock at 0xb\n" +
				"goroutine [2] goroutine 2 waiting for another lock: same receiver address 0xb in the runtime's own dump\n" +
				"lock [0xa] lock of nri.(*local) at 0xa, which waits for the first: a deadlock: it waits for the lock at 0xa CUT systemctl restart containerd\n",
			"relist -> ListContainers -> lock of nri.(*local) at 0xa -> goroutine 1 waiting for another lock -> lock of adaptation.(*Adaptation) at 0xb -> goroutine 2 waiting for another lock -> lock of nri.(*local) at 0xa, which waits for the first: a deadlock",
			"a deadlock"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			found, head := tt.sick.diagnose()
			if diff := cmp.Diff(tt.want, tell(found)); diff != "" {
				t.Errorf("chain (-want +got):\n%s", diff)
				for _, f := range found {
					t.Logf("%v %s %s\n%s", f.Severity, f.ID, f.Summary, strings.Join(f.Evidence, "\n"))
				}
			}
			i := slices.IndexFunc(found, func(f Finding) bool { return len(f.Chain) > 0 })
			if i < 0 {
				return
			}
			if diff := cmp.Diff(tt.line, ChainLine(found[i].Chain)); diff != "" {
				t.Errorf("line (-want +got):\n%s", diff)
			}
			if strings.HasSuffix(head.Text, "-> runc update (10m)") != strings.HasPrefix(head.Text, "NotReady since 09:19:48, no list since ") {
				t.Errorf("headline %q", head.Text)
			}
			if !strings.HasSuffix(head.Text, tt.end) || strings.Count(head.Text, tt.end) != 1 {
				t.Errorf("headline %q ends not with %q", head.Text, tt.end)
			}
			for _, l := range found[i].Chain {
				if l.Cut != nil && !slices.Contains(found[i].Next, *l.Cut) {
					t.Errorf("%v is no next step of %v", l.Cut, found[i].Next)
				}
			}
			whole(t, found)
		})
	}
}

// allAnswers is a node on which every call of check is answered.
func allAnswers() sick {
	n := checked(3)
	r := looked(n)
	r.Deep = new(evidence.Deep)
	return sick{n, r}
}

// calls makes the runtime work on a call of a client.
func (s sick) calls(method string) sick {
	s.r.Deep.Calls.InFlight = append(s.r.Deep.Calls.InFlight, evidence.InFlight{Method: method, Count: 1, For: 10 * time.Minute})
	return s
}

// open makes a goroutine of the runtime answer a call and wait for a shim.
func (s sick) open(method, doing, container string) sick {
	s.r.Deep.Stacks.Open = append(s.r.Deep.Stacks.Open, evidence.Goroutine{Number: 77, State: "select", For: 10 * time.Minute, Call: method, Doing: doing, Container: container})
	return s
}

// byRuntime makes a helper a child of the runtime itself.
func byRuntime(command, pod string) func(p *evidence.Process) {
	return func(p *evidence.Process) {
		p.Command, p.Parent, p.Pod = command, 1019, pleg.PodRef{Namespace: "pay", Name: pod}
	}
}

// These are cases in which a helper holds something up, and no status call waits for it.
func TestChainOfAnHelper(t *testing.T) {
	const deletes = "shim [1007] shim 1007: it waits for its child, pid 9000 (runc)\nhelper [9000] runc delete (10m): child of the shim, named in its arguments CUT kill 9000\n"
	const only = ": the only such call, and the only such helper\n"
	for _, tt := range []struct {
		name string
		sick sick
		want string
	}{
		{"nothing else is known", allAnswers().helper("delete", "container-1-0"),
			"warning helper-stuck container-1-0\ncontainer [container-1-0] ns-1/pod-00001/app\n" + deletes},
		{"the runtime's metrics have the call", allAnswers().helper("delete", "container-1-0").calls("RemoveContainer"),
			"warning helper-stuck container-1-0\ncall [] RemoveContainer\ncontainer [container-1-0] ns-1/pod-00001/app" + only + deletes},
		{"it may be of two calls", allAnswers().helper("delete", "container-1-0").calls("RemoveContainer").calls("StopPodSandbox"),
			"warning helper-stuck container-1-0\ncontainer [container-1-0] ns-1/pod-00001/app\n" + deletes},
		{"the dump has the goroutine", allAnswers().helper("kill", "container-1-0").open("StopContainer", "ttrpc Task.Kill", ""),
			"warning helper-stuck container-1-0\ncall [] StopContainer\ngoroutine [77] goroutine 77 in ttrpc Task.Kill: it answers the call, in the runtime's own dump\ncontainer [container-1-0] ns-1/pod-00001/app" + only +
				strings.ReplaceAll(deletes, "delete", "kill")},
		{"the dump has the goroutine, and what it is at work on", allAnswers().helper("kill", "container-1-0").helper("kill", "container-0-0").open("StopContainer", "ttrpc Task.Kill", "container-1-0"),
			"warning helper-stuck container-1-0\ncall [] StopContainer\ngoroutine [77] goroutine 77 in ttrpc Task.Kill: it answers the call, in the runtime's own dump\ncontainer [container-1-0] ns-1/pod-00001/app: the goroutine is at work on it, by its stack\n" +
				strings.ReplaceAll(deletes, "delete", "kill")},
		{"a call waits for a container's end, and another goroutine asks its shim", allAnswers().helper("delete", "container-1-0").open("StopContainer", "wait for a channel", "").and(func(s sick) {
			s.open("", "ttrpc Task.Delete", "").r.Deep.Stacks.Open[1].Number = 78
		}),
			"warning helper-stuck container-1-0\ncall [] StopContainer\ngoroutine [77] goroutine 77 waiting for a channel: it answers the call, in the runtime's own dump\n" +
				"goroutine [78] goroutine 78 in ttrpc Task.Delete: the only one that asks a shim for that, in the runtime's own dump\ncontainer [container-1-0] ns-1/pod-00001/app" + only + deletes},
		{"a status waits for its shim, and not for a lock", allAnswers().and(func(s sick) { s.sweepHung(1, "") }).open("PodSandboxStatus", "ttrpc Task.State", "sandbox-1"),
			"critical inspect-hung sandbox-1\ncall [] PodSandboxStatus of ns-1/pod-00001\ngoroutine [77] goroutine 77 in ttrpc Task.State: it answers the call, in the runtime's own dump\n" +
				"container [sandbox-1] ns-1/pod-00001: it asks for this one\nshim [1007] shim 1007: the goroutine waits for its answer to Task.State CUT kill -9 1007\n"},
		{"of a container that is being made", allAnswers().helper("create", "new").calls("CreateContainer"),
			"warning helper-stuck new\ncall [] CreateContainer\ncontainer [new] new (of a pod whose name is not known)" + only +
				"helper [9000] runc create (10m): named in its arguments CUT kill 9000\n"},
		{"a network plugin", allAnswers().helper("CNI ADD", "new", byRuntime("calico", "api-0")).calls("RunPodSandbox"),
			"warning helper-stuck new\ncall [] RunPodSandbox\ncontainer [new] pay/api-0" + only +
				"helper [9000] CNI ADD by calico (10m): child of the runtime (pid 1019), named in its arguments CUT bring back what the plugin waits for, its agent or the API server; the call then goes on\n"},
		{"a shim unmounts", allAnswers().helper("umount", "", func(p *evidence.Process) { p.Command, p.Sandbox = "umount", "sandbox-1" }).calls("StopPodSandbox"),
			"warning helper-stuck sandbox-1\ncall [] StopPodSandbox\ncontainer [sandbox-1] ns-1/pod-00001" + only +
				"shim [1007] shim 1007: it waits for its child, pid 9000 (umount)\nhelper [9000] umount (10m): child of the shim CUT kill 9000\n"},
		{"in the kernel, for a disk", allAnswers().helper("delete", "container-1-0", func(p *evidence.Process) {
			p.State, p.For, p.Wchan = evidence.Uninterrupted, time.Minute, "io_schedule"
			p.Mount = evidence.Mount{Point: "/var/lib/containerd", Type: "ext4", Source: "/dev/sdb1", Device: "8:17"}
		}),
			"warning process-stuck container-1-0\ncontainer [container-1-0] ns-1/pod-00001/app\n" + strings.ReplaceAll(deletes, " CUT kill 9000", "") +
				"kernel [io_schedule] D in io_schedule: its wchan\nmount [8:17] mount /var/lib/containerd: its system call is on that mount CUT no command on the node ends it: drain the node with --timeout=5m, then power it off, as a normal reboot may hang, and mend what failed; pods that cannot end stay Terminating\ndevice [8:17] /dev/sdb1: the mount is on it\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			found, head := tt.sick.diagnose()
			if diff := cmp.Diff(tt.want, tell(found)); diff != "" {
				t.Errorf("chain (-want +got):\n%s", diff)
			}
			if links := proven(found[0].Chain); !strings.Contains(head.Text, links[len(links)-1].Name) {
				t.Errorf("headline %q of %q", head.Text, ChainLine(found[0].Chain))
			}
			whole(t, found)
		})
	}
}

// If two pods hold up the lists, the headline has both. A list waits for a lock according to the dump only if the dump
// says that about lists.
func TestTwoHolders(t *testing.T) {
	s := listHangs().and(func(s sick) { s.sweepHung(1, "app").sweepHung(2, "app") }).helper("update", "container-1-0").helper("kill", "container-2-0", func(p *evidence.Process) { p.Parent = 1011 })
	own := func(address, id string, calls ...string) evidence.Lock {
		l := statusLock("UpdateContainerResources", "ttrpc Task.Update")
		l.Address, l.Holder.Container, l.Holder.Number, l.Calls = address, id, len(address), calls
		return l
	}
	s.locks(own("0xa", "container-1-0", "ContainerStatus", "ListContainers"), own("0xbb", "container-2-0", "ContainerStatus"))
	found, head := s.diagnose()
	if !strings.Contains(head.Text, "blocked by ns-1/pod-00001/app") || !strings.HasPrefix(head.Text, "NotReady since ") || !strings.HasSuffix(head.Text, " and 1 more") {
		t.Errorf("headline %q", head.Text)
	}
	roots := 0
	for _, f := range found {
		if f.Cause == "" {
			roots++
		}
		list := slices.ContainsFunc(f.Chain, func(l Link) bool { return l.Name == "ListContainers" })
		if f.Cause == "" && list != (f.Subject.Pod.Name == "pod-00001") {
			t.Errorf("%s: chain %s", f.Summary, ChainLine(f.Chain))
		}
	}
	if roots != 2 {
		t.Errorf("%d culprits, want 2:\n%s", roots, gist(found))
	}
}

// If a hang moves on, the headline names the pod that hangs now, also while the finding about the one before is held.
func TestAHangThatMovesOn(t *testing.T) {
	first := sick{healthy(3).hangOn(1, "app", 12*time.Second).probesAnswered(), nil}
	first.r = looked(first.node)
	first.helper("update", "container-1-0")
	first.Evidence = first.r
	then := sick{healthy(3).hangOn(2, "app", 6*time.Second).probesAnswered(), nil}
	then.r = looked(then.node)
	then.Evidence = then.r
	all := play(t, first.after(0), first.after(second), first.after(2*second), then.after(3*second), then.after(4*second))
	for i, u := range all {
		text := u.Headline.Text
		if moved := i >= 3; strings.Contains(text, "pod-00002") != moved || strings.Contains(text, "pod-00001") == moved || strings.Contains(text, "runc update") == moved {
			t.Errorf("update %d: headline %q", i, text)
		}
	}
}

// A chain is shown if something hangs, and only then.
func TestNoChainOnAHealthyNode(t *testing.T) {
	for _, s := range []sick{allAnswers(), allAnswers().helper("exec", "container-1-0"), allAnswers().helper("create", "container-1-0", func(p *evidence.Process) { p.Age = time.Second })} {
		if found, head := s.diagnose(); len(found) > 0 || !head.Sound() {
			t.Errorf("%+v %+v", head, found)
		}
	}
}

// Ids that the node shows and the runtime does not know are said to be that.
func TestUnknownIDs(t *testing.T) {
	s := listHangs()
	s.r.Processes.Objects = []evidence.Object{{ObjectRef: pleg.ObjectRef{ID: "gone"}, From: "its control group"}, {ObjectRef: pleg.ObjectRef{ID: "lost"}, From: "its control group"}}
	s.Sweep.Unknown = []answers.Outcome{{Flight: call.Flight{Op: call.ContainerStatus, ID: "gone"}}}
	found, _ := s.diagnose()
	firstSays(t, found, "1 of 5 ids that the node shows are unknown to the runtime: gone its control group")
	if strings.Contains(found[0].Summary, "gone") || found[0].Subject.ID != "" {
		t.Errorf("it is no finding: %+v", found[0])
	}
}

// A later trouble does not name what held up an earlier call.
func TestHeadlineOfAnotherTrouble(t *testing.T) {
	s := listHangs().and(func(s sick) { s.sweepHung(1, "app") }).helper("update", "container-1-0")
	held, _ := s.diagnose()
	for _, n := range []*node{healthy(3).dead(12), healthy(3).condition("RuntimeReady"), healthy(3).fail(call.ListPodSandbox, call.ErrOther, "locked", 10)} {
		if head := n.facts().headline(held); strings.Contains(head.Text, "->") {
			t.Errorf("%+v", head)
		}
	}
	s.node = healthy(3).hangOn(1, "app", 47*time.Second).probesAnswered()
	if _, head := s.diagnose(); !strings.HasSuffix(head.Text, ": no reply for 47s -> runc update (10m)") {
		t.Errorf("%+v", head)
	}
}

// A runtime that answers nothing has a chain, too: down to its lock, or to its own process.
func TestChainOfASilentRuntime(t *testing.T) {
	silent := func() sick {
		n := healthy(3).hang(call.ListPodSandbox, 30*time.Second).hang(call.Version, 20*time.Second).hang(call.Status, 20*time.Second)
		s := sick{n, looked(n)}
		s.r.Deep = new(evidence.Deep)
		return s
	}
	const waits = "critical runtime-unresponsive \nrelist [] relist\ncall [] ListPodSandbox: ListPodSandbox: no reply for 30s, since 09:26:23\n"
	stopped := silent()
	for i := range stopped.r.Processes.Daemons {
		if p := &stopped.r.Processes.Daemons[i]; p.Command == "containerd" {
			p.State, p.For = evidence.Stopped, time.Minute
		}
	}
	for name, tt := range map[string]struct {
		sick sick
		want string
	}{
		"a lock": {silent().locks(evidence.Lock{Of: "store.(*Store).List", Address: "0xa", Waiters: 9, Calls: []string{"ListPodSandbox"}, Holder: evidence.Goroutine{Number: 5, Doing: "fsync"}}),
			waits + "lock [0xa] lock of store.(*Store).List at 0xa: 9 goroutines waiting for it in the runtime's own dump, ListPodSandbox among them\n" +
				"goroutine [5] goroutine 5 in fsync: same receiver address 0xa in the runtime's own dump CUT systemctl restart containerd\n"},
		"its process is stopped": {stopped,
			strings.Replace(waits, "runtime-unresponsive", "process-stuck", 1) + "process [1019] pid 1019 (containerd): it is the runtime's own, and stopped (T) CUT kill -CONT 1019\nkernel [] stopped (T): its state\n"},
	} {
		found, _ := tt.sick.diagnose()
		if diff := cmp.Diff(tt.want, tell(found)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// However processes and locks wait for each other, a chain ends.
func TestChainEnds(t *testing.T) {
	s := listHangs().and(func(s sick) { s.sweepHung(1, "app") }).helper("update", "container-1-0").helper("init", "container-1-0")
	e := s.r.Processes.Helpers
	e[0].Parent, e[1].Parent = e[1].PID, e[0].PID
	a, b := statusLock("", ""), statusLock("", "")
	a.Address, b.Address, a.Holder.Waits, b.Holder.Waits = "0xa", "0xb", "0xb", "0xb"
	s.locks(a, b)
	found, _ := s.diagnose()
	if n := len(found[0].Chain); n < 5 || n > 12 {
		t.Errorf("%d links: %s", n, ChainLine(found[0].Chain))
	}
}

// A helper for which a call surely waits is the cause of all that hangs, and as bad as that. If it only likely waits,
// the helper is not blamed.
func TestHelperIsTheCauseOfAHang(t *testing.T) {
	held := func() sick { return listHangs().and(func(s sick) { s.sweepHung(1, "app") }) }
	for _, tt := range []struct {
		name    string
		sick    sick
		effects []ID // of the helper
		worst   Severity
	}{
		{"behind a status", held().helper("update", "container-1-0"), []ID{InspectHung, ListHung, PLEGUnhealthy}, Critical},
		{"too young to be late by itself", held().helper("mount", "container-1-0", func(p *evidence.Process) { p.Age = 12 * time.Second }), []ID{InspectHung, ListHung, PLEGUnhealthy}, Critical},
		{"likely behind a list", listHangs().helper("update", "container-1-0"), nil, Warning},
		{"of another pod", held().helper("update", "container-2-0", func(p *evidence.Process) { p.Parent = 2 }), nil, Warning},
		{"where nothing hangs", allAnswers().helper("kill", "container-1-0"), nil, Warning},
	} {
		found, _ := tt.sick.diagnose()
		i := slices.IndexFunc(found, func(f Finding) bool { return f.ID == HelperStuck })
		if i < 0 || found[i].Cause != "" || !strings.HasPrefix(found[i].Summary, "runc ") || found[i].Severity != tt.worst {
			t.Errorf("%s: %+v", tt.name, found)
			continue
		}
		var effects []ID
		for _, f := range found {
			if f.Cause == HelperStuck && f.CauseKey == found[i].Key() {
				effects = append(effects, f.ID)
			}
		}
		if !slices.Equal(effects, tt.effects) {
			t.Errorf("%s: effects %v, want %v", tt.name, effects, tt.effects)
		}
	}
}

// While a status call still hangs, the helper behind it is shown at once, even if the last look at the node is older
// than the moment when the hang was last seen. Once the call is answered, the helper is not shown before the next look.
func TestHelperBehindAHangIsToldAtOnce(t *testing.T) {
	for _, answered := range []bool{false, true} {
		n := healthy(3).probesAnswered()
		if !answered {
			n = n.hangOn(1, "app", 10*time.Second)
		}
		s := sick{n, looked(n)}
		s.r.At = ago(2 * time.Second)
		s.helper("update", "container-1-0")
		n.Memory.Hung = map[string]time.Time{"container-1-0": ago(time.Second)}
		in := n.input()
		n.Memory.Hung = map[string]time.Time{"container-1-0": ago(time.Second)}
		in.Evidence = s.r
		v := factsOf(in)
		found := v.diagnose()
		i := slices.IndexFunc(found, func(f Finding) bool { return f.ID == HelperStuck })
		if i < 0 || v.overtaken(&found[i]) != answered {
			t.Errorf("answered %v: %v", answered, gist(found))
		}
	}
}

// A sandbox whose network is being set up is not listed yet: what hangs there is shown, even if the lists are newer
// than the look. If the sandbox has left the lists since, it is not shown.
func TestHelperOfASandboxToCome(t *testing.T) {
	for _, gone := range []bool{false, true} {
		s := sick{healthy(3), looked(healthy(3))}
		s.r.At = ago(2 * time.Second)
		s.helper("CNI ADD", "new", func(p *evidence.Process) { p.Pod = pleg.PodRef{Namespace: "pay", Name: "api-0"} })
		if s.Health.ListedAt = ago(second); gone {
			s.Gone = past.Gone{{ID: "new", At: ago(second)}}
		}
		in := s.input()
		in.Evidence = s.r
		v := factsOf(in)
		found := v.diagnose()
		i := slices.IndexFunc(found, func(f Finding) bool { return f.ID == HelperStuck })
		if i < 0 || v.overtaken(&found[i]) != gone {
			t.Errorf("gone %v: %v", gone, gist(found))
		}
	}
}

// Two helpers that hold up two containers are two findings, and each has its own effects.
func TestTwoCulprits(t *testing.T) {
	s := listHangs().and(func(s sick) { s.sweepHung(1, "app").sweepHung(2, "app") }).helper("update", "container-1-0").helper("kill", "container-2-0", func(p *evidence.Process) { p.Parent = 2 })
	found, _ := s.diagnose()
	causes := map[string]string{}
	for _, f := range found {
		if f.ID == InspectHung {
			causes[f.Subject.ID] = f.CauseKey.Group
		}
	}
	if want := map[string]string{"container-1-0": "ns-1/pod-00001 app runc update", "container-2-0": "ns-2/pod-00002 app runc kill"}; !maps.Equal(causes, want) {
		t.Errorf("causes %v, want %v", causes, want)
	}
	if found[0].ID != HelperStuck || found[1].ID != HelperStuck || found[0].Severity != Critical || found[1].Severity != Critical {
		t.Errorf("%v", gist(found))
	}
}

// Helpers that do the same for the pods of one deployment share one finding, and so do the calls that hang behind them.
func TestOneCulpritOfAWorkload(t *testing.T) {
	s := listHangs()
	for i := range 3 {
		p := s.Pods[i]
		p.Namespace, p.Name = "shop", fmt.Sprintf("api-7d9f8b6c5d-x2x4%c", "bcd"[i])
		id := p.Seen().Containers[0].ID
		for _, record := range []*pleg.Pod{p.Old, p.Current} {
			if record != nil {
				record.PodRef = p.PodRef
			}
		}
		s.Sweep.Hung = append(s.Sweep.Hung, answers.Outcome{Flight: call.Flight{By: call.BySweep, Op: call.ContainerStatus, Pod: p.PodRef, Container: "app", ID: id, Since: ago(11 * time.Second)}, Took: 2 * time.Second, Err: &call.Error{Op: call.ContainerStatus, Kind: call.ErrDeadline}, InRow: 1})
		s.helper("update", id, func(p *evidence.Process) { p.Parent = 2 })
	}
	found, _ := s.diagnose()
	if want := "critical helper-stuck shop/api-7d9f8b6c5d-x2x4b/app\ncritical inspect-hung ContainerStatus shop/api-7d9f8b6c5d-x2x4b/app < helper-stuck\ncritical list-hung ListContainers < helper-stuck\ncritical pleg-unhealthy < helper-stuck\n"; gist(found) != want {
		t.Errorf("%s", gist(found))
	}
	if found[0].Count != 3 || len(found[0].Nodes) != 3 {
		t.Errorf("%+v", found[0])
	}
}

// If a dump was read, no step asks for one first; but a restart keeps it.
func TestNoDumpIsAskedForTwice(t *testing.T) {
	for _, dumped := range []bool{false, true} {
		s := listHangs()
		if dumped {
			s.locks()
		}
		found, _ := s.runtime("containerd", "v2.4.2").diagnose()
		asked := found[0].check().Dumps()
		if found[0].ID != ListHung || asked == dumped {
			t.Errorf("with a dump %v: %v", dumped, found[0].Next)
		}
	}
}

// A dump from a hang that is over blames nobody: whoever held a lock then is innocent now.
func TestDumpOfAnotherHang(t *testing.T) {
	for age, named := range map[time.Duration]bool{8 * time.Second: true, 25 * time.Second: false} {
		n := healthy(3).hang(call.ListContainers, 12*time.Second).probesAnswered()
		s := sick{n, looked(n)}
		s.r.Deep = new(evidence.Deep)
		l := statusLock("UpdateContainerResources", "ttrpc Task.Update")
		l.Holder.Container = "container-1-0"
		s.locks(l).r.Deep.Stacks.At = ago(age)
		found, _ := s.diagnose()
		if found[0].ID != ListHung || (found[0].Subject.ID == "container-1-0") != named || strings.Contains(ChainLine(found[0].Chain), "goroutine 1234") != named {
			t.Errorf("a dump %v old: %+v", age, found)
		}
	}
}

// A line leaves out only a container that it has named already, and a headline only what it contains already.

// If the dump shows what the list waits for, a process in the kernel elsewhere is not said to hold it up.
func TestStuckProcessBesideALock(t *testing.T) {
	for _, locked := range []bool{false, true} {
		s := listHangs()
		inNFS(&s.r.Processes.Containers["container-1-0"][0])
		if locked {
			s.locks(statusLock("UpdateContainerResources", "ttrpc Task.Update"))
		}
		found, _ := s.diagnose()
		i := slices.IndexFunc(found, func(f Finding) bool { return f.ID == ProcessStuck })
		if i < 0 || (found[i].Chain == nil) != locked {
			t.Errorf("with a lock %v: %+v", locked, found)
		}
	}
}
