package cgroup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/sys/unix"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

// A groupTree is a tree of control groups made of plain files. inotify reports changes in it as it does for the
// kernel's tree.
type groupTree struct {
	t    testing.TB
	root string // the host's
	dir  string // of the hierarchy
}

// newGroupTree makes a tree below root. It is a tree of v1 if the hierarchy is that of a controller.
func newGroupTree(t testing.TB, root, hierarchy string) groupTree {
	tree := groupTree{t, root, filepath.Join(root, "sys/fs/cgroup", hierarchy)}
	writeFile(t, filepath.Join(tree.dir, "cgroup.procs"), "1\n")
	if hierarchy != "" && hierarchy != "unified" {
		writeFile(t, filepath.Join(tree.dir, "release_agent"), "")
	}
	return tree
}

func eventsText(populated int) string { return fmt.Sprintf("populated %d\nfrozen 0\n", populated) }

// make makes a group and the groups above it. Its files come with it, as in the kernel's tree.
func (tree groupTree) make(path string, populated int) {
	tree.t.Helper()
	coming, path := filepath.Join(tree.root, "coming"), filepath.Join(tree.dir, path)
	writeFile(tree.t, filepath.Join(coming, "cgroup.events"), eventsText(populated))
	writeFile(tree.t, filepath.Join(coming, "cgroup.procs"), "")
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.Rename(coming, path)); err != nil {
		tree.t.Fatal(err)
	}
}

// set writes whether a group has processes, in one step as the kernel does.
func (tree groupTree) set(path string, populated int) {
	tree.t.Helper()
	f, err := os.OpenFile(filepath.Join(tree.dir, path, "cgroup.events"), os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteAt([]byte(eventsText(populated)), 0)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		tree.t.Fatal(err)
	}
}

func (tree groupTree) remove(path string) {
	if err := os.RemoveAll(filepath.Join(tree.dir, path)); err != nil {
		tree.t.Fatal(err)
	}
}

// A heard has the events that a source has delivered.
type heard struct {
	t      testing.TB
	mu     sync.Mutex
	events []string // such as "started 1": the end of the id
	waiter chan struct{}
	done   chan error
}

// listen begins to listen to a source.
func listen(t testing.TB, run func(context.Context, func(pleg.Upstream)) error) (*heard, context.CancelFunc) {
	ctx, stop := context.WithCancel(t.Context())
	h := &heard{t: t, waiter: make(chan struct{}, 1), done: make(chan error, 1)}
	go func() { h.done <- run(ctx, h.deliver) }()
	t.Cleanup(func() { stop(); <-h.done })
	return h, stop
}

func (h *heard) deliver(u pleg.Upstream) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !u.At.IsZero() {
		h.t.Errorf("%v: the kernel tells no time", u)
	}
	if id := strings.TrimLeft(u.ID, "a"); !strings.HasPrefix(id, probe) {
		h.events = append(h.events, u.Signal.String()+" "+id)
	}
	select {
	case h.waiter <- struct{}{}:
	default:
	}
}

// want waits for these events, and for no others.
func (h *heard) want(want ...string) {
	h.t.Helper()
	if diff := cmp.Diff(want, h.wait(len(want))); diff != "" {
		h.t.Fatalf("events (-want +got):\n%s", diff)
	}
}

// wait returns the events that have come since the last call, at least n of them.
func (h *heard) wait(n int) []string {
	h.t.Helper()
	for late := time.After(20 * time.Second); ; {
		h.mu.Lock()
		got := h.events
		if len(got) >= n {
			h.events = nil
		}
		h.mu.Unlock()
		if len(got) >= n {
			return got
		}
		select {
		case <-h.waiter:
		case err := <-h.done:
			h.done <- err
			h.t.Fatalf("ended: %v; got %q", err, got)
		case <-late:
			h.t.Fatalf("%d events, want %d: %q", len(got), n, got)
		}
	}
}

// begun waits until the source has read what is there, so that later groups are delivered as events.
func (h *heard) begun(tree groupTree) {
	h.t.Helper()
	defer tree.remove("probes")
	for n := range 2000 {
		tree.make("probes/"+longID(fmt.Sprintf("%s%d", probe, n)), 1)
		select {
		case <-h.waiter:
			return
		case err := <-h.done:
			h.done <- err
			h.t.Fatalf("ended: %v", err)
		case <-time.After(10 * time.Millisecond):
		}
	}
	h.t.Fatal("nothing is told")
}

