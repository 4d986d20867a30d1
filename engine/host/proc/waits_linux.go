package proc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/plegtop/plegtop/engine/evidence"
)

const (
	// waitLong is the time that a thread must be in uninterruptible sleep before a look finds out what it waits
	// for.
	waitLong = 500 * time.Millisecond

	// waitsPerLook is for how many processes one look finds out what they wait for: all processes may wait for
	// a dead server. The result is remembered while they wait.
	waitsPerLook = 30

	// amongAsked is for how many candidates a look finds out whose they are: no more are named to the user.
	amongAsked = 3

	// mapsRead is how many bytes of the list of mapped files are read.
	mapsRead = 256 << 10

	// pageCall stands in place of a system call's number if the thread is in no system call but waits for a
	// page of memory.
	pageCall = -1
)

// What the arguments of system calls are. Only calls that every platform has are listed.
var (
	// onFile are the calls whose argument 0 is an open file.
	onFile = []int{
		unix.SYS_READ, unix.SYS_PREAD64, unix.SYS_READV, unix.SYS_PREADV, unix.SYS_WRITE, unix.SYS_PWRITE64, unix.SYS_WRITEV, unix.SYS_PWRITEV,
		unix.SYS_FSYNC, unix.SYS_FDATASYNC, unix.SYS_SYNCFS, unix.SYS_FSTAT, unix.SYS_GETDENTS64, unix.SYS_LSEEK, unix.SYS_IOCTL,
		unix.SYS_FTRUNCATE, unix.SYS_FALLOCATE, unix.SYS_FLOCK, unix.SYS_FCHMOD, unix.SYS_FCHOWN,
	}
	// onPath are the calls whose argument 0 is a path.
	onPath = []int{
		unix.SYS_STATFS, unix.SYS_CHDIR, unix.SYS_CHROOT, unix.SYS_UMOUNT2, unix.SYS_EXECVE, unix.SYS_TRUNCATE,
		unix.SYS_GETXATTR, unix.SYS_LGETXATTR, unix.SYS_LISTXATTR, unix.SYS_SETXATTR,
	}
	// onPathIn are the calls whose argument 1 is a path, in the open folder of argument 0. Argument 0 of mount
	// is not a folder, so a relative path of mount is not found.
	onPathIn = []int{
		unix.SYS_OPENAT, unix.SYS_OPENAT2, statAt, unix.SYS_STATX, unix.SYS_FACCESSAT, unix.SYS_FACCESSAT2, unix.SYS_READLINKAT, unix.SYS_UNLINKAT,
		unix.SYS_MKDIRAT, unix.SYS_FCHMODAT, unix.SYS_FCHOWNAT, unix.SYS_UTIMENSAT, unix.SYS_NAME_TO_HANDLE_AT, unix.SYS_OPEN_TREE, unix.SYS_MOUNT,
	}
)

// A wait is what a thread waits for. It stays true until the thread goes on.
type wait struct {
	threadState
	mount   evidence.Mount
	among   []evidence.Mount // candidates, where mount is not known
	servers []evidence.Holder
	deep    bool // it was found out in a deep look
}

// waitsFor sets the mount that a process in uninterruptible sleep waits for, the candidates if it is not known,
// and the programs that serve them.
func (l *Look) waitsFor(e *evidence.Process, p *process) {
	if p.now.state != evidence.Uninterrupted || l.at.Sub(p.now.since) < waitLong {
		return
	}
	w, still := &p.wait, p.now.isStill(p.wait.threadState)
	if (!still || l.w.Deep && !w.deep && w.mount.Type == "") && l.waits < waitsPerLook {
		l.waits++
		*w, still = l.findWait(l.thread(p.task, p.now.thread), p, e), true
	}
	if still {
		e.Mount, e.Among, e.Servers = w.mount, w.among, l.StillHold(w.servers)
	}
}

// findWait returns the mount that a thread of a process waits for, and the programs that serve it.
func (l *Look) findWait(t task, p *process, e *evidence.Process) wait {
	w := wait{threadState: p.now, deep: l.w.Deep}
	w.mount, w.among = l.findMount(t, append([]string{e.Wchan}, e.Stack...))
	w.mount = l.onNode(w.mount, p)
	for i := range w.among[:min(len(w.among), amongAsked)] {
		w.among[i] = l.onNode(w.among[i], p)
	}
	w.servers = l.servers(append([]evidence.Mount{w.mount}, w.among...))
	return w
}

