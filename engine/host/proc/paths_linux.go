package proc

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"

	"github.com/plegtop/plegtop/engine/evidence"
)

const (
	// unknownCall is the number of a system call that may not be known, pageCall that of a
	// thread that is in none: it waits for a page of memory.
	unknownCall = -2
	pageCall    = -1

	// mapsRead bounds what is read of a process's mapped files.
	mapsRead = 256 << 10
)

// A pathArgument says which argument of a system call is a path, and whether the one before
// it is the open folder in which that begins.
type pathArgument struct {
	place    int
	inFolder bool
}

// onPath are the system calls about a path, as far as every platform has them.
var onPath = map[int]pathArgument{
	unix.SYS_OPENAT: {1, true}, unix.SYS_OPENAT2: {1, true}, statAt: {1, true}, unix.SYS_STATX: {1, true},
	unix.SYS_FACCESSAT: {1, true}, unix.SYS_FACCESSAT2: {1, true}, unix.SYS_READLINKAT: {1, true}, unix.SYS_UNLINKAT: {1, true},
	unix.SYS_MKDIRAT: {1, true}, unix.SYS_FCHMODAT: {1, true}, unix.SYS_FCHOWNAT: {1, true}, unix.SYS_UTIMENSAT: {1, true},
	unix.SYS_NAME_TO_HANDLE_AT: {1, true}, unix.SYS_OPEN_TREE: {1, true},
	unix.SYS_STATFS: {0, false}, unix.SYS_CHDIR: {0, false}, unix.SYS_CHROOT: {0, false}, unix.SYS_UMOUNT2: {0, false},
	unix.SYS_EXECVE: {0, false}, unix.SYS_TRUNCATE: {0, false}, unix.SYS_GETXATTR: {0, false}, unix.SYS_LGETXATTR: {0, false},
	unix.SYS_LISTXATTR: {0, false}, unix.SYS_SETXATTR: {0, false}, unix.SYS_MOUNT: {1, false},
}

// pathOf returns the path that a thread's system call is about, as the process sees it;
// empty if that is not known. It is read from the memory of the process, as permitted to
// whoever may trace it, and only in a deep look.
func (l *Look) pathOf(s sighting, call int, args []uint64) string {
	is, known := onPath[call]
	if !known || len(args) <= is.place || !l.isDeep {
		return ""
	}
	name, err := Fetch(l, File{s.proc.PID, "mem", true}, func() (string, error) {
		return textAt(filepath.Join(l.dir, strconv.Itoa(s.proc.PID), "mem"), int64(args[is.place]))
	})
	if err != nil || name == "" || path.IsAbs(name) {
		return name
	}
	folder := "cwd"
	if is.inFolder && int32(args[0]) != unix.AT_FDCWD {
		folder = "fd/" + strconv.FormatUint(args[0], 10)
	}
	in, err := Fetch(l, File{s.proc.PID, folder, true}, func() (string, error) {
		return os.Readlink(filepath.Join(l.dir, strconv.Itoa(s.proc.PID), folder))
	})
	if err != nil || !path.IsAbs(in) {
		return ""
	}
	return path.Join(in, name)
}

// textAt returns the text that begins at a place in a file and ends with a NUL, if it is no
// longer than a path may be.
func textAt(file string, place int64) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	buffer := make([]byte, unix.PathMax)
	n, err := f.ReadAt(buffer, place) // less where the memory after it is not there
	text, _, ends := bytes.Cut(buffer[:n], []byte{0})
	if !ends {
		return "", err
	}
	return string(text), nil
}

// MountOf returns the mount that a path leads to for the first process of the host with that
// root, as far as it has no links in it; nothing if that cannot be known. It may hang.
func MountOf(root, name string) evidence.Mount {
	if m := MountAt(mountsOfFirst(root), name); m != nil {
		return mountOf(m)
	}
	return evidence.Mount{}
}

// Mounts returns the mounts that the first process of a node sees; none if that cannot be
// read.
func Mounts(root string) (all []evidence.Mount) {
	for _, m := range mountsOfFirst(root) {
		all = append(all, mountOf(m))
	}
	return all
}

func mountsOfFirst(root string) []*procfs.MountInfo {
	first, err := procfs.NewFS(filepath.Join("/", root, "proc"))
	if err != nil {
		return nil
	}
	p, err := first.Proc(1)
	if err != nil {
		return nil
	}
	mounts, _ := p.MountInfo() // nothing without
	return mounts
}

// MountAt returns the mount that a path leads to, as far as it has no links in it; nil for
// none.
func MountAt(mounts []*procfs.MountInfo, name string) (m *procfs.MountInfo) {
	name = path.Clean(name)
	longest := -1
	for _, one := range mounts { // of those at one point the last counts
		point := blanks.Replace(one.MountPoint)
		if inside := name == point || strings.HasPrefix(name, strings.TrimSuffix(point, "/")+"/"); inside && len(point) >= longest {
			m, longest = one, len(point)
		}
	}
	return m
}

// mapped returns the one of some mounts of which a process has files in its memory, if the
// thread waits for a page of such a file; else all of them.
func (l *Look) mapped(s sighting, call int, among []evidence.Mount) (m evidence.Mount, all []evidence.Mount) {
	if call != pageCall || len(among) == 0 || !l.isDeep {
		return m, among
	}
	text, _ := Fetch(l, File{s.proc.PID, "maps", true}, func() (string, error) {
		f, err := os.Open(filepath.Join(l.dir, strconv.Itoa(s.proc.PID), "maps"))
		if err != nil {
			return "", err
		}
		defer f.Close()
		text, err := io.ReadAll(io.LimitReader(f, mapsRead))
		return string(text), err
	})
	var found []evidence.Mount
	for _, one := range among {
		var major, minor int
		_, err := fmt.Sscanf(one.Device, "%d:%d", &major, &minor)
		if err == nil && strings.Contains(text, fmt.Sprintf(" %02x:%02x ", major, minor)) { // address, permissions, offset, device, inode, path
			found = append(found, one)
		}
	}
	if len(found) == 1 {
		return found[0], nil
	}
	return m, among
}
