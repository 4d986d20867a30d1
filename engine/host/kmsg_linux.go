package host

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/host/proc"
	"github.com/plegtop/plegtop/engine/knowledge"
	"github.com/plegtop/plegtop/engine/smallfile"
)

const kmsgPath = "/dev/kmsg"

// kernelWords returns the part that tells what the kernel has said of late, given for how
// long the log is left alone after each reading. All that it returns are one part. Of a
// picture of a node the log may be a plain file, also one that takes the place of another. It
// is opened by the first look, and each reading goes on where the one before ended. Seen knows the daemons of looks before.
func kernelWords(root string, picture bool, seen *daemonWatch) func(rest time.Duration) part {
	path := filepath.Join("/", root, kmsgPath)
	var lines kernelLines
	var file kmsg
	var log *bufio.Reader    // of file; nil: that is not open
	var last evidence.Source // reading
	var at time.Time         // when that was
	read := func(ctx context.Context) (s evidence.Source) {
		s.From = path
		if picture && log != nil && file.replaced(root) {
			_ = unix.Close(int(file))
			log, lines = nil, kernelLines{}
		}
		var err error
		if log == nil {
			if file, err = openKmsg(root); err != nil {
				s.Missing = noKmsg(root, err)
				return s
			}
			log = bufio.NewReaderSize(file, recordMost)
		}
		if s.Bytes, s.Partial, err = lines.read(ctx, log); err != nil {
			s.Partial = err.Error()
		} else if s.Partial == "" && !picture {
			lines.readTo = sinceBoot(root, picture)
		}
		return s
	}
	return func(rest time.Duration) part {
		of := func(r *evidence.Report) *evidence.Kernel { return &r.Kernel }
		return partOf("kernel", of, func(ctx context.Context) evidence.Kernel {
			if began := time.Now(); at.IsZero() || began.Sub(at) >= rest || last.Partial != "" {
				last, at = read(ctx), began
				last.Took = time.Since(began)
			}
			k := evidence.Kernel{Source: last, Lines: lines.lines(sinceBoot(root, picture))}
			for i := range k.Lines {
				k.Lines[i].Own = k.Lines[i].About == knowledge.AboutKill && seen.has(k.Lines[i].PID)
			}
			return k
		}, func(k *evidence.Kernel, err error) { k.Source = evidence.Source{From: path, Missing: err.Error()} })
	}
}

// A kmsg reads records from the kernel's log, and never waits for one. It is no
// [os.File], which would.
type kmsg int

func (fd kmsg) Read(into []byte) (int, error) {
	for range 1000 {
		n, err := unix.Read(int(fd), into)
		switch {
		case errors.Is(err, unix.EPIPE), errors.Is(err, unix.EINTR):
			// EPIPE: the next record was overwritten before it was read; the one after it is next.
		case errors.Is(err, unix.EAGAIN), err == nil && n <= 0:
			return 0, io.EOF
		case err != nil:
			return 0, err
		default:
			return n, nil
		}
	}
	return 0, io.EOF // it is written faster than it can be read
}

// openKmsg opens the kernel's log, or the plain file in its place. Nothing else is opened:
// that may do something.
func openKmsg(root string) (kmsg, error) {
	at, is, err := openNamed(root, kmsgPath)
	if err != nil {
		return -1, err
	}
	defer func() { _ = unix.Close(at) }()
	if kind := is.Mode & unix.S_IFMT; kind != unix.S_IFREG && (kind != unix.S_IFCHR || is.Rdev != unix.Mkdev(1, 11)) {
		return -1, errors.New("it is not the kernel's log")
	}
	fd, err := unix.Open(ownFile(at), unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	return kmsg(fd), err
}

// replaced reports whether another file, or none, is where this one was opened, as in a
// picture of a node that is drawn anew.
func (fd kmsg) replaced(root string) bool {
	at, is, err := openNamed(root, kmsgPath)
	if err != nil {
		return true
	}
	_ = unix.Close(at)
	var own unix.Stat_t
	return unix.Fstat(int(fd), &own) != nil || own.Dev != is.Dev || own.Ino != is.Ino
}

// noKmsg says why the log cannot be read, and what would help.
func noKmsg(root string, err error) string {
	switch {
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.EACCES):
		return fmt.Sprintf("%v: it takes root, or CAP_SYSLOG, and in a container the device /dev/kmsg", err)
	case errors.Is(err, unix.ENOENT) && root != "":
		return fmt.Sprintf("%v: mount the host's /dev with its root", err)
	}
	return err.Error()
}

// sinceBoot returns what the kernel's log counts in: the time since the node was booted
// without that in which it was suspended; 0 if it cannot be known. The log's own clock is
// not corrected by NTP, and may be off by minutes after a year.
func sinceBoot(root string, picture bool) time.Duration {
	if picture {
		text, _ := smallfile.Read(filepath.Join("/", root, "proc/uptime"))
		return proc.Uptime(string(text))
	}
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
