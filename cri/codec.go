package cri

import (
	"fmt"

	"google.golang.org/grpc/encoding"
	_ "google.golang.org/grpc/encoding/proto" // registers the codec that this one stands before
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"
)

// A decoder is an answer that reads itself from its bytes on the wire. It keeps none of them.
type decoder interface {
	decode(wire []byte) error
}

// An undecoded is a message as it is on the wire; whoever has it frees it.
type undecoded struct{ data mem.BufferSlice }

// A codec is gRPC's own for protobuf, except that it lets a [decoder] read, leaves an
// [undecoded] message as it is, and reads nothing that takes too much memory.
type codec struct{ encoding.CodecV2 }

// Name is empty so that the content type on the wire stays the plain
// application/grpc that the kubelet sends.
func (codec) Name() string { return "" }

func (c codec) Unmarshal(data mem.BufferSlice, v any) error {
	if v, ok := v.(*undecoded); ok {
		data.Ref()
		v.data = data
		return nil
	}
	whole := data.MaterializeToBuffer(mem.DefaultBufferPool())
	defer whole.Free()
	switch v := v.(type) {
	case decoder:
		return v.decode(whole.ReadOnlyData())
	case proto.Message:
		return unmarshal(whole.ReadOnlyData(), v)
	}
	return fmt.Errorf("read an answer into a %T: not a message", v)
}

// unmarshal reads an answer by the generated code, if that does not make too much of it.
func unmarshal(wire []byte, m proto.Message) error {
	if len(wire) > entriesLimit { // a part takes a byte at least
		if err := weigh(parts(wire, m.ProtoReflect().Descriptor())); err != nil {
			return err
		}
	}
	return proto.Unmarshal(wire, m)
}
