package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/godbus/dbus/v5"

	"github.com/plegtop/plegtop/engine/evidence"
)

// A bus is a connection to the system bus that ends with its deadline, and after
// [busBytes].
type bus struct {
	net.Conn
	size atomic.Int64 // that was read; the library reads in a goroutine of its own
}

func (b *bus) Read(into []byte) (int, error) {
	if b.size.Load() >= busBytes {
		return 0, io.ErrUnexpectedEOF
	}
	n, err := b.Conn.Read(into)
	b.size.Add(int64(n))
	return n, err
}

// askSystemd returns what systemd says of services, those that it has not loaded left
// out, and how many bytes it said. Nothing is started for it, neither systemd nor a
// service (GetUnit loads none), and only properties are read.
func askSystemd(ctx context.Context, root string, names []string) (all []evidence.Unit, size int64, err error) {
	raw, err := dialSocket(ctx, root, busPath, 0)
	if err == nil {
		deadline, _ := ctx.Deadline()
		err = raw.SetDeadline(deadline)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("%s: %w", busPath, err)
	}
	b := &bus{Conn: raw}
	all, err = askUnits(ctx, b, names)
	if err != nil && (ctx.Err() != nil || errors.Is(err, os.ErrDeadlineExceeded)) { // whichever is first
		err = fmt.Errorf("%s: no answer in time", busPath)
	}
	return all, b.size.Load(), err
}

func askUnits(ctx context.Context, b *bus, names []string) (all []evidence.Unit, err error) {
	conn, err := dbus.NewConn(b, dbus.WithContext(ctx))
	if err != nil {
		_ = b.Close() // nothing was written
		return nil, fmt.Errorf("%s: %w", busPath, err)
	}
	defer conn.Close()
	if err = conn.Auth([]dbus.Auth{dbus.AuthExternal(strconv.Itoa(os.Getuid()))}); err == nil {
		err = conn.Hello()
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", busPath, err)
	}
	for _, name := range names {
		unit, err := askUnit(ctx, conn, name)
		failed, said := errors.AsType[dbus.Error](err)
		switch {
		case err == nil:
			all = append(all, unit)
		case said && failed.Name == "org.freedesktop.systemd1.NoSuchUnit":
		default:
			return all, fmt.Errorf("%s: %w", name, err)
		}
	}
	return all, nil
}

// askUnit asks for a service's properties, all at once. (systemd 219 to 258:
// org.freedesktop.systemd1; NRestarts is of 235 and later.)
func askUnit(ctx context.Context, conn *dbus.Conn, name string) (evidence.Unit, error) {
	const systemd = "org.freedesktop.systemd1"
	var path dbus.ObjectPath
	manager := conn.Object(systemd, "/org/freedesktop/systemd1")
	if err := manager.CallWithContext(ctx, systemd+".Manager.GetUnit", dbus.FlagNoAutoStart, name).Store(&path); err != nil {
		return evidence.Unit{}, err
	}
	var state, sub string
	var restarts uint32
	var started uint64 // in microseconds of the monotonic clock; 0 if it has no process
	properties := []struct {
		of, name string
		into     any
	}{{".Unit", "ActiveState", &state}, {".Unit", "SubState", &sub}, {".Service", "NRestarts", &restarts}, {".Service", "ExecMainStartTimestampMonotonic", &started}}
	var calls []*dbus.Call
	for _, p := range properties {
		const get = "org.freedesktop.DBus.Properties.Get"
		calls = append(calls, conn.Object(systemd, path).GoWithContext(ctx, get, dbus.FlagNoAutoStart, make(chan *dbus.Call, 1), systemd+p.of, p.name))
	}
	for i, call := range calls {
		<-call.Done
		if _, refused := errors.AsType[dbus.Error](call.Err); refused && i > 0 {
			continue // an older systemd has not all
		}
		if err := call.Store(properties[i].into); err != nil {
			return evidence.Unit{}, err
		}
	}
	u := evidence.Unit{Name: name, State: state, Restarts: int(restarts)}
	if sub != "" && sub != "running" {
		u.State += " (" + sub + ")"
	}
	if now := sinceBoot("", false); started > 0 && state == "active" {
		u.Up = max(now-time.Duration(min(started, uint64(now.Microseconds())))*time.Microsecond, 0)
	}
	return u, nil
}
