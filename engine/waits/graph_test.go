package waits

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
)

// app returns the container of a pod.
func app(n int) evidence.Object {
	pod := pleg.PodRef{UID: pleg.UID(fmt.Sprint("uid-", n)), Namespace: "pay", Name: fmt.Sprint("api-", n)}
	return evidence.Object{
		ObjectRef: pleg.ObjectRef{Pod: pod, Container: "app", ID: fmt.Sprint("c", n)}, SandboxID: fmt.Sprint("s", n), State: pleg.Running,
	}
}

// facts returns a node with n pods on which nothing waits.
func facts(n int) Facts {
	f := Facts{
		Line: func(int) string { return "no reply for 19s" }, Report: &evidence.Report{At: time.Unix(1000, 0)}, Deep: &evidence.Deep{},
		Disk: func(evidence.Mount) string { return "" }, Shown: func(string) (evidence.Object, bool) { return evidence.Object{}, false },
	}
	objects := make(map[string]evidence.Object)
	for i := range n {
		o := app(i)
		objects[o.ID] = o
		objects[o.SandboxID] = evidence.Object{ObjectRef: pleg.ObjectRef{Pod: o.Pod, ID: o.SandboxID, Sandbox: true}, State: pleg.Running}
		f.Report.Processes.Shims = append(f.Report.Processes.Shims, evidence.Process{PID: 100 + i, Command: "containerd-shim", Sandbox: o.SandboxID, State: evidence.Sleeping, Own: true})
	}
	f.Lookup = func(id string) (evidence.Object, bool) { o, known := objects[id]; return o, known }
	return f
}

// list makes the list of containers hang.
func (f Facts) list() Facts {
	f.Hangs = append(f.Hangs, Hang{Op: call.ListContainers, Since: time.Unix(981, 0), Sure: true, Relist: true})
	return f
}

// status makes the status of a container hang, while others are answered.
func (f Facts) status(n int) Facts {
	f.Hung = map[call.Operation]int{call.ContainerStatus: len(f.Hangs) + 1}
	f.Hangs = append(f.Hangs, Hang{Op: call.ContainerStatus, Object: app(n), Since: time.Unix(985, 0), Sure: true, Blamed: true, Beside: true})
	return f
}

// helper adds a program that the shim of a pod has started.
func (f Facts) helper(pid, pod int, verb string, change ...func(*evidence.Process)) Facts {
	p := evidence.Process{PID: pid, Parent: 100 + pod, Command: "runc", Verb: verb, Container: app(pod).ID, State: evidence.Sleeping, Age: time.Minute, Own: true}
	for _, c := range change {
		c(&p)
	}
	f.Report.Processes.Helpers = append(f.Report.Processes.Helpers, p)
	return f
}

// answers adds goroutines of the runtime that answer a call, one for each thing that they do.
func (f Facts) answers(method string, doing ...string) Facts {
	for i, does := range doing {
		f.Deep.Stacks.Open = append(f.Deep.Stacks.Open, evidence.Goroutine{Number: 50 + i, Call: method, Doing: does})
	}
	return f
}

// names returns the names in a path. A likely link has a question mark.
func names(g *Graph, key string) string {
	var all []string
	for i, l := range g.Through(g.Find(key)) {
		name := g.Nodes[l.Place].Name
		if i > 0 && l.Proof == "" {
			name += "?"
		}
		if l.Again {
			name += " again"
		}
		all = append(all, name)
	}
	return strings.Join(all, " > ")
}