// probe begins the ids that are not among the events.
const probe = "b"

func TestCgroupsOfAllDrivers(t *testing.T) {
	id := longID("1")
	for name, path := range map[string]string{
		"systemd, containerd":              "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod5f1a.slice/cri-containerd-" + id + ".scope",
		"systemd, CRI-O":                   "/kubepods.slice/kubepods-pod5f1a.slice/crio-" + id + ".scope",
		"systemd, Docker":                  "/kubepods.slice/kubepods-pod5f1a.slice/docker-" + id + ".scope",
		"systemd's name given to cgroupfs": "/system.slice/containerd.service/kubepods-burstable-pod5f1a.slice:cri-containerd:" + id,
		"cgroupfs":                         "/kubepods/burstable/pod5f1a2e1c-1111-4222-8333-abcdefabcdef/" + id,
		"cgroupfs, no kubelet":             "/k8s.io/" + id,
		"a node in a container":            "/system.slice/docker-" + longID("0") + ".scope/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod1.slice/cri-containerd-" + id + ".scope",
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			tree := newGroupTree(t, root, "")
			writeFile(t, filepath.Join(root, "proc/1/cgroup"), "0::"+"/system.slice/docker-"+longID("0")+".scope/init.scope"+"\n")
			there := strings.Replace(path, id, longID("2"), 1)
			tree.make(there, 1)
			h, _ := listen(t, New(root).Cgroups)
			h.begun(tree)
			tree.make(path, 0)
			tree.set(path, 1)
			h.want("started 1")
			tree.make(filepath.Join(path, "init.scope"), 1)
			tree.make(filepath.Join(path, longID("3")), 1) // a container's own affair
			tree.set(there, 0)
			h.want("stopped 2")
			tree.set(path, 0)
			h.want("stopped 1")
			tree.remove(path)
			tree.remove(there)
			for _, another := range []string{"/docker/", "/system.slice/docker-", "/machine.slice/libpod-"} {
				tree.make(another+longID("5"), 1)
			}
			tree.make("/kubepods/pod5f1b/"+longID("4"), 1)
			h.want("started 4")
			tree.remove("/kubepods/pod5f1b") // as if it had been populated to the end
			h.want("stopped 4")
		})
	}
}

// A container with two groups, as one of Kata has, starts with the first and ends with the last.
func TestCgroupsOfAContainerWithTwo(t *testing.T) {
	tree := newGroupTree(t, t.TempDir(), "")
	at := func(digit string) (inPod, overhead string) {
		return "kubepods/pod1/kata_" + longID(digit), "kata_overhead/" + longID(digit)
	}
	there, overhead := at("1")
	tree.make(there, 1)
	tree.make(overhead, 1)
	h, _ := listen(t, New(tree.root).Cgroups)
	h.begun(tree)
	tree.set(there, 0)
	comes, with := at("2")
	tree.make(with, 1)
	h.want("started 2")
	tree.make(comes, 1)
	tree.remove(with)
	tree.set(overhead, 0)
	h.want("stopped 1")
	tree.set(comes, 0)
	h.want("stopped 2")
}

func TestCgroupsOfV1(t *testing.T) {
	root := t.TempDir()
	tree := newGroupTree(t, root, "pids")
	memory := newGroupTree(t, root, "memory") // of two the first will do
	tree.make("kubepods/pod1/"+longID("1"), 0)
	h, _ := listen(t, New(root).Cgroups)
	h.begun(tree)
	memory.make("kubepods/pod1/"+longID("5"), 0)
	tree.make("kubepods/pod1/"+longID("2"), 0)
	h.want("started 2")
	tree.remove("kubepods/pod1/" + longID("1"))
	h.want("stopped 1")
	tree.remove("kubepods/pod1")
	h.want("stopped 2")
}