// findMount returns the mount that a thread waits for. It is the mount of the open file that the thread's
// system call is about. If the call is about a path instead, and the thread waits for a server in one of these
// functions of the kernel, it is the mount of the path. If neither is known, among has the mounts of the
// servers that these functions may wait for.
func (l *Look) findMount(t task, functions []string) (m evidence.Mount, among []evidence.Mount) {
	call, args := l.systemCall(t)
	isOnFile := slices.Contains(onFile, call) && len(args) > 0
	if !isOnFile && !slices.ContainsFunc(functions, evidence.ServerFunction) {
		return m, nil
	}
	mounts, err := l.mountsOf(t)
	if err != nil {
		return m, nil
	}
	if isOnFile {
		id := StatusField(l.text(t, "fdinfo/"+strconv.FormatUint(args[0], 10)), "mnt_id")
		for _, one := range mounts {
			if slices.Equal(id, []string{one.ID}) {
				return one.Mount, nil
			}
		}
		if len(id) > 0 { // on a mount that the process does not see any more
			return m, nil
		}
	}
	if at := MountAt(mounts, l.pathOf(t, call, args)); at != nil && evidence.MayWaitFor(at.Mount, functions...) {
		return at.Mount, nil
	}
	for _, one := range mounts { // a container may have a device at several places
		known := slices.ContainsFunc(among, func(o evidence.Mount) bool { return o.Device == one.Device })
		if !known && evidence.MayWaitFor(one.Mount, functions...) {
			among = append(among, one.Mount)
		}
	}
	if call == pageCall && l.w.Deep {
		if mapped := l.mapped(t, among); len(mapped) == 1 {
			return mapped[0], nil
		}
	}
	return m, among
}

// systemCall returns the number of a thread's system call and its arguments. If there are no arguments, the
// call is not known.
func (l *Look) systemCall(t task) (call int, args []uint64) {
	fields := strings.Fields(l.text(t, "syscall")) // number and arguments; "running" if it is in none
	if len(fields) < 2 {
		return 0, nil
	}
	call, err := strconv.Atoi(fields[0])
	for _, field := range fields[1:] {
		n, bad := strconv.ParseUint(strings.TrimPrefix(field, "0x"), 16, 64)
		if args = append(args, n); err != nil || bad != nil {
			return 0, nil
		}
	}
	return call, args
}

// pathOf returns the path that a system call is about, as the process sees it; empty if it is not known. The
// path is in the memory of the process, and only a deep look reads that.
func (l *Look) pathOf(t task, call int, args []uint64) string {
	place, isIn := 0, slices.Contains(onPathIn, call)
	if isIn {
		place = 1
	}
	if !isIn && !slices.Contains(onPath, call) || len(args) <= place || !l.w.Deep {
		return ""
	}
	name, _ := ask(l, t, "mem", func() (string, error) {
		f, err := os.Open(t.dir + "/mem")
		if err != nil {
			return "", err
		}
		defer f.Close()
		buffer := make([]byte, unix.PathMax)
		n, _ := f.ReadAt(buffer, int64(args[place])) // less where no memory follows
		text, _, ends := bytes.Cut(buffer[:n], []byte{0})
		if !ends {
			return "", errors.New("no path")
		}
		return string(text), nil
	})
	if name == "" || path.IsAbs(name) {
		return name
	}
	folder := "cwd"
	if isIn && int32(args[0]) != unix.AT_FDCWD {
		folder = "fd/" + strconv.FormatUint(args[0], 10)
	}
	if in := l.link(t, folder); path.IsAbs(in) {
		return path.Join(in, name)
	}
	return ""
}

// mapped returns the mounts among these whose files the process has mapped into its memory.
func (l *Look) mapped(t task, among []evidence.Mount) (found []evidence.Mount) {
	text, _ := ask(l, t, "maps", func() ([]byte, error) {
		f, err := os.Open(t.dir + "/maps")
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return io.ReadAll(io.LimitReader(f, mapsRead))
	})
	for _, m := range among {
		var major, minor int
		_, err := fmt.Sscanf(m.Device, "%d:%d", &major, &minor)
		if err == nil && bytes.Contains(text, fmt.Appendf(nil, " %02x:%02x ", major, minor)) { // address, permissions, offset, device
			found = append(found, m)
		}
	}
	return found
}

// A view decides which mounts a task sees.
type view struct{ space, root string }

// mountsOf returns the mounts that a task sees. They are read once in a look for all tasks with
// the same view: where a server is dead, many shims of the node may wait.
func (l *Look) mountsOf(t task) (all []*Mount, err error) {
	seen := view{l.link(t, "ns/mnt"), l.link(t, "root")}
	if all = l.mounts[seen]; all != nil {
		return all, nil
	}
	all, err = ask(l, t, "mountinfo", t.mountTable)
	if err == nil && seen.space != "" && seen.root != "" { // an ordinary user may not read these links
		l.mounts[seen] = all
	}
	return all, err
}
