package host

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
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

	// A reading begins with the oldest record, so it must be able to read a whole ring: the kernel keeps
	// 256 KiB by default, and few ask for more than 4 MiB. The next look reads the rest.
	logBytes   = 8 << 20
	logTime    = time.Second
	mostRecord = 32 << 10 // the kernel refuses to read into less than a record: 8 KiB, if all of it is escaped
	mostText   = 2 << 10  // bytes that are kept of a line; the kernel's own lines have about 1,000 at most

	kernelFresh    = 30 * time.Minute // the most age of a line that may explain a hang of now: the kernel repeats a line while the trouble lasts
	kernelRest     = time.Minute      // how long the log is left alone while nothing hangs
	mostLines      = 5                // lines of one kind that are reported
	mostRemembered = 200              // lines of all kinds
)

// A kernelWatch reads the kernel's log. It goes on from look to look where it stopped.
type kernelWatch struct {
	path  string        // of the log, as plegtop sees it
	log   *bufio.Reader // nil until it is open
	lines kernelLines
	last  evidence.Source // the last reading
	at    time.Time       // when that was
}

// read returns the fresh lines of the kernel's log, for Report.Kernel. It reads on in the log in a deep look,
// or if kernelRest has passed since the last reading, or if that reading was cut off.
func (k *kernelWatch) read(ctx context.Context, l *Look) (fill, error) {
	if began := time.Now(); l.Deep || k.at.IsZero() || began.Sub(k.at) >= kernelRest || k.last.Partial != "" {
		k.at, k.last = began, k.readOn(ctx, l)
		k.last.Took = time.Since(began)
	}
	found := evidence.Kernel{Source: k.last, Lines: k.lines.fresh(sinceBoot(l.Root, l.Offline))}
	for i := range found.Lines {
		found.Lines[i].Own = found.Lines[i].About == knowledge.AboutKill && l.daemons.has(found.Lines[i].PID)
	}
	return func(r *evidence.Report) { r.Kernel = found }, nil
}

func (k *kernelWatch) missing(r *evidence.Report, err error) {
	r.Kernel.Source = evidence.Source{From: k.path, Missing: err.Error()}
}

// readOn reads what has been written since the last reading. In a picture the log may be another file each
// time.
func (k *kernelWatch) readOn(ctx context.Context, l *Look) (s evidence.Source) {
	s.From = k.path
	if k.log == nil || l.Offline {
		k.lines = kernelLines{}
		file, err := openKmsg(l.Root)
		if err != nil {
			s.Missing = noKmsg(l.Root, err).Error()
			return s
		}
		if l.Offline {
			defer func() { _ = unix.Close(int(file)) }()
		}
		k.log = bufio.NewReaderSize(file, mostRecord)
	}
	var err error
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

// openKmsg opens the kernel's log, or a plain file in its place. It opens nothing else, since opening a device
// may have an effect.
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

// noKmsg returns an error that says why the log cannot be read, and what would help.
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
	kept   []keptLine    // the youngest last
	newest time.Duration // of all records
	readTo time.Duration // every record up to this time of the node has been read; 0 if that is not known
	behind time.Duration // how far the log's clock is behind the node's, at least
	victim string        // the number of the process that is about to be killed, or was
	group  string        // its control group
}

// A keptLine is the last of some lines about the same thing. They differ only in their figures.
type keptLine struct {
	evidence.KernelLine
	at   time.Duration // since the boot, by the log
	same string        // the text without figures
}

// read takes in all records that are there. It returns how many bytes it read. Partial says which limit ended
// the reading early; "" if none did.
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

// killedIn finds the control group and the number of the process that the kernel is about to kill for want of
// memory. (Linux 5.0 and later.)
var killedIn = regexp.MustCompile(`^oom-kill:constraint=.*,task_memcg=(.*),task=.*,pid=(\d+),uid=`)

// record matches a record such as "3,1234,5678901234,-;text": priority, number, time in microseconds, flags. It
// matches only the kernel's own records (facility 0), because any program with root's rights may write others
// there. A line that begins with a blank belongs to the record before it, and does not match.
var record = regexp.MustCompile(`^[0-7],\d+,(\d{1,15}),[^;]*;(.*)`)

// take takes in a record.
func (k *kernelLines) take(line []byte) {
	fields := record.FindSubmatch(line)
	if fields == nil {
		return
	}
	micros, _ := strconv.ParseInt(string(fields[1]), 10, 64) // the pattern has digits
	at := time.Duration(micros) * time.Microsecond
	k.newest, k.behind = max(k.newest, at), max(k.behind, k.readTo-at)
	text := unescaped(string(fields[2][:min(len(fields[2]), mostText)]))
	if of := killedIn.FindStringSubmatch(text); of != nil {
		k.group, k.victim = of[1], of[2]
		return
	}
	m, counts := knowledge.MatchKernel(text)
	if !counts {
		return
	}
	if m.Over {
		k.kept = slices.DeleteFunc(k.kept, func(l keptLine) bool { return l.About == m.About && l.Device == m.Device })
		return
	}
	l := keptLine{evidence.KernelLine{Kind: m.Kind, About: m.About, Text: text, Command: m.Command, Device: m.Device, Group: m.Group, Failed: m.Failed, Count: 1}, at, withoutFigures(text)}
	l.PID, _ = strconv.Atoi(m.PID) // 0 where it names none
	l.Owner, _ = strconv.Atoi(m.Owner)
	if m.About == knowledge.AboutKill && k.victim == m.PID {
		l.Group = k.group
	}
	isSame := func(o keptLine) bool {
		return o.Kind == l.Kind && o.About == l.About && o.Device == l.Device && o.PID == l.PID && o.same == l.same
	}
	if i := slices.IndexFunc(k.kept, isSame); i >= 0 {
		if at-k.kept[i].at <= kernelFresh { // an older line is about another event
			l.Count += k.kept[i].Count
		}
		k.kept = slices.Delete(k.kept, i, i+1)
	}
	k.kept = append(k.kept, l)
	k.kept = k.kept[max(0, len(k.kept)-mostRemembered):]
}

// fresh returns the lines that are not older than kernelFresh, the youngest first, and at most mostLines of one
// kind. Now is the time since the boot by the node's clock. fresh corrects it to the log's clock, so that no
// line is younger.
func (k *kernelLines) fresh(now time.Duration) (all []evidence.KernelLine) {
	now = max(now-k.behind, k.newest)
	k.kept = slices.DeleteFunc(k.kept, func(l keptLine) bool { return now-l.at > kernelFresh })
	slices.SortStableFunc(k.kept, func(a, b keptLine) int { return cmp.Compare(a.at, b.at) })
	count := map[string]int{}
	for _, l := range slices.Backward(k.kept) {
		if count[l.Kind+l.Failed]++; count[l.Kind+l.Failed] <= mostLines {
			l.Age = now - l.at
			all = append(all, l.KernelLine)
		}
	}
	return all
}

// inLine finds what differs between two lines that say the same: sectors, times, addresses. It also finds the
// numbers of devices, such as 8:16, which are not figures: withoutFigures keeps them.
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
