package cri

import (
	"slices"
	"sync"

	"google.golang.org/grpc/encoding"
	_ "google.golang.org/grpc/encoding/proto" // registers the codec that this one stands before
	"google.golang.org/grpc/mem"
)

// A decoder is an answer that reads itself from its bytes on the wire, and
// keeps none of them.
type decoder interface{ decode(wire []byte) error }

// A codec is gRPC's own for protobuf, except that it lets a [decoder] read, and leaves an
// [undecoded] message as it is.
type codec struct{ encoding.CodecV2 }

func newCodec() codec { return codec{encoding.GetCodecV2("proto")} }

// Name is empty so that the content type on the wire stays the plain
// application/grpc that the kubelet sends.
func (codec) Name() string { return "" }

func (c codec) Unmarshal(data mem.BufferSlice, v any) error {
	if f, ok := v.(*undecoded); ok {
		data.Ref()
		f.data = data
		return nil
	}
	d, ok := v.(decoder)
	if !ok {
		return c.CodecV2.Unmarshal(data, v)
	}
	if len(data) == 1 {
		return d.decode(data[0].ReadOnlyData())
	}
	wire := wires.Get().(*[]byte)
	defer wires.Put(wire)
	*wire = slices.Grow((*wire)[:0], data.Len())[:data.Len()]
	data.CopyTo(*wire)
	return d.decode(*wire)
}

// wires has buffers for lists. Those of gRPC's own pool are cleared for each, and of
// 1 MiB for what is longer than 32 KiB, as the list of a small node is.
var wires = sync.Pool{New: func() any { return new([]byte) }}
