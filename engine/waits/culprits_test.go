package waits

import (
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
)

// The container of a holder is no culprit while its goroutine waits for the
// lock of another container.
func TestAHolderThatWaitsForAnother(t *testing.T) {
	f := facts(3).list()
	f.Deep.Stacks.Locks = []evidence.Lock{
		{Of: "x", Address: "0xa", Waiters: 3, Calls: []string{"ListContainers"}, Holder: evidence.Goroutine{Number: 1, Doing: "another lock", Waits: "0xb", Container: app(1).ID}},
		{Of: "y", Address: "0xb", Waiters: 1, Holder: evidence.Goroutine{Number: 2, Doing: "ttrpc Task.Update", Container: app(2).ID}},
	}
	g := Build(f)
	for _, c := range g.Culprits() {
		for _, i := range c.Nodes {
			if g.Nodes[i].ID == app(1).ID {
				t.Error("c1 is culprit: but its goroutine waits for that of c2")
			}
		}
	}
}

// A helper that was started after a call hung does not hold that call up. The place where the container itself
// waits does.
func TestAHelperBegunAfterTheHang(t *testing.T) {
	f := facts(3).status(1).helper(9, 1, "kill", func(p *evidence.Process) { p.Age = 1500 * time.Millisecond })
	p := evidence.Process{PID: 201, Parent: 101, Command: "app", State: evidence.Uninterrupted, For: time.Minute, Wchan: "nfs4_proc_getattr", Mount: evidence.Mount{Point: "/data", Type: "nfs4", Source: "10.0.0.9:/vol", Device: "0:57"}}
	f.Report.Processes.Containers = map[string][]evidence.Process{app(1).ID: {p}}
	g := Build(f)
	if i := g.Find("helper 9"); i >= 0 && g.HoldsUp(i) {
		t.Error("a status call that hangs since 15 s surely waits for a helper that is 1.5 s old")
	}
	if g.Find("process 201") < 0 {
		t.Error("process in NFS not in the graph")
	}
}

// A sandbox whose status hangs holds up no list of containers.
func TestAStatusOfASandboxHoldsUpNoListOfContainers(t *testing.T) {
	f := facts(3).list()
	sb := evidence.Object{ObjectRef: pleg.ObjectRef{Pod: app(1).Pod, ID: "s1", Sandbox: true}}
	f.Hung = map[call.Operation]int{call.PodSandboxStatus: 1}
	f.Hangs = append(f.Hangs, Hang{Op: call.PodSandboxStatus, Object: sb, Sure: true, Blamed: true, Beside: true})
	g := Build(f)
	if g.Waiting("container s1").HasAny(g, "call ListContainers") {
		t.Error("ListContainers surely waits for a sandbox, whose list is answered")
	}
}

// A helper that is retried is as old as its first try, even if the status of its container hangs.
func TestARetriedHelperKeepsTheAgeOfItsFirstTry(t *testing.T) {
	f := facts(3).status(1).helper(9, 1, "delete", func(p *evidence.Process) { p.Age = 2 * time.Second })
	f.Hangs[0].Sure = false
	r := f.Report.Processes.Helpers[0]
	r.Age = 5 * time.Minute
	f.Retried = []evidence.Process{r}
	g := Build(f)
	n := g.Nodes[g.Find("helper 9")]
	if !n.Process().IsLate(false) {
		t.Error("retried helper has the age of its last try")
	}
}

// The lock of one container holds up no status of another.
func TestALockOfOneContainerHoldsUpNoStatusOfAnother(t *testing.T) {
	f := facts(4)
	f.Hung = map[call.Operation]int{call.ContainerStatus: 3}
	for i := range 3 {
		f.Hangs = append(f.Hangs, Hang{Op: call.ContainerStatus, Object: app(i), Since: time.Unix(985, 0), Sure: true})
	}
	f.Deep.Stacks.Locks = []evidence.Lock{{Of: evidence.OfContainer, Address: "0xa", Waiters: 1, Calls: []string{"ContainerStatus"}, Holder: evidence.Goroutine{Number: 1, Doing: "ttrpc Task.Update", Container: app(1).ID}}}
	f = f.helper(9, 1, "update")
	g := Build(f)
	if s := g.Waiting("helper 9"); s.HasAny(g, "call ContainerStatus c0") {
		t.Error("the status of c0 surely waits for the lock of c1's")
	}
}

// A list that is only slow waits for no process of a container. A list that hangs may.
func TestASlowListBlamesNobody(t *testing.T) {
	for _, sure := range []bool{false, true} {
		f := facts(2).list()
		f.Hangs[0].Sure = sure
		f.Report.Processes.Containers = map[string][]evidence.Process{app(1).ID: {{PID: 201, Command: "app", State: evidence.Frozen, For: time.Minute}}}
		g := Build(f)
		waits := false
		for _, e := range g.Edges {
			waits = waits || g.Nodes[e.From].Kind == Call && g.Nodes[e.To].ID == app(1).ID
		}
		if waits != sure {
			t.Errorf("sure %v: it waits %v", sure, waits)
		}
	}
}

// A helper waits for its child if the child has run for at least half of the helper's life: a script starts
// many programs one after the other.
func TestAHelperWaitsForAChildOfHalfItsAge(t *testing.T) {
	for age, want := range map[time.Duration]string{
		5 * time.Second:  "runc create (1m)",
		29 * time.Second: "runc create (1m)",
		30 * time.Second: "runc create (1m) > modprobe (30s)",
		40 * time.Second: "runc create (1m) > modprobe (40s)",
	} {
		f := facts(2).status(1).helper(9, 1, "create").helper(10, 1, "", func(p *evidence.Process) {
			p.Parent, p.Container, p.Command, p.Age = 9, "", "modprobe", age
		})
		if got, path := names(Build(f), "helper 9"), "ContainerStatus of pay/api-1/app > pay/api-1/app > shim 101 > "+want; got != path {
			t.Errorf("path %s, want %s", got, path)
		}
	}
}
