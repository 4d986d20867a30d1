package host

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"
)

const nfsRecord = "4,1,99990000000,-;nfs: server nas not responding, still trying\n SUBSYSTEM=net\n"

// In a picture another log may take the place of the one that is open. Then the lines of the old log count no
// more.
func TestKernelLogThatIsDrawnAnew(t *testing.T) {
	n, root := picture(t, map[string]string{"proc/uptime": "100000.00 1.00\n", "dev/kmsg": nfsRecord})
	n.Look(t.Context(), true)
	const other = "3,1,99995000000,-;Buffer I/O error on dev sda, logical block 1, lost async page write\n"
	writeFile(t, filepath.Join(root, "dev/next"), other)
	for i, change := range []func() error{
		func() error { return os.Rename(filepath.Join(root, "dev/next"), filepath.Join(root, kmsgPath)) },
		func() error { return nil },
		func() error { return os.Remove(filepath.Join(root, kmsgPath)) },
	} {
		if err := change(); err != nil {
			t.Fatal(err)
		}
		got := n.Look(t.Context(), true).Kernel
		if gone := i == 2; gone != (got.Missing != "") || gone != (len(got.Lines) == 0) || !gone && (len(got.Lines) != 1 || got.Lines[0].Device != "sda") {
			t.Errorf("look %d: %+v", i, got)
		}
	}
}

// While nothing hangs the log is read once a minute. Otherwise each deep look reads it.
func TestKernelLogIsReadOnceAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, root := picture(t, map[string]string{"proc/uptime": "100000.00 1.00\n", "dev/kmsg": nfsRecord})
		const next = "3,2,99995000000,-;Buffer I/O error on dev sda, logical block 1, lost async page write\n"
		for i, want := range []struct {
			after time.Duration
			deep  bool
			bytes int // of the last reading
			lines int
		}{
			{0, false, len(nfsRecord), 1}, {5 * time.Second, false, len(nfsRecord), 1}, {55 * time.Second, false, len(nfsRecord + next), 2},
			{time.Second, false, len(nfsRecord + next), 2}, {time.Second, true, len(nfsRecord + next + next), 2},
		} {
			time.Sleep(want.after)
			k := n.Look(t.Context(), want.deep).Kernel
			if k.Bytes != int64(want.bytes) || len(k.Lines) != want.lines {
				t.Errorf("look %d has %+v, want %d bytes and %d lines", i, k, want.bytes, want.lines)
			}
			if log := map[int]string{0: nfsRecord + next, 3: nfsRecord + next + next}[i]; log != "" {
				writeFile(t, filepath.Join(root, kmsgPath), log)
			}
		}
	})
}

// If a look has seen a daemon, it is known as one after the kernel has killed it.
func TestTheKernelHasKilledADaemon(t *testing.T) {
	n, root := picture(t, map[string]string{"proc/uptime": "100000.00 1.00\n", "dev/kmsg": nfsRecord})
	writeProcess(t, root, fakeProcess{PID: 77, Parent: 1, Comm: "containerd"})
	n.Look(t.Context(), false)
	writeFile(t, filepath.Join(root, kmsgPath), nfsRecord+
		"3,3,99996000000,-;Out of memory: Killed process 77 (containerd) total-vm:1kB\n3,4,99995000000,-;Out of memory: Killed process 78 (containerd) total-vm:1kB\n")
	if got := n.Look(t.Context(), true).Kernel.Lines; len(got) != 3 || !got[0].Own || got[1].Own {
		t.Errorf("lines %+v", got)
	}
}

// A file in the place of the log is opened only if it is the log.
func TestKernelLogThatIsNone(t *testing.T) {
	_, root := picture(t, map[string]string{"proc/uptime": "1 1\n", "dev/x": ""})
	for _, tt := range []struct {
		name, want string
		make       func(path string) error
	}{
		{"nothing", "no such file or directory: mount the host's /dev with its root", func(string) error { return nil }},
		{"a pipe", "it is not the kernel's log", func(path string) error { return unix.Mkfifo(path, 0o600) }},
		{"a folder", "it is not the kernel's log", func(path string) error { return os.Mkdir(path, 0o700) }},
	} {
		path := filepath.Join(root, kmsgPath)
		if err := tt.make(path); err != nil {
			t.Fatal(err)
		}
		n, err := New(Config{Root: root, Offline: true})
		if err != nil {
			t.Fatal(err)
		}
		if got := n.Look(t.Context(), true).Kernel; got.Missing != tt.want || got.From != path {
			t.Errorf("%s: %+v, want %q missing", tt.name, got.Source, tt.want)
		}
		_ = os.Remove(path)
	}
	if why := noKmsg("", unix.EPERM).Error(); !strings.Contains(why, "CAP_SYSLOG") {
		t.Errorf("without permission: %q", why)
	}
}

// Reading ends at the end of the log, and never waits for more.
func TestKmsgDoesNotWait(t *testing.T) {
	var ends [2]int
	if err := unix.Pipe2(ends[:], unix.O_NONBLOCK); err != nil {
		t.Fatal(err)
	}
	defer unix.Close(ends[0])
	defer unix.Close(ends[1])
	k, into := kmsg(ends[0]), make([]byte, 8)
	if n, err := k.Read(into); n != 0 || err == nil || err.Error() != "EOF" {
		t.Errorf("of nothing: %d, %v", n, err)
	}
	_, _ = unix.Write(ends[1], []byte("abc"))
	if n, err := k.Read(into); n != 3 || err != nil {
		t.Errorf("of three bytes: %d, %v", n, err)
	}
	if _, err := kmsg(-1).Read(into); err == nil || err.Error() == "EOF" {
		t.Errorf("of no file: %v", err)
	}
}

// A look that is not deep asks nobody, and reads nothing of all this except the kernel's log.
func TestOnlyADeepLookIsDeep(t *testing.T) {
	root := tree(t, map[string]string{"proc/uptime": "1 1\n", "dev/kmsg": nfsRecord, "run/dbus/x": ""})
	bus, err := net.Listen("unix", filepath.Join(root, busPath))
	if err != nil {
		t.Fatal(err)
	}
	defer bus.Close()
	n, err := New(Config{Root: root, RuntimeRoot: t.TempDir(), Kubelet: Kubelet{Healthz: "http://127.0.0.1:1/healthz", Metrics: "http://127.0.0.1:1/metrics"}})
	if err != nil {
		t.Fatal(err)
	}
	asked := make(chan bool, 9)
	go func() {
		for {
			c, err := bus.Accept()
			if err != nil {
				return
			}
			asked <- true
			c.Close()
		}
	}()
	for range 3 {
		if r := n.Look(t.Context(), false); r.Deep != nil {
			t.Errorf("it has %+v", r.Deep)
		}
	}
	if len(asked) > 0 {
		t.Errorf("the system bus was asked %d times", len(asked))
	}
	r := n.Look(t.Context(), true)
	if len(r.Kernel.Lines) != 1 || r.Kernel.Bytes != 0 || r.Deep.Units.Missing == "" { // the log was read before
		t.Errorf("a deep look has %+v", r.Deep)
	}
	<-asked
}
