//go:build !race

package cri

import (
	"io"
	"net"
	"os"
	"syscall"
	"unsafe"
)

// A quick is a connection that reads and writes without telling Go's scheduler. It never
// blocks there, and each such word, a few for each call, would wake the runtime's watcher of
// threads that hang, which then looks about every 20 us. One goroutine may read and one write.
type quick struct {
	net.Conn
	raw     syscall.RawConn
	in, out transfer
}

// A transfer moves bytes by one system call, which is made again when the connection is ready.
type transfer struct {
	bytes []byte
	n     int
	errno syscall.Errno
	try   func(fd uintptr) (done bool)
}

// quicken returns conn as a quick, if it is the connection of a socket.
func quicken(conn net.Conn) net.Conn {
	socket, ok := conn.(*net.UnixConn)
	if !ok {
		return conn
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return conn
	}
	q := &quick{Conn: conn, raw: raw}
	q.in.by(syscall.SYS_READ)
	q.out.by(syscall.SYS_WRITE)
	return q
}

func (t *transfer) by(call uintptr) {
	t.try = func(fd uintptr) bool {
		t.errno = syscall.EINTR
		for t.errno == syscall.EINTR {
			var n uintptr
			n, _, t.errno = syscall.RawSyscall(call, fd, uintptr(unsafe.Pointer(unsafe.SliceData(t.bytes))), uintptr(len(t.bytes)))
			t.n = int(n)
		}
		return t.errno != syscall.EAGAIN
	}
}

func (t *transfer) move(p []byte, ready func(func(uintptr) bool) error) (int, error) {
	t.bytes = p
	err := ready(t.try)
	t.bytes = nil
	switch {
	case err != nil:
		return 0, err
	case t.errno != 0:
		return 0, t.errno
	}
	return t.n, nil
}

// Read reads as a [net.Conn] does.
func (q *quick) Read(p []byte) (int, error) {
	n, err := q.in.move(p, q.raw.Read)
	if n == 0 && err == nil && len(p) > 0 {
		err = io.EOF
	}
	return n, q.told("read", err)
}

// Write writes all of p, or says why it has not.
func (q *quick) Write(p []byte) (written int, err error) {
	for written < len(p) && err == nil {
		var n int
		n, err = q.out.move(p[written:], q.raw.Write)
		written += n
	}
	return written, q.told("write", err)
}

// told returns a system's error as the net package words it.
func (q *quick) told(op string, err error) error {
	switch e := err.(type) {
	case *net.OpError:
		e.Op = op // and not raw-read
	case syscall.Errno:
		return &net.OpError{Op: op, Net: "unix", Source: q.LocalAddr(), Addr: q.RemoteAddr(), Err: os.NewSyscallError(op, e)}
	}
	return err
}
