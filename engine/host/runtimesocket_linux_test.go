package host

import (
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/host/proctest"
)

func TestSocketKinds(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	proctest.WriteFile(t, at("file"), "")
	if err := os.Mkdir(at("folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(at("pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	listening, err := net.ListenUnix("unix", &net.UnixAddr{Name: at("socket"), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	defer listening.Close()
	for name, want := range map[string]string{"file": "file", "folder": "folder", "pipe": "pipe", "socket": "socket", "gone": "", "file/gone": ""} {
		s := readSocket("/", at(name), new(evidence.Socket))
		if s.Kind != want || (s.Holder.PID == os.Getpid()) != (want == "socket") || s.Missing != "" {
			t.Errorf("%s: %+v, want a %q", name, s, want)
		}
	}
	held := readSocket("/", at("socket"), new(evidence.Socket))
	if s := readSocket("/", at("socket"), &evidence.Socket{Holder: evidence.Process{PID: 1, Command: "gone"}}); s.Holder.PID != os.Getpid() {
		t.Errorf("after another one that has ended: %+v", s)
	}
	_ = listening.Close()
	if s := readSocket("/", at("socket"), &held); s.Kind != "" || s.Holder.PID != 0 {
		t.Errorf("closed: %+v", s)
	}
	if s := readSocket("/", "/dev/null", new(evidence.Socket)); s.Kind != "device" {
		t.Errorf("a device: %+v", s)
	}
}

// A runtime that waits for its database, which another process has locked.
func TestLocked(t *testing.T) {
	root := t.TempDir()
	db, other := filepath.Join(root, "meta.db"), filepath.Join(root, "other.db")
	proctest.WriteFile(t, db, "")
	proctest.WriteFile(t, other, "")
	inode := func(path string) string {
		var s syscall.Stat_t
		if err := syscall.Stat(path, &s); err != nil {
			t.Fatal(err)
		}
		return strconv.FormatUint(s.Ino, 10)
	}
	process := func(pid, comm, open string) {
		proctest.WriteFile(t, filepath.Join(root, "proc", pid, "comm"), comm+"\n")
		proctest.WriteFile(t, filepath.Join(root, "proc", pid, "stat"), pid+" ("+comm+") S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 100 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n")
		proctest.WriteLink(t, root, filepath.Join("proc", pid, "fd", "7"), open)
	}
	process("10", "containerd", db)
	process("11", "bbolt", db)
	process("12", "containerd", other)
	for _, tt := range []struct{ name, locks, want string }{
		{"by another", "1: FLOCK  ADVISORY  WRITE 11 fe:01:" + inode(db) + " 0 EOF\n", "10 11 " + db},
		{"by one that has ended", "1: FLOCK  ADVISORY  WRITE 99 fe:01:" + inode(db) + " 0 EOF\n", "10 0 " + db},
		{"by itself", "1: FLOCK  ADVISORY  WRITE 12 fe:01:" + inode(other) + " 0 EOF\n", "0 0 "},
		{"a part of a file", "1: POSIX  ADVISORY  WRITE 11 fe:01:" + inode(db) + " 0 5\n", "0 0 "},
		{"nothing", "", "0 0 "},
	} {
		proctest.WriteFile(t, filepath.Join(root, "proc", "locks"), tt.locks)
		s := readSocket(root, filepath.Join(root, "gone.sock"), new(evidence.Socket))
		got := strconv.Itoa(s.Waits.PID) + " " + strconv.Itoa(s.Locker.PID) + " " + s.Locked
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// A link to the host's own /proc or /sys would lead out of the root.
func TestRootWithLinks(t *testing.T) {
	for _, name := range []string{"proc", "sys"} {
		root := t.TempDir()
		proctest.WriteLink(t, root, name, "/"+name)
		if _, err := CheckRoot(root); err == nil {
			t.Errorf("a link for /%s is followed", name)
		}
	}
}
