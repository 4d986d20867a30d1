package cri

import (
	"context"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/encoding/protowire"
)

// A wireCodec passes messages on as they are on the wire.
type wireCodec struct{}

func (wireCodec) Marshal(v any) ([]byte, error)      { return v.([]byte), nil }
func (wireCodec) Unmarshal(data []byte, v any) error { *v.(*[]byte) = data; return nil }
func (wireCodec) Name() string                       { return "proto" }

// onWire returns a plugin as containerd tells it.
func (p plugin) onWire() []byte {
	text := func(b []byte, num protowire.Number, s string) []byte {
		return protowire.AppendString(protowire.AppendTag(b, num, protowire.BytesType), s)
	}
	b := text(text(text(nil, 1, p.kind), 2, p.id), 3, "io.containerd.metadata.v1")
	if p.err != "" {
		why := text(protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), 2), 2, p.err)
		b = text(b, 7, string(why))
	}
	return b
}

// withoutCRI returns a server that knows nothing but its plugins, if there are any. It calls
// asked before it tells them.
func withoutCRI(all []plugin, asked func()) *grpc.Server {
	answer := func(_ any, s grpc.ServerStream) error {
		method, _ := grpc.MethodFromServerStream(s)
		if method != pluginsMethod || all == nil {
			return status.Error(codes.Unimplemented, "unknown service "+strings.Split(method, "/")[1])
		}
		var request, list []byte
		if err := s.RecvMsg(&request); err != nil {
			return err
		}
		asked()
		for _, p := range all {
			list = protowire.AppendBytes(protowire.AppendTag(list, 1, protowire.BytesType), p.onWire())
		}
		return s.SendMsg(list)
	}
	return grpc.NewServer(grpc.ForceServerCodec(wireCodec{}), grpc.UnknownServiceHandler(answer))
}

// A containerd without CRI says itself why: nobody has to guess.
func TestWhyThereIsNoCRI(t *testing.T) {
	overlay := plugin{"io.containerd.snapshotter.v1", "overlayfs", "not supported"}
	for _, tt := range []struct {
		name string
		all  []plugin
		want string
	}{
		{"a plugin failed", []plugin{overlay, {"io.containerd.cri.v1", "images", "no such\x1b folder"}, {"io.containerd.grpc.v1", "cri", "images failed"}},
			`containerd's plugin io.containerd.cri.v1.images did not start: no such\x1b folder`},
		{"the service itself", []plugin{{"io.containerd.cri.v1", "images", ""}, {"io.containerd.grpc.v1", "cri", "no cgroup"}},
			"containerd's plugin io.containerd.grpc.v1.cri did not start: no cgroup"},
		{"disabled", []plugin{overlay, {"io.containerd.grpc.v1", "images", ""}}, "containerd runs without its plugin cri: it is disabled, or not built in"},
		{"another program", nil, "unknown service runtime.v1.RuntimeService"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := shortDir(t) + "/x.sock"
			background(t, withoutCRI(tt.all, func() {}), listen(t, path))
			c, err := Dial(path)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			for range 2 {
				if _, err := c.Version(t.Context()); err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("error = %v, want %q", err, tt.want)
				}
			}
		})
	}
}

// While containerd takes its time to say why there is no CRI, every call ends by its own
// deadline. Those that have the time get the one answer, whoever asked first. (A lock that is
// held meanwhile stops the clock here, and so the test.)
func TestWhyThereIsNoCRIHoldsNobodyUp(t *testing.T) {
	const takes, short, long = 900 * time.Millisecond, 100 * time.Millisecond, 5 * time.Second
	const why, plain = "it is disabled, or not built in", "unknown service runtime.v1.RuntimeService"
	for _, order := range [][]time.Duration{{short, long}, {long, short}, {long, short, short, long}} {
		synctest.Test(t, func(t *testing.T) {
			asked := 0
			server, listener := withoutCRI([]plugin{}, func() { asked++; time.Sleep(takes) }), bufconn.Listen(1<<16)
			go func() { _ = server.Serve(listener) }()
			defer server.Stop()
			c, err := open("x", func(ctx context.Context, _, _ string) (net.Conn, error) { return listener.DialContext(ctx) }, handshake)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			var calls sync.WaitGroup
			for _, within := range order {
				calls.Go(func() {
					ctx, cancel := context.WithTimeout(t.Context(), within)
					defer cancel()
					began := time.Now()
					_, err := c.Version(ctx)
					took, wantTook, want := time.Since(began), short, plain
					if within == long {
						wantTook, want = takes, why
					}
					if took != wantTook || err == nil || !strings.Contains(err.Error(), want) {
						t.Errorf("of %v, a call with %v: error %v after %v, want %q after %v", order, within, err, took, want, wantTook)
					}
				})
				synctest.Wait()
			}
			if calls.Wait(); asked != 1 {
				t.Errorf("asked %d times", asked)
			}
		})
	}
}
