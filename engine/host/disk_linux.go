package host

import (
	"cmp"
	"errors"
	"io/fs"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/plegtop/plegtop/engine/evidence"
)

// statDisk returns the file system that holds path on the host. The error is a
// [fs.PathError].
func statDisk(root, path string) (evidence.Disk, error) {
	fd, err := openOnHost(root, path)
	if err != nil {
		return evidence.Disk{}, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	defer func() { _ = unix.Close(fd) }() // opened for its name alone: there is nothing to lose
	var s unix.Statfs_t
	if err := unix.Fstatfs(fd, &s); err != nil {
		return evidence.Disk{}, &fs.PathError{Op: "statfs", Path: path, Err: err}
	}
	block := uint64(cmp.Or(s.Frsize, s.Bsize))
	return evidence.Disk{
		Path: path, Total: s.Blocks * block, Free: s.Bavail * block,
		Inodes: s.Files, InodesUnused: s.Ffree,
	}, nil
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
