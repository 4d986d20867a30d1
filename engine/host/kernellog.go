package host

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/knowledge"
)

const (
	// logBytes and logTime bound the reading of the kernel's log in one look. It begins
	// with the oldest record, so less than a whole ring would leave out the youngest: the
	// kernel keeps 256 KiB by default, and few ask for more than 4 MiB. What is left is
	// read by the next look.
	logBytes = 8 << 20
	logTime  = time.Second
	// recordMost is what a read from /dev/kmsg needs room for: the kernel refuses to read
	// into less than a record (8 KiB, with all of it escaped).
	recordMost = 32 << 10

	// kernelFresh is how far back a word of the kernel's may explain what hangs now; it
	// says again what goes on.
	kernelFresh = 30 * time.Minute
	// kernelRest is how long the log is left alone where nothing hangs.
	kernelRest = time.Minute
	// linesMost is how many lines of each kind are told, and keptMost how many of all are
	// remembered.
	linesMost, keptMost = 5, 200
	// textMost is how much of a line is kept: more than the kernel itself makes (about 1,000
	// bytes).
	textMost = 2 << 10
)

// kernelLines are the lines that matter, remembered from look to look. They belong to one
// goroutine at a time.
type kernelLines struct {
	kept   map[kernelSubject]keptLine
	newest time.Duration // of all records
	readTo time.Duration // until when all that was written has been read, by the node's clock; 0 if that is not known
	victim string        // the number of the process that is about to be killed, or was
	group  string        // and its control group
	behind time.Duration // how far the log's clock is behind the node's at least
}

// killedIn finds whom the kernel is about to kill for want of memory, and its control group.
// (Linux 5.0 and later.)
var killedIn = regexp.MustCompile(`^oom-kill:constraint=.*,task_memcg=(.*),task=.*,pid=(\d+),uid=`)

// A kernelSubject is what a line is about. Two lines of one subject differ in their figures alone.
type kernelSubject struct {
	kind, device, says string
	about              knowledge.About
	pid                int
}

// A keptLine is the last line about something.
type keptLine struct {
	evidence.KernelLine
	at time.Duration // since the node was booted, as the kernel counts
}

// read takes in records up to the end, or until a bound is met, which partial says. A line
// that is none is skipped: a picture of a node may have anything there.
func (k *kernelLines) read(ctx context.Context, r *bufio.Reader) (size int64, partial string, err error) {
	ctx, cancel := context.WithTimeout(ctx, logTime)
	defer cancel()
	for size < logBytes {
		if ctx.Err() != nil {
			return size, "cut off after " + logTime.String() + "; the youngest lines are read by the next look", nil
		}
		line, err := r.ReadSlice('\n')
		size += int64(len(line))
		switch {
		case err == nil || errors.Is(err, io.EOF) && len(line) > 0:
			k.take(line)
		case errors.Is(err, bufio.ErrBufferFull): // no record of the kernel's
		case errors.Is(err, io.EOF):
			return size, "", nil
		default:
			return size, "", err
		}
	}
	return size, "cut off after 8 MiB; the youngest lines are read by the next look", nil
}

// take takes in a record, such as "3,1234,5678901234,-;text": the priority with the
// facility, the number, the time in microseconds, flags. Lines that begin with a space belong
// to the record before and name its device again. What others than the kernel (facility 0)
// have written there counts for nothing.
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
	text := string(rest)
	text = unescaped(text[:min(len(text), textMost)])
	if of := killedIn.FindStringSubmatch(text); of != nil {
		k.victim, k.group = of[2], of[1]
		return
	}
	m, counts := knowledge.MatchKernel(text)
	switch {
	case !counts:
	case m.Over:
		maps.DeleteFunc(k.kept, func(s kernelSubject, _ keptLine) bool { return s.about == m.About && s.device == m.Device })
	default:
		found := evidence.KernelLine{Kind: m.Kind, About: m.About, Text: text, Command: m.Command, Device: m.Device, Group: m.Group, Failed: m.Failed, Count: 1}
		found.PID, _ = strconv.Atoi(m.PID) // 0 where it names none
		found.Owner, _ = strconv.Atoi(m.Owner)
		if m.About == knowledge.AboutKill && k.victim == m.PID {
			found.Group = k.group
		}
		k.keep(keptLine{found, at})
	}
}

// inLine finds what differs between two lines that say the same: sectors, times, addresses. Numbers of
// devices, such as 8:16, are none of these.
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

// keep remembers a line in the place of those before it about the same, unless they were
// of another time.
func (k *kernelLines) keep(l keptLine) {
	about := kernelSubject{l.Kind, l.Device, withoutFigures(l.Text), l.About, l.PID}
	if was, known := k.kept[about]; known && l.at-was.at <= kernelFresh {
		l.Count += was.Count
	}
	if k.kept == nil {
		k.kept = map[kernelSubject]keptLine{}
	}
	k.kept[about] = l
	if len(k.kept) <= keptMost {
		return
	}
	oldest := about
	for other, was := range k.kept {
		if was.at < k.kept[oldest].at {
			oldest = other
		}
	}
	delete(k.kept, oldest)
}

// lines returns what was said of late, the youngest first. Now is since the node was
// booted; what the kernel wrote is never younger than that.
func (k *kernelLines) lines(now time.Duration) (all []evidence.KernelLine) {
	now = max(now-k.behind, k.newest)
	told := map[string]int{}
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
	return slices.DeleteFunc(all, func(l evidence.KernelLine) bool {
		told[l.Kind+l.Failed]++
		return told[l.Kind+l.Failed] > linesMost
	})
}

// escaped is how /dev/kmsg shows what is not printable, and the backslash.
var escaped = regexp.MustCompile(`\\x[0-9a-f]{2}`)

// unescaped returns what such a text stands for.
func unescaped(text string) string {
	if !strings.Contains(text, `\x`) {
		return text
	}
	return escaped.ReplaceAllStringFunc(text, func(code string) string {
		b, _ := strconv.ParseUint(code[2:], 16, 8) // the pattern has two digits
		return string([]byte{byte(b)})
	})
}
