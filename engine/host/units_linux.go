package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/godbus/dbus/v5"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/knowledge"
)

const (
	busPath = "/run/dbus/system_bus_socket"
	// busTimeout and busBytes limit the answers of systemd: it answers in milliseconds, with some 200 bytes for
	// each property.
	busTimeout = time.Second
	busBytes   = 1 << 20
	// mostUnits is how many daemons are remembered, so that systemd is asked for their services: a node has two
	// or three that matter.
	mostUnits = 8
	// mostPIDs is how many daemons are remembered by their pid. The kernel's log of half an hour may name a
	// daemon that others have followed.
	mostPIDs = 100
)

// units returns the services of the runtime and the kubelet, for Report.Services and the Units of a deep look.
// They come from systemd, or else from what looks have seen of the processes. In a picture of a node systemd is
// not asked.
func units(ctx context.Context, l *Look) (fill, error) {
	ctx, cancel := context.WithTimeout(ctx, busTimeout)
	defer cancel()
	began, path := time.Now(), filepath.Join("/", l.Root, busPath)
	u := evidence.Units{Source: evidence.Source{From: "systemd at " + path}}
	var err error
	if !l.Offline {
		u.All, err = askSystemd(ctx, l.Root, l.daemons.services(l.Endpoint))
	}
	for _, seen := range l.daemons.units() {
		if !slices.ContainsFunc(u.All, func(known evidence.Unit) bool { return known.Name == seen.Name }) {
			u.All = append(u.All, seen)
		}
	}
	if err != nil {
		u.Partial = "nothing from systemd: " + err.Error()
	}
	switch u.Took = time.Since(began); {
	case err != nil && len(u.All) == 0:
		u.Missing, u.Partial = u.Partial, ""
	case l.Offline, err != nil:
		u.From = filepath.Join("/", l.Root, "proc")
	}
	return func(r *evidence.Report) { putUnits(r, u) }, nil
}

func putUnits(r *evidence.Report, u evidence.Units) {
	if r.Services = u.All; r.Deep != nil {
		r.Deep.Units = u
	}
}

// A daemonWatch remembers the daemons that looks have seen. It is safe for concurrent use.
type daemonWatch struct {
	mu   sync.Mutex
	seen []seenDaemon // one of each unit and program, the first mostUnits
	pids []int        // of all, the last mostPIDs
}

// A seenDaemon is the last process of a daemon, and how many times it has replaced another one.
type seenDaemon struct {
	evidence.Process
	restarts int
}

// look takes in the daemons of a look. A daemon with several processes counts as restarted only when the
// process that was remembered is gone.
func (w *daemonWatch) look(daemons []evidence.Process) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, d := range daemons {
		if !slices.Contains(w.pids, d.PID) {
			w.pids = append(w.pids[max(0, len(w.pids)+1-mostPIDs):], d.PID)
		}
		i := slices.IndexFunc(w.seen, func(s seenDaemon) bool { return s.Unit == d.Unit && s.Command == d.Command })
		switch {
		case i < 0 && len(w.seen) < mostUnits:
			w.seen = append(w.seen, seenDaemon{Process: d})
		case i < 0:
		case w.seen[i].PID == d.PID:
			w.seen[i].Process = d
		case !slices.ContainsFunc(daemons, func(o evidence.Process) bool { return o.PID == w.seen[i].PID }):
			w.seen[i] = seenDaemon{d, w.seen[i].restarts + 1}
		}
	}
}

// has reports whether a look has seen a daemon with this pid.
func (w *daemonWatch) has(pid int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Contains(w.pids, pid)
}

// services returns the units for which systemd is asked: those of the daemons that looks have seen. If no
// runtime or no kubelet was seen, it adds the usual units of that one.
func (w *daemonWatch) services(endpoint string) (names []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var runtime, kubelet bool
	for _, d := range w.seen {
		if !strings.HasSuffix(d.Unit, ".service") {
			continue // of another init system, or started by hand
		}
		runtime, kubelet = runtime || slices.Contains(knowledge.Runtimes, d.Command), kubelet || slices.Contains(knowledge.Kubelets, d.Command)
		names = append(names, d.Unit)
	}
	for _, f := range knowledge.Likely(endpoint) {
		var usual []string
		if !runtime {
			usual = f.Units
		}
		if !kubelet {
			usual = slices.Concat(usual, f.KubeletUnits)
		}
		for _, unit := range usual {
			names = append(names, unit+".service")
		}
	}
	return unique(names)
}