// If v2 is mounted beside v1, each start and each end is delivered once. If the runtime uses v2, v2 decides: a
// group of v1 stays until the runtime removes it.
func TestCgroupsOfBothVersions(t *testing.T) {
	root := t.TempDir()
	v1, v2 := newGroupTree(t, root, "memory"), newGroupTree(t, root, "unified")
	at := func(n int) string { return fmt.Sprintf("kubepods/pod1/%s", longID(fmt.Sprint(n))) }
	v1.make(at(1), 0) // has ended already
	v2.make(at(1), 0)
	h, _ := listen(t, New(root).Cgroups)
	h.begun(v2)
	v1.make(at(2), 0)
	h.want("started 2")
	v2.make(at(2), 0)
	h.begun(v2) // nothing has ended with that
	v2.set(at(2), 1)
	v1.remove(at(1))
	v2.remove(at(1))
	h.begun(v2) // it has been read that there are processes
	v2.set(at(2), 0)
	h.want("stopped 2")
	v1.remove(at(2))
	v2.remove(at(2))
	v1.make(at(3), 0) // by a runtime that leaves v2 alone
	h.want("started 3")
	v1.remove(at(3))
	h.want("stopped 3")
	v1.make(at(2), 0) // which has forgotten that there was one of v2
	h.want("started 2")
}

func TestCgroupsRefuse(t *testing.T) {
	part := func(t *testing.T) string {
		tree := newGroupTree(t, t.TempDir(), "")
		writeFile(t, filepath.Join(tree.dir, "cgroup.events"), eventsText(1))
		return tree.root
	}
	link := func(t *testing.T) string {
		root, other := t.TempDir(), newGroupTree(t, t.TempDir(), "")
		if err := errors.Join(os.MkdirAll(filepath.Join(root, "sys/fs"), 0o700), os.Symlink(other.dir, filepath.Join(root, "sys/fs/cgroup"))); err != nil {
			t.Fatal(err)
		}
		return root
	}
	for name, tt := range map[string]struct {
		root func(*testing.T) string
		want string
	}{
		"nothing":             {func(t *testing.T) string { return t.TempDir() }, "there is no tree of control groups in"},
		"a link":              {link, "there is no tree of control groups in"},
		"a container's alone": {part, "has the control groups of one container alone: mount the host's root"},
	} {
		t.Run(name, func(t *testing.T) {
			err := New(tt.root(t)).Cgroups(t.Context(), func(pleg.Upstream) { t.Error("an event") })
			if !errors.Is(err, call.ErrUnimplemented) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %s", err, tt.want)
			}
		})
	}
}

// When the tree itself goes, no container has ended.
func TestCgroupsEndWithTheirTree(t *testing.T) {
	tree := newGroupTree(t, t.TempDir(), "")
	tree.make("kubepods/pod1/"+longID("1"), 1)
	h, _ := listen(t, New(tree.root).Cgroups)
	h.begun(tree)
	gone := tree.root + ".gone"
	if err := os.Rename(tree.root, gone); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(gone); err != nil {
		t.Fatal(err)
	}
	err := <-h.done
	h.done <- err
	if errors.Is(err, call.ErrUnimplemented) || !strings.Contains(fmt.Sprint(err), "is not there any more") {
		t.Errorf("ended with %v", err)
	}
	h.want()
}

// The kernel's queue of events is short. Events for which it had no room are found by reading everything again.
func TestCgroupsThatCameTooFastAreFound(t *testing.T) {
	tree := newGroupTree(t, t.TempDir(), "")
	const all, rounds = 1000, 24 // more events than the queue of 16,384 takes
	at := func(n int) string { return fmt.Sprintf("kubepods/pod%d/%s", n%40, longID(fmt.Sprint(n))) }
	for n := range all {
		tree.make(at(n), 1)
	}
	h, _ := listen(t, New(tree.root).Cgroups)
	h.begun(tree)
	h.mu.Lock() // whoever delivers is held up
	tree.make("kubepods/pod0/"+longID("c"), 1)
	for round := range rounds {
		for n := range all {
			tree.set(at(n), (n/2*round)%2)
		}
	}
	var want []string
	for n := range all {
		switch {
		case n%2 == 1:
			tree.remove(at(n))
			want = append(want, fmt.Sprintf("stopped %d", n))
		case n/2*(rounds-1)%2 == 0:
			want = append(want, fmt.Sprintf("stopped %d", n))
		default:
			tree.make(fmt.Sprintf("kubepods/new%d/%s", n, longID(fmt.Sprintf("c%d", n))), 1)
			want = append(want, fmt.Sprintf("started c%d", n))
		}
	}
	h.mu.Unlock()
	want = append(want, "started c")
	sort := cmpopts.SortSlices(strings.Compare)
	if got := h.wait(len(want)); !cmp.Equal(want, got, sort) {
		t.Errorf("events (-want +got):\n%s", cmp.Diff(want, got, sort))
	}
}

