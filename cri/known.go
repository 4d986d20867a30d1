package cri

import (
	"hash/maphash"
	"maps"
	"slices"
	"sync/atomic"

	"github.com/plegtop/plegtop/engine/pleg"
)

// A known has the rows that were returned last, and by the ids of their entries where they
// are. Nearly every entry of a list has the fields that it had in the one before: it is then
// not read again, and where that holds of all entries, and none is missing, the list is the
// one returned last. It belongs to one list at a time.
type known[T any] struct {
	seed  maphash.Seed
	last  []T // others have it, too: never changed
	rows  map[string]*knownRow
	lists uint    // how many lists there were
	same  []int32 // places in last of the list's first rows, up to the first that is not there
}

type knownRow struct {
	hash  uint64 // of its entry
	list  uint   // the last one that it was in
	place int32  // in the rows returned last
	next  int32  // in those of the list under way
}

// A knownBy keeps a known between two lists. The zero value has an empty one. Safe for
// concurrent use: of two lists at the same time one begins anew.
type knownBy[T any] struct{ kept atomic.Pointer[known[T]] }

func (b *knownBy[T]) take() *known[T] {
	k := b.kept.Swap(nil)
	if k == nil {
		k = &known[T]{seed: maphash.MakeSeed(), rows: make(map[string]*knownRow)}
	}
	k.lists++
	k.same = k.same[:0]
	return k
}

// give keeps what a list knew that has rows, and forgets what was not in it. Of one that
// failed nothing is kept: it may have had any number of entries, each time others.
func (b *knownBy[T]) give(k *known[T], rows []T) {
	if len(rows) == 0 {
		return
	}
	if len(k.last) == 0 || &rows[0] != &k.last[0] {
		k.last = rows
		maps.DeleteFunc(k.rows, func(_ string, r *knownRow) bool {
			r.place = r.next
			return r.list != k.lists
		})
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

// again adds the row of an entry that is known, and reports whether it is. One that stands
// twice in a list is read twice.
func (l *list[T]) again(entry []byte) bool {
	id, _, ok := nextField(entry)
	if l.known == nil || !ok || id.num != 1 {
		return false
	}
	k := l.known
	r := k.rows[string(id.bytes)]
	if r == nil || r.list == k.lists || r.hash != k.hash(entry) {
		return false
	}
	r.list = k.lists
	if l.rows == nil {
		r.next = int32(len(k.same))
		k.same = append(k.same, r.place)
	} else {
		r.next = int32(len(l.rows))
		l.rows = append(l.rows, k.last[r.place])
	}
	return true
}

// differ gives the list rows of its own, if it has none yet.
func (l *list[T]) differ() {
	if l.rows != nil {
		return
	}
	l.rows = slices.Grow(l.rows, l.room)
	if k := l.known; k != nil {
		for _, place := range k.same {
			l.rows = append(l.rows, k.last[place])
		}
	}
}

// end gives a list in which no entry is new the rows returned last, or those of its own if
// others are missing.
func (l *list[T]) end() {
	if k := l.known; l.rows == nil && k != nil && len(k.same) == len(k.last) {
		l.rows = k.last
	}
	l.differ()
}

// learn remembers the row that was made last, of the entry with that id, unless the entry
// had something odd, which counts in each list anew.
func (l *list[T]) learn(id string, entry []byte, before pleg.Anomalies) {
	if k := l.known; k != nil && l.Anomalies == before {
		k.rows[id] = &knownRow{hash: k.hash(entry), list: k.lists, next: int32(len(l.rows) - 1)}
	}
}
