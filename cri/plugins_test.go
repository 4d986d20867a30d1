package cri

import (
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
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
			answer := func(_ any, s grpc.ServerStream) error {
				method, _ := grpc.MethodFromServerStream(s)
				if method != pluginsMethod || tt.all == nil {
					return status.Error(codes.Unimplemented, "unknown service "+strings.Split(method, "/")[1])
				}
				var request, list []byte
				if err := s.RecvMsg(&request); err != nil {
					return err
				}
				for _, p := range tt.all {
					list = protowire.AppendBytes(protowire.AppendTag(list, 1, protowire.BytesType), p.onWire())
				}
				return s.SendMsg(list)
			}
			path := shortDir(t) + "/x.sock"
			background(t, grpc.NewServer(grpc.ForceServerCodec(wireCodec{}), grpc.UnknownServiceHandler(answer)), listen(t, path))
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