// A kernelGroup is a control group of the kernel's own, in which processes can be started.
type kernelGroup struct {
	t   testing.TB
	dir string
	fd  int
}

// newKernelGroup makes a group for the container with an id. It skips the test if we may not make one.
func newKernelGroup(t testing.TB, id string) kernelGroup {
	t.Helper()
	all, err := treesOf("")
	if err != nil || !all[len(all)-1].isV2 {
		t.Skip("there are no control groups of v2", err)
	}
	parent := filepath.Join(all[len(all)-1].dir, fmt.Sprintf("plegtop-test-%d", os.Getpid()))
	dir := filepath.Join(parent, id)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Skip("no group can be made: ", err)
	}
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // not RemoveAll: the files cannot be removed
		_ = unix.Close(fd)
		for err := unix.EBUSY; errors.Is(err, unix.EBUSY); runtime.Gosched() { // a process that was killed is leaving
			err, _ = unix.Rmdir(dir).(unix.Errno)
		}
		_ = unix.Rmdir(parent) // of the last one
	})
	return kernelGroup{t, dir, fd}
}

// A running is a process that a test has started.
type running struct {
	pid  int
	kill func() // and waits for its end
}

// start starts a process in the group.
func (g kernelGroup) start(program string, args ...string) running {
	return g.startIn(0, program, args...)
}

// startIn starts a process in the group, in new namespaces.
func (g kernelGroup) startIn(namespaces uintptr, program string, args ...string) running {
	c := exec.Command(program, args...)
	c.SysProcAttr = &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: g.fd, Cloneflags: namespaces}
	return startCommand(g.t, c)
}