func TestPaths(t *testing.T) {
	onNFS := func(p *evidence.Process) {
		p.State, p.For, p.Wchan = evidence.Uninterrupted, time.Minute, "nfs4_proc_getattr"
		p.Mount = evidence.Mount{Point: "/data", Type: "nfs4", Source: "10.0.0.9:/vol", Device: "0:57"}
	}
	process := func(f Facts, pod int, change func(*evidence.Process)) Facts {
		p := evidence.Process{PID: 200 + pod, Parent: 100 + pod, Command: "app", State: evidence.Sleeping}
		change(&p)
		f.Report.Processes.Containers = map[string][]evidence.Process{app(pod).ID: {p}}
		return f
	}
	for _, tt := range []struct {
		name  string
		facts Facts
		of    string
		want  string
	}{
		{"a status alone", facts(3).status(1), "container c1", "ContainerStatus of pay/api-1/app > pay/api-1/app"},
		{"a helper behind a list", facts(3).list().status(1).helper(9, 1, "update"), "helper 9",
			"relist > ListContainers > status lock of pay/api-1/app > pay/api-1/app > shim 101 > runc update (1m)"},
		{"and what that has called", facts(3).list().status(1).helper(9, 1, "update").helper(10, 1, "mount", func(p *evidence.Process) { p.Parent, p.Command = 9, "mount" }), "helper 9",
			"relist > ListContainers > status lock of pay/api-1/app > pay/api-1/app > shim 101 > runc update (1m) > mount (1m)"},
		{"which waits for a server", facts(3).list().status(1).helper(9, 1, "update", onNFS), "helper 9",
			"relist > ListContainers > status lock of pay/api-1/app > pay/api-1/app > shim 101 > runc update (1m) > D in nfs4_proc_getattr > server 10.0.0.9:/vol > mount /data"},
		{"a process of the container is only likely", process(facts(3).status(1), 1, onNFS), "container c1",
			"ContainerStatus of pay/api-1/app > pay/api-1/app > pid 201 (app)? > D in nfs4_proc_getattr? > server 10.0.0.9:/vol? > mount /data?"},
		{"the only late helper, of a list alone", facts(3).list().helper(9, 1, "update"), "call ListContainers", "relist > ListContainers > runc update (1m)?"},
		{"two late helpers tell nothing of a list alone", facts(3).list().helper(9, 1, "update").helper(10, 2, "kill"), "call ListContainers", "relist > ListContainers"},
		{"a pod whose list alone hangs", func() Facts {
			f := facts(3).list()
			f.Alone = []evidence.Object{{ObjectRef: pleg.ObjectRef{Pod: app(2).Pod, Sandbox: true}}}
			return f
		}(), "call ListContainers", "relist > ListContainers > pay/api-2"},
		{"the runtime is stopped", func() Facts {
			f := facts(3).list()
			f.Runtime = []evidence.Process{{PID: 7, Command: "containerd", State: evidence.Stopped}}
			return f
		}(), "call ListContainers", "relist > ListContainers > pid 7 (containerd) > stopped (T)"},
		{"only the goroutine that answers is known", facts(3).list().answers("ListContainers", "fsync", "fsync"), "call ListContainers", "relist > ListContainers > goroutine 50 in fsync"},
		{"two that answer do not do the same", facts(3).list().answers("ListContainers", "fsync", "sleep"), "call ListContainers", "relist > ListContainers"},
		{"what answers another call", facts(3).list().answers("Status", "fsync"), "call ListContainers", "relist > ListContainers"},
		{"it is not told what the one that answers does", facts(3).list().answers("ListContainers", ""), "call ListContainers", "relist > ListContainers"},
		{"a late helper says more than the goroutine", facts(3).list().answers("ListContainers", "fsync").helper(9, 1, "update"), "call ListContainers", "relist > ListContainers > runc update (1m)?"},
		{"nobody knows a node", facts(3).list(), "container none", ""},
	} {
		if got := names(Build(tt.facts), tt.of); got != tt.want {
			t.Errorf("%s:\n%s\nwant\n%s", tt.name, got, tt.want)
		}
	}
}

// deadlocked returns a runtime in which two goroutines wait for each other, and a list waits for one of them.
func deadlocked() Facts {
	f := facts(1).list()
	f.Deep.Stacks.Locks = []evidence.Lock{
		{Of: "nri.(*local)", Address: "0xa", Waiters: 3, Calls: []string{"ListContainers"}, Holder: evidence.Goroutine{Number: 1, Doing: "another lock", Waits: "0xb"}},
		{Of: "adaptation.(*Adaptation)", Address: "0xb", Waiters: 1, Holder: evidence.Goroutine{Number: 2, Doing: "another lock", Waits: "0xa"}},
	}
	return f
}

func TestDeadlockIsOneCulprit(t *testing.T) {
	g := Build(deadlocked())
	all := g.Culprits()
	if len(all) != 1 || len(all[0].Nodes) != 4 || len(all[0].Waits) != 2 {
		t.Errorf("culprits %+v, want one of two locks and two goroutines, for which relist and list wait", all)
	}
	want := "relist > ListContainers > lock of nri.(*local) at 0xa > goroutine 1 waiting for another lock > lock of adaptation.(*Adaptation) at 0xb > goroutine 2 waiting for another lock > lock of nri.(*local) at 0xa again"
	if got := names(g, "call ListContainers"); got != want {
		t.Errorf("path\n%s\nwant\n%s", got, want)
	}
}

