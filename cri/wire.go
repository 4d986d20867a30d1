package cri

import (
	"fmt"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// A field is one field of a protobuf message as it is on the wire. Only the two
// wire types that CRI uses are read; see fastdecode.go.
type field struct {
	num    protowire.Number
	typ    protowire.Type
	bytes  []byte // of a text or an embedded message; part of the wire's buffer
	number uint64 // of a number
}

// nextField returns the first field of b and what follows it; false for what is
// malformed.
func nextField(b []byte) (field, []byte, bool) {
	var f field
	var n int
	f.num, f.typ, n = protowire.ConsumeTag(b)
	if n < 0 || f.num > protowire.MaxValidNumber {
		return f, nil, false
	}
	b = b[n:]
	switch f.typ {
	case protowire.VarintType:
		f.number, n = protowire.ConsumeVarint(b)
	case protowire.BytesType:
		f.bytes, n = protowire.ConsumeBytes(b)
	default:
		n = protowire.ConsumeFieldValue(f.num, f.typ, b)
	}
	if n < 0 {
		return f, nil, false
	}
	return f, b[n:], true
}

// eachField calls take for every field of b; false if one can't be read or take
// says so.
func eachField(b []byte, take func(field) bool) bool {
	for len(b) > 0 {
		f, rest, ok := nextField(b)
		if !ok || !take(f) {
			return false
		}
		b = rest
	}
	return true
}

// The methods below report false for a field of another type than the message
// says, and for a text that is not UTF-8, which protobuf refuses.

func (f field) skipText() bool { return f.typ == protowire.BytesType && utf8.Valid(f.bytes) }

func (f field) text(to *string) bool {
	if !f.skipText() {
		return false
	}
	*to = string(f.bytes)
	return true
}

func (f field) varint() bool { return f.typ == protowire.VarintType }

// embedded reports whether f is an embedded message, and the first of its
// number: a later one would have to be merged with it.
func (f field) embedded(seen *bool) bool {
	first := f.typ == protowire.BytesType && !*seen
	*seen = true
	return first
}

// entry returns key and value of one entry of a map of texts.
func (f field) entry() (key, value []byte, ok bool) {
	if f.typ != protowire.BytesType {
		return nil, nil, false
	}
	ok = eachField(f.bytes, func(part field) bool {
		switch part.num {
		case 1:
			key = part.bytes
		case 2:
			value = part.bytes
		default:
			return false
		}
		return part.skipText()
	})
	return key, value, ok
}

func (f field) skipEntry() bool {
	_, _, ok := f.entry()
	return ok
}

// entries counts the embedded messages number 1 of a list answer, up to what is
// malformed; ordinary is false if there is anything else in it.
func entries(wire []byte) (n int, ordinary bool) {
	ordinary = true
	for len(wire) > 0 {
		num, typ, size := protowire.ConsumeField(wire)
		if size < 0 {
			return n, false
		}
		if num == 1 {
			n++
		}
		ordinary = ordinary && num == 1 && typ == protowire.BytesType
		wire = wire[size:]
	}
	return n, ordinary
}

// whose says which entry of a list answer it is that the generated code cannot
// read into whole, and why: err alone does not tell. Half of it need not be
// readable either, so that what has no id has its place.
func whose(wire []byte, whole proto.Message, err error) error {
	for place := 1; len(wire) > 0; place++ {
		_, _, size := protowire.ConsumeField(wire)
		if size < 0 {
			break
		}
		if e := proto.Unmarshal(wire[:size], whole); e != nil {
			return fmt.Errorf("entry %d (id %q): %w", place, idOf(wire[:size]), e)
		}
		wire = wire[size:]
	}
	return err
}

// idOf returns the text number 1 of an entry, which is the id of a sandbox and of
// a container; nil if there is none to be read.
func idOf(entry []byte) (id []byte) {
	message, _, _ := nextField(entry)
	eachField(message.bytes, func(f field) bool {
		id = f.bytes
		return f.num != 1
	})
	return id
}
