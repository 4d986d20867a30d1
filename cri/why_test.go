package cri

import (
	"context"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/test/bufconn"
)

// A containerd that once took too long to say why there is no CRI is asked again.
func TestWhyIsAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		takes := 1200 * time.Millisecond
		server, listener := withoutCRI([]plugin{}, func() { time.Sleep(takes); takes = 0 }), bufconn.Listen(1<<16)
		go func() { _ = server.Serve(listener) }()
		defer server.Stop()
		c, err := open("x", func(ctx context.Context, _, _ string) (net.Conn, error) { return listener.DialContext(ctx) }, handshake)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		for range 5 {
			_, err = c.Version(t.Context())
			time.Sleep(10 * time.Second)
		}
		if err == nil || !strings.Contains(err.Error(), "it is disabled, or not built in") {
			t.Errorf("error %v", err)
		}
	})
}
