package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

// listenToPidfds listens to what is told of the kernel groups of tests.
func listenToPidfds(t *testing.T, n *Node) (*heard, context.CancelFunc) {
	return listen(t, func(ctx context.Context, deliver func(pleg.Upstream)) error {
		return n.Pidfds(ctx, func(u pleg.Upstream) {
			if strings.HasPrefix(u.ID, "aaaa") {
				deliver(u)
			}
		})
	})
}

// The end of a container's process is told at once, and when the source ends nothing is
// left of it.
func TestPidfdsOfTheKernel(t *testing.T) {
	probing, there, group := newKernelGroup(t, fixtureID(probe)), newKernelGroup(t, fixtureID("1")), newKernelGroup(t, fixtureID("2"))
	n := newTestNode(t, "")
	n.offline = false
	old := there.start("sleep", "60")
	files, goroutines := openFiles(t), runtime.NumGoroutine()
	h, stop := listenToPidfds(t, n)
	probing.probe(h)
	old.kill()
	h.want("stopped 1")
	one := group.start("sleep", "60")
	awaitPidfd(t, one.pid)
	began := time.Now()
	one.kill()
	h.want("stopped 2")
	t.Logf("told after %v", time.Since(began))
	stop()
	h.leaves(files, goroutines)
}

// What only makes a container does not count, and neither does what outlives its first
// process; where it has an init, that counts.
func TestPidfdsOfTheRightProcess(t *testing.T) {
	probing, group, inited := newKernelGroup(t, fixtureID(probe)), newKernelGroup(t, fixtureID("1")), newKernelGroup(t, fixtureID("2"))
	n := newTestNode(t, "")
	n.offline = false
	h, _ := listenToPidfds(t, n)
	probing.probe(h)
	maker := group.start("sleep", "60")
	awaitPidfd(t, maker.pid)
	own := group.start("sleep", "61")
	maker.kill()
	awaitPidfd(t, own.pid)
	own.kill()
	h.want("stopped 1")

	maker = inited.start("sleep", "60")
	awaitPidfd(t, maker.pid)
	_, first := inited.start("sleep", "61"), inited.startIn(syscall.CLONE_NEWPID, "sleep", "62")
	maker.kill()
	awaitPidfd(t, first.pid)
	first.kill()
	h.want("stopped 2")
}

// What outlives a container's first process is not waited for, then and later.
func TestPidfdsOfWhatOutlivesTheFirstProcess(t *testing.T) {
	dir := t.TempDir()
	first, other := startCommand(t, exec.Command("sleep", "60")), startCommand(t, exec.Command("sleep", "61"))
	held := pidfdsOf(other.pid) // by whoever started it
	writeFile(t, filepath.Join(dir, "cgroup.procs"), fmt.Sprintf("%d\n%d\n", first.pid, other.pid))
	ends, err := newProcessEnds()
	if err != nil {
		t.Fatal(err)
	}
	defer ends.file.Close()
	var said []pleg.Upstream
	p := &pidfdWatch{
		proc: "/proc", ends: ends, most: 2, deliver: func(u pleg.Upstream) { said = append(said, u) },
		all: map[string]*waitedFor{}, keys: map[uint64]*waitedFor{},
	}
	g := &groupDir{hierarchy: new(hierarchy), id: "1", path: dir, isAlive: true}
	if err := p.changed(g); err != nil || p.all["1"].first.pid != first.pid {
		t.Fatalf("%v, want the first process to be waited for: %+v", err, p.all["1"].first)
	}
	c := p.all["1"]
	c.since = c.since.Add(-2 * helperTime)
	c.first.comm = "runc" // which has only made the container, however long that took
	if next, err := p.next(c, c.first); err != nil || next == nil {
		t.Errorf("after a maker: %+v, %v", next, err)
	} else {
		next.close()
	}
	c.first.comm = "sleep"
	first.kill()
	if err := errors.Join(p.take([]uint64{c.key}), p.changed(g)); err != nil {
		t.Fatal(err)
	}
	if len(said) != 1 || said[0].Signal != pleg.SignalStopped || said[0].ID != "1" || said[0].Ran < 2*helperTime {
		t.Errorf("said %+v, want the end of 1, which ran for %v", said, 2*helperTime)
	}
	if now := pidfdsOf(other.pid); len(p.keys) != 0 || now != held {
		t.Errorf("waits for %d; the other process is held %d times, before it was %d", len(p.keys), now, held)
	}
}