// unique returns each name once, in their order.
func unique(names []string) (all []string) {
	for _, name := range names {
		if !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

// units returns the daemons that looks have seen as units. It knows nothing from an init system.
func (w *daemonWatch) units() (all []evidence.Unit) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, d := range w.seen {
		all = append(all, evidence.Unit{Name: cmp.Or(d.Unit, d.Command), Restarts: d.restarts, Up: d.Age})
	}
	return all
}

// A bus is a connection to the system bus that ends after [busBytes] have been read.
type bus struct {
	net.Conn
	in io.Reader
}

func (b bus) Read(into []byte) (int, error) { return b.in.Read(into) }

// askSystemd returns the units with these names that systemd has loaded. It starts nothing, and reads only
// properties. The context must have a deadline.
func askSystemd(ctx context.Context, root string, names []string) (all []evidence.Unit, err error) {
	defer func() {
		switch {
		case err != nil && (ctx.Err() != nil || errors.Is(err, os.ErrDeadlineExceeded)): // the context and the connection end at the same time, in any order
			err = fmt.Errorf("%s: no answer in time", busPath)
		case err != nil:
			err = fmt.Errorf("%s: %w", busPath, err)
		}
	}()
	raw, err := dialSocket(root, busPath, 0)
	if err != nil {
		return nil, err
	}
	deadline, _ := ctx.Deadline()
	_ = raw.SetDeadline(deadline) // it does not fail for a socket
	conn, err := dbus.NewConn(bus{raw, io.LimitReader(raw, busBytes)}, dbus.WithContext(ctx))
	if err != nil {
		_ = raw.Close()
		return nil, err
	}
	defer conn.Close()
	if err := conn.Auth([]dbus.Auth{dbus.AuthExternal(strconv.Itoa(os.Getuid()))}); err != nil {
		return nil, err
	}
	if err := conn.Hello(); err != nil {
		return nil, err
	}
	for _, name := range names {
		unit, err := askUnit(ctx, conn, name)
		answer, isAnswer := errors.AsType[dbus.Error](err)
		switch {
		case err == nil:
			all = append(all, unit)
		case !isAnswer || answer.Name != "org.freedesktop.systemd1.NoSuchUnit":
			return all, err
		}
	}
	return all, nil
}

// askUnit returns a unit, by its properties in systemd. (systemd 219 to 258: org.freedesktop.systemd1. GetUnit
// loads no unit; NRestarts came with 235.)
func askUnit(ctx context.Context, conn *dbus.Conn, name string) (u evidence.Unit, err error) {
	const systemd = "org.freedesktop.systemd1"
	var path dbus.ObjectPath
	manager := conn.Object(systemd, "/org/freedesktop/systemd1")
	if err := manager.CallWithContext(ctx, systemd+".Manager.GetUnit", dbus.FlagNoAutoStart, name).Store(&path); err != nil {
		return u, err
	}
	var state, sub string
	var restarts uint32
	var started uint64 // in microseconds of the monotonic clock; 0 without a process
	unit := conn.Object(systemd, path)
	for _, p := range []struct {
		of, name string
		into     any
	}{{".Unit", "ActiveState", &state}, {".Unit", "SubState", &sub}, {".Service", "NRestarts", &restarts}, {".Service", "ExecMainStartTimestampMonotonic", &started}} {
		err := unit.CallWithContext(ctx, "org.freedesktop.DBus.Properties.Get", dbus.FlagNoAutoStart, systemd+p.of, p.name).Store(p.into)
		if _, isAnswer := errors.AsType[dbus.Error](err); err != nil && (!isAnswer || p.into == any(&state)) {
			return u, err // an older systemd does not have all properties
		}
	}
	u = evidence.Unit{Name: name, State: state, Restarts: int(restarts)}
	if sub != "" && sub != "running" {
		u.State += " (" + sub + ")"
	}
	if now := sinceBoot("", false); started > 0 && state == "active" {
		u.Up = max(now-time.Duration(min(started, uint64(now.Microseconds())))*time.Microsecond, 0)
	}
	return u, nil
}
