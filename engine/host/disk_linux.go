package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/host/proc"
)

// statDisk returns the file system that holds path on the host. The error does not name that.
func statDisk(root, path string) (evidence.Disk, error) {
	fd, err := openOnHost(root, path)
	if err != nil {
		return evidence.Disk{}, err
	}
	defer func() { _ = unix.Close(fd) }() // opened for its name alone: there is nothing to lose
	var s unix.Statfs_t
	if err := unix.Fstatfs(fd, &s); err != nil {
		return evidence.Disk{}, err
	}
	block := uint64(cmp.Or(s.Frsize, s.Bsize))
	d := evidence.Disk{
		Path: path, Total: s.Blocks * block, Free: s.Bavail * block, Left: s.Bfree * block,
		Inodes: s.Files, InodesUnused: s.Ffree, Mount: evidence.Mount{Type: fileSystems[int64(uint32(s.Type))]},
	}
	d.Mount.Node = proc.MountOf(root, path).Point
	if s.Flags&unix.ST_RDONLY != 0 {
		d.ReadOnly = "it is mounted read-only"
	}
	var file unix.Stat_t
	if unix.Fstat(fd, &file) == nil {
		d.Mount.Device = fmt.Sprintf("%d:%d", unix.Major(file.Dev), unix.Minor(file.Dev))
		if readDevice(root, &d); d.Mount.Source == "" {
			readSource(root, fd, &d)
		}
	}
	return d, nil
}

// readSource adds the name of the disk below a file system that has no device number of its
// own, by the mounts that we see.
func readSource(root string, fd int, d *evidence.Disk) {
	at, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd))
	mounts, failed := procfs.GetMounts()
	if err != nil || failed != nil {
		return
	}
	m := proc.MountAt(mounts, at)
	if m == nil {
		return
	}
	d.Mount.Device = m.MajorMinorVer // as that of who waits for it: a subvolume of btrfs has another one
	source := sourceBelow(root, mounts, m)
	var device unix.Stat_t
	if source == "" || unix.Stat(filepath.Join("/", root, source), &device) != nil || device.Mode&unix.S_IFMT != unix.S_IFBLK {
		return
	}
	number := fmt.Sprintf("%d:%d", unix.Major(device.Rdev), unix.Minor(device.Rdev))
	if link, err := os.Readlink(filepath.Join("/", root, "sys/dev/block", number)); err == nil { // as the kernel calls it
		d.Mount.Source, d.Below = "/dev/"+filepath.Base(link), disksBelow(root, filepath.Base(link))
	}
}

// sourceBelow returns the device file below a mount: of btrfs its source is one, an overlay
// writes to a folder of the host that may be on such a mount. It is empty for what has none.
func sourceBelow(root string, mounts []*procfs.MountInfo, m *procfs.MountInfo) string {
	if upper := m.SuperOptions["upperdir"]; m.FSType == "overlay" && upper != "" {
		m = proc.MountAt(mounts, filepath.Join("/", root, upper))
	}
	if m == nil || !strings.HasPrefix(m.Source, "/dev/") { // as of an upper folder of another namespace
		return ""
	}
	return m.Source
}

// drawnDisk is the part that tells which disk the runtime's data is on in a picture of a
// node, by the mounts of its first process. How much room is left there nobody draws.
func drawnDisk(root string) part {
	return partOf("disk", diskOf, func(context.Context) evidence.Disk {
		of := serving(root, "", true)
		d := evidence.Disk{Path: of.setting(of.data)}
		if d.Mount = proc.MountOf(root, d.Path); d.Mount.Device == "" {
			d = evidence.Disk{Missing: "a made-up node has no disk"}
		}
		return d
	}, func(d *evidence.Disk, err error) { d.Missing = err.Error() })
}

// fileSystems are the names of those that a runtime's folders may be on, by the
// numbers that statfs has for them.
var fileSystems = map[int64]string{
	unix.EXT4_SUPER_MAGIC: "ext4", unix.XFS_SUPER_MAGIC: "xfs", unix.BTRFS_SUPER_MAGIC: "btrfs", unix.TMPFS_MAGIC: "tmpfs",
	unix.OVERLAYFS_SUPER_MAGIC: "overlay", unix.NFS_SUPER_MAGIC: "nfs", unix.FUSE_SUPER_MAGIC: "fuse",
}

