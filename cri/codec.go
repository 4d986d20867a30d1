package cri

import (
	"encoding/binary"
	"fmt"

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
	data   mem.BufferSlice // but for the first piece
	first  []byte
	left   int    // bytes in all of them
	joined []byte // room for what lies in more than one
}

func newPieces(data mem.BufferSlice) pieces { return pieces{data: data, left: data.Len()} }

// entry takes the next field away and returns it, until that changes what it has joined. It is
// false for what is malformed and for anything but an embedded message number 1, of which a
// list has no other.
func (p *pieces) entry() ([]byte, bool) {
	head := p.next(min(p.left, 2*binary.MaxVarintLen64))
	num, typ, tag := protowire.ConsumeTag(head)
	if tag < 0 || num != 1 || typ != protowire.BytesType {
		return nil, false
	}
	size, length := protowire.ConsumeVarint(head[tag:])
	if length < 0 || size > uint64(p.left-tag-length) {
		return nil, false
	}
	p.skip(tag + length)
	entry := p.next(int(size))
	p.skip(int(size))
	return entry, true
}

// entries counts the entries that are left, and reports whether there is nothing else.
func (p pieces) entries() (n int, ordinary bool) {
	for p.left > 0 {
		if _, ok := p.entry(); !ok {
			return n, false
		}
		n++
	}
	return n, true
}

// next returns the next n bytes, of which there are as many.
func (p *pieces) next(n int) []byte {
	p.skip(0)
	if n <= len(p.first) {
		return p.first[:n]
	}
	p.joined = append(p.joined[:0], p.first...)
	for _, b := range p.data {
		piece := b.ReadOnlyData()
		p.joined = append(p.joined, piece[:min(len(piece), n-len(p.joined))]...)
		if len(p.joined) == n {
			break
		}
	}
	return p.joined
}

// skip takes the next n bytes away, and empty pieces before what follows.
func (p *pieces) skip(n int) {
	p.left -= n
	for n >= len(p.first) && len(p.data) > 0 {
		n -= len(p.first)
		p.first, p.data = p.data[0].ReadOnlyData(), p.data[1:]
	}
	p.first = p.first[n:]
}
