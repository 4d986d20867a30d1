package waits

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
)

// inD returns a process that waits in the kernel, in a function that names no file.
func inD(p evidence.Process, lasted time.Duration, functions ...string) evidence.Process {
	p.State, p.For, p.Wchan, p.Stack = evidence.Uninterrupted, lasted, functions[0], functions[1:]
	return p
}

// churn returns a node that makes many pods while its runtime's disk hangs. The list and two statuses hang, a
// thread of the runtime waits for a folder, one shim waits for the journal, and another one for an unmount.
func churn(lasted time.Duration, devices ...evidence.Device) Facts {
	f := facts(4).list().status(1).status(2)
	f.Hung = map[call.Operation]int{call.ContainerStatus: 2, call.ListContainers: 1}
	f.Pressed = true
	f.Report.Disk = evidence.Disk{Path: "/var/lib/containerd", Mount: evidence.Mount{Type: "ext4", Source: "/dev/loop3", Device: "7:3"}}
	f.Report.Devices = devices
	f.Runtime = []evidence.Process{inD(evidence.Process{PID: 7, Thread: 12, Command: "containerd", Own: true, Age: time.Hour}, lasted, "walk_component", "path_lookupat")}
	f.Report.Processes.Daemons = f.Runtime
	shims := f.Report.Processes.Shims
	shims[1] = inD(shims[1], lasted, "jbd2_log_wait_commit", "ext4_sync_file")
	shims[3] = inD(shims[3], lasted, "sync_inodes_sb", "sync_filesystem")
	return f
}

func culprits(g *Graph) (keys []string) {
	for _, c := range g.Culprits() {
		for _, i := range c.Nodes {
			keys = append(keys, g.Nodes[i].Key)
		}
	}
	return keys
}

// If the runtime's disk is dead, everything else that hangs is an effect of that disk, from the first seconds
// on and in each look.
func TestTheRuntimesDiskIsTheOnlyCulprit(t *testing.T) {
	dead := func(still time.Duration) evidence.Device {
		return evidence.Device{Number: "7:3", Name: "loop3", InFlight: 9, Still: still}
	}
	elsewhere := evidence.Device{Number: "8:33", Name: "sdc1", InFlight: 1, Still: time.Minute}
	for _, tt := range []struct {
		name  string
		facts Facts
		want  bool
	}{
		{"the first look", churn(7*time.Second, dead(0)), true},
		{"nothing is known of devices", churn(3 * time.Second), true},
		{"it has answered nothing for a while", churn(4*time.Second, dead(3*time.Second)), true},
		{"a thread has just begun to wait", churn(600*time.Millisecond, dead(3*time.Second)), true},
		{"shims have waited for longer than any sync", churn(11*time.Second, dead(10*time.Second)), true},
		{"another disk is dead, too", churn(11*time.Second, dead(10*time.Second), elsewhere), true},
		{"only another disk is dead", churn(3*time.Second, dead(0), elsewhere), false},
		{"its disk has nothing to do", churn(3*time.Second, evidence.Device{Number: "8:33", InFlight: 1}), false},
	} {
		g := Build(tt.facts)
		if got := slices.Equal(culprits(g), []string{"device 7:3"}); got != tt.want {
			t.Errorf("%s: culprits %v", tt.name, culprits(g))
		}
		if !tt.want {
			continue
		}
		waits := g.Waiting("device 7:3")
		for _, key := range []string{"relist", "call ListContainers", "call ContainerStatus c1", "call ContainerStatus c2", "process 7"} {
			if !waits.HasAny(g, key) {
				t.Errorf("%s: %s does not wait for the disk", tt.name, key)
			}
		}
		g.Each(Shim, func(i int, n *Node) {
			if n.Stuck() && !waits.HasAny(g, n.Key) {
				t.Errorf("%s: %s is an effect", tt.name, n.Name)
			}
		})
	}
	path := "relist > ListContainers > pid 7 (containerd) > D in walk_component > mount /var/lib/containerd > /dev/loop3"
	if got := names(Build(churn(5*time.Second, dead(3*time.Second))), "device 7:3"); got != path {
		t.Errorf("path %s", got)
	}
}

