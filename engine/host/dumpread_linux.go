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
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/knowledge"
)

// fileTime is what is left of a dump's time for a file, where a socket gives no answer.
const fileTime = time.Second

// dumps are what a runtime is asked for, the only things: CRI-O's socket also has some
// that change it. (containerd 1.6 to 2.4: net/http/pprof; CRI-O 1.25 to 1.37: server/inspect.go)
var dumps = map[string]string{"containerd": "/debug/pprof/goroutine?debug=2", "crio": "/debug/goroutines"}

// read reads a dump from where there is one: a socket, or else a file that is fresh.
func (d *dumper) read() evidence.Stacks {
	began := time.Now()
	from := serving(d.of.Root, d.of.Endpoint, d.of.Offline)
	file, noFile := openStacksFile(d.of.Root, from, began)
	within := slowTime
	if noFile == nil {
		defer func() { _ = file.Close() }() // it is only read
		within -= fileTime
	}
	got := d.ask(from, within)
	if got.Missing == "" || noFile != nil {
		return got
	}
	ctx, cancel := context.WithDeadline(context.Background(), began.Add(slowTime))
	defer cancel()
	text := d.take(ctx, file, evidence.Stacks{Source: evidence.Source{From: file.name}, At: file.at, Program: from.comm})
	if text.Missing != "" {
		return got
	}
	return text
}

// ask reads a dump from a socket.
func (d *dumper) ask(from server, within time.Duration) evidence.Stacks {
	began := time.Now()
	ctx, cancel := context.WithDeadline(context.Background(), began.Add(within))
	defer cancel()
	path, conn, asks, err := d.connect(ctx, from)
	if err == nil {
		defer func() { _ = conn.Close() }() // what it held was read, or does not matter
		e := newEndpoint(&url.URL{Scheme: "http", Host: "localhost"}, nil, "", "")
		e.url += asks
		e.most, e.within = mostDump+1, within
		e.client.Transport.(*http.Transport).DialContext = func(context.Context, string, string) (net.Conn, error) { return conn, nil }
		var got evidence.Stacks
		a := e.ask(ctx, func(r io.Reader) error {
			got = d.take(ctx, r, evidence.Stacks{Source: evidence.Source{From: path}, At: began, Program: from.comm})
			return nil
		})
		if got.Took = time.Since(began); a.OK {
			return got
		}
		err = errors.New(missing(a))
	}
	return evidence.Stacks{Source: evidence.Source{From: path, Missing: err.Error(), Took: time.Since(began)}}
}

// connect connects to the socket that has a dump, and returns its path and what it may
// be asked for.
func (d *dumper) connect(ctx context.Context, from server) (path string, conn net.Conn, asks string, err error) {
	root, holder, comm, named := "", from.process.pid, from.comm, d.of.Runtime.DebugSocket
	if d.of.Offline || named != "" {
		holder = 0 // of a picture it is plegtop itself that serves
	}
	switch {
	case named != "":
		path = strings.TrimPrefix(named, "unix://")
	case comm == "crio":
		path = strings.TrimPrefix(d.of.Endpoint, "unix://")
	case comm == "containerd":
		root, path = d.of.Root, from.setting(from.debug)
	case comm == "":
		return "", nil, "", errors.New("it cannot be seen which runtime listens: run plegtop as root, or name its debug socket with --debug-socket")
	default:
		return "", nil, "", fmt.Errorf("%s has no dump that can be read", comm)
	}
	to, err := dialSocket(ctx, root, path, holder)
	switch {
	case errors.Is(err, fs.ErrNotExist) && named == "" && from.files.text(from.debug) == "":
		why := "containerd's configuration names no debug socket"
		if from.err != nil {
			why = "containerd's configuration cannot be read: " + from.err.Error()
		}
		err = fmt.Errorf("%s: set address under [debug] there, or name a socket with --debug-socket", why)
	case errors.Is(err, fs.ErrPermission):
		err = fmt.Errorf("%w: run plegtop as root", err)
	}
	if err != nil {
		return path, nil, "", err
	}
	name, _ := readOnHost(d.of.Root, fmt.Sprintf("/proc/%d/comm", peer(to))) // of none that is there
	if at := strings.TrimSpace(string(name)); dumps[at] != "" {
		comm = at
	} else if dumps[comm] == "" && knowledge.CRIO.MayBeAt(path) {
		comm = "crio" // which must be asked for nothing else
	}
	return path, to, cmp.Or(dumps[comm], dumps["containerd"]), nil
}

// dialSocket connects to a socket of the host's. Unless holder is 0 it must be that
// process that listens, as far as this can be seen; else nothing is sent.
func dialSocket(ctx context.Context, root, path string, holder int) (*net.UnixConn, error) {
	if !filepath.IsAbs(path) {
		return nil, fmt.Errorf("%q is not the path of a socket", path)
	}
	fd, is, err := openNamed(root, path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = unix.Close(fd) }()
	if is.Mode&unix.S_IFMT != unix.S_IFSOCK {
		return nil, errors.New("it is no socket")
	}
	conn, err := new(net.Dialer).DialContext(ctx, "unix", ownFile(fd))
	if err != nil {
		if failed, ok := errors.AsType[unix.Errno](err); ok {
			err = failed // without our own name for it
		}
		return nil, err
	}
	of := conn.(*net.UnixConn)
	if pid := peer(of); holder != 0 && pid != 0 && pid != holder {
		_ = conn.Close() // nothing was sent
		return nil, fmt.Errorf("process %d listens there, and the runtime is %d: name it with --debug-socket if it is right", pid, holder)
	}
	return of, nil
}

// peer returns the process that listens at the other end; 0 if it cannot be seen.
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

// take has the text of a dump parsed, as far as it comes, and adds that to what is known
// of it.
func (d *dumper) take(ctx context.Context, r io.Reader, known evidence.Stacks) evidence.Stacks {
	in := &bounded{ctx: ctx, in: r, began: time.Now()}
	s, err := d.parse(in)
	if err != nil || s.Total == 0 {
		why := "there is no goroutine in it"
		if err != nil {
			why = cmp.Or(in.cut, err.Error())
		}
		return evidence.Stacks{Source: evidence.Source{From: known.From, Missing: why, Bytes: in.read, Took: time.Since(in.began)}}
	}
	s.Source, s.At, s.Program = known.Source, known.At, known.Program
	s.Bytes, s.Took, s.Partial = in.read, time.Since(in.began), in.cut
	return s
}

// A bounded reader ends like a file where it is cut, and keeps why.
type bounded struct {
	ctx   context.Context
	in    io.Reader
	began time.Time
	read  int64
	cut   string // why it is not whole; empty if it is
}

// Read reads on. It returns no other error than [io.EOF].
func (b *bounded) Read(p []byte) (int, error) {
	if b.cut == "" && b.ctx.Err() != nil {
		b.cut = b.late()
	}
	if b.cut == "" && b.read == mostDump {
		b.cut = fmt.Sprintf("only the first %d MiB were read", mostDump>>20)
	}
	if b.cut != "" {
		return 0, io.EOF
	}
	n, err := b.in.Read(p[:min(int64(len(p)), mostDump-b.read)])
	b.read += int64(n)
	switch {
	case err == nil || err == io.EOF:
		return n, err
	case b.ctx.Err() != nil:
		b.cut = b.late()
	default:
		b.cut = "it ended early: " + err.Error()
	}
	return n, io.EOF
}

func (b *bounded) late() string {
	return fmt.Sprintf("cut off after %v", time.Since(b.began).Round(100*time.Millisecond))
}
