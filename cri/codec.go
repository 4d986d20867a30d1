package cri

import (
	"fmt"
	"slices"
	"sync"

	"google.golang.org/grpc/encoding"
	_ "google.golang.org/grpc/encoding/proto" // registers the codec that this one stands before
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"
)

// A decoder is an answer that reads itself from its bytes on the wire, and
// keeps none of them.
type decoder interface{ decode(wire []byte) error }

// A codec is gRPC's own for protobuf, except that it lets a [decoder] read, leaves an
// [undecoded] message as it is, and reads nothing that takes too much memory.
type codec struct{ encoding.CodecV2 }

// Name is empty so that the content type on the wire stays the plain
// application/grpc that the kubelet sends.
func (codec) Name() string { return "" }

func (c codec) Unmarshal(data mem.BufferSlice, v any) error {
	if f, ok := v.(*undecoded); ok {
		data.Ref()
		f.data = data
		return nil
	}
	if len(data) == 1 {
		return read(data[0].ReadOnlyData(), v)
	}
	wire := wires.Get().(*[]byte)
	defer wires.Put(wire)
	*wire = slices.Grow((*wire)[:0], data.Len())[:data.Len()]
	data.CopyTo(*wire)
	return read(*wire, v)
}

// read reads an answer, which keeps nothing of wire: by itself, or by the generated code,
// if that does not make too much of it.
func read(wire []byte, v any) error {
	switch v := v.(type) {
	case decoder:
		return v.decode(wire)
	case proto.Message:
		if len(wire) > entriesLimit { // a part takes a byte at least
			if err := weigh(parts(wire, v.ProtoReflect().Descriptor())); err != nil {
				return err
			}
		}
		return proto.Unmarshal(wire, v)
	}
	return fmt.Errorf("read an answer into a %T: not a message", v)
}

// wires has buffers for lists. Those of gRPC's own pool are cleared for each, and of
// 1 MiB for what is longer than 32 KiB, as the list of a small node is.
var wires = sync.Pool{New: func() any { return new([]byte) }}