// The number of a btrfs is not that of a device. A process that waits for it waits for its disk.
func TestABtrfsStoreStandsOnItsDisk(t *testing.T) {
	f := churn(3*time.Second, evidence.Device{Number: "259:1", Name: "nvme1n1", InFlight: 9, Still: 3 * time.Second})
	f.Report.Disk.Mount = evidence.Mount{Type: "btrfs", Source: "/dev/nvme1n1", Device: "0:45"}
	if got := culprits(Build(f)); !slices.Equal(got, []string{"device 0:45"}) {
		t.Errorf("culprits %v", got)
	}
}

// If the runtime has no thread in the kernel in one look, no other object is blamed for that: its shims wait
// for the dead disk.
func TestShimsOnADeadDisk(t *testing.T) {
	f := churn(5*time.Second, evidence.Device{Number: "7:3", InFlight: 1, Still: 3 * time.Second})
	f.Runtime[0].State = evidence.Sleeping
	g := Build(f)
	if g.Waiting("container c1").HasAny(g, "call ContainerStatus c1") || !g.Waiting("device 7:3").HasAny(g, "shim 101", "container s1") {
		t.Errorf("culprits %v", culprits(g))
	}
}

// A process on a dead disk does nothing, long before a busy disk would explain that.
func TestAVolumeOnADeadDisk(t *testing.T) {
	for _, still := range []time.Duration{time.Second, 2 * time.Second} {
		f := facts(2)
		f.Report.Devices = []evidence.Device{{Number: "8:33", InFlight: 1, Still: still}}
		p := inD(evidence.Process{PID: 201, Command: "app"}, time.Second, "io_schedule")
		p.Mount = evidence.Mount{Point: "/data", Type: "ext4", Source: "/dev/sdc1", Device: "8:33"}
		f.Report.Processes.Containers = map[string][]evidence.Process{app(1).ID: {p}}
		want := ""
		if still >= 2*time.Second {
			want = "pay/api-1/app > pid 201 (app)? > D in io_schedule? > mount /data? > /dev/sdc1?"
		}
		if got := names(Build(f), "device 8:33"); got != want {
			t.Errorf("still for %v: %q, want %q", still, got, want)
		}
	}
}

// A runtime that has stood since its start on a frozen file system writes its own data there. If it began to
// stand later, that is only likely.
func TestARuntimeThatCannotStartOnAFrozenStore(t *testing.T) {
	for age, want := range map[time.Duration]string{
		9 * time.Second: "pid 7 (containerd) > D in percpu_rwsem_wait > mount /var/lib/containerd > /dev/sdb1",
		time.Hour:       "pid 7 (containerd) > D in percpu_rwsem_wait > mount /var/lib/containerd? > /dev/sdb1?",
	} {
		f := facts(2)
		f.Report.Disk = evidence.Disk{Path: "/var/lib/containerd", Mount: evidence.Mount{Type: "xfs", Source: "/dev/sdb1", Device: "8:17"}}
		f.Runtime = []evidence.Process{inD(evidence.Process{PID: 7, Command: "containerd", Own: true, Age: age}, 8*time.Second, "percpu_rwsem_wait", "mnt_want_write")}
		if got := names(Build(f), "mount 8:17"); got != want {
			t.Errorf("%v old: %s, want %s", age, got, want)
		}
	}
}

