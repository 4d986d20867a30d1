package cri

import (
	"errors"
	"fmt"
	"hash/maphash"
	"iter"
	"slices"
	"sync"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/plegtop/plegtop/engine/pleg"
)

// A list of a node with a thousand pods is a megabyte or two, most of it labels and
// annotations that nobody here looks at, and nearly every entry has the bytes that it had a
// second ago. So only the entries that are new are decoded.

// A known makes rows of the entries of lists, and remembers those of the last list. Safe for
// concurrent use.
type known[T any] struct {
	read  func(*sanitizer, []byte) (row T, ok bool, err error) // decodes one entry; not ok: it was left out, and counted
	seeds [2]maphash.Seed

	mu     sync.Mutex
	rows   []T                   // returned last; others have it, too: never changed
	places map[fingerprint]int32 // in rows; holds no pointer, so the collector passes over it
	keys   []fingerprint         // of the list that is read; kept only for its room
}

func newKnown[T any](read func(*sanitizer, []byte) (T, bool, error)) *known[T] {
	return &known[T]{read: read, seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}}
}

// A fingerprint is 128 bits that only an entry with the same fields has.
type fingerprint [2]uint64

// fingerprint does not depend on the order of the fields: Go writes the maps of labels and
// annotations in a new order each time. No runtime writes another field twice.
func (k *known[T]) fingerprint(entry []byte) (sum fingerprint) {
	for len(entry) > 0 {
		_, _, n := protowire.ConsumeField(entry)
		if n < 0 {
			n = len(entry)
		}
		sum[0] += maphash.Bytes(k.seeds[0], entry[:n])
		sum[1] += maphash.Bytes(k.seeds[1], entry[:n])
		entry = entry[n:]
	}
	return sum
}

// list returns the rows of the answer in wire. If it has the entries of the last list, in
// whatever order, the rows are the same slice again.
func (k *known[T]) list(wire []byte) ([]T, pleg.Anomalies, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	same, err := k.compare(wire)
	switch {
	case err != nil:
		return nil, pleg.Anomalies{}, err
	case same:
		return k.rows, pleg.Anomalies{}, nil
	}
	var m sanitizer
	rows := slices.Grow[[]T](nil, len(k.keys))
	places := make(map[fingerprint]int32, len(k.keys))
	i := 0
	for entry := range entries(wire) {
		key := k.keys[i]
		i++
		if place, ok := k.places[key]; ok {
			places[key] = int32(len(rows))
			rows = append(rows, k.rows[place])
			continue
		}
		before := m.Anomalies
		row, ok, err := k.read(&m, entry)
		if err != nil {
			return nil, pleg.Anomalies{}, fmt.Errorf("entry %d (id %q): %w", i, idOf(entry), err)
		}
		if m.Anomalies == before { // else it is read anew, and counted, in each list
			places[key] = int32(len(rows))
		}
		if ok {
			rows = append(rows, row)
		}
	}
	k.rows, k.places = slices.Clip(rows), places // so that an append writes nothing behind rows that are shared
	return k.rows, m.Anomalies, nil
}

// compare makes the keys of all entries in wire, and reports whether they are those
// of the last list, each once.
func (k *known[T]) compare(wire []byte) (same bool, err error) {
	k.keys = k.keys[:0]
	seen, same := make([]bool, len(k.rows)), true
	for entry, err := range entries(wire) {
		if err != nil {
			return false, err
		}
		if err := weigh(len(k.keys) + 1); err != nil {
			return false, err
		}
		key := k.fingerprint(entry)
		k.keys = append(k.keys, key)
		if place, ok := k.places[key]; same && ok && !seen[place] {
			seen[place] = true
		} else {
			same = false
		}
	}
	return same && len(k.keys) == len(k.rows), nil
}

// entries yields the embedded messages number 1, which are all that a list has. It ends with
// an error if the bytes are none of a message.
func entries(wire []byte) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for f, err := range fields(wire) {
			if (err != nil || f.num == 1 && f.typ == protowire.BytesType) && !yield(f.bytes, err) {
				return
			}
		}
	}
}

// idOf returns the text number 1 of an entry, which is the id of a sandbox and of
// a container; nil if there is none to be read.
func idOf(entry []byte) []byte {
	for f := range fields(entry) {
		if f.num == 1 {
			return f.bytes
		}
	}
	return nil
}

// A field is one field of a protobuf message on the wire.
type field struct {
	num   protowire.Number
	typ   protowire.Type
	bytes []byte // of a text or an embedded message; part of the wire's buffer
}

// errMalformed is in protobuf's words.
var errMalformed = errors.New("proto: cannot parse invalid wire-format data")

// fields yields the fields of a message. It ends with an empty field and an error where the
// bytes are none of a message.
func fields(wire []byte) iter.Seq2[field, error] {
	return func(yield func(field, error) bool) {
		for len(wire) > 0 {
			num, typ, n := protowire.ConsumeField(wire)
			if n < 0 || num > protowire.MaxValidNumber {
				yield(field{}, errMalformed)
				return
			}
			f := field{num: num, typ: typ}
			if typ == protowire.BytesType {
				_, _, tag := protowire.ConsumeTag(wire)
				f.bytes, _ = protowire.ConsumeBytes(wire[tag:])
			}
			if !yield(f, nil) {
				return
			}
			wire = wire[n:]
		}
	}
}
