package host

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/procfs"

	"github.com/plegtop/plegtop/engine/evidence"
)

const fixtureSocket = "/run/containerd/containerd.sock"

// fixtureLook is the time of the first look in tests.
var fixtureLook = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// newFixtureWalker looks at a tree in which nothing hangs, however slow the
// machine is that runs the test.
func newFixtureWalker(root string) *walker {
	w := newWalker(root, "unix://"+fixtureSocket)
	w.timeout = time.Hour
	return w
}

// lookAt looks for processes alone.
func (w *walker) lookAt(ctx context.Context, at time.Time) evidence.Processes {
	return w.look(ctx, at).Processes
}

// writePod writes a pod with one container, both with their processes, and its
// shim. The numbers of the processes are pid to pid+2.
func writePod(t testing.TB, root string, pid int, sandbox, container string) {
	t.Helper()
	writeProc(t, root, fixtureShim(pid, sandbox, fixtureSocket))
	writeProc(t, root, proc{pid: pid + 1, parent: pid, comm: "pause", cgroup: fixtureCgroup(sandbox)})
	writeProc(t, root, proc{pid: pid + 2, parent: pid, comm: "nginx", cgroup: fixtureCgroup(container)})
}

// states tells what a look found, by process number.
func states(found evidence.Processes) map[int]evidence.State {
	all := map[int]evidence.State{}
	for _, list := range append([][]evidence.Process{found.Shims, found.Errands, found.Daemons}, values(found.Containers)...) {
		for _, p := range list {
			all[p.PID] = p.State
		}
	}
	return all
}

func values(m map[string][]evidence.Process) (all [][]evidence.Process) {
	for _, v := range m {
		all = append(all, v)
	}
	return all
}

func TestLook(t *testing.T) {
	root := t.TempDir()
	sandbox, container := fixtureID("1"), fixtureID("2")
	writeProc(t, root, proc{pid: 1, comm: "systemd", cgroup: "/init.scope"})
	writeProc(t, root, proc{pid: 2, comm: "kthreadd", flags: kernelThread})
	writeProc(t, root, proc{pid: 3, parent: 2, comm: "kubelet", flags: kernelThread})
	writeProc(t, root, proc{pid: 50, parent: 1, comm: "sshd", cgroup: "/system.slice/sshd.service"})
	writeProc(t, root, proc{pid: 60, parent: 1, comm: "containerd", cgroup: "/system.slice/containerd.service"})
	writeProc(t, root, proc{pid: 61, parent: 1, comm: "containerd", state: evidence.Zombie})
	writePod(t, root, 100, sandbox, container)
	writeProc(t, root, fixtureShim(110, fixtureID("9"), "/run/k3s/containerd/containerd.sock"))
	writeProc(t, root, proc{pid: 120, parent: 60, comm: "runc", args: []string{"runc", "create", container}})
	writeProc(t, root, proc{pid: 121, parent: 120, comm: "runc:[1:CHILD]", args: []string{"runc", "init"}})

	const age = fixtureUptime - time.Hour
	process := func(pid, parent int, comm string) evidence.Process {
		return evidence.Process{PID: pid, Parent: parent, Command: comm, State: evidence.Sleeping, Age: age}
	}
	shim := process(100, 1, "containerd-shim")
	shim.Sandbox, shim.Socket, shim.Own = sandbox, fixtureSocket, true
	pause, nginx := process(101, 100, "pause"), process(102, 100, "nginx")
	pause.Container, nginx.Container = sandbox, container
	create, child := process(120, 60, "runc"), process(121, 120, "runc:[1:CHILD]")
	create.Container, create.Verb, child.Container, child.Verb = container, "create", container, "init"
	create.Own, child.Own = true, true
	containerd := process(60, 1, "containerd")
	containerd.Unit = "containerd.service"
	want := evidence.Processes{
		Containers: map[string][]evidence.Process{sandbox: {pause}, container: {nginx}},
		Objects: []evidence.Object{
			{ID: sandbox, Sandbox: true, UID: "5f1a", From: "its control group"},
			{ID: container, SandboxID: sandbox, UID: "5f1a", From: "its control group"},
		},
		Shims:   []evidence.Process{shim},
		Errands: []evidence.Process{create, child},
		Daemons: []evidence.Process{containerd},
	}
	w := newFixtureWalker(root)
	for look := range 2 {
		if diff := cmp.Diff(want, w.lookAt(t.Context(), fixtureLook)); diff != "" {
			t.Errorf("look %d (-want +got):\n%s", look+1, diff)
		}
		if out := w.hanging(); len(out) > 0 {
			t.Errorf("%v is still being read", out)
		}
	}
}

