package host

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"path/filepath"
	"regexp"
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

const (
	kmsgPath = "/dev/kmsg"

	// logBytes and logTime bound one reading. It begins with the oldest record, so it must be able to read
	// a whole ring: the kernel keeps 256 KiB by default, and few ask for more than 4 MiB. The next look
	// reads the rest.
	logBytes = 8 << 20
	logTime  = time.Second
	// mostRecord is the room that a read of /dev/kmsg needs: the kernel refuses to read into less than a
	// record (8 KiB, if all of it is escaped).
	mostRecord = 32 << 10
	// mostText is how much of a line is kept: the kernel's own have about 1,000 bytes at most.
	mostText = 2 << 10

	// kernelFresh is how old a line may be that explains what hangs now: the kernel repeats what goes on.
	kernelFresh = 30 * time.Minute
	// kernelRest is how long the log is left alone while nothing hangs.
	kernelRest = time.Minute
	// mostLines is how many lines of a kind are reported, and mostRemembered how many of all are remembered.
	mostLines, mostRemembered = 5, 200
)

// A kernelWatch reads the kernel's log on and on.
type kernelWatch struct {
	file  kmsg
	log   *bufio.Reader // of file; nil while that is not open
	lines kernelLines
	last  evidence.Source // the last reading
	at    time.Time       // when that was
}

// read is the part of the kernel's log.
func (k *kernelWatch) read(ctx context.Context, l *Look) (fill, error) {
	if began := time.Now(); l.Deep || k.at.IsZero() || began.Sub(k.at) >= kernelRest || k.last.Partial != "" {
		k.at, k.last = began, k.readOn(ctx, l)
		k.last.Took = time.Since(began)
	}
	found := evidence.Kernel{Source: k.last, Lines: k.lines.lines(sinceBoot(l.Root, l.Offline))}
	for i := range found.Lines {
		found.Lines[i].Own = found.Lines[i].About == knowledge.AboutKill && l.daemons.has(found.Lines[i].PID)
	}
	return func(r *evidence.Report) { r.Kernel = found }, nil
}

func (k *kernelWatch) missing(r *evidence.Report, err error) {
	r.Kernel.Source = evidence.Source{From: kmsgPath, Missing: err.Error()}
}

// readOn reads what has been written since the last reading. A picture may put another file in the place
// of the log: the lines of the old one do not count then.
func (k *kernelWatch) readOn(ctx context.Context, l *Look) (s evidence.Source) {
	s.From = filepath.Join("/", l.Root, kmsgPath)
	if k.log != nil && l.Offline && k.file.isReplaced(l.Root) {
		_ = unix.Close(int(k.file))
		k.log, k.lines = nil, kernelLines{}
	}
	var err error
	if k.log == nil {
		if k.file, err = openKmsg(l.Root); err != nil {
			s.Missing = noKmsg(l.Root, err).Error()
			return s
		}
		k.log = bufio.NewReaderSize(k.file, mostRecord)
	}
	if s.Bytes, s.Partial, err = k.lines.read(ctx, k.log); err != nil {
		s.Partial = err.Error()
	} else if s.Partial == "" && !l.Offline {
		k.lines.readTo = sinceBoot(l.Root, false)
	}
	return s
}

// A kmsg reads records of the kernel's log, and never waits for one, as [os.File] would.
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

// openKmsg opens the kernel's log, or a plain file in its place. To open anything else may do something.
func openKmsg(root string) (kmsg, error) {
	at, is, err := openOnHost(root, kmsgPath)
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

// isReplaced reports whether another file, or none, is where this one was opened.
func (fd kmsg) isReplaced(root string) bool {
	at, is, err := openOnHost(root, kmsgPath)
	if err != nil {
		return true
	}
	_ = unix.Close(at)
	var own unix.Stat_t
	return unix.Fstat(int(fd), &own) != nil || own.Dev != is.Dev || own.Ino != is.Ino
}

// noKmsg says why the log cannot be read, and what would help.
func noKmsg(root string, err error) error {
	switch {
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.EACCES):
		return advise(err, "it takes root, or CAP_SYSLOG, and in a container the device /dev/kmsg")
	case errors.Is(err, unix.ENOENT) && root != "":
		return advise(err, "mount the host's /dev with its root")
	}
	return err
}

// sinceBoot returns the time since the boot, without the time of suspends, as the kernel's log counts it;
// 0 if it is not known. The log's own clock is not corrected by NTP: it may be minutes off after a year.
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

// kernelLines are the lines of the log that matter, remembered from look to look.
type kernelLines struct {
	kept   map[kernelSubject]keptLine
	newest time.Duration // of all records
	readTo time.Duration // the node's time until when every record has been read; 0 if that is not known
	behind time.Duration // how far the log's clock is behind the node's, at least
	victim string        // the number of the process that is about to be killed, or was
	group  string        // its control group
}

// A kernelSubject is what a line is about. Lines of one subject differ in their figures alone.
type kernelSubject struct {
	kind, device, text string
	about              knowledge.About
	pid                int
}

// A keptLine is the last line about a subject.
type keptLine struct {
	evidence.KernelLine
	at time.Duration // since the boot, by the log
}

