package host

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/plegtop/plegtop/engine/host/proc"
	"github.com/plegtop/plegtop/engine/smallfile"
)

// mostNames is how many names of a folder are read at most: /tmp may be full of them.
const mostNames = 200_000

// openOnHost opens a file of the host without reading it (O_PATH), and returns its stat. Links in the path lead
// where they lead on the host. The caller closes fd.
func openOnHost(root, path string) (fd int, is unix.Stat_t, err error) {
	const flags = unix.O_PATH | unix.O_CLOEXEC
	if root == "" || root == "/" {
		fd, err = unix.Open(path, flags, 0)
	} else {
		var top int
		if top, err = unix.Open(root, flags|unix.O_DIRECTORY, 0); err != nil {
			return -1, is, err
		}
		defer func() { _ = unix.Close(top) }()
		fd, err = unix.Openat2(top, path, &unix.OpenHow{Flags: flags, Resolve: unix.RESOLVE_IN_ROOT})
		if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM) { // a kernel before 5.6, or a filter of system calls
			fd, err = unix.Open(filepath.Join(root, path), flags, 0)
		}
	}
	if err != nil {
		return -1, is, err
	}
	if err = unix.Fstat(fd, &is); err != nil {
		_ = unix.Close(fd)
		return -1, is, err
	}
	return fd, is, nil
}

// ownFile returns the path by which this process can open its open file again.
func ownFile(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }

// readOnHost returns the text of a small regular file of the host.
func readOnHost(root, path string) ([]byte, error) {
	fd, _, err := openOnHost(root, path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = unix.Close(fd) }()
	text, err := smallfile.Read(ownFile(fd))
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		err = failed.Err // without our own name for the file
	}
	return text, err
}

// namesIn returns the names in a folder on the host for which isWanted is true, in order.
func namesIn(root, dir string, isWanted func(name string) bool) ([]string, error) {
	fd, _, err := openOnHost(root, dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = unix.Close(fd) }()
	folder, err := os.OpenFile(ownFile(fd), os.O_RDONLY|unix.O_DIRECTORY, 0) // a pipe is no folder
	if err != nil {
		return nil, err
	}
	defer func() { _ = folder.Close() }()
	all, err := folder.Readdirnames(mostNames)
	if errors.Is(err, io.EOF) { // the folder is empty
		err = nil
	}
	all = slices.DeleteFunc(all, func(name string) bool { return !isWanted(name) })
	slices.Sort(all)
	return all, err
}

// matching returns the files on the host that match a path whose last part is a pattern, in order.
func matching(root, path string) (all []string) {
	dir, pattern := filepath.Split(path)
	names, _ := namesIn(root, dir, func(name string) bool { // a folder that cannot be read has none
		is, _ := filepath.Match(pattern, name)
		return is
	})
	for _, name := range names {
		all = append(all, filepath.Join(dir, name))
	}
	return all
}

// sameFile reports whether two paths on the host lead to the same file; false if one of them leads nowhere.
func sameFile(root, a, b string) bool {
	var of [2]unix.Stat_t
	for i, path := range []string{a, b} {
		fd, is, err := openOnHost(root, path)
		if err != nil {
			return false
		}
		_ = unix.Close(fd)
		of[i] = is
	}
	return of[0].Dev == of[1].Dev && of[0].Ino == of[1].Ino
}

// dialSocket connects to a socket of the host. If holder is not 0, and we see that another process listens
// there, it returns an error and sends nothing.
func dialSocket(root, path string, holder int) (*net.UnixConn, error) {
	if !filepath.IsAbs(path) {
		return nil, fmt.Errorf("%q is not the path of a socket", path)
	}
	fd, is, err := openOnHost(root, path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = unix.Close(fd) }()
	if is.Mode&unix.S_IFMT != unix.S_IFSOCK {
		return nil, errors.New("it is no socket")
	}
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: ownFile(fd), Net: "unix"}) // it does not wait: a full queue is an error
	if failed, ok := errors.AsType[unix.Errno](err); ok {
		return nil, failed // without our own name for the socket
	}
	if err != nil {
		return nil, err
	}
	if pid := peer(conn); holder != 0 && pid != 0 && pid != holder {
		_ = conn.Close()
		return nil, fmt.Errorf("process %d listens there, and the runtime is %d: name it with --debug-socket if it is right", pid, holder)
	}
	return conn, nil
}

// peer returns the pid of the process at the other end of a connection, as the kernel noted it (SO_PEERCRED); 0
// if that process is in a namespace that we do not see.
func peer(conn *net.UnixConn) (pid int) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0
	}
	_ = raw.Control(func(fd uintptr) { // pid stays 0 if it fails
		if of, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED); err == nil {
			pid = int(of.Pid)
		}
	})
	return pid
}

// listener returns the pid of the process that listens at a socket; 0 if nobody does, or if that cannot be
// known. Refused reports that nobody does. The path is as plegtop sees it. Nothing is sent.
func listener(path string) (pid int, refused bool) {
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return 0, errors.Is(err, unix.ECONNREFUSED)
	}
	defer func() { _ = conn.Close() }()
	return peer(conn), false
}

// rights are what the kernel asks for before it shows what plegtop reads in deep looks: the bits of CapEff in
// proc_pid_status(5).
var rights = []struct {
	bit        int
	name, what string
	isRoots    bool // root does not need it
}{
	{21, "CAP_SYS_ADMIN", "kernel stacks", false},
	{19, "CAP_SYS_PTRACE", "open files and system calls", false},
	{34, "CAP_SYSLOG", "the kernel's log", false},
	{2, "CAP_DAC_READ_SEARCH", "the runtime's folders", true},
}

// Lacks returns one line about what this process may not read where something hangs, and what to do; "" if
// nothing is missing, or if that is not known. User is the effective user id.
func Lacks(user int) string {
	status, _ := smallfile.Read("/proc/self/status") // without it nothing is known
	return lacks(string(status), user)
}

func lacks(status string, user int) string {
	has, err := strconv.ParseUint(strings.Join(proc.StatusField(status, "CapEff"), ""), 16, 64) // no such field: no number
	if err != nil {
		return ""
	}
	var what, names []string
	for _, r := range rights {
		if has&(1<<r.bit) == 0 && !(r.isRoots && user == 0) {
			what, names = append(what, r.what), append(names, r.name)
		}
	}
	if what == nil {
		return ""
	}
	return "where something hangs, " + strings.Join(what, ", ") + " will not be read: run plegtop as root of the node, or add " + strings.Join(names, ", ")
}
