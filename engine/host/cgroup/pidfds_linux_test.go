package cgroup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

// listenToPidfds listens to what is told of the kernel groups of tests.
func listenToPidfds(t *testing.T, n *Sources) (*heard, context.CancelFunc) {
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
	probing, there, group := newKernelGroup(t, longID(probe)), newKernelGroup(t, longID("1")), newKernelGroup(t, longID("2"))
	n := New("", false)
	old := there.start("sleep", "60")
	files, goroutines := openFileCount(t), runtime.NumGoroutine()
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
	probing, group, inited := newKernelGroup(t, longID(probe)), newKernelGroup(t, longID("1")), newKernelGroup(t, longID("2"))
	n := New("", false)
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

// What outlives a container's first process is waited for only if that was a maker of
// containers, however long that took, and else neither then nor later.
func TestPidfdsOfWhatOutlivesTheFirstProcess(t *testing.T) {
	for _, program := range []string{"runc", "own"} {
		dir := t.TempDir()
		if err := os.Symlink("/bin/sleep", filepath.Join(dir, program)); err != nil {
			t.Fatal(err)
		}
		maker := &exec.Cmd{Path: filepath.Join(dir, program), Args: []string{"sleep", "60"}}
		first, other := startCommand(t, maker), startCommand(t, exec.Command("sleep", "61"))
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
		if err := p.changed(g); err != nil || p.all["1"].first.PID != first.pid {
			t.Fatalf("%v, want the first process to be waited for: %+v", err, p.all["1"].first)
		}
		c := p.all["1"]
		c.since = c.since.Add(-2 * helperTime)
		first.kill()
		if err := errors.Join(p.take([]uint64{c.key}), p.changed(g)); err != nil {
			t.Fatal(err)
		}
		if program == "runc" {
			if len(said) > 0 || c.first == nil || c.first.PID != other.pid {
				t.Errorf("after a maker: said %+v, waits for %+v, want the other process", said, c.first)
			}
			continue
		}
		if len(said) != 1 || said[0].Signal != pleg.SignalStopped || said[0].ID != "1" || said[0].Ran < 2*helperTime {
			t.Errorf("said %+v, want the end of 1, which ran for %v", said, 2*helperTime)
		}
		if now := pidfdsOf(other.pid); len(p.keys) != 0 || now != held {
			t.Errorf("waits for %d; the other process is held %d times, before it was %d", len(p.keys), now, held)
		}
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
	n := New(root, false)
	one, other := startCommand(t, exec.Command("sleep", "60")), startCommand(t, exec.Command("sleep", "61"))
	shown(one)
	shown(other)
	at := func(digit string) string { return "kubepods/pod1/" + longID(digit) }
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
			n := New(root, tt.status == "picture")
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
		c.first.Close()
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
