package proc

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

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
)

// newWalker returns a walker for a tree below root, or for this machine, without the files of the host.
func newWalker(root, endpoint string) *Walker {
	return New(Config{
		Root: root, Endpoint: endpoint, Timeout: 250 * time.Millisecond,
		Socket:   func(_ string, args []string) string { return FlagValue(args, "container-runtime-endpoint", "address") },
		SameFile: func(a, b string) bool { return a == b },
		Mounts:   func(context.Context) []*Mount { all, _ := Mounts(root); return all },
	})
}

// newFixtureWalker returns a walker for a tree in which nothing hangs, however slow the machine is.
func newFixtureWalker(root string) *Walker {
	w := newWalker(root, "unix://"+testSocket)
	w.Timeout = time.Hour
	return w
}

// lookAt looks only for processes.
func (w *Walker) lookAt(ctx context.Context, at time.Time) evidence.Processes {
	l, err := w.Look(ctx, at)
	if err != nil {
		return evidence.Processes{Missing: err.Error()}
	}
	return l.Processes()
}

// states returns the state of each process that a look found, by pid.
func states(found evidence.Processes) map[int]evidence.State {
	all := map[int]evidence.State{}
	for _, list := range append([][]evidence.Process{found.Shims, found.Helpers, found.Daemons}, values(found.Containers)...) {
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
	sandbox, container := longID("1"), longID("2")
	writeProcess(t, root, fakeProcess{PID: 1, Comm: "systemd", Cgroup: "/init.scope"})
	writeProcess(t, root, fakeProcess{PID: 2, Comm: "kthreadd", Flags: kernelThread})
	writeProcess(t, root, fakeProcess{PID: 3, Parent: 2, Comm: "kubelet", Flags: kernelThread})
	writeProcess(t, root, fakeProcess{PID: 50, Parent: 1, Comm: "sshd", Cgroup: "/system.slice/sshd.service"})
	writeProcess(t, root, fakeProcess{PID: 60, Parent: 1, Comm: "containerd", Cgroup: "/system.slice/containerd.service"})
	writeProcess(t, root, fakeProcess{PID: 61, Parent: 1, Comm: "containerd", State: evidence.Zombie})
	writePod(t, root, 100, sandbox, container)
	writeProcess(t, root, fakeShim(110, longID("9"), "/run/k3s/containerd/containerd.sock"))
	writeProcess(t, root, fakeProcess{PID: 120, Parent: 60, Comm: "runc", Args: []string{"runc", "create", container}})
	writeProcess(t, root, fakeProcess{PID: 121, Parent: 120, Comm: "runc:[1:CHILD]", Args: []string{"runc", "init"}})

	const age = testUptime - time.Hour
	process := func(pid, parent int, comm string) evidence.Process {
		return evidence.Process{PID: pid, Parent: parent, Command: comm, State: evidence.Sleeping, Age: age, Start: 360000}
	}
	shim := process(100, 1, "containerd-shim")
	shim.Sandbox, shim.Socket, shim.Own = sandbox, testSocket, true
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
			{ObjectRef: pleg.ObjectRef{ID: sandbox, Pod: pleg.PodRef{UID: "5f1a"}, Sandbox: true}, From: "its control group"},
			{ObjectRef: pleg.ObjectRef{ID: container, Pod: pleg.PodRef{UID: "5f1a"}}, SandboxID: sandbox, From: "its control group"},
		},
		Shims:   []evidence.Process{shim},
		Helpers: []evidence.Process{create, child},
		Daemons: []evidence.Process{containerd},
	}
	w := newFixtureWalker(root)
	for look := range 2 {
		if diff := cmp.Diff(want, w.lookAt(t.Context(), firstLook)); diff != "" {
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
		if found := newFixtureWalker(root).lookAt(t.Context(), firstLook); found.Missing == "" {
			t.Errorf("look = %+v, want it to say why there is nothing", found)
		}
	}
}

