package proc

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/plegtop/plegtop/engine/evidence"
)

// killed returns a process that was killed while a thread waits for the disk of fixtureMounts. Its first thread
// has ended, and /proc/PID no longer has its arguments, its files or its mounts.
func killed(p fakeProcess) fakeProcess {
	p.State = evidence.Zombie
	p.Threads = []fakeProcess{{PID: p.PID + 5, State: evidence.Uninterrupted, Ran: 1000, Wchan: "io_schedule"}}
	p.Files = map[string]string{
		"syscall": fmt.Sprintf("%d 0x9\n", unix.SYS_FSYNC), "mountinfo": fixtureMounts, "fdinfo/9": "pos:\t0\nmnt_id:\t98\n", "ns/mnt": "->mnt:[7]",
		"cwd": "->/run/x", "root": "->/", "fd/5": "->" + fuseDevice, "fdinfo/5": "fuse_connection:\t60\n", "fd/9": "->socket:[100]",
		"net/unix": "Num       RefCount Protocol Flags    Type St Inode Path\n0000000000000001: 00000002 00000000 00010000 0001 01 100 " + testSocket + "\n",
	}
	return p
}

// A process whose first thread is dead when it is first seen is still identified, and waits for what its other
// thread waits for.
func TestDeadLeaderIsKnown(t *testing.T) {
	sandbox, container := longID("1"), longID("2")
	shim := killed(fakeShim(300, sandbox, testSocket))
	conmon := killed(fakeProcess{PID: 300, Comm: "conmon", Args: []string{"/usr/bin/conmon", "-c", container}})
	daemon := killed(fakeProcess{PID: 300, Comm: "containerd", Cgroup: "0::/system.slice/containerd.service\n"})
	for _, tt := range []struct {
		name string
		p    fakeProcess
		in   func(evidence.Processes) []evidence.Process
		own  bool
	}{
		{"shim", shim, func(f evidence.Processes) []evidence.Process { return f.Shims }, true},
		{"conmon", conmon, func(f evidence.Processes) []evidence.Process { return f.Shims }, false},
		{"runtime that listens", daemon, func(f evidence.Processes) []evidence.Process { return f.Daemons }, true},
		{"helper", killed(fakeProcess{PID: 300, Parent: 200, Comm: "runc", Args: []string{"runc", "kill", container}}), func(f evidence.Processes) []evidence.Process { return f.Helpers }, true},
		{"container's, with v1", killed(fakeProcess{PID: 300, Comm: "app", Cgroup: "1:name=systemd:/kubepods/podabc/" + container + "\n"}), func(f evidence.Processes) []evidence.Process { return f.Containers[container] }, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root := t.TempDir()
			writeProcess(t, root, fakeShim(200, longID("9"), testSocket))
			writeProcess(t, root, tt.p)
			w := newFixtureWalker(root)
			if tt.name == "conmon" {
				w.Endpoint = "unix:///run/crio/crio.sock"
			}
			w.clock = func(int) time.Duration { return time.Second + time.Minute }
			w.budget = 1 // the threads of the others have no turn
			for look := range 2 {
				var got []evidence.Process
				for _, p := range tt.in(w.lookAt(t.Context(), firstLook.Add(time.Duration(look)*time.Second))) {
					if p.PID == 300 {
						got = append(got, p)
					}
				}
				if len(got) != 1 || got[0].State != evidence.Uninterrupted || got[0].Thread != 305 || got[0].For < time.Minute || got[0].AtLeast ||
					got[0].Wchan != "io_schedule" || got[0].Mount.Device != "8:17" || got[0].Own != tt.own || got[0].Start == 0 {
					t.Errorf("look %d found %+v, want it in D by thread 305, on 8:17, own: %t", look, got, tt.own)
				}
			}
		})
	}
}