// The process that becomes the container's own is one of the runtime's until then, too.
func TestPidfdsTellMakersOfContainers(t *testing.T) {
	for comm, want := range map[string]bool{"runc": true, "runc:[1:CHILD]": true, "runc:[2:INIT]": false, "sleep": false} {
		if got := (&process{pid: 1 << 30, comm: comm}).makesContainers("/proc"); got != want {
			t.Errorf("%s makes containers: %v", comm, got)
		}
	}
}

// Of a container's group so much is looked through for its first process.
func TestMembersAreOfSoManyGroups(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "cgroup.procs"), "")
	writeFile(t, filepath.Join(dir, "a/cgroup.procs"), "2\n1\n")
	writeFile(t, filepath.Join(dir, "a/c/cgroup.procs"), "3\n")
	writeFile(t, filepath.Join(dir, "b/cgroup.procs"), "")
	writeFile(t, filepath.Join(dir, "b/c/cgroup.procs"), "4\n")
	if got, want := appendMembers(nil, dir, 1), []int{2, 1}; !slices.Equal(got, want) {
		t.Errorf("down to the first below: %v, want %v", got, want)
	}
	if got, want := appendMembers(nil, dir, 2), []int{2, 1, 4}; !slices.Equal(got, want) {
		t.Errorf("down to the second: %v, want %v", got, want)
	}
}

// With v1 a process is found when its number is written into its group, and with a root
// of the host that is elsewhere in the processes there.
func TestPidfdsOfV1(t *testing.T) {
	root := t.TempDir()
	tree := newGroupTree(t, root, "pids")
	shown := func(p running) {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.pid))
		if err != nil {
			t.Fatal(err)
		}
		writeFile(t, filepath.Join(root, "proc", strconv.Itoa(p.pid), "stat"), string(text))
	}
	writeFile(t, filepath.Join(root, "proc/self/status"), fmt.Sprintf("Name:\tx\nNSpid:\t%d\n", os.Getpid()))
	n := newTestNode(t, root)
	n.offline = false
	one, other := startCommand(t, exec.Command("sleep", "60")), startCommand(t, exec.Command("sleep", "61"))
	shown(one)
	shown(other)
	at := func(digit string) string { return "kubepods/pod1/" + fixtureID(digit) }
	join := func(at string, p running) {
		writeFile(t, filepath.Join(tree.dir, at, "cgroup.procs"), fmt.Sprintf("%d\n", p.pid))
	}
	tree.make(at("1"), 0)
	join(at("1")+"/init.scope", one) // systemd runs in it
	h, _ := listenToPidfds(t, n)
	awaitPidfd(t, one.pid)
	tree.make(at("2"), 0)
	join(at("2"), other)
	awaitPidfd(t, other.pid)
	other.kill()
	h.want("stopped 2")
	one.kill()
	h.want("stopped 1")
}

func TestPidfdsRefuse(t *testing.T) {
	root := newGroupTree(t, t.TempDir(), "").root
	for name, tt := range map[string]struct{ status, want string }{
		"not among them":    {"", "plegtop is not among the processes in"},
		"another namespace": {fmt.Sprintf("NSpid:\t4711\t%d\n", os.Getpid()), "in another process namespace than the node: its pod needs hostPID: true"},
		"another process":   {"NSpid:\t4711\n", "in another process namespace"},
		"a picture":         {"picture", "the processes of this node are only drawn"},
	} {
		t.Run(name, func(t *testing.T) {
			n := newTestNode(t, root)
			n.offline = tt.status == "picture"
			if tt.status != "" {
				writeFile(t, filepath.Join(root, "proc/self/status"), tt.status)
				defer os.RemoveAll(filepath.Join(root, "proc"))
			}
			err := n.Pidfds(t.Context(), func(pleg.Upstream) { t.Error("an event") })
			if !errors.Is(err, call.ErrUnimplemented) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %s", err, tt.want)
			}
		})
	}
}

