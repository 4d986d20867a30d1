package host

import (
	"cmp"
	"context"
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
	"time"

	"golang.org/x/sys/unix"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/host/proc"
	"github.com/plegtop/plegtop/engine/knowledge"
	"github.com/plegtop/plegtop/engine/smallfile"
)

// A socketWatch looks at the path of the runtime's socket, as plegtop sees it, again and again.
type socketWatch struct {
	root, path string
	picture    bool
	file       fs.FileInfo // the file at the path in the last look; nil if there was none
	last       evidence.Socket
}

// read returns what is at the path of the runtime's socket, for Report.Socket.
func (w *socketWatch) read(context.Context, *Look) (fill, error) {
	s, err := w.look()
	return func(r *evidence.Report) { r.Socket = s }, err
}

// look returns what is at the path. It connects to the socket to find the process that listens there. It
// connects again only if the file at the path is another one, or if that process is not known or has ended.
func (w *socketWatch) look() (s evidence.Socket, err error) {
	info, err := os.Stat(w.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, unix.ENOTDIR) {
		return s, errors.New(reason(err))
	}
	s.Kind = kindOf(info)
	same := info != nil && w.file != nil && os.SameFile(info, w.file) && info.ModTime().Equal(w.file.ModTime())
	refused, passed := false, false
	if s.Kind == "socket" {
		if s.Holder = processOf(w.root, w.last.Holder.PID).report(); !same || s.Holder.PID == 0 || s.Holder.Start != w.last.Holder.Start {
			s.Holder, refused = w.holder()
		} else {
			passed = w.last.Unlinked.PID == 0
		}
	}
	if expected := slices.Contains(mayListen, s.Holder.Command) || knowledge.IsProxy(s.Holder.Command); s.Kind != "socket" || refused || s.Holder.PID != 0 && !passed && !expected {
		s.Unlinked = w.unlinked(info, s.Holder.PID)
	}
	if s.Holder.PID == 0 {
		s.Waits, s.Locked, s.Locker = locked(w.root)
	}
	w.file, w.last = info, s
	return s, nil
}

// holder returns the process that listens at the path; refused reports that nobody does. In a picture of a node
// plegtop itself listens there. Then holder returns the picture's first runtime.
func (w *socketWatch) holder() (p evidence.Process, refused bool) {
	pid, refused := listener(w.path)
	if w.picture && !refused {
		pid = (&Config{Root: w.root, Offline: true}).runtimeAt()
	}
	return processOf(w.root, pid).report(), refused
}

// mayListen are the programs that listen at the socket of a healthy runtime: runtimes, programs that contain a
// runtime, and programs that listen in place of the runtime until somebody connects.
var mayListen = slices.Concat(knowledge.Programs, []string{"systemd", "init"})

// kindOf returns the kind of a file, in words; "" for none.
func kindOf(info fs.FileInfo) string {
	if info == nil {
		return ""
	}
	kinds := map[fs.FileMode]string{fs.ModeSocket: "socket", fs.ModeDir: "folder", 0: "file", fs.ModeNamedPipe: "pipe"}
	return cmp.Or(kinds[info.Mode().Type()], "device")
}

// unlinked returns a process of the runtime whose socket was made at our path, but the path does not lead to
// that socket any more. It returns a process only if nobody listens at the path, or if the process that listens
// there does not greet as a runtime or a proxy does. Otherwise it returns zero.
func (w *socketWatch) unlinked(is fs.FileInfo, holder int) evidence.Process {
	for _, p := range runtimes(w.root) {
		lost := func(socket string) bool { return w.isAt(socket) && !w.seesAnother(p.PID, socket, is) }
		if p.PID != holder && slices.ContainsFunc(proc.Listening(w.root, p.Proc), lost) && (holder == 0 || !greets(w.path)) {
			return p.report()
		}
	}
	return evidence.Process{}
}

// isAt reports whether a socket was made at our path. Socket is the path that the host's own processes use.
func (w *socketWatch) isAt(socket string) bool {
	ours, theirs := proc.OnHost(w.root, w.path), proc.SocketPath(socket)
	return theirs == ours || filepath.Base(theirs) == filepath.Base(ours) && sameFile(w.root, filepath.Dir(theirs), filepath.Dir(ours))
}

// seesAnother reports whether a process sees another socket at a path than we do. Then our own mount is
// out of date, and the node is well.
func (w *socketWatch) seesAnother(pid int, path string, ours fs.FileInfo) bool {
	theirs, err := os.Stat(filepath.Join("/", w.root, "proc", strconv.Itoa(pid), "root", path))
	return err == nil && kindOf(theirs) == "socket" && (ours == nil || !os.SameFile(theirs, ours))
}

// A client of HTTP/2 begins with the preface and a SETTINGS frame, and a server with a SETTINGS frame.
// (RFC 9113, sections 3.4 and 6.5)
const (
	preface  = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + "\x00\x00\x00\x04\x00\x00\x00\x00\x00"
	settings = 0x04
)

// greets reports whether the server at a socket begins within a second as a gRPC server does. No call is
// made.
func greets(path string) bool {
	conn, err := net.DialTimeout("unix", path, time.Second)
	if err != nil {
		return false
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(time.Second)) // it does not fail for a socket
	_, _ = io.WriteString(conn, preface)              // even if this fails, the server may have sent its frame
	var frame [9]byte
	_, err = io.ReadFull(conn, frame[:])
	return err == nil && frame[3] == settings
}

// locked returns a process of the runtime that has a database open which another process has locked (flock(2)),
// the path of the database, and that other process. All are zero if there is none. containerd tries to lock its
// database again and again before it listens, so the kernel knows no waiter.
func locked(root string) (waits evidence.Process, file string, by evidence.Process) {
	text, _ := smallfile.Read(filepath.Join("/", root, "proc/locks")) // if it cannot be read, nothing counts as locked
	lockers := map[string][]int{}                                     // by the device and the inode of the file, and by the inode alone
	for line := range strings.Lines(string(text)) {                   // "1: FLOCK  ADVISORY  WRITE 5120 fe:01:393 0 EOF"
		if f := strings.Fields(line); len(f) >= 6 && f[1] == "FLOCK" {
			pid, _ := strconv.Atoi(f[4])
			for _, key := range []string{f[5], f[5][strings.LastIndexByte(f[5], ':')+1:]} {
				lockers[key] = append(lockers[key], pid)
			}
		}
	}
	if len(lockers) == 0 {
		return waits, "", by
	}
	for _, p := range runtimes(root) {
		dir := filepath.Join("/", root, "proc", strconv.Itoa(p.PID), "fd")
		open, _ := os.ReadDir(dir) // empty if the process has ended, or we may not read it
		for _, fd := range open {
			name, err := os.Readlink(filepath.Join(dir, fd.Name()))
			var s unix.Stat_t
			if err != nil || !strings.HasSuffix(name, ".db") || unix.Stat(filepath.Join(dir, fd.Name()), &s) != nil {
				continue
			}
			key := fmt.Sprint(s.Ino)
			if major := unix.Major(s.Dev); major != 0 { // btrfs and overlay show us another device than the kernel has
				key = fmt.Sprintf("%02x:%02x:%d", major, unix.Minor(s.Dev), s.Ino)
			}
			for _, pid := range lockers[key] {
				if pid != p.PID {
					return p.report(), name, processOf(root, pid).report()
				}
			}
		}
	}
	return waits, "", by
}
