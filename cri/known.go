package cri

import (
	"hash/maphash"
	"maps"
	"sync/atomic"

	"github.com/plegtop/plegtop/engine/pleg"
)

// A known has the rows of the last list of all by the ids of their entries. Nearly every
// entry of a list has the fields that it had in the one before: its row is then taken from
// here, and not read again. It belongs to one list at a time.
type known[T any] struct {
	seed  maphash.Seed
	rows  map[string]*knownRow[T]
	lists uint // how many lists there were
}

type knownRow[T any] struct {
	row  T
	hash uint64 // of its entry
	list uint   // the last one that it was in
}

// A knownBy keeps a known between two lists. The zero value has an empty one. Safe for
// concurrent use: of two lists at the same time one begins anew.
type knownBy[T any] struct{ kept atomic.Pointer[known[T]] }

func (b *knownBy[T]) take() *known[T] {
	k := b.kept.Swap(nil)
	if k == nil {
		k = &known[T]{seed: maphash.MakeSeed(), rows: make(map[string]*knownRow[T])}
	}
	k.lists++
	return k
}

// give keeps what a list knew that has rows, and forgets what was not in it. Of one that
// failed nothing is kept: it may have had any number of entries, each time others.
func (b *knownBy[T]) give(k *known[T], rows []T) {
	if len(rows) == 0 {
		return
	}
	if len(k.rows) > len(rows) {
		maps.DeleteFunc(k.rows, func(_ string, r *knownRow[T]) bool { return r.list != k.lists })
	}
	b.kept.Store(k)
}

// hash returns a value that the same id has again only with the same fields, in whatever
// order: a runtime's labels and annotations come in another one each time.
func (k *known[T]) hash(entry []byte) (sum uint64) {
	for len(entry) > 0 {
		_, rest, ok := nextField(entry)
		if !ok {
			return sum + maphash.Bytes(k.seed, entry)
		}
		sum += maphash.Bytes(k.seed, entry[:len(entry)-len(rest)])
		entry = rest
	}
	return sum
}

// again adds the row of an entry that is known, and reports whether it is.
func (l *list[T]) again(entry []byte) bool {
	id, _, ok := nextField(entry)
	if l.known == nil || !ok || id.num != 1 {
		return false
	}
	r := l.known.rows[string(id.bytes)]
	if r == nil || r.hash != l.known.hash(entry) {
		return false
	}
	r.list = l.known.lists
	l.rows = append(l.rows, r.row)
	return true
}

// learn remembers the row that was made last, of the entry with that id, unless the entry
// had something odd, which counts in each list anew.
func (l *list[T]) learn(id string, entry []byte, before pleg.Anomalies) {
	if l.known != nil && l.Anomalies == before {
		l.known.rows[id] = &knownRow[T]{l.rows[len(l.rows)-1], l.known.hash(entry), l.known.lists}
	}
}
