package host

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/plegtop/plegtop/engine/evidence"
)

func TestSocketKinds(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	writeFile(t, at("file"), "")
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
		s, err := (&socketWatch{root: "/", path: at(name)}).look()
		if err != nil || s.Kind != want || (s.Holder.PID == os.Getpid()) != (want == "socket") || (s.Holder.Start > 0) != (want == "socket") {
			t.Errorf("%s: %+v, want a %q", name, s, want)
		}
	}
	w := &socketWatch{root: "/", path: at("socket")}
	_, _ = w.look()
	w.last.Holder = evidence.Process{PID: 1, Command: "gone"}
	if s, _ := w.look(); s.Holder.PID != os.Getpid() {
		t.Errorf("after another one that has ended: %+v", s)
	}
	_ = listening.Close()
	if s, _ := w.look(); s.Kind != "" || s.Holder.PID != 0 {
		t.Errorf("closed: %+v", s)
	}
	if s, _ := (&socketWatch{root: "/", path: "/dev/null"}).look(); s.Kind != "device" {
		t.Errorf("a device: %+v", s)
	}
}

// A runtime listens at a socket, but the path of the socket leads elsewhere by now.
func TestUnlinkedSocket(t *testing.T) {
	root := t.TempDir()
	path := filepath.Join(root, "run/containerd/containerd.sock")
	listen := func(path string, first string) *net.UnixListener {
		t.Helper()
		_ = os.Remove(path) // it may not be there
		l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() })
		go func() {
			for conn, err := l.Accept(); err == nil; conn, err = l.Accept() {
				go func() {
					_, _ = conn.Write([]byte(first)) // a look may be gone again
					_, _ = io.Copy(io.Discard, conn)
					_ = conn.Close()
				}()
			}
		}()
		return l
	}
	const listens = "00010000"
	table := func(flags string) {
		writeFile(t, filepath.Join(root, "proc/10/net/unix"), "Num       RefCount Protocol Flags    Type St Inode Path\n"+
			"0000000000000000: 00000002 00000000 "+flags+" 0001 01 4711 /var/run/containerd/containerd.sock\n")
	}
	writeProcess(t, root, fakeProcess{PID: 10, Comm: "containerd"})
	if err := errors.Join(os.MkdirAll(filepath.Join(root, "proc/10/fd"), 0o700), os.Symlink("socket:[4711]", filepath.Join(root, "proc/10/fd/7"))); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(root, "proc/10/comm"), "containerd\n")
	writeProcess(t, root, fakeProcess{PID: os.Getpid(), Comm: "proxy"}) // who listens in this test
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	const grpc = "\x00\x00\x00\x04\x00\x00\x00\x00\x00"
	w := &socketWatch{root: root, path: path}
	for _, tt := range []struct {
		name string
		make func()
		want int
	}{
		{"gone", func() { table(listens) }, 10},
		{"gone, and nobody listens", func() { table("00000000") }, 0},
		{"a file", func() { table(listens); writeFile(t, path, "") }, 10},
		{"a folder", func() { _ = os.Remove(path); _ = os.Mkdir(path, 0o700) }, 10},
		{"a proxy", func() { listen(path, grpc) }, 0},
		{"the same", func() {}, 0},
		{"another program", func() { listen(path, "220 hello\r\n") }, 10},
		{"still", func() {}, 10},
		{"a link to a proxy", func() {
			listen(filepath.Join(root, "real.sock"), grpc)
			_ = os.Remove(path)
			_ = os.Symlink(filepath.Join(root, "real.sock"), path)
		}, 0},
		{"nobody's", func() { l := listen(path, ""); l.SetUnlinkOnClose(false); _ = l.Close() }, 10},
		{"ours alone is out of date", func() {
			at := filepath.Join(root, "proc/10/root/var/run/containerd")
			_ = os.MkdirAll(at, 0o700)
			_ = os.Symlink(filepath.Join(root, "real.sock"), filepath.Join(at, "containerd.sock"))
		}, 0},
	} {
		tt.make()
		if s, _ := w.look(); s.Unlinked.PID != tt.want {
			t.Errorf("%s: %+v, want %d", tt.name, s, tt.want)
		}
	}
}

// A runtime waits for its database, which another process has locked.
func TestLocked(t *testing.T) {
	root := t.TempDir()
	db, other := filepath.Join(root, "meta.db"), filepath.Join(root, "other.db")
	writeFile(t, db, "")
	writeFile(t, other, "")
	var s unix.Stat_t
	inode := func(path string) string {
		if err := unix.Stat(path, &s); err != nil {
			t.Fatal(err)
		}
		return strconv.FormatUint(s.Ino, 10)
	}
	at := func(path string) string { // as the kernel writes it
		number := inode(path)
		return fmt.Sprintf("%02x:%02x:%s", unix.Major(s.Dev), unix.Minor(s.Dev), number)
	}
	process := func(pid, comm, open string) {
		writeFile(t, filepath.Join(root, "proc", pid, "comm"), comm+"\n")
		writeFile(t, filepath.Join(root, "proc", pid, "stat"), pid+" ("+comm+") S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 100 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n")
		writeLink(t, root, filepath.Join("proc", pid, "fd", "7"), open)
	}
	process("10", "containerd", db)
	process("11", "bbolt", db)
	process("12", "containerd", other)
	elsewhere := "0 0 "
	if inode(db); unix.Major(s.Dev) == 0 { // as on btrfs: the number alone counts
		elsewhere = "10 11 " + db
	}
	for _, tt := range []struct{ name, locks, want string }{
		{"by another", "1: FLOCK  ADVISORY  WRITE 11 " + at(db) + " 0 EOF\n", "10 11 " + db},
		{"by one that has ended", "1: FLOCK  ADVISORY  WRITE 99 " + at(db) + " 0 EOF\n", "10 0 " + db},
		{"by another, and by itself on another file system", "1: FLOCK  ADVISORY  WRITE 11 " + at(db) + " 0 EOF\n2: FLOCK  ADVISORY  WRITE 10 00:ff:" + inode(db) + " 0 EOF\n", "10 11 " + db},
		{"a file of the same number on another file system", "1: FLOCK  ADVISORY  WRITE 11 00:ff:" + inode(db) + " 0 EOF\n", elsewhere},
		{"by itself", "1: FLOCK  ADVISORY  WRITE 12 " + at(other) + " 0 EOF\n", "0 0 "},
		{"a part of a file", "1: POSIX  ADVISORY  WRITE 11 " + at(db) + " 0 5\n", "0 0 "},
		{"nothing", "", "0 0 "},
	} {
		writeFile(t, filepath.Join(root, "proc", "locks"), tt.locks)
		s, err := (&socketWatch{root: root, path: filepath.Join(root, "gone.sock")}).look()
		if err != nil || (s.Locker.Start > 0) != (s.Locker.PID > 0) || (s.Waits.Start > 0) != (s.Waits.PID > 0) {
			t.Errorf("%s: %+v: %v", tt.name, s, err)
		}
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
		writeLink(t, root, name, "/"+name)
		if _, err := CheckRoot(root); err == nil {
			t.Errorf("a link for /%s is followed", name)
		}
	}
}