func startCommand(t testing.TB, c *exec.Cmd) running {
	t.Helper()
	if err := c.Start(); err != nil {
		t.Skip("no process can be started so: ", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	kill := sync.OnceFunc(func() {
		_ = c.Process.Kill() // it may have ended by itself
		<-ended
	})
	t.Cleanup(kill)
	return running{c.Process.Pid, kill}
}

// probe waits until a source has read what is there.
func (g kernelGroup) probe(h *heard) {
	g.t.Helper()
	for {
		p := g.start("sleep", "60")
		select {
		case <-h.waiter:
			p.kill()
			return
		case err := <-h.done:
			h.done <- err
			g.t.Fatalf("ended: %v", err)
		case <-time.After(20 * time.Millisecond):
			p.kill()
		}
	}
}

// leaves checks that the source has ended with its context and left nothing behind.
func (h *heard) leaves(files, goroutines int) {
	h.t.Helper()
	if err := <-h.done; !errors.Is(err, context.Canceled) {
		h.t.Errorf("ended with %v", err)
	}
	h.done <- nil
	for late := time.Now().Add(10 * time.Second); ; runtime.Gosched() { // those of the test itself end soon
		nowFiles, now := openFileCount(h.t), runtime.NumGoroutine()
		if nowFiles <= files && now <= goroutines {
			return
		}
		if time.Now().After(late) {
			h.t.Fatalf("%d files are open, before it were %d; %d goroutines, before it were %d", nowFiles, files, now, goroutines)
		}
	}
}

// With the kernel's own groups: the end of a process is delivered at once, and nothing is left after the source
// has ended.
func TestCgroupsOfTheKernel(t *testing.T) {
	probing, group := newKernelGroup(t, longID(probe)), newKernelGroup(t, longID("1"))
	n := New("")
	files, goroutines := openFileCount(t), runtime.NumGoroutine()
	h, stop := listen(t, func(ctx context.Context, deliver func(pleg.Upstream)) error {
		return n.Cgroups(ctx, func(u pleg.Upstream) {
			if strings.HasPrefix(u.ID, longID("")[:63]) { // not those of others
				deliver(u)
			}
		})
	})
	probing.probe(h)
	one := group.start("sleep", "60")
	h.want("started 1")
	began := time.Now()
	one.kill()
	h.want("stopped 1")
	t.Logf("told after %v", time.Since(began))
	stop()
	h.leaves(files, goroutines)
}

// A watch is removed with its group: the kernel would keep it, and has room for only so many.
func TestWatchesGoWithTheirGroups(t *testing.T) {
	probing, group := newKernelGroup(t, longID(probe)), newKernelGroup(t, longID("1"))
	h, _ := listen(t, New("").Cgroups)
	probing.probe(h)
	info, err := os.Stat(filepath.Join(group.dir, "cgroup.events"))
	if err != nil {
		t.Fatal(err)
	}
	watched := func() bool {
		ours := fmt.Sprintf(" ino:%x ", info.Sys().(*syscall.Stat_t).Ino)
		all, _ := filepath.Glob("/proc/self/fdinfo/*")
		return slices.ContainsFunc(all, func(path string) bool {
			text, _ := os.ReadFile(path) // it may have been closed
			return strings.Contains(string(text), ours)
		})
	}
	if !watched() {
		t.Fatal("the group is not watched")
	}
	if err := unix.Rmdir(group.dir); err != nil {
		t.Fatal(err)
	}
	for late := time.Now().Add(20 * time.Second); watched(); time.Sleep(time.Millisecond) {
		if time.Now().After(late) {
			t.Fatal("what was removed is still watched")
		}
	}
}

// A tree may have any depth and any width, so both have limits.
func TestCgroupsHaveTheirLimits(t *testing.T) {
	tree := newGroupTree(t, t.TempDir(), "")
	deep := func(folders int, digit string) string {
		return strings.Repeat("x/", folders) + longID(digit)
	}
	h, _ := listen(t, New(tree.root).Cgroups)
	h.begun(tree)
	tree.make(deep(deepestGroup, "1"), 1)
	tree.make(deep(deepestGroup-1, "2"), 1)
	h.want("started 2")

	w := watch{watched: map[string]*group{}}
	for n := range mostWatches {
		w.watched[fmt.Sprint(n)] = nil
	}
	one := groupIn("/sys", "one")
	if _, err := w.add(one); !errors.Is(err, call.ErrUnimplemented) || !strings.Contains(err.Error(), "more than 16384 control groups below /sys") {
		t.Errorf("too many: %v", err)
	}
}

func TestWatchErrorsSayWhatToDo(t *testing.T) {
	for err, want := range map[error]string{
		unix.ENOSPC: "raise fs.inotify.max_user_watches with sysctl",
		unix.EMFILE: "raise fs.inotify.max_user_instances with sysctl",
	} {
		if got := watchError(err); !errors.Is(got, call.ErrUnimplemented) || !strings.Contains(got.Error(), want) {
			t.Errorf("%v: %v, want %s", err, got, want)
		}
	}
	if got := watchError(unix.EACCES); errors.Is(got, call.ErrUnimplemented) || !errors.Is(got, unix.EACCES) {
		t.Errorf("EACCES: %v", got)
	}
}

// A panic in the goroutine of the watch ends the source, but not the program. The next source has a watch of
// its own.
func TestWatchThatPanicsIsAnError(t *testing.T) {
	tree := newGroupTree(t, t.TempDir(), "")
	n := New(tree.root)
	h, stop := listen(t, func(ctx context.Context, deliver func(pleg.Upstream)) error {
		return n.Cgroups(ctx, func(u pleg.Upstream) {
			if deliver(u); u.ID == longID("1") {
				panic("out of range")
			}
		})
	})
	defer stop()
	h.begun(tree)
	tree.make("kubepods/pod1/"+longID("1"), 1)
	err := <-h.done
	h.done <- err
	if err == nil || !strings.Contains(err.Error(), "panic: out of range (cgroups_linux_test.go:") {
		t.Errorf("error = %v, want the panic and where it was", err)
	}
	again, _ := listen(t, n.Cgroups)
	again.begun(tree)
}

// groupIn returns a group of a tree.
func groupIn(dir, name string) *group {
	return &group{tree: &tree{dir: dir}, path: filepath.Join(dir, name)}
}
