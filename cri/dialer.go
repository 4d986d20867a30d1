package cri

import (
	"context"
	"net"
	"sync/atomic"
	"time"
)

type dialFunc func(ctx context.Context, network, address string) (net.Conn, error)

// A dialer makes the connections of one client, one after the other. It counts
// them, so that what was learned on one is not believed of the next, and it
// keeps the last failure, which gRPC would only pass on as a text.
type dialer struct {
	path     string
	dial     dialFunc
	patience time.Duration         // until the first words of the runtime on a connection
	made     atomic.Uint64         // the number of the newest connection
	last     atomic.Pointer[error] // of the last attempt; points to nil if it succeeded
}

// connect has the form that gRPC wants; the address is always the client's own.
func (d *dialer) connect(ctx context.Context, _ string) (net.Conn, error) {
	conn, err := d.dial(ctx, "unix", d.path)
	d.last.Store(&err)
	if err != nil {
		return nil, err
	}
	d.made.Add(1)
	return conn, nil
}

// failure returns why the last attempt failed, nil if it did not.
func (d *dialer) failure() error {
	if err := d.last.Load(); err != nil {
		return *err
	}
	return nil
}