// What holds up the relist comes first. What is only likely is no culprit.
func TestCulprits(t *testing.T) {
	key := func(g *Graph) (keys []string) {
		for _, c := range g.Culprits() {
			keys = append(keys, fmt.Sprintf("%s %d", g.Nodes[c.Nodes[0]].Key, len(c.Waits)))
		}
		return keys
	}
	for _, tt := range []struct {
		name  string
		facts Facts
		want  []string
	}{
		{"two helpers", facts(4).status(2).list().status(1).helper(9, 1, "update").helper(10, 2, "kill"), []string{"helper 10 6", "helper 9 6"}},
		{"one with and one without a relist", facts(4).helper(9, 1, "update").list().status(2).helper(10, 2, "kill"), []string{"helper 10 6", "helper 9 2"}},
		{"likely", facts(3).list().helper(9, 1, "update"), []string{"call ListContainers 1", "helper 9 2"}},
		{"nothing waits", facts(3), nil},
	} {
		if diff := cmp.Diff(tt.want, key(Build(tt.facts))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestHealthyNodeAllocatesNothing(t *testing.T) {
	f := facts(110)
	if n := testing.AllocsPerRun(100, func() {
		if Build(f) != nil {
			t.Fatal("somebody waits")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// Whatever the facts are, the graph is built in limited time and always the same. No edge leads nowhere, and
// each path ends.
func TestAnyFacts(t *testing.T) {
	for seed := range uint64(300) {
		f := random(rand.New(rand.NewPCG(seed, 1)))
		g := Build(f)
		if again := Build(f); !reflect.DeepEqual(g, again) {
			t.Fatalf("seed %d: two graphs of the same", seed)
		}
		if g == nil {
			continue
		}
		for _, e := range g.Edges {
			if e.From < 0 || e.From >= len(g.Nodes) || e.To < 0 || e.To >= len(g.Nodes) || e.From == e.To {
				t.Fatalf("seed %d: edge %+v of %d nodes", seed, e, len(g.Nodes))
			}
		}
		for i, n := range g.Nodes {
			if path := g.Through(i); len(path) == 0 || len(path) > len(g.Nodes)+1 || !slices.ContainsFunc(path, func(l Link) bool { return l.Place == i }) || g.Find(n.Key) != i {
				t.Fatalf("seed %d: path of %s: %+v", seed, n.Key, path)
			}
		}
		for _, c := range g.Culprits() {
			if slices.ContainsFunc(c.Nodes, func(i int) bool { return slices.Contains(c.Waits, i) }) {
				t.Fatalf("seed %d: %+v waits for itself", seed, c)
			}
		}
	}
}

// random returns facts about a few pods in which anything may wait for anything.
func random(r *rand.Rand) Facts {
	f := facts(4)
	for range r.IntN(3) {
		f = f.list()
	}
	for range r.IntN(4) {
		f = f.status(r.IntN(4))
		f.Hangs[len(f.Hangs)-1].Blamed, f.Hangs[len(f.Hangs)-1].Beside = r.IntN(3) > 0, r.IntN(2) > 0
	}
	states := []evidence.State{evidence.Sleeping, evidence.Sleeping, evidence.Uninterrupted, evidence.Stopped, evidence.Frozen, evidence.Zombie}
	some := func(p *evidence.Process) {
		p.State, p.For, p.Age = states[r.IntN(len(states))], time.Duration(r.IntN(20))*time.Second, time.Duration(r.IntN(60))*time.Second
		if r.IntN(2) > 0 {
			p.Mount = evidence.Mount{Point: "/m", Type: []string{"ext4", "nfs4", "overlay"}[r.IntN(3)], Source: "/dev/sda", Device: []string{"8:1", "0:5"}[r.IntN(2)]}
		}
	}
	for i := range f.Report.Processes.Shims {
		some(&f.Report.Processes.Shims[i])
	}
	for pid := range r.IntN(6) {
		f = f.helper(pid+1, r.IntN(4), []string{"update", "kill", "delete", "exec", "mount"}[r.IntN(5)], some, func(p *evidence.Process) {
			p.Parent = r.IntN(6)
			p.Own = r.IntN(4) > 0
		})
	}
	for range r.IntN(4) {
		f.Deep.Stacks.Locks = append(f.Deep.Stacks.Locks, evidence.Lock{
			Of: "x", Address: fmt.Sprint(r.IntN(3)), Calls: []string{"ListContainers", "ContainerStatus"}[:r.IntN(3)], Likely: r.IntN(2) > 0,
			Holder: evidence.Goroutine{Number: r.IntN(4), Waits: fmt.Sprint(r.IntN(4)), Doing: "ttrpc Task.Update", Container: []string{"", "c1"}[r.IntN(2)]},
		})
	}
	return f
}

// BenchmarkBuild measures the cost of a graph in which 500 statuses of a node with 3,000 pods hang, each with a
// helper.
func BenchmarkBuild(b *testing.B) {
	f := facts(3000).list()
	f.Hung = map[call.Operation]int{call.ContainerStatus: MostObjects}
	for i := range MostObjects - 1 {
		f = f.helper(10_000+i, i, "update")
		f.Hangs = append(f.Hangs, Hang{Op: call.ContainerStatus, Object: app(i), Sure: true, Blamed: true, Beside: true})
	}
	b.ReportAllocs()
	for b.Loop() {
		Build(f)
	}
}
