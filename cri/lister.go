package cri

import (
	"fmt"
	"hash/maphash"
	"slices"
	"sync"

	"github.com/plegtop/plegtop/engine/pleg"
)

// The list of a node with a thousand pods has a megabyte or two. Most of it is labels and
// annotations that nobody here looks at, and nearly every entry has the bytes that it had a second
// ago. So only new entries are decoded.

// A lister turns the entries of lists into rows. An entry with the bytes that it had in the last
// list of all pods gets the same row. It is safe for concurrent use.
type lister[T any] struct {
	decode func(*converter, []byte) (*T, error) // makes the row of one entry; nil to leave it out
	seeds  [2]maphash.Seed

	mu   sync.Mutex
	last listed[T] // list of all pods
	cuts []entry   // of the answer that is being read; empty between two answers
}

// A listed is a list that was read.
type listed[T any] struct {
	sum   digest            // over its entries, in any order
	rows  []*T              // callers have them, too: never changed
	found pleg.Anomalies    // in all entries
	known map[digest]row[T] // by entry
}

// A digest is 128 bits. Only entries with the same fields, in any order, have the same digest.
type digest [2]uint64

// A row is the result for one entry.
type row[T any] struct {
	row   *T // nil if the entry was left out
	found pleg.Anomalies
}

// An entry is the part of a list that stands for one sandbox or container.
type entry struct {
	digest
	wire []byte
}

func newLister[T any](decode func(*converter, []byte) (*T, error)) *lister[T] {
	return &lister[T]{decode: decode, seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}}
}

// reader returns a function that turns a list, of all pods or of one, into its rows, in the
// runtime's order. If the list has exactly the entries of the last list of all pods, in any order,
// the result is the last list: the same slice. Only a list of all pods that could be read replaces
// the last list.
func (l *lister[T]) reader(ofAll bool) func(*converter, []byte) ([]*T, error) {
	return func(c *converter, wire []byte) ([]*T, error) {
		l.mu.Lock()
		defer l.mu.Unlock()
		defer func() { clear(l.cuts) }() // they would keep the answer in memory
		sum, err := l.cut(wire)
		if err != nil {
			return nil, err
		}
		last := l.last
		if sum != last.sum {
			if last, err = l.rows(sum); err != nil {
				return nil, err
			}
		}
		if ofAll {
			l.last = last
		}
		c.Anomalies = last.found
		return last.rows, nil
	}
}

// rows decodes the new entries of the answer that was cut.
func (l *lister[T]) rows(sum digest) (listed[T], error) {
	next := listed[T]{sum: sum, known: make(map[digest]row[T], len(l.cuts))}
	next.rows = make([]*T, 0, len(l.cuts))
	for i, e := range l.cuts {
		r, ok := l.last.known[e.digest]
		if !ok {
			var c converter
			var err error
			if r.row, err = l.decode(&c, e.wire); err != nil {
				return next, fmt.Errorf("entry %d (id %.80q): %w", i+1, text(e.wire, 1), err)
			}
			r.found = c.Anomalies
		}
		next.known[e.digest] = r
		if r.row != nil {
			next.rows = append(next.rows, r.row)
		}
		next.found = next.found.Add(r.found)
	}
	next.rows = slices.Clip(next.rows) // an append by a caller must not write behind a list that others have
	return next, nil
}

// cut finds the entries of an answer, which are its embedded messages number 1, and returns the sum
// over them.
func (l *lister[T]) cut(wire []byte) (sum digest, err error) {
	l.cuts = l.cuts[:0]
	for f, err := range fields(wire) {
		switch {
		case err != nil:
			return digest{}, err
		case !f.embedded(1):
			continue
		case len(l.cuts) == entriesLimit:
			return digest{}, errTooMany
		}
		d := l.digest(f.value)
		l.cuts = append(l.cuts, entry{d, f.value})
		// Hashed once more: a plain sum stays the same when two entries exchange a field.
		sum[0] += maphash.Comparable(l.seeds[0], d)
		sum[1] += maphash.Comparable(l.seeds[1], d)
	}
	return sum, nil
}

// digest does not depend on the order of an entry's fields: Go writes the maps of labels and
// annotations in a new order each time. No runtime writes any other field twice, so their order
// has no meaning either. Bytes that are no message count as one field.
func (l *lister[T]) digest(entry []byte) (d digest) {
	for f, err := range fields(entry) {
		if err != nil {
			f.whole = entry
		}
		d[0] += maphash.Bytes(l.seeds[0], f.whole)
		d[1] += maphash.Bytes(l.seeds[1], f.whole)
	}
	return d
}