// read takes in all records. Partial says which bound was met.
func (k *kernelLines) read(ctx context.Context, r *bufio.Reader) (size int64, partial string, err error) {
	const rest = "; the youngest lines are read by the next look"
	ctx, cancel := context.WithTimeout(ctx, logTime)
	defer cancel()
	for size < logBytes {
		if ctx.Err() != nil {
			return size, "cut off after " + logTime.String() + rest, nil
		}
		line, err := r.ReadSlice('\n')
		size += int64(len(line))
		switch {
		case err == nil || errors.Is(err, io.EOF) && len(line) > 0:
			k.take(line)
		case errors.Is(err, bufio.ErrBufferFull): // too long for a record
		case errors.Is(err, io.EOF):
			return size, "", nil
		default:
			return size, "", err
		}
	}
	return size, fmt.Sprintf("cut off after %d MiB%s", logBytes>>20, rest), nil
}

// killedIn finds whom the kernel is about to kill for want of memory, and its control group. (Linux 5.0 and
// later.)
var killedIn = regexp.MustCompile(`^oom-kill:constraint=.*,task_memcg=(.*),task=.*,pid=(\d+),uid=`)

// take takes in a record such as "3,1234,5678901234,-;text": priority with facility, number, time in
// microseconds, flags. A line that begins with a blank belongs to the record before. Only the kernel's
// records (facility 0) count: anybody with root's rights may write there.
func (k *kernelLines) take(line []byte) {
	head, rest, isRecord := bytes.Cut(bytes.TrimSuffix(line, []byte("\n")), []byte(";"))
	fields := bytes.Split(head, []byte(","))
	if !isRecord || len(fields) < 4 || line[0] == ' ' {
		return
	}
	priority, err := strconv.ParseUint(string(fields[0]), 10, 32)
	micros, err2 := strconv.ParseUint(string(fields[2]), 10, 64)
	if err != nil || err2 != nil || priority > 7 || micros > math.MaxInt64/1000 {
		return
	}
	at := time.Duration(micros) * time.Microsecond
	k.newest, k.behind = max(k.newest, at), max(k.behind, k.readTo-at)
	text := unescaped(string(rest[:min(len(rest), mostText)]))
	if of := killedIn.FindStringSubmatch(text); of != nil {
		k.group, k.victim = of[1], of[2]
		return
	}
	m, counts := knowledge.MatchKernel(text)
	if !counts {
		return
	}
	if m.Over {
		maps.DeleteFunc(k.kept, func(s kernelSubject, _ keptLine) bool { return s.about == m.About && s.device == m.Device })
		return
	}
	found := evidence.KernelLine{Kind: m.Kind, About: m.About, Text: text, Command: m.Command, Device: m.Device, Group: m.Group, Failed: m.Failed, Count: 1}
	found.PID, _ = strconv.Atoi(m.PID) // 0 where it names none
	found.Owner, _ = strconv.Atoi(m.Owner)
	if m.About == knowledge.AboutKill && k.victim == m.PID {
		found.Group = k.group
	}
	k.keep(keptLine{found, at})
}

// keep remembers a line in the place of the last one about the same, unless that is of another time.
func (k *kernelLines) keep(l keptLine) {
	about := kernelSubject{l.Kind, l.Device, withoutFigures(l.Text), l.About, l.PID}
	if was, known := k.kept[about]; known && l.at-was.at <= kernelFresh {
		l.Count += was.Count
	}
	if k.kept == nil {
		k.kept = map[kernelSubject]keptLine{}
	}
	if k.kept[about] = l; len(k.kept) > mostRemembered {
		oldest := about
		for other, was := range k.kept {
			if was.at < k.kept[oldest].at {
				oldest = other
			}
		}
		delete(k.kept, oldest)
	}
}

// lines returns the fresh lines, the youngest first. Now is the time since the boot: no line is younger.
func (k *kernelLines) lines(now time.Duration) (all []evidence.KernelLine) {
	now = max(now-k.behind, k.newest)
	for about, l := range k.kept {
		if l.Age = now - l.at; l.Age > kernelFresh {
			delete(k.kept, about)
			continue
		}
		all = append(all, l.KernelLine)
	}
	slices.SortFunc(all, func(a, b evidence.KernelLine) int {
		return cmp.Or(cmp.Compare(a.Age, b.Age), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Device, b.Device), cmp.Compare(a.PID, b.PID))
	})
	count := map[string]int{}
	return slices.DeleteFunc(all, func(l evidence.KernelLine) bool {
		count[l.Kind+l.Failed]++
		return count[l.Kind+l.Failed] > mostLines
	})
}

// inLine finds what differs between two lines that say the same: sectors, times, addresses. Numbers of
// devices, such as 8:16, are found too, and are no figures.
var inLine = regexp.MustCompile(`\b\d+:\d+\b|\b(?:0x)?[0-9a-f]*\d[0-9a-f]*\b`)

// withoutFigures returns a text with 0 for each figure.
func withoutFigures(text string) string {
	return inLine.ReplaceAllStringFunc(text, func(figure string) string {
		if strings.Contains(figure, ":") {
			return figure
		}
		return "0"
	})
}

// escaped is how /dev/kmsg shows a byte that cannot be printed, and the backslash.
var escaped = regexp.MustCompile(`\\x[0-9a-f]{2}`)

func unescaped(text string) string {
	return escaped.ReplaceAllStringFunc(text, func(code string) string {
		b, _ := strconv.ParseUint(code[2:], 16, 8) // the pattern has two digits
		return string([]byte{byte(b)})
	})
}
