package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/host/proc"
	"github.com/plegtop/plegtop/engine/host/reads"
	"github.com/plegtop/plegtop/engine/knowledge"
	"github.com/plegtop/plegtop/engine/stacks"
)

const (
	mostDump = 64 << 20 // bytes; Go's own profile of goroutines has the same limit

	// dumpAgain is the time from the first dump of a hang to the second. It doubles each time, up to
	// dumpSeldom, because the runtime stands still while it writes a dump.
	dumpAgain  = 30 * time.Second
	dumpSeldom = 5 * time.Minute

	// stalled is a share of time in percent. If tasks wait for memory for so much of the time, no dump is read.
	// leastMemory, in KiB, must be available for a dump: the runtime needs twice its length, and so may we.
	stalled     = 10
	leastMemory = 4 * mostDump >> 10

	// fileTime is the part of slowTime that is left for a file with a dump, if the socket does not answer.
	fileTime = time.Second
	// freshDump is the most age of a file with a dump. An older one is of another hang.
	freshDump = 5 * time.Minute
)

// A runtimeWatch reads what the runtime shows outside of CRI while something hangs: a dump of its
// goroutines and its calls in flight.
type runtimeWatch struct {
	dumps dumper
	calls callReader
}

// read returns the runtime's goroutines and the calls that it has not ended, for Report.Deep. It asks for the
// calls only after the dump has come. To answer, the runtime asks all its shims for their metrics, and a dump
// at that time would look as if the shims hung.
func (w *runtimeWatch) read(ctx context.Context, l *Look) (fill, error) {
	var s evidence.Stacks
	var calls evidence.RuntimeCalls
	if s.Missing = "--no-dump forbids it"; !l.Runtime.NoDump {
		s = w.dumps.look(ctx, l, time.Now())
	}
	if calls.Missing, calls.Pending = "asked for after the dump", true; !s.Pending {
		calls = w.calls.look(ctx, l, time.Now())
	}
	return func(r *evidence.Report) { r.Deep.Stacks, r.Deep.Calls = s, calls }, nil
}

// A dumper reads a dump of the runtime's goroutines when something hangs. It reads another one now and then
// while the hang lasts.
type dumper struct {
	slow[evidence.Stacks]
	last  time.Time     // when the last read began
	pause time.Duration // from the next read to the one after it
}

// look returns the dump of this hang. If a dump is due, look begins to read one.
func (d *dumper) look(ctx context.Context, l *Look, now time.Time) evidence.Stacks {
	if d.slow.look(now) {
		d.pause, d.next = dumpAgain, d.last.Add(dumpAgain)
	}
	why := fmt.Sprintf("the last dump was of another hang, and from one to the next it is %v", dumpAgain)
	if d.isDue(now) {
		if why = tooLittleMemory(l.Root); why == "" {
			d.out = reads.Start(&d.reads, "", func() (evidence.Stacks, error) { return l.readDump(stacks.Read), nil })
			d.last, d.next, d.pause = now, now.Add(d.pause), min(2*d.pause, dumpSeldom)
		}
	}
	got, missing := d.get(ctx)
	if d.kept == nil {
		got.Missing, got.Pending = cmp.Or(missing.Missing, why), missing.Pending
	}
	return got
}

// tooLittleMemory returns why a dump would do harm; "" if it would not.
func tooLittleMemory(root string) string {
	if p, _ := readPressure(root); p.Memory.Some10 >= stalled { // if it cannot be read, nothing is known
		return fmt.Sprintf("left out, for memory is short: tasks wait for it %.0f %% of the time", p.Memory.Some10)
	}
	proc, err := procfs.NewFS(filepath.Join("/", root, "proc"))
	if err != nil {
		return ""
	}
	if m, err := proc.Meminfo(); err == nil && m.MemAvailable != nil && *m.MemAvailable < leastMemory {
		return fmt.Sprintf("left out, for memory is short: %d MiB are available", *m.MemAvailable>>10)
	}
	return ""
}

// A parser reads the text of a dump.
type parser func(io.Reader) (evidence.Stacks, error)

// readDump returns a dump from a socket. If the socket gives none, it returns one from a fresh file.
func (l *Look) readDump(parse parser) evidence.Stacks {
	ctx, cancel := context.WithTimeout(context.Background(), slowTime)
	defer cancel()
	s := l.static(ctx, slowTime)
	file, within := freshFile(l.Root, s, time.Now()), slowTime
	if file != nil {
		defer func() { _ = file.Close() }()
		within -= fileTime
	}
	got := l.askDump(ctx, s, within, parse)
	if got.Missing != "" && file != nil {
		if text := parseDump(file, parse); text.Missing == "" {
			text.From, text.At, text.Program = file.name, file.at, s.comm
			return text
		}
	}
	return got
}

// askDump returns the dump that a socket gives. Missing says why there is none.
func (l *Look) askDump(ctx context.Context, s *static, within time.Duration, parse parser) (got evidence.Stacks) {
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	path, conn, request, err := l.connectDump(s)
	if err == nil {
		defer func() { _ = conn.Close() }()
		e := newEndpoint(&url.URL{Scheme: "http", Host: "localhost"}, nil, "", "")
		e.url, e.most, e.within = e.url+request, mostDump+1, within
		e.client.Transport.(*http.Transport).DialContext = func(context.Context, string, string) (net.Conn, error) { return conn, nil }
		a := e.ask(ctx, func(r io.Reader) error {
			got = parseDump(r, parse)
			return nil
		})
		if !a.OK {
			got.Missing = strings.TrimPrefix(a.Err, unavailable)
		}
	} else {
		got.Missing = err.Error()
	}
	if got.From, got.Took = path, time.Since(began); got.Missing == "" {
		got.At, got.Program = began, s.comm
	}
	return got
}

