package sim

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"sync"

	"google.golang.org/grpc"

	"github.com/plegtop/plegtop/engine/guard"
)

// A wire is the socket and who serves it. It can be taken away and brought
// back, as when a runtime is killed and started again: the socket's file stays,
// and connecting to it is refused. Safe for concurrent use.
type wire struct {
	path string
	make func() *grpc.Server // a new one for each time that the wire comes up

	mu     sync.Mutex // held while the wire changes, and guards the rest
	server *grpc.Server
	closed bool
	served sync.WaitGroup
}

// set brings the wire up or takes it away; away, all connections are cut and
// their calls have ended when it returns. A wire that is as asked for, or closed,
// stays as it is.
func (x *wire) set(up bool) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	switch {
	case x.closed:
		return nil
	case up && x.server == nil:
		return x.serve()
	case !up && x.server != nil:
		x.stop()
	}
	return nil
}

// longestPath is what fits into the address of a unix socket on Linux.
const longestPath = 107

func (x *wire) serve() error {
	if len(x.path) > longestPath {
		return fmt.Errorf("%s: longer than the %d bytes of a socket's address: set TMPDIR to a shorter folder", x.path, longestPath)
	}
	if err := os.Remove(x.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: x.path, Net: "unix"})
	if err != nil {
		return err
	}
	l.SetUnlinkOnClose(false)
	x.server = x.make()
	server := x.server
	x.served.Go(func() {
		defer guard.Catch()
		_ = server.Serve(l) // ends with the server, never before
	})
	return nil
}

func (x *wire) stop() {
	x.server.Stop()
	x.served.Wait()
	x.server = nil
}

// close takes the wire away for good.
func (x *wire) close() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.server != nil {
		x.stop()
	}
	x.closed = true
}
