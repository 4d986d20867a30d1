package cri

import (
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
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

// A form has for each field of a message, by its number, what takes it, and nil for one
// that nobody looks at. What takes a field reports false if the message does not have the
// ordinary form: if the field is of another type than the message says, or a text that is
// not UTF-8, which protobuf refuses. A form writes into the one message that it was made
// for, which has to be reset before each reading.
type form []func(field) bool

func (fm form) read(b []byte) bool {
	return eachField(b, func(f field) bool {
		return int(f.num) >= len(fm) || fm[f.num] == nil || fm[f.num](f)
	})
}

func (f field) skipText() bool { return f.typ == protowire.BytesType && utf8.Valid(f.bytes) }

func textTo(to *string) func(field) bool {
	return func(f field) bool {
		ok := f.skipText()
		if ok {
			*to = string(f.bytes)
		}
		return ok
	}
}

func numberTo[N ~int32 | ~uint32 | ~int64](to *N) func(field) bool {
	return func(f field) bool {
		*to = N(f.number)
		return f.typ == protowire.VarintType
	}
}

// A message is a generated one, by its pointer.
type message[M any] interface {
	*M
	Reset()
}

// messageTo takes an embedded message, into the same one each time. A second one of its
// number would have to be merged with the first, and is refused.
func messageTo[M any, P message[M]](to **M, formOf func(*M) form) func(field) bool {
	m := new(M)
	fm := formOf(m)
	return func(f field) bool {
		if *to != nil || f.typ != protowire.BytesType {
			return false
		}
		P(m).Reset()
		*to = m
		return fm.read(f.bytes)
	}
}

// entriesTo takes the entries of a map of texts that have one of those keys, into the same
// map each time.
func entriesTo(to *map[string]string, keys ...string) func(field) bool {
	kept := make(map[string]string, len(keys))
	return func(f field) bool {
		if *to == nil {
			clear(kept)
			*to = kept
		}
		key, value, ok := f.entry()
		for _, k := range keys {
			if string(key) == k {
				kept[k] = string(value)
			}
		}
		return ok
	}
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

// idOf returns the text number 1 of an entry, which is the id of a sandbox and of
// a container; nil if there is none to be read.
func idOf(entry []byte) (id []byte) {
	eachField(entry, func(f field) bool {
		id = f.bytes
		return f.num != 1
	})
	return id
}