// More containers than files may be open are refused, and the number without a process
// that the kernel writes for those of other namespaces.
func TestPidfdsHaveTheirLimits(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "foreign/cgroup.procs"), "0\n0\n")
	writeFile(t, filepath.Join(dir, "own/cgroup.procs"), fmt.Sprintln(os.Getpid()))
	ends, err := newProcessEnds()
	if err != nil {
		t.Fatal(err)
	}
	defer ends.file.Close()
	p := &pidfdWatch{proc: "/proc", ends: ends, most: 1, all: map[string]*waitedFor{}, keys: map[uint64]*waitedFor{}}
	group := func(id, path string) error {
		return p.changed(&groupDir{hierarchy: new(hierarchy), id: id, path: filepath.Join(dir, path), isAlive: true})
	}
	if err := group("1", "foreign"); !errors.Is(err, call.ErrUnimplemented) || !strings.Contains(err.Error(), "hostPID: true") {
		t.Errorf("foreign: %v", err)
	}
	if err := group("2", "own"); err != nil || len(p.keys) != 1 {
		t.Errorf("own: %v, %d held", err, len(p.keys))
	}
	if err := group("3", "own"); !errors.Is(err, call.ErrUnimplemented) || !strings.Contains(err.Error(), "more than 1 containers") {
		t.Errorf("too many: %v", err)
	}
	for _, c := range p.keys {
		c.first.close()
	}
}

func TestPidfdErrorsSayWhatToDo(t *testing.T) {
	for err, want := range map[error]string{
		syscall.ENOSYS: "Linux 5.3", syscall.EPERM: "seccomp", syscall.EMFILE: "raise ulimit -n",
	} {
		if got := pidfdError(err); !errors.Is(got, call.ErrUnimplemented) || !strings.Contains(got.Error(), want) {
			t.Errorf("%v: %v, want %s", err, got, want)
		}
	}
}

// A number that was given to another process meanwhile is not held.
func TestPidfdsAreOfTheSameProcess(t *testing.T) {
	files := openFiles(t)
	p := &pidfdWatch{proc: "/proc"}
	start, _, err := readStart(p.proc, os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		process
		want bool
	}{{process{pid: os.Getpid(), start: start}, true}, {process{pid: os.Getpid(), start: start - 1}, false}, {process{pid: 1 << 30}, false}} {
		if got, err := p.hold(&tt.process); got != tt.want || err != nil {
			t.Errorf("process %d since %d: %v, %v", tt.pid, tt.start, got, err)
		}
		if tt.want {
			tt.process.close()
		}
	}
	if now := openFiles(t); now > files {
		t.Errorf("%d files are open, before it were %d", now, files)
	}
}

// awaitPidfd waits until this process holds another, apart from the one that begun that.
func awaitPidfd(t *testing.T, pid int) {
	t.Helper()
	for late := time.Now().Add(20 * time.Second); time.Now().Before(late); time.Sleep(time.Millisecond) {
		if pidfdsOf(pid) > 1 {
			return
		}
	}
	t.Fatalf("nobody holds process %d", pid)
}

// pidfdsOf returns how often this process holds another.
func pidfdsOf(pid int) (count int) {
	all, _ := filepath.Glob("/proc/self/fdinfo/*")
	for _, path := range all {
		if text, err := os.ReadFile(path); err == nil && strings.Contains(string(text), fmt.Sprintf("\nPid:\t%d\n", pid)) {
			count++
		}
	}
	return count
}

// Who waits for the ends of processes learns that nobody tells it any more.
func TestWaitForProcessesFails(t *testing.T) {
	e, err := newProcessEnds()
	if err != nil {
		t.Fatal(err)
	}
	waiting, stop := e.watch(make(chan func() error))
	defer stop()
	_ = e.file.Close()
	if err := waiting.Err(); err == nil {
		t.Error("no error, want that of the closed file")
	}
}