// If a pid may stand for another process by now, the process is read again.
func TestLookLearnsAnew(t *testing.T) {
	tests := []struct {
		name          string
		before, after fakeProcess
	}{
		{"the number is used again", fakeProcess{Started: time.Hour}, fakeProcess{Started: 2 * time.Hour}},
		{"another program", fakeProcess{Comm: "runc:[2:INIT]"}, fakeProcess{Comm: "nginx"}},
		{"just begun", fakeProcess{Started: testUptime - time.Second}, fakeProcess{Started: testUptime - time.Second}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root := t.TempDir()
			was, is := longID("1"), longID("2")
			tt.before.PID, tt.after.PID = 100, 100
			tt.before.Cgroup, tt.after.Cgroup = cgroupOf(was), cgroupOf(is)
			w := newFixtureWalker(root)
			writeProcess(t, root, tt.before)
			if found := w.lookAt(t.Context(), firstLook); len(found.Containers[was]) != 1 {
				t.Errorf("first look = %+v, want one process in %s", found, was)
			}
			writeProcess(t, root, tt.after)
			if found := w.lookAt(t.Context(), firstLook.Add(time.Second)); len(found.Containers[is]) != 1 || len(found.Containers) != 1 {
				t.Errorf("second look = %+v, want one process in %s", found, is)
			}
		})
	}
}

// Processes may end after they were listed and before they are read: then their folder is there without a file
// in it.
func TestLookTakesVanishingAsNormal(t *testing.T) {
	root := t.TempDir()
	writePod(t, root, 100, longID("1"), longID("2"))
	for _, pid := range []int{7, 101, 9000} {
		dir := filepath.Join(root, "proc", strconv.Itoa(pid))
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	found := newFixtureWalker(root).lookAt(t.Context(), firstLook)
	if got := states(found); len(got) != 2 || found.Partial != "" {
		t.Errorf("found %v, want two and nothing missing: %q", got, found.Partial)
	}
}

func TestLookCountsWhatItCannotRead(t *testing.T) {
	root := t.TempDir()
	writePod(t, root, 100, longID("1"), longID("2"))
	for _, text := range []string{"", "101", "101 (pause)", "101 )pause(", "101 (pause) S 1"} {
		writeFile(t, filepath.Join(root, "proc/101/stat"), text)
		found := newFixtureWalker(root).lookAt(t.Context(), firstLook)
		if want := "could not read 1 process"; found.Partial != want || len(found.Shims) != 1 {
			t.Errorf("stat %q: Partial = %q, want %q, and the shim: %v", text, found.Partial, want, found.Shims)
		}
	}
}

// A node in a container gives that container's id to every process.
func TestLookAtANodeInAContainer(t *testing.T) {
	root := t.TempDir()
	outer, sandbox, container := longID("0"), longID("1"), longID("2")
	writePod(t, root, 100, sandbox, container)
	within := "/docker/" + outer
	writeProcess(t, root, fakeProcess{PID: 1, Comm: "systemd", Cgroup: within + "/init.scope"})
	writeProcess(t, root, fakeProcess{PID: 60, Comm: "kubelet", Cgroup: within + "/kubelet"})
	writeProcess(t, root, fakeProcess{PID: 102, Comm: "nginx", Cgroup: within + "/kubelet/kubepods/pod5f1a/" + container})
	found := newFixtureWalker(root).lookAt(t.Context(), firstLook)
	if len(found.Daemons) != 1 || len(found.Containers[container]) != 1 || len(found.Containers[outer]) != 0 {
		t.Errorf("look = %+v, want the kubelet, and the containers without %s", found, outer)
	}
}

func TestLookEndedBefore(t *testing.T) {
	root := t.TempDir()
	writePod(t, root, 100, longID("1"), longID("2"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got, want := newFixtureWalker(root).lookAt(ctx, firstLook).Missing, "no time to read "+root+"/proc"; got != want {
		t.Errorf("Missing = %q, want %q", got, want)
	}
}

// The test itself is a process of this machine.
func TestLookAtThisMachine(t *testing.T) {
	w := newWalker("", "")
	w.Timeout = time.Hour
	l, err := w.Look(t.Context(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	p, lives := l.again(os.Getpid())
	if !lives || l.miss(7, nil) {
		t.Fatal("the test was not seen")
	}
	if got := l.describe(p); got.Parent != os.Getppid() || got.Age <= 0 || got.Age > time.Hour || got.Command == "" || badness[got.State] == 0 {
		t.Errorf("the test sees itself as %+v", got)
	}
}

func TestMiss(t *testing.T) {
	l := &Look{ctx: t.Context()}
	failed := &fs.PathError{Op: "open", Path: "/proc/7/cgroup", Err: syscall.EACCES}
	if l.miss(7, nil) || !l.miss(7, failed) || !l.miss(7, syscall.ESRCH) || l.gaps.denied != 1 || l.gaps.unread != 0 {
		t.Errorf("gaps = %+v, want one that was denied", l.gaps)
	}
}
