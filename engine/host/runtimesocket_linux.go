package host

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/flavour"
	"github.com/plegtop/plegtop/engine/host/proc"
	"github.com/plegtop/plegtop/engine/smallfile"
)

// readSocket looks at the path of a socket as plegtop sees it. Who listens there is
// found out by one connection, and not again while that process is there.
func readSocket(root, path string, last *evidence.Socket) evidence.Socket {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, unix.ENOTDIR):
	case err != nil:
		return evidence.Socket{Missing: reason(err)}
	}
	s := evidence.Socket{Kind: kindOf(info)}
	dir := filepath.Join("/", root, "proc")
	processes, err := procfs.NewFS(dir)
	if err != nil {
		return s // the processes say why
	}
	if s.Kind == "socket" {
		pid := last.Holder.PID
		if pid == 0 {
			pid = listener(path)
		}
		s.Holder = processOf(processes, pid)
		if last.Holder.PID != 0 && s.Holder.Command != last.Holder.Command {
			s.Holder = processOf(processes, listener(path))
		}
	}
	if s.Holder.PID == 0 {
		s.Waits, s.Locked, s.Locker = locked(processes, dir)
	}
	return s
}

func kindOf(info fs.FileInfo) string {
	switch {
	case info == nil:
		return ""
	case info.Mode()&fs.ModeSocket != 0:
		return "socket"
	case info.IsDir():
		return "folder"
	case info.Mode().IsRegular():
		return "file"
	case info.Mode()&fs.ModeNamedPipe != 0:
		return "pipe"
	}
	return "device"
}

// listener returns the process that listens at a socket, as the kernel noted it then
// (SO_PEERCRED); 0 if nobody does, we may not connect, or it is in a process namespace
// that we cannot see.
func listener(path string) int {
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return 0
	}
	defer func() { _ = conn.Close() }() // nothing was written
	return peer(conn)
}

// processOf returns name and state of a process; nothing if it is not there.
func processOf(processes procfs.FS, pid int) evidence.Process {
	p, err := processes.Proc(pid)
	if err != nil {
		return evidence.Process{}
	}
	stat, err := p.Stat()
	if err != nil {
		return evidence.Process{}
	}
	return evidence.Process{PID: pid, Parent: stat.PPID, Command: stat.Comm, State: proc.StateOf(stat)}
}

// locked returns the runtime's process that has a file open which another process has
// locked, that file and the other process. containerd asks for the lock of its database
// again and again before it listens, so that the kernel knows of no waiter.
func locked(processes procfs.FS, dir string) (waits evidence.Process, file string, by evidence.Process) {
	locks := locksIn(filepath.Join(dir, "locks"))
	if len(locks) == 0 {
		return waits, "", by
	}
	all, _ := processes.AllProcs() // nothing if it cannot be read
	for _, p := range all {
		comm, err := p.Comm()
		if err != nil || !slices.Contains(flavour.Runtimes, comm) {
			continue
		}
		for _, open := range openDatabases(filepath.Join(dir, strconv.Itoa(p.PID))) {
			if i := slices.IndexFunc(locks, func(l lock) bool { return l.inode == open.inode && l.pid != p.PID }); i >= 0 {
				return processOf(processes, p.PID), open.name, processOf(processes, locks[i].pid)
			}
		}
	}
	return waits, "", by
}

// A lock is that of a whole file (flock(2)), and whose it is.
type lock struct {
	pid   int
	inode uint64
}

// locksIn reads /proc/locks, with lines such as
// "1: FLOCK  ADVISORY  WRITE 5120 fe:01:393 0 EOF".
func locksIn(file string) (all []lock) {
	text, err := smallfile.Read(file)
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) < 6 || f[1] != "FLOCK" {
			continue
		}
		pid, noPID := strconv.Atoi(f[4])
		inode, noInode := strconv.ParseUint(f[5][strings.LastIndexByte(f[5], ':')+1:], 10, 64)
		if errors.Join(noPID, noInode) == nil {
			all = append(all, lock{pid, inode})
		}
	}
	return all
}

// An openFile is a database that a process has open.
type openFile struct {
	name  string
	inode uint64
}

// openDatabases returns the databases among a process's open files.
func openDatabases(proc string) (all []openFile) {
	open, _ := os.ReadDir(filepath.Join(proc, "fd")) // nothing if it has ended, or we may not
	for _, fd := range open {
		at := filepath.Join(proc, "fd", fd.Name())
		name, err := os.Readlink(at)
		var s unix.Stat_t
		if err == nil && strings.HasSuffix(name, ".db") && unix.Stat(at, &s) == nil {
			all = append(all, openFile{name, s.Ino})
		}
	}
	return all
}

// sameFile reports whether two paths on the host lead to one file. It is false
// if one leads nowhere, as that of a runtime that has ended may.
func sameFile(root, a, b string) bool {
	var of [2]unix.Stat_t
	for i, path := range []string{a, b} {
		fd, is, err := openNamed(root, path)
		if err != nil {
			return false
		}
		_ = unix.Close(fd)
		of[i] = is
	}
	return of[0].Dev == of[1].Dev && of[0].Ino == of[1].Ino
}
