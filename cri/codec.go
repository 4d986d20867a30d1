package cri

import (
	"encoding/binary"
	"errors"
	"fmt"
	"iter"

	"google.golang.org/grpc/encoding"
	_ "google.golang.org/grpc/encoding/proto" // registers the codec that this one stands before
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// A decoder is an answer that reads itself from its bytes on the wire, and
// keeps none of them.
type decoder interface {
	decode(data mem.BufferSlice) error
}

// A codec is gRPC's own for protobuf, except that it lets a [decoder] read, leaves an
// [undecoded] message as it is, and reads nothing that takes too much memory.
type codec struct{ encoding.CodecV2 }

// Name is empty so that the content type on the wire stays the plain
// application/grpc that the kubelet sends.
func (codec) Name() string { return "" }

func (c codec) Unmarshal(data mem.BufferSlice, v any) error {
	switch v := v.(type) {
	case *undecoded:
		data.Ref()
		v.data = data
		return nil
	case decoder:
		return v.decode(data)
	case proto.Message:
		whole := data.MaterializeToBuffer(mem.DefaultBufferPool())
		defer whole.Free()
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

// A pieces is what is left to read of an answer, in the pieces in which it came. The lists of a
// big node are many megabytes, which would otherwise be in memory a second time, in one piece.
type pieces struct {
	*mem.Reader
	next   [][]byte // room for what was peeked at
	joined []byte   // room for what lies in more than one
}

// entries yields the embedded messages number 1, of which a list has no other, each until the next.
// It ends with an error if the bytes are none of a message.
func entries(data mem.BufferSlice) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		p := pieces{Reader: data.Reader()}
		defer p.Close()
		for p.Remaining() > 0 {
			f, ok := p.field()
			if !ok {
				yield(nil, errMalformed)
				return
			}
			if f.num == 1 && f.typ == protowire.BytesType && !yield(f.bytes, nil) {
				return
			}
		}
	}
}

// errMalformed is in protobuf's words.
var errMalformed = errors.New("proto: cannot parse invalid wire-format data")

// field takes the next field away. Its bytes stay until the next is taken.
func (p *pieces) field() (f field, ok bool) {
	head := p.first(min(p.Remaining(), 2*binary.MaxVarintLen64))
	num, typ, tag := protowire.ConsumeTag(head)
	size, length := protowire.ConsumeVarint(head[max(tag, 0):])
	if num != 1 || typ != protowire.BytesType || length < 0 || size > uint64(p.Remaining()-tag-length) {
		whole := p.first(p.Remaining()) // whatever else protobuf allows: no list has any of it
		if len(p.next) > 1 {            // it is joined once, however much of it there is
			p.Reset(mem.BufferSlice{mem.SliceBuffer(whole)})
			p.joined = nil
		}
		f, rest, ok := nextField(whole)
		_, _ = p.Discard(len(whole) - len(rest))
		return f, ok
	}
	_, _ = p.Discard(tag + length)
	f = field{num: num, typ: typ, bytes: p.first(int(size))}
	_, _ = p.Discard(int(size)) // whoever has the answer keeps it
	return f, true
}

// first returns the first n bytes, of which there are as many.
func (p *pieces) first(n int) []byte {
	if p.next, _ = p.Peek(n, p.next[:0]); len(p.next) == 1 {
		return p.next[0]
	}
	p.joined = p.joined[:0]
	for _, piece := range p.next {
		p.joined = append(p.joined, piece...)
	}
	return p.joined
}