func TestLookWithoutProcesses(t *testing.T) {
	empty := t.TempDir()
	if err := os.Mkdir(filepath.Join(empty, "proc"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, root := range []string{t.TempDir(), empty} {
		if found := newFixtureWalker(root).lookAt(t.Context(), fixtureLook); found.Missing == "" {
			t.Errorf("look = %+v, want it to say why there is nothing", found)
		}
	}
}

// A process that has not changed is not asked again who it is.
func TestLookRemembersWhoIsWho(t *testing.T) {
	root := t.TempDir()
	sandbox, container := fixtureID("1"), fixtureID("2")
	writePod(t, root, 100, sandbox, container)
	w := newFixtureWalker(root)
	first := w.lookAt(t.Context(), fixtureLook)
	for _, file := range []string{"100/cgroup", "100/cmdline", "101/cgroup", "102/cgroup"} {
		if err := os.Remove(filepath.Join(root, "proc", file)); err != nil {
			t.Fatal(err)
		}
	}
	second := w.lookAt(t.Context(), fixtureLook)
	if diff := cmp.Diff(first, second); diff != "" || len(second.Shims) != 1 || len(second.Containers) != 2 {
		t.Errorf("the second look differs (-first +second):\n%s", diff)
	}
}

// What a number stands for is asked again when it may be something else.
func TestLookLearnsAnew(t *testing.T) {
	tests := []struct {
		name          string
		before, after proc
	}{
		{"the number is used again", proc{started: time.Hour}, proc{started: 2 * time.Hour}},
		{"another program", proc{comm: "runc:[2:INIT]"}, proc{comm: "nginx"}},
		{"just begun", proc{started: fixtureUptime - time.Second}, proc{started: fixtureUptime - time.Second}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root := t.TempDir()
			was, is := fixtureID("1"), fixtureID("2")
			tt.before.pid, tt.after.pid = 100, 100
			tt.before.cgroup, tt.after.cgroup = fixtureCgroup(was), fixtureCgroup(is)
			w := newFixtureWalker(root)
			writeProc(t, root, tt.before)
			if found := w.lookAt(t.Context(), fixtureLook); len(found.Containers[was]) != 1 {
				t.Errorf("first look = %+v, want one process in %s", found, was)
			}
			writeProc(t, root, tt.after)
			if found := w.lookAt(t.Context(), fixtureLook.Add(time.Second)); len(found.Containers[is]) != 1 || len(found.Containers) != 1 {
				t.Errorf("second look = %+v, want one process in %s", found, is)
			}
		})
	}
}

func TestLookForgetsWhatIsGone(t *testing.T) {
	root := t.TempDir()
	writePod(t, root, 100, fixtureID("1"), fixtureID("2"))
	w := newFixtureWalker(root)
	w.lookAt(t.Context(), fixtureLook)
	for _, pid := range []string{"100", "101"} {
		if err := os.RemoveAll(filepath.Join(root, "proc", pid)); err != nil {
			t.Fatal(err)
		}
	}
	found := w.lookAt(t.Context(), fixtureLook)
	if got := states(found); len(got) != 1 || len(w.known) != 1 || found.Partial != "" {
		t.Errorf("found %v and remembers %d, want one each and nothing missing: %q", got, len(w.known), found.Partial)
	}
}

// Processes end between being listed and being read: their folder is there
// without a file in it.
func TestLookTakesVanishingAsNormal(t *testing.T) {
	root := t.TempDir()
	writePod(t, root, 100, fixtureID("1"), fixtureID("2"))
	for _, pid := range []int{7, 101, 9000} {
		dir := filepath.Join(root, "proc", strconv.Itoa(pid))
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	found := newFixtureWalker(root).lookAt(t.Context(), fixtureLook)
	if got := states(found); len(got) != 2 || found.Partial != "" {
		t.Errorf("found %v, want two and nothing missing: %q", got, found.Partial)
	}
}

func TestLookCountsWhatItCannotRead(t *testing.T) {
	root := t.TempDir()
	writePod(t, root, 100, fixtureID("1"), fixtureID("2"))
	for _, text := range []string{"", "101", "101 (pause)", "101 )pause(", "101 (pause) S 1"} {
		writeFile(t, filepath.Join(root, "proc/101/stat"), text)
		found := newFixtureWalker(root).lookAt(t.Context(), fixtureLook)
		if want := "could not read 1 process"; found.Partial != want || len(found.Shims) != 1 {
			t.Errorf("stat %q: Partial = %q, want %q, and the shim: %v", text, found.Partial, want, found.Shims)
		}
	}
}

// A node in a container gives that container's id to every process.
func TestLookAtANodeInAContainer(t *testing.T) {
	root := t.TempDir()
	outer, sandbox, container := fixtureID("0"), fixtureID("1"), fixtureID("2")
	writePod(t, root, 100, sandbox, container)
	within := "/docker/" + outer
	writeProc(t, root, proc{pid: 1, comm: "systemd", cgroup: within + "/init.scope"})
	writeProc(t, root, proc{pid: 60, comm: "kubelet", cgroup: within + "/kubelet"})
	writeProc(t, root, proc{pid: 102, comm: "nginx", cgroup: within + "/kubelet/kubepods/pod5f1a/" + container})
	found := newFixtureWalker(root).lookAt(t.Context(), fixtureLook)
	if len(found.Daemons) != 1 || len(found.Containers[container]) != 1 || len(found.Containers[outer]) != 0 {
		t.Errorf("look = %+v, want the kubelet, and the containers without %s", found, outer)
	}
}

func TestLookEndedBefore(t *testing.T) {
	root := t.TempDir()
	writePod(t, root, 100, fixtureID("1"), fixtureID("2"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got, want := newFixtureWalker(root).lookAt(ctx, fixtureLook).Missing, "no time to read "+root+"/proc"; got != want {
		t.Errorf("Missing = %q, want %q", got, want)
	}
}

func TestAdd(t *testing.T) {
	const socket = "/run/containerd/containerd.sock"
	outer, own, sandbox := fixtureID("0"), fixtureID("1"), fixtureID("2")
	ours := identity{role: shim, sandbox: sandbox, socket: socket}
	seen := evidence.Process{PID: 7}
	as := func(change func(*evidence.Process)) []evidence.Process {
		p := seen
		change(&p)
		return []evidence.Process{p}
	}
	in := func(ids ...string) map[string][]evidence.Process {
		all := map[string][]evidence.Process{}
		for _, id := range ids {
			all[id] = as(func(p *evidence.Process) { p.Container = id })
		}
		return all
	}
	asShim := evidence.Processes{Containers: in(), Shims: as(func(p *evidence.Process) { p.Sandbox, p.Socket, p.Own = sandbox, socket, true })}
	tests := []struct {
		name     string
		ids      []string
		identity identity
		node     []string
		want     evidence.Processes
	}{
		{"container", []string{own}, identity{}, nil, evidence.Processes{Containers: in(own)}},
		{"container of a container", []string{outer, own}, identity{}, nil, evidence.Processes{Containers: in(outer, own)}},
		{"the node is a container", []string{outer, own}, identity{}, []string{outer}, evidence.Processes{Containers: in(own)}},
		{"shim", nil, ours, nil, asShim},
		{"shim in its pod's group", []string{sandbox}, ours, nil, asShim},
		{"shim on a node that is a container", []string{outer}, ours, []string{outer}, asShim},
		{"shim within a container", []string{own}, ours, nil, evidence.Processes{Containers: in(own)}},
		{"shim of another runtime", nil, identity{role: shim, sandbox: sandbox, socket: "/run/x.sock"}, nil, evidence.Processes{Containers: in()}},
		{"errand", nil, identity{role: runc, container: own}, nil, evidence.Processes{Containers: in(), Errands: in(own)[own]}},
		{"errand that has gone into the container", []string{own}, identity{role: runc}, nil, evidence.Processes{Containers: in(own)}},
		{"daemon", nil, identity{role: daemon}, nil, evidence.Processes{Containers: in(), Daemons: as(func(p *evidence.Process) { p.Unit = "x.service" })}},
		{"another containerd in a container", []string{own}, identity{role: daemon}, nil, evidence.Processes{Containers: in(own)}},
		{"neither", nil, identity{}, nil, evidence.Processes{Containers: in()}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWalker(t.TempDir(), "unix://"+socket)
			w.node = tt.node
			l := &walk{walker: w, ctx: t.Context(), at: fixtureLook, ours: map[string]bool{}}
			s := sighting{tracked: &tracked{member: membership{ids: tt.ids, unit: "x.service"}, identity: tt.identity}, proc: procfs.Proc{PID: 7}}
			s.now.since = fixtureLook
			got := evidence.Processes{Containers: map[string][]evidence.Process{}}
			l.add(&got, s)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("add (-want +got):\n%s", diff)
			}
		})
	}
}

// The test itself is a process of this machine.
func TestLookAtThisMachine(t *testing.T) {
	w := newWalker("", "")
	w.timeout = time.Hour
	l := &walk{walker: w, ctx: t.Context(), at: time.Now()}
	procs, err := l.list()
	if err != nil {
		t.Fatal(err)
	}
	l.uptime = l.readUptime()
	for _, p := range procs {
		if p.PID != os.Getpid() {
			continue
		}
		l.visit(p, l.stats(procfs.Procs{p})[0])
		stat, err := p.Stat()
		if err != nil {
			t.Fatal(err)
		}
		s := sighting{tracked: w.known[p.PID], proc: p, stat: stat}
		if s.tracked == nil {
			t.Fatal("the test was not seen")
		}
		s.now = threadState{state: stateOf(stat), since: l.at}
		got := l.process(s)
		if got.Parent != os.Getppid() || got.Age <= 0 || got.Age > time.Hour || got.Command == "" || badness[got.State] == 0 {
			t.Errorf("the test sees itself as %+v", got)
		}
		return
	}
	t.Error("the test is not among the processes")
}

func TestMiss(t *testing.T) {
	l := &walk{ctx: t.Context()}
	failed := &fs.PathError{Op: "open", Path: "/proc/7/cgroup", Err: syscall.EACCES}
	if l.miss(nil) || !l.miss(failed) || !l.miss(syscall.ESRCH) || l.gaps.denied != 1 || l.gaps.unread != 0 {
		t.Errorf("gaps = %+v, want one that was denied", l.gaps)
	}
}
