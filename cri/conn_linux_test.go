//go:build !race

package cri

import (
	"crypto/rand"
	"errors"
	"io"
	"net"
	"path/filepath"
	"testing"
	"testing/iotest"
	"time"
)

// What goes to and fro on a quick connection is what goes on any, also where a write has to
// wait for its reader.
func TestQuickConnectionCarriesAll(t *testing.T) {
	near, far := quickPair(t)
	sent := make([]byte, 4<<20)
	_, _ = rand.Read(sent)
	go func() { // echoes, a little late
		got, _ := io.ReadAll(far)
		_, _ = far.Write(got)
		_ = far.Close()
	}()
	go func() {
		_, _ = near.Write(sent)
		_ = near.CloseWrite()
	}()
	if err := iotest.TestReader(struct{ io.Reader }{near}, sent); err != nil {
		t.Error(err)
	}
}

// Its failures are worded as those of any connection.
func TestQuickConnectionFailsAsAny(t *testing.T) {
	past := time.Unix(1, 0)
	for name, do := range map[string]func(net.Conn) error{
		"read too late": func(c net.Conn) error {
			_ = c.SetReadDeadline(past)
			_, err := c.Read(make([]byte, 1))
			return err
		},
		"write too late": func(c net.Conn) error {
			_ = c.SetWriteDeadline(past)
			_, err := c.Write([]byte("x"))
			return err
		},
		"closed": func(c net.Conn) error {
			_ = c.Close()
			_, err := c.Read(make([]byte, 1))
			return err
		},
		"nobody reads": func(c net.Conn) error {
			_ = c.(interface{ CloseWrite() error }).CloseWrite()
			_, err := c.Write([]byte("x"))
			return err
		},
	} {
		quick, _ := quickPair(t)
		plain, _ := quickPair(t)
		got, want := words(t, do(quick)), words(t, do(plain.Conn))
		if got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// CloseWrite shuts down one side, for tests.
func (q *quick) CloseWrite() error { return q.Conn.(*net.UnixConn).CloseWrite() }

// words returns an error without the addresses.
func words(t *testing.T, err error) string {
	t.Helper()
	op, ok := errors.AsType[*net.OpError](err)
	if !ok {
		t.Fatalf("%v is a %T", err, err)
	}
	return op.Op + " " + op.Net + ": " + op.Err.Error()
}

// quickPair returns both ends of a socket, the first as a dialer makes it.
func quickPair(t *testing.T) (near *quick, far net.Conn) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s")
	l := listen(t, path)
	conn, err := (&dialer{path: path, dial: new(net.Dialer).DialContext}).connect(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	if far, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = conn.Close(), far.Close() })
	return conn.(*quick), far
}
