package cri

import (
	"hash/maphash"
	"slices"
	"sync/atomic"

	"github.com/plegtop/plegtop/engine/pleg"
)

// A known has the rows that were returned last, and by the ids of their entries where they
// are. Nearly every entry of a list has the fields that it had in the one before: it is then
// not read again, and where that holds of all entries, and none is missing, the list is the
// one returned last. It belongs to one list at a time. What it has of each entry holds no pointer:
// the collector passes over it, however many there are.
type known[T any] struct {
	seed  maphash.Seed
	last  []T              // others have it, too: never changed
	rows  []knownRow       // of each id
	at    map[uint64]int32 // where in rows an id is, by its hash: of two with the same one the entries differ, and neither is known
	lists uint             // how many lists there were
	same  []int32          // places in last of the list's first rows, up to the first that is not there
}

type knownRow struct {
	id    uint64 // its hash
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
		k = &known[T]{seed: maphash.MakeSeed(), at: make(map[uint64]int32)}
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
		k.forget()
	}
	b.kept.Store(k)
}

// forget keeps the rows of the list that was made, each in the place that it has there.
func (k *known[T]) forget() {
	kept := k.rows[:0]
	for i, r := range k.rows {
		if r.list != k.lists {
			delete(k.at, r.id)
			continue
		}
		if i != len(kept) {
			k.at[r.id] = int32(len(kept))
		}
		r.place = r.next
		kept = append(kept, r)
	}
	k.rows = kept
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
	at, ok := k.at[maphash.Bytes(k.seed, id.bytes)]
	if !ok {
		return false
	}
	r := &k.rows[at]
	if r.list == k.lists || r.hash != k.hash(entry) {
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
	k := l.known
	if k == nil || l.Anomalies != before {
		return
	}
	r := knownRow{id: maphash.String(k.seed, id), hash: k.hash(entry), list: k.lists, next: int32(len(l.rows) - 1)}
	if at, ok := k.at[r.id]; ok {
		k.rows[at] = r
		return
	}
	k.at[r.id] = int32(len(k.rows))
	k.rows = append(k.rows, r)
}