// Programs that the runtime has started wait for memory of its control group. They are effects of the runtime's
// lack of memory. A program of another control group is not.
func TestHelpersOfARuntimeWithoutMemory(t *testing.T) {
	f := facts(3).list()
	starts := func(pod, parent int) func(p *evidence.Process) {
		return func(p *evidence.Process) {
			*p = inD(*p, time.Second, "mem_cgroup_handle_over_high")
			p.Command, p.Parent, p.Container = "containerd-shim-runc-v2", parent, app(pod).SandboxID
		}
	}
	f = f.helper(8, 0, "start", starts(0, 7)).helper(9, 1, "start", starts(1, 7)).helper(10, 2, "create", starts(2, 102))
	f.Runtime = []evidence.Process{inD(evidence.Process{PID: 7, Command: "containerd", Own: true, Age: time.Hour}, time.Second, "mem_cgroup_handle_over_high")}
	g := Build(f)
	if got, want := culprits(g), []string{"kernel 7", "kernel 10"}; !slices.Equal(got, want) {
		t.Errorf("culprits %v, want %v", got, want)
	}
	if got, want := names(g, "helper 8"), "pay/api-0 > containerd-shim-runc-v2 start (1m) > pid 7 (containerd) > D in mem_cgroup_handle_over_high"; got != want {
		t.Errorf("path %s, want %s", got, want)
	}
	f.Runtime[0].State = evidence.Sleeping
	if got := names(Build(f), "helper 8"); strings.Contains(got, "pid 7") {
		t.Errorf("the runtime does not wait for memory, and the path is %s", got)
	}
}

// A process that somebody holds from outside counts as doing nothing at once, even if there is no second look.
func TestHeldAtOnce(t *testing.T) {
	for _, tt := range []struct {
		state  evidence.State
		lasted time.Duration
		want   bool
	}{
		{evidence.Stopped, 0, true},
		{evidence.Frozen, 100 * time.Millisecond, false},
		{evidence.Frozen, time.Second, true},
		{evidence.Traced, time.Second, false},
		{evidence.Traced, 3 * time.Second, true},
	} {
		f := facts(2).helper(9, 1, "exec", func(p *evidence.Process) { p.State, p.For = tt.state, tt.lasted })
		f.Report.Processes.Shims[0].State, f.Report.Processes.Shims[0].For = tt.state, tt.lasted
		g := Build(f)
		for _, key := range []string{"shim 100", "helper 9"} {
			if i := g.Find(key); (i >= 0 && g.Nodes[i].Stuck()) != tt.want {
				t.Errorf("%v for %v: %s in the graph %v", tt.state, tt.lasted, key, i >= 0)
			}
		}
	}
}

// Each kind of evidence has words. A likely edge has none.
func TestProofsInWords(t *testing.T) {
	l := &evidence.Lock{Waiters: 41, Calls: []string{"ContainerStatus", "ListContainers"}}
	both := by(helperOfMonitor, "shim")
	both.And = namedInArguments
	for _, tt := range []struct {
		proof Proof
		want  string
	}{
		{Proof{}, ""},
		{waitersOf(l), "41 goroutines waiting for it in the runtime's own dump, ContainerStatus, ListContainers among them"},
		{waitersOf(&evidence.Lock{Waiters: 1}), "1 goroutine waiting for it in the runtime's own dump"},
		{both, "child of the shim, named in its arguments"},
		{by(childOfShim, 9, "runc"), "it waits for its child, pid 9 (runc)"},
		{by(answersNobody, evidence.Stopped), "it is stopped (T) and answers nobody"},
		{by(reported, "100 % of it"), "100 % of it"},
	} {
		if got := tt.proof.String(); got != tt.want || tt.proof.Proven() != (tt.want != "") {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}

// A helper counts for a container even if there is also a program that runs until the container ends.
func TestAHelperBesideAnExec(t *testing.T) {
	f := facts(2).status(1).helper(8, 1, "exec").helper(9, 1, "mount", func(p *evidence.Process) { p.Container, p.Sandbox = "", app(1).SandboxID })
	if got, want := names(Build(f), ObjectKey(pleg.ObjectRef{ID: app(1).ID})), "ContainerStatus of pay/api-1/app > pay/api-1/app > shim 101 > runc mount (1m)"; got != want {
		t.Errorf("path %s, want %s", got, want)
	}
}