// readDevice adds the name of the disk, and what ext4 has found wrong with itself:
// after an error it may refuse all writing without being mounted so.
func readDevice(root string, d *evidence.Disk) {
	link, err := os.Readlink(filepath.Join("/", root, "sys/dev/block", d.Mount.Device))
	if err != nil {
		return // of no disk
	}
	name := filepath.Base(link)
	d.Mount.Source, d.Below = "/dev/"+name, disksBelow(root, name)
	read := func(path ...string) string {
		text, _ := os.ReadFile(filepath.Join("/", root, filepath.Join(path...)))
		return strings.TrimSpace(string(text))
	}
	number := func(file string) int64 {
		n, _ := strconv.ParseInt(read("sys/fs/ext4", name, file), 10, 64)
		return max(n, 0)
	}
	if d.Errors = uint64(number("errors_count")); d.Errors > 0 {
		d.ErrorAge = max(time.Since(time.Unix(number("last_error_time"), 0)), 0)
	}
	for option := range strings.FieldsSeq(read("proc/fs/ext4", name, "options")) {
		if option == "emergency_ro" || option == "shutdown" {
			d.ReadOnly = "ext4 has stopped all writing after an error (" + option + ")"
		}
	}
}

// belowMost is how many disks below one are looked for.
const belowMost = 16

// disksBelow returns the whole disk of a partition, and what a mapped disk or an array is made
// of, with what is below that, the nearest first.
func disksBelow(root, name string) []string {
	all := []string{name}
	for i := 0; i < len(all); i++ {
		at, err := os.Readlink(filepath.Join("/", root, "sys/class/block", all[i]))
		if err != nil {
			continue
		}
		var next []string
		at = filepath.Join("/", root, "sys/class/block", at)
		if _, err := os.Lstat(filepath.Join(at, "partition")); err == nil {
			next = []string{filepath.Base(filepath.Dir(at))}
		}
		made, _ := os.ReadDir(filepath.Join(at, "slaves")) // a disk that is made of no others may have no such folder
		for _, e := range made {
			next = append(next, e.Name())
		}
		for _, one := range next {
			if len(all) <= belowMost && !slices.Contains(all, one) {
				all = append(all, one)
			}
		}
	}
	return all[1:]
}

// openOnHost opens path so that a symbolic link in it, such as from
// /var/lib/containerd to a data disk, leads to where it leads on the host, and
// not in the container that sees the host's root elsewhere.
func openOnHost(root, path string) (int, error) {
	const flags = unix.O_PATH | unix.O_CLOEXEC
	if root == "" || root == "/" {
		return unix.Open(path, flags, 0)
	}
	top, err := unix.Open(root, flags|unix.O_DIRECTORY, 0)
	if err != nil {
		return -1, err
	}
	defer func() { _ = unix.Close(top) }()
	fd, err := unix.Openat2(top, path, &unix.OpenHow{Flags: flags, Resolve: unix.RESOLVE_IN_ROOT})
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM) { // a kernel before 5.6, or a filter of system calls
		return unix.Open(filepath.Join(root, path), flags, 0)
	}
	return fd, err
}

// openNamed opens a file on the host as [openOnHost] does, for its name alone, and says what
// it is.
func openNamed(root, path string) (fd int, is unix.Stat_t, err error) {
	if fd, err = openOnHost(root, path); err != nil {
		return -1, is, err
	}
	if err = unix.Fstat(fd, &is); err != nil {
		_ = unix.Close(fd) // there is nothing to lose
		return -1, is, err
	}
	return fd, is, nil
}

// missingDisk says why there is no telling how the file system of a folder is.
func missingDisk(path string, err error) evidence.Disk {
	broken := false
	for _, answer := range []error{
		fs.ErrNotExist, unix.EIO, unix.ENXIO, unix.ESTALE, unix.ENOTCONN, unix.EUCLEAN, unix.ESHUTDOWN, unix.ETIMEDOUT, unix.EHOSTDOWN,
	} {
		broken = broken || errors.Is(err, answer)
	}
	return evidence.Disk{Path: path, Missing: err.Error(), Broken: broken}
}
