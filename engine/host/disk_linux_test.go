package host

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"
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
			d := readDisk(mkdirs(t, tt.there...), tt.path, tt.endpoint)
			if d.Path != tt.want || d.Missing != "" {
				t.Errorf("disk of %q (missing %q), want %q", d.Path, d.Missing, tt.want)
			}
			if d.Total == 0 || d.Free > d.Total || d.InodesUnused > d.Inodes {
				t.Errorf("disk = %+v makes no sense", d)
			}
		})
	}
}

// The disks below are told by the kernel's own folders.
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
	if got := disksBelow(root, "dm-2"); len(got) != belowMost {
		t.Errorf("%d disks are looked for below one", len(got))
	}
}

// Who runs in a container sees the host's folders below its root: what is mounted at the same
// path in the container is another disk.
func TestSourceBelowARoot(t *testing.T) {
	mounts := []*procfs.MountInfo{
		{MountPoint: "/data", FSType: "ext4", Source: "/dev/vdz1"},
		{MountPoint: "/host", FSType: "overlay", Source: "overlay", SuperOptions: map[string]string{"upperdir": "/data/upper"}},
		{MountPoint: "/host/data", FSType: "ext4", Source: "/dev/vda1"},
	}
	if got := sourceBelow("/host", mounts, mounts[1]); got != "/dev/vda1" {
		t.Errorf("the overlay of the host is on %q", got)
	}
}

// A link on the host is followed on the host.
func TestOpenOnHostFollowsLinksOnTheHost(t *testing.T) {
	root := mkdirs(t, "/data/here", "/var/lib")
	if err := os.Symlink("/data/here", filepath.Join(root, "var/lib/containerd")); err != nil {
		t.Fatal(err)
	}
	fd, err := openOnHost(root, "/var/lib/containerd")
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	var got, want unix.Stat_t
	if err := unix.Fstat(fd, &got); err != nil {
		t.Fatal(err)
	}
	if err := unix.Stat(filepath.Join(root, "data/here"), &want); err != nil {
		t.Fatal(err)
	}
	if got.Ino != want.Ino {
		t.Errorf("opened inode %d, want %d of the folder under the root", got.Ino, want.Ino)
	}
}
