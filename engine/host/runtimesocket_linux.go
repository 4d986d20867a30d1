package host

import (
	"errors"
	"io"
	"io/fs"
	"net"
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
	"github.com/plegtop/plegtop/engine/knowledge"
	"github.com/plegtop/plegtop/engine/smallfile"
)

// A socketWatch looks at the path of the runtime's socket, as plegtop sees it, again and
// again. It belongs to one goroutine at a time.
type socketWatch struct {
	root, path string
	picture    bool
	file       fs.FileInfo // what was there at the last look; nil for nothing
	last       evidence.Socket
}

// look tells what is there now. Who listens there is found out by one connection, and not
// again while that file and that process are there.
func (w *socketWatch) look() evidence.Socket {
	info, err := os.Stat(w.path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, unix.ENOTDIR):
	case err != nil:
		return evidence.Socket{Missing: reason(err)}
	}
	s := evidence.Socket{Kind: kindOf(info)}
	dir := filepath.Join("/", w.root, "proc")
	processes, err := procfs.NewFS(dir)
	if err != nil {
		return s // the processes say why
	}
	same := info != nil && w.file != nil && os.SameFile(info, w.file) && info.ModTime().Equal(w.file.ModTime())
	refused := false
	if s.Kind == "socket" {
		if same {
			s.Holder = processOf(processes, w.last.Holder.PID)
		}
		if s.Holder.PID == 0 || s.Holder.Command != w.last.Holder.Command {
			var pid int
			if pid, refused = listener(w.path); w.picture && !refused {
				pid = firstRuntime(processes)
			}
			s.Holder = processOf(processes, pid)
		}
	}
	passed := same && s.Holder.PID != 0 && s.Holder.PID == w.last.Holder.PID && w.last.Unlinked.PID == 0
	if s.Kind != "socket" || refused || s.Holder.PID != 0 && !passed && !slices.Contains(maySpeak, s.Holder.Command) && !knowledge.IsProxy(s.Holder.Command) {
		s.Unlinked = w.unlinked(processes, info, s.Holder.PID)
	}
	if s.Holder.PID == 0 {
		s.Waits, s.Locked, s.Locker = locked(processes, dir)
	}
	w.file, w.last = info, s
	return s
}

// maySpeak are the programs that listen at a runtime's socket on a node as it should be:
// runtimes, what has one within, and what listens for one until somebody connects.
var maySpeak = slices.Concat(knowledge.Programs, []string{"systemd", "init"})

// unlinked returns the runtime's process that listens at a socket which was made at the path,
// where what is there now does not lead to it: nobody, or a process that does not speak first
// as a runtime does, or as who stands before one and passes on what it says.
func (w *socketWatch) unlinked(processes procfs.FS, is fs.FileInfo, holder int) evidence.Process {
	for _, p := range named(processes, knowledge.Runtimes) {
		lost := func(socket string) bool { return w.isAt(socket) && !w.seesAnother(p.PID, socket, is) }
		if p.PID != holder && slices.ContainsFunc(proc.Listening(w.root, p), lost) && (holder == 0 || !greets(w.path)) {
			return processOf(processes, p.PID)
		}
	}
	return evidence.Process{}
}

// isAt reports whether a socket, by the name that the host's own processes have for it, was
// made where the runtime's belongs.
func (w *socketWatch) isAt(socket string) bool {
	ours, theirs := proc.OnHost(w.root, w.path), proc.SocketPath(socket)
	return theirs == ours || filepath.Base(theirs) == filepath.Base(ours) && sameFile(w.root, filepath.Dir(theirs), filepath.Dir(ours))
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
// that we cannot see. Refused says that nobody does.
func listener(path string) (pid int, refused bool) {
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return 0, errors.Is(err, unix.ECONNREFUSED)
	}
	defer func() { _ = conn.Close() }() // nothing was written
	return peer(conn), false
}

// seesAnother reports whether a process has a socket at a path that is not what we see: what
// was mounted for us alone is out of date then, and nothing is wrong with the node.
func (w *socketWatch) seesAnother(pid int, path string, ours fs.FileInfo) bool {
	theirs, err := os.Stat(filepath.Join("/", w.root, "proc", strconv.Itoa(pid), "root", path))
	return err == nil && kindOf(theirs) == "socket" && (ours == nil || !os.SameFile(theirs, ours))
}

// preface is how every HTTP/2 client begins, with an empty SETTINGS frame, and settings the
// kind of frame that is the first of every server. (RFC 9113, sections 3.4 and 6.5)
const (
	preface  = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + "\x00\x00\x00\x04\x00\x00\x00\x00\x00"
	settings = 0x04
)

// greets reports whether who listens at a socket begins within a second as a gRPC server
// does.
func greets(path string) bool {
	conn, err := net.DialTimeout("unix", path, time.Second)
	if err != nil {
		return false
	}
	defer func() { _ = conn.Close() }()               // no call was made
	_ = conn.SetDeadline(time.Now().Add(time.Second)) // of a socket it does not fail
	_, _ = io.WriteString(conn, preface)              // who does not take it may have spoken
	var frame [9]byte
	_, err = io.ReadFull(conn, frame[:])
	return err == nil && frame[3] == settings
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
	for _, p := range named(processes, knowledge.Runtimes) {
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

// named returns the processes that have one of these names; none if they cannot be read.
func named(processes procfs.FS, names []string) procfs.Procs {
	all, _ := processes.AllProcs()
	return slices.DeleteFunc(all, func(p procfs.Proc) bool {
		comm, err := p.Comm()
		return err != nil || !slices.Contains(names, comm)
	})
}
