package host

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/host/proc"
)

func TestStateFolder(t *testing.T) {
	id := longID("1")
	conmon := func(args ...string) fakeProcess {
		return fakeProcess{PID: 20, Parent: 1, Comm: "conmon", Args: append([]string{"/usr/bin/conmon", "-c", id, "--exit-dir", "/var/run/crio/exits"}, args...)}
	}
	const runroot = "/run/containers/storage"
	for _, tt := range []struct {
		name    string
		shim    fakeProcess
		cwd     string
		there   []string
		path    string
		missing string
		broken  bool
	}{
		{"containerd's", fakeShim(20, id, testSocket), "/run/containerd/io.containerd.runtime.v2.task/k8s.io/" + id, []string{"/run/containerd"}, "/run/containerd", "", false},
		{"it is gone", fakeShim(20, id, testSocket), "/run/containerd/io.containerd.runtime.v2.task/k8s.io/" + id, nil, "/run/containerd", "no such file or directory", true},
		{"a shim that works elsewhere", fakeShim(20, id, testSocket), "/", nil, "", "no shim tells where it is", false},
		{"CRI-O's", conmon("-b", runroot+"/overlay-containers/"+id+"/userdata"), "/", []string{runroot}, runroot, "", false},
		{"CRI-O's that does not tell", conmon(), "/", []string{runroot}, "", "no shim tells where it is", false},
		{"no shim", fakeProcess{PID: 20, Comm: "sleep"}, "/", []string{"/run/containerd"}, "", "no shim tells where it is", false},
	} {
		root := mkdirs(t, tt.there...)
		writeProcess(t, root, tt.shim)
		if err := os.Symlink(tt.cwd, filepath.Join(root, "proc", strconv.Itoa(tt.shim.PID), "cwd")); err != nil {
			t.Fatal(err)
		}
		w := newWalker(root, "", time.Hour)
		d := w.look(t.Context(), firstLook).State
		if d.Path != tt.path || d.Missing != tt.missing || d.Broken != tt.broken || (d.Total > 0) != (tt.missing == "") {
			t.Errorf("%s: %+v, want %s, missing %q", tt.name, d, tt.path, tt.missing)
		}
	}
}

// The figures of room and inodes come from the file system itself, and so does the fact that nothing may be
// written.
func TestDiskThatIsFullOrReadOnly(t *testing.T) {
	dir := t.TempDir()
	at := func(flags uintptr) evidence.Disk {
		t.Helper()
		err := unix.Mount("plegtop-test", dir, "tmpfs", flags, "size=64k,nr_inodes=5")
		if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) {
			t.Skip("it takes root to mount: ", err)
		}
		if err != nil {
			t.Fatal(err)
		}
		mounts, _ := proc.Mounts("")
		d, err := new(diskAsk).stat("", dir, mounts)
		if err != nil {
			t.Error(err)
		}
		return d
	}
	defer func() { _ = unix.Unmount(dir, unix.MNT_DETACH) }()
	if d := at(0); d.Total != 64<<10 || d.Inodes != 5 || d.InodesUnused != 4 || d.ReadOnly != "" || d.Mount.Type != "tmpfs" {
		t.Errorf("of a small one: %+v", d)
	}
	for i := range 4 {
		if err := os.WriteFile(filepath.Join(dir, strconv.Itoa(i)), make([]byte, 16<<10), 0o600); err != nil && i < 3 {
			t.Error(err)
		}
	}
	if d, err := new(diskAsk).stat("", dir, nil); err != nil || d.Free != 0 || d.InodesUnused != 0 {
		t.Errorf("of a full one: %+v, %v", d, err)
	}
	if d := at(unix.MS_REMOUNT | unix.MS_RDONLY); d.ReadOnly == "" {
		t.Errorf("of one that is mounted read-only: %+v", d)
	}
}