// A killed program still serves its FUSE mount and keeps a root file system busy. It does not hide which pod's
// volume a mount is.
func TestDeadLeaderHolds(t *testing.T) {
	root := t.TempDir()
	cgroup := func(pod, id string) string { return "/kubepods/pod" + pod + "/" + longID(id) }
	writeProcess(t, root, fakeProcess{PID: 1, Comm: "systemd"})
	writeProcess(t, root, killed(fakeProcess{PID: 500, Comm: "sshfs", Started: 2 * time.Hour, Cgroup: cgroup("abc", "1")}))
	fuse := "100 21 0:60 / /mnt/a rw - fuse.sshfs host:/a rw\n"
	wait := map[string]string{"syscall": fmt.Sprintf("%d 0x9\n", unix.SYS_READ), "mountinfo": fuse, "fdinfo/9": "mnt_id:\t100\n"}
	writeProcess(t, root, fakeProcess{PID: 600, Comm: "containerd", State: evidence.Uninterrupted, Ran: 1000, Wchan: "fuse_lookup", Files: wait})
	writeProcess(t, root, fakeProcess{PID: 700, Comm: "app", Cgroup: cgroup("def", "2"), Files: map[string]string{"mountinfo": fuse}})
	w := newFixtureWalker(root)
	w.clock = func(int) time.Duration { return time.Minute }
	want := evidence.Holder{PID: 500, Command: "sshfs", Start: ticksAt(2 * time.Hour), State: evidence.Uninterrupted, Container: longID("1"), By: evidence.ByConnection}
	for look := range 2 {
		found := w.lookAt(t.Context(), firstLook).Daemons
		if len(found) != 1 || found[0].Mount.Pod != "def" {
			t.Fatalf("look %d found %+v, want it to wait for a volume of def", look, found)
		}
		if diff := cmp.Diff([]evidence.Holder{want}, found[0].Servers); diff != "" {
			t.Errorf("servers of look %d (-want +got):\n%s", look, diff)
		}
	}
	l, err := w.Look(t.Context(), firstLook)
	if err != nil {
		t.Fatal(err)
	}
	want.By = evidence.ByFolder
	holders := l.HoldersOf(map[string]string{"root": "/run/x"})["root"]
	if diff := cmp.Diff([]evidence.Holder{want}, holders); diff != "" {
		t.Errorf("holders (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(holders, l.StillHold(holders)); diff != "" {
		t.Errorf("they still hold (-want +got):\n%s", diff)
	}
	if p, _, _ := l.Seen(500); p.PID != 505 {
		t.Errorf("the files of thread %d are read, want those of the one that lives", p.PID)
	}
}

// A shim without arguments is read again: it may be about to end, or just starting.
func TestLookAsksAgainWithoutArguments(t *testing.T) {
	root := t.TempDir()
	shim := fakeShim(300, longID("1"), testSocket)
	args := shim.Args
	w := newFixtureWalker(root)
	for look, want := range []int{0, 1} {
		shim.Args = args[:len(args)*look]
		writeProcess(t, root, shim)
		if found := w.lookAt(t.Context(), firstLook.Add(time.Duration(look)*time.Minute)).Shims; len(found) != want {
			t.Errorf("look %d found %+v, want %d shims", look, found, want)
		}
	}
}

// All processes of a frozen group are frozen, even if only a thread is left of them.
func TestDeadLeaderIsFrozen(t *testing.T) {
	root, id := t.TempDir(), longID("1")
	group := "/kubepods/pod5f1a/" + id
	writeProcess(t, root, killed(fakeProcess{PID: 300, Comm: "app", Cgroup: "6:freezer:" + group + "\n"}))
	writeFile(t, filepath.Join(root, "sys/fs/cgroup/freezer", group, "freezer.state"), "FROZEN\n")
	if found := newFixtureWalker(root).lookAt(t.Context(), firstLook).Containers[id]; len(found) != 1 || found[0].State != evidence.Frozen {
		t.Errorf("found %+v, want it frozen", found)
	}
}

// deadLeader makes this test binary end its first thread, while another thread waits for the end of its input.
const deadLeader = "PLEGTOP_TEST_DEAD_LEADER"

func init() {
	if os.Getenv(deadLeader) != "" {
		go func() {
			runtime.LockOSThread()
			io.Copy(io.Discard, os.Stdin)
			os.Exit(0)
		}()
		unix.Syscall(unix.SYS_EXIT, 0, 0, 0)
	}
}

// For such a process, the kernel itself has the files only below its other threads.
func TestDeadLeaderOfThisMachine(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(os.Args[0], "-test.run=^$")
	c.Dir, c.Env = dir, append(os.Environ(), deadLeader+"=1")
	input, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer c.Wait()
	defer input.Close()
	w := newWalker("", "")
	w.Timeout = time.Hour
	for {
		l, err := w.Look(t.Context(), time.Now())
		if err != nil {
			t.Fatal(err)
		}
		p, lives := l.again(c.Process.Pid)
		if !lives {
			t.Fatal("the process has ended")
		}
		if StateOf(p.stat) != evidence.Zombie {
			continue // its first thread has not ended yet
		}
		if h := l.HoldersOf(map[string]string{"dir": dir})["dir"]; len(h) != 1 || h[0].PID != c.Process.Pid || h[0].State == evidence.Zombie || h[0].By != evidence.ByFolder {
			t.Errorf("holders = %+v, want the process %d, which lives", h, c.Process.Pid)
		}
		return
	}
}
