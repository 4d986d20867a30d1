package host

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/host/proc"
	"github.com/plegtop/plegtop/engine/host/reads"
)

// mkdirs makes a root with folders in it.
func mkdirs(t *testing.T, paths ...string) string {
	t.Helper()
	root := t.TempDir()
	for _, p := range paths {
		if err := os.MkdirAll(filepath.Join(root, p), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestReadDiskFindsTheRuntimesRoot(t *testing.T) {
	all := []string{"/var/lib/docker", "/var/lib/containerd", "/var/lib/containers/storage", "/var/lib/rancher/k3s/agent/containerd", "/var/lib/k0s/containerd", "/var/snap/microk8s/common/var/lib/containerd"}
	tests := []struct {
		name           string
		there          []string
		path, endpoint string
		want           string
	}{
		{"rke2 has the socket of k3s", []string{"/var/lib/rancher/rke2/agent/containerd"}, "", "unix:///run/k3s/containerd/containerd.sock", "/var/lib/rancher/rke2/agent/containerd"},
		{"by the endpoint", all, "", "unix:///var/run/crio/crio.sock", "/var/lib/containers/storage"},
		{"k0s", all, "", "unix:///run/k0s/containerd.sock", "/var/lib/k0s/containerd"},
		{"MicroK8s", all, "", "unix:///var/snap/microk8s/common/run/containerd.sock", "/var/snap/microk8s/common/var/lib/containerd"},
		{"a distribution's before plain containerd", all, "", "unix:///run/k3s/containerd/containerd.sock", "/var/lib/rancher/k3s/agent/containerd"},
		{"plain containerd on a node with docker too", []string{"/var/lib/docker", "/var/lib/containerd"}, "", "unix:///run/containerd/containerd.sock", "/var/lib/containerd"},
		{"cri-dockerd", []string{"/var/lib/docker", "/var/lib/containerd"}, "", "unix:///var/run/cri-dockerd.sock", "/var/lib/docker"},
		{"as told", append(all, "/data/c"), "/data/c", "unix:///run/containerd/containerd.sock", "/data/c"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root := mkdirs(t, tt.there...)
			n := &Node{Config: Config{Root: root, Endpoint: tt.endpoint, RuntimeRoot: tt.path}, parts: []part{{"disk", always, new(diskWatch).read, nil}}}
			d := n.Look(t.Context(), false).Disk
			if d.Path != tt.want || d.Missing != "" {
				t.Errorf("disk of %q (missing %q), want %q", d.Path, d.Missing, tt.want)
			}
			if d.Total == 0 || d.Free > d.Total || d.InodesUnused > d.Inodes {
				t.Errorf("disk = %+v makes no sense", d)
			}
		})
	}
}

// The disks below are found in the kernel's own folders.
func TestDisksBelow(t *testing.T) {
	const disk, mapped = "/sys/devices/pci0/block/", "/sys/devices/virtual/block/"
	root := mkdirs(t, disk+"sda/sda1/partition", disk+"sda/sda2/partition", disk+"nvme0n1/nvme0n1p3/partition", mapped+"dm-0/slaves/sda2", mapped+"dm-0/slaves/nvme0n1p3",
		mapped+"dm-1/slaves/dm-0", mapped+"dm-2/slaves/dm-2", "/sys/class/block")
	for _, path := range []string{
		disk + "sda", disk + "sda/sda1", disk + "sda/sda2", disk + "nvme0n1", disk + "nvme0n1/nvme0n1p3", mapped + "dm-0", mapped + "dm-1", mapped + "dm-2",
	} {
		if err := os.Symlink("../../.."+path, filepath.Join(root, "sys/class/block", filepath.Base(path))); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{
		"sda": "[]", "sda1": "[sda]", "dm-0": "[nvme0n1p3 sda2 nvme0n1 sda]", "dm-1": "[dm-0 nvme0n1p3 sda2 nvme0n1 sda]", "dm-2": "[]", "sdz9": "[]",
	} {
		if got := fmt.Sprint(disksBelow(root, name)); got != want {
			t.Errorf("below %s: %s, want %s", name, got, want)
		}
	}
	for i := range 100 {
		if err := os.MkdirAll(filepath.Join(root, mapped, "dm-2/slaves", fmt.Sprint("sd", i)), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if got := disksBelow(root, "dm-2"); len(got) != mostBelow {
		t.Errorf("%d disks are looked for below one", len(got))
	}
}

// The disk of a file system is found in the node's own mounts: an overlay is on the disk of its upper folder,
// wherever a container has the host's root.
func TestMountedAt(t *testing.T) {
	root := mkdirs(t, "/sys/dev/block", "/sys/class/block", "/sys/fs/ext4/vda1", "/proc/fs/ext4/vda1")
	writeLink(t, root, "sys/dev/block/254:1", "../../devices/virtual/block/vda1")
	writeFile(t, filepath.Join(root, "sys/fs/ext4/vda1/errors_count"), "3\n")
	writeFile(t, filepath.Join(root, "proc/fs/ext4/vda1/options"), "rw\nemergency_ro\n")
	writeFile(t, filepath.Join(root, "proc/1/mountinfo"), "20 1 254:1 / / rw - ext4 /dev/root rw\n21 20 0:40 / /var/lib/c rw - overlay overlay rw,upperdir=/upper\n22 20 0:41 / /run rw - tmpfs tmpfs rw\n23 20 0:42 / /vol rw - btrfs /dev/sdz9 rw\n"+
		"24 20 0:43 / /mnt/data\\040disk rw - zfs pool\\040of/c rw\n25 20 0:44 / /two rw - overlay overlay rw,upperdir=/a\\040b/upper\n26 20 254:1 / /a\\040b rw - ext4 /dev/ro\\040ot rw\n")
	mounts, err := proc.Mounts(root)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]evidence.Mount{
		"/etc":             {Node: "/", Type: "ext4", Source: "/dev/vda1", Device: "254:1"},
		"/var/lib/c/x":     {Node: "/var/lib/c", Type: "overlay", Source: "/dev/root", Device: "0:40"},
		"/run/x":           {Node: "/run", Type: "tmpfs", Device: "0:41"},
		"/mnt/data disk/c": {Node: "/mnt/data disk", Type: "zfs", Device: "0:43"},
		"/two":             {Node: "/two", Type: "overlay", Source: "/dev/ro ot", Device: "0:44"},
		"/vol":             {Node: "/vol", Type: "btrfs", Source: "/dev/sdz9", Device: "0:42"},
	} {
		d := mountedAt(root, path, mounts)
		if diff := cmp.Diff(want, d.Mount); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
		if is := path == "/etc"; is != (d.Errors == 3) || is != (d.ReadOnly != "") {
			t.Errorf("%s: %+v", path, d)
		}
	}
}

// The disk of a folder is known even if its file system does not answer. The node's mounts show it, also for
// the place where a link led when it still answered.
func TestDiskOfAFileSystemThatHangs(t *testing.T) {
	root := mkdirs(t, "/mnt/data/c", "/var/lib", "/sys/dev/block", "/sys/class/block")
	writeLink(t, root, "sys/dev/block/8:17", "../../devices/pci0/block/sdb/sdb1")
	writeLink(t, root, "var/lib/containerd", "/mnt/data/c")
	writeFile(t, filepath.Join(root, "proc/1/mountinfo"), "20 1 254:1 / / rw - ext4 /dev/root rw\n21 20 8:17 / /mnt/data rw - xfs /dev/sdb1 rw\n")
	w := new(diskWatch)
	n := &Node{Config: Config{Root: root, RuntimeRoot: "/var/lib/containerd"}, parts: []part{{"disk", always, w.read, w.missing}}}
	answers := n.Look(t.Context(), false).Disk
	synctest.Test(t, func(t *testing.T) {
		release := make(chan bool)
		reads.Start(&n.reads, "disk", func() (fill, error) { <-release; return func(*evidence.Report) {}, nil })
		got := n.Look(t.Context(), false).Disk
		want := evidence.Mount{Node: "/mnt/data", Type: "xfs", Source: "/dev/sdb1", Device: "8:17"}
		if got.Missing != "no answer for 2s" || got.Path != "/var/lib/containerd" || got.Mount != want || answers.Mount != want || answers.Total == 0 {
			t.Errorf("%+v, want it on %+v", got, want)
		}
		release <- true
	})
}

// In the first look a folder does not answer to which links lead. The disk is that of the folder, not that of a
// link. A place where something is mounted is not asked whether it is a link.
func TestDiskOfTheFirstLook(t *testing.T) {
	root := mkdirs(t, "/var/lib", "/mnt", "/srv", "/sys/dev/block")
	writeFile(t, filepath.Join(root, "proc/1/mountinfo"), "20 1 254:1 / / rw - ext4 /dev/root rw\n21 20 0:52 / /mnt/nas rw - nfs4 nas:/x rw\n22 20 0:53 / /home rw - tmpfs tmpfs rw\n")
	writeLink(t, root, "mnt/nas", "/home") // what is asked leads here
	writeLink(t, root, "srv/nas", "/../mnt/./nas/")
	writeLink(t, root, "var/lib/absolute", "/srv/nas/c")
	writeLink(t, root, "var/lib/relative", "../../srv/nas")
	writeLink(t, root, "var/lib/endless", "endless")
	mounts, err := proc.Mounts(root)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"/mnt/nas/c": "/mnt/nas", "/var/lib/absolute": "/mnt/nas", "/var/lib/relative/c/d": "/mnt/nas", "/var/lib/plain": "/", "/var/lib/endless": "/", "/home": "/home", "/": "/",
	} {
		a := new(diskAsk)
		d := a.follow(root, path, mounts)
		if known := a.without(errors.New("no answer")); known.Path != path || known.Mount.Node != want || d.Mount != known.Mount {
			t.Errorf("%s: %+v, want %s", path, known, want)
		}
		if a.follow(root, path, nil); a.without(errors.New("no answer")).Mount != (evidence.Mount{}) {
			t.Errorf("%s: %+v without a mount table", path, a.known.Load())
		}
	}
}

// The mount table of a dense node takes its time, and it may not come at all. How much room is left is known
// all the same.
func TestDisksOfAMountTableThatIsLate(t *testing.T) {
	id := longID("1")
	root := mkdirs(t, "/run/containerd", "/sys/dev/block")
	writeProcess(t, root, fakeShim(20, id, testSocket))
	writeLink(t, root, "proc/20/cwd", "/run/containerd/io.containerd.runtime.v2.task/k8s.io/"+id)
	for took, want := range map[time.Duration]string{fileTimeout * 2: "0:41", limit * 2: ""} {
		synctest.Test(t, func(t *testing.T) {
			w := new(diskWatch)
			n := &Node{Config: Config{Root: root, RuntimeRoot: "/run/containerd"}}
			n.parts = []part{{"processes", always, newWalker(root, "", fileTimeout).read, nil}, {"disk", always, w.read, w.missing}}
			reads.Start(&n.reads, "mounts", func() ([]*proc.Mount, error) {
				time.Sleep(took)
				return []*proc.Mount{{Mount: evidence.Mount{Point: "/", Type: "tmpfs", Device: "0:41"}}}, nil
			})
			r := n.Look(t.Context(), false)
			for _, d := range []evidence.Disk{r.Disk, r.State} {
				if d.Path != "/run/containerd" || d.Missing != "" || d.Total == 0 || d.Mount.Device != want {
					t.Errorf("after %v: %+v, want it on %q", took, d, want)
				}
			}
			time.Sleep(took)
		})
	}
}

// While nothing hangs the mounts are read every half minute. A table that could not be read is read again
// in the next look.
func TestMountsAreKept(t *testing.T) {
	root := mkdirs(t, "/proc/1")
	n := &Node{Config: Config{Root: root, RuntimeRoot: "/data"}}
	n.parts = []part{{"disk", always, new(diskWatch).read, nil}}
	synctest.Test(t, func(t *testing.T) {
		for _, tt := range []struct {
			mounted string
			isDeep  bool
			after   time.Duration
			want    string
		}{
			{"", false, 0, ""},
			{"0:41", false, 5 * time.Second, "0:41"},
			{"0:42", false, tableAge - 1, "0:41"},
			{"0:42", false, 1, "0:42"},
			{"0:43", true, 1, "0:43"},
			{"0:44", false, 1, "0:43"},
		} {
			if time.Sleep(tt.after); tt.mounted != "" {
				writeFile(t, filepath.Join(root, "proc/1/mountinfo"), "21 20 "+tt.mounted+" / / rw - tmpfs tmpfs rw\n")
			}
			if d := n.Look(t.Context(), tt.isDeep).Disk; d.Mount.Device != tt.want {
				t.Errorf("%+v: on %q", tt, d.Mount.Device)
			}
		}
	})
}

// If the configuration hangs, the folder is the usual one of the endpoint: both may be on one disk.
func TestDiskOfAConfigurationThatHangs(t *testing.T) {
	root := mkdirs(t, "/var/lib/containerd")
	writeFile(t, filepath.Join(root, "proc/1/mountinfo"), "20 1 254:1 / / rw - ext4 /dev/root rw\n")
	w := new(diskWatch)
	n := &Node{Config: Config{Root: root, Endpoint: "unix://" + testSocket}, parts: []part{{"disk", always, w.read, w.missing}}}
	synctest.Test(t, func(t *testing.T) {
		release := make(chan bool)
		reads.Start(&n.reads, "static", func() (*static, error) { <-release; return nil, nil })
		if got := n.Look(t.Context(), false).Disk; got.Path != "/var/lib/containerd" || got.Mount.Device != "254:1" || got.Missing != "" {
			t.Errorf("%+v", got)
		}
		release <- true
	})
}

// A link on the host is followed on the host.
func TestOpenOnHostFollowsLinksOnTheHost(t *testing.T) {
	root := mkdirs(t, "/data/here", "/var/lib")
	if err := os.Symlink("/data/here", filepath.Join(root, "var/lib/containerd")); err != nil {
		t.Fatal(err)
	}
	fd, got, err := openOnHost(root, "/var/lib/containerd")
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	var want unix.Stat_t
	if err := unix.Stat(filepath.Join(root, "data/here"), &want); err != nil {
		t.Fatal(err)
	}
	if got.Ino != want.Ino {
		t.Errorf("opened inode %d, want %d of the folder under the root", got.Ino, want.Ino)
	}
}