// connectDump connects to the socket that has the dump, and returns the request for it. At a socket that the
// user has not named, only the runtime itself may listen, as far as we can see who listens. At a named socket
// anybody may.
func (l *Look) connectDump(s *static) (path string, conn *net.UnixConn, request string, err error) {
	root, holder := "", s.process.pid
	if l.Offline || l.Runtime.DebugSocket != "" {
		holder = 0 // in a picture plegtop itself listens
	}
	switch _, hasDebug := s.program.Settings["debug"]; {
	case l.Runtime.DebugSocket != "":
		path = ownPath(l.Runtime.DebugSocket)
	case hasDebug:
		root, path = l.Root, s.setting("debug")
	case s.program.Dump != "":
		path = ownPath(l.Endpoint)
	case s.comm == "" && s.err != nil:
		return "", nil, "", s.err
	case s.comm == "":
		return "", nil, "", errors.New("it cannot be seen which runtime listens: run plegtop as root, or name its debug socket with --debug-socket")
	default:
		return "", nil, "", fmt.Errorf("%s has no dump that can be read", s.comm)
	}
	conn, err = dialSocket(root, path, holder)
	switch {
	case errors.Is(err, fs.ErrNotExist) && l.Runtime.DebugSocket == "" && s.given("debug") == "":
		why := errors.New("containerd's configuration names no debug socket")
		if s.err != nil {
			why = fmt.Errorf("containerd's configuration cannot be read: %w", s.err)
		}
		err = advise(why, "set address under [debug] there, or name a socket with --debug-socket")
	case errors.Is(err, fs.ErrPermission):
		err = advise(err, "run plegtop as root")
	}
	if err != nil {
		return path, nil, "", err
	}
	// CRI-O must get no other request than the one for its own dump, even at a socket that was named.
	listens := knowledge.ProgramNamed(processOf(l.Root, peer(conn)).stat.Comm)
	if listens.Dump == "" && s.program.Dump == "" && knowledge.CRIO.MayBeAt(path) {
		listens = knowledge.ProgramNamed(knowledge.CRIO.Program)
	}
	return path, conn, cmp.Or(listens.Dump, s.program.Dump, knowledge.ProgramNamed(knowledge.Containerd.Program).Dump), nil
}

// parseDump returns the goroutines in the text of a dump. If the text breaks off, it returns those before that,
// and Partial says why.
func parseDump(r io.Reader, parse parser) evidence.Stacks {
	began, in := time.Now(), &untilBroken{in: io.LimitReader(r, mostDump)}
	s, err := parse(in)
	cut := ""
	switch {
	case errors.Is(in.err, context.DeadlineExceeded):
		cut = fmt.Sprintf("cut off after %v", time.Since(began).Round(100*time.Millisecond))
	case in.err != nil:
		cut = "it ended early: " + in.err.Error()
	case in.read == mostDump:
		cut = fmt.Sprintf("only the first %d MiB were read", mostDump>>20)
	}
	if s.Partial = cut; err != nil {
		s = evidence.Stacks{Source: evidence.Source{Missing: cmp.Or(cut, err.Error())}}
	} else if s.Total == 0 {
		s = evidence.Stacks{Source: evidence.Source{Missing: "there is no goroutine in it"}}
	}
	s.Bytes, s.Took = in.read, time.Since(began)
	return s
}

// An untilBroken reads until an error, and then ends as a file does. It keeps the error.
type untilBroken struct {
	in   io.Reader
	read int64
	err  error
}

func (u *untilBroken) Read(p []byte) (n int, err error) {
	n, err = u.in.Read(p)
	if u.read += int64(n); err != nil && !errors.Is(err, io.EOF) {
		u.err, err = err, io.EOF
	}
	return n, err
}

// A dumpFile is a file to which the runtime has written its goroutines, as it does when it gets a signal.
type dumpFile struct {
	*os.File
	name string // on the host
	at   time.Time
}

// freshFile opens the youngest file with a dump that the runtime's process has written within freshDump; nil if
// there is none. It must be a regular file of the runtime's user, because anybody may put a file into a folder
// for all. The caller closes it.
func freshFile(root string, s *static, now time.Time) (best *dumpFile) {
	if s.process.pid == 0 || s.program.DumpFile == "" {
		return nil
	}
	var owner unix.Stat_t
	if err := unix.Stat(filepath.Join("/", root, "proc", strconv.Itoa(s.process.pid)), &owner); err != nil {
		return nil
	}
	oldest := now.Add(-freshDump)
	text, _ := readOnHost(root, "/proc/uptime")
	if up := proc.Uptime(string(text)); up > 0 { // a file that is older than the process is from another one
		if started := now.Add(time.Duration(s.process.start)*(time.Second/proc.Ticks) - up); started.After(oldest) {
			oldest = started
		}
	}
	pattern := strings.ReplaceAll(s.program.DumpFile, "PID", strconv.Itoa(s.process.pid))
	for _, name := range matching(root, filepath.Join(s.setting("temp"), pattern)) {
		fd, is, err := openOnHost(root, name)
		if err != nil {
			continue
		}
		at := time.Unix(is.Mtim.Unix())
		if is.Mode&unix.S_IFMT == unix.S_IFREG && is.Uid == owner.Uid && !at.Before(oldest) && !at.After(now.Add(time.Second)) {
			if file, err := os.OpenFile(ownFile(fd), os.O_RDONLY|unix.O_NONBLOCK, 0); err == nil {
				if best != nil {
					_ = best.Close()
				}
				best, oldest = &dumpFile{file, name, at}, at
			}
		}
		_ = unix.Close(fd)
	}
	return best
}
