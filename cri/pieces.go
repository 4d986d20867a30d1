package cri

import (
	"encoding/binary"

	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
)

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
