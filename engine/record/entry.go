package record

import (
	"math"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/pleg"
)

// A key is what a segment begins with, before the state.
type key struct{ Start engine.Start }

// An entry is one input of the machine, or a snapshot that was made.
type entry struct {
	At    time.Time
	In    engine.Input // nil for a snapshot
	Costs engine.Cost  // of a snapshot

	// The rows of a list, which In then lacks.
	Sandboxes  change[pleg.ListedSandbox]
	Containers change[pleg.ListedContainer]
	Ages       ages // what In lacks of a look
}

// A change is a list as the difference to the one before of the same call.
type change[T comparable] struct {
	Same   bool    // nothing has changed
	Places []int32 // where each row stands in the list before, as the distance to the place behind the row before it; isNew for the next row of New
	New    []T
}

const (
	isNew = math.MinInt32
	// mostRows is how many rows a list may have that is read, in which each may take one byte: the
	// state of a machine that knows so many objects takes more than its budget.
	mostRows = 1 << 16
)

// A before is a list of one call, to which the next is the difference.
type before[T comparable] struct {
	rows  []T
	place map[string]int32 // by id; nil until it is asked for
}

// changeTo returns rows, which are not nil, as a change.
func (b *before[T]) changeTo(rows []T, id func(*T) string) (c change[T]) {
	if b.rows != nil && len(rows) == len(b.rows) && (len(rows) == 0 || &rows[0] == &b.rows[0] || slices.Equal(rows, b.rows)) {
		return change[T]{Same: true}
	}
	if b.place == nil {
		b.place = make(map[string]int32, len(b.rows))
		for i := range b.rows {
			b.place[id(&b.rows[i])] = int32(i)
		}
	}
	c.Places = make([]int32, 0, len(rows))
	next := int32(0)
	for i := range rows {
		at, had := b.place[id(&rows[i])]
		if had && b.rows[at] == rows[i] {
			c.Places = append(c.Places, at-next)
			next = at + 1
			continue
		}
		c.Places = append(c.Places, isNew)
		c.New = append(c.New, rows[i])
	}
	b.keep(rows)
	return c
}

// apply returns the rows of a change, and reports whether they make sense.
func (b *before[T]) apply(c change[T]) (rows []T, ok bool) {
	if c.Same || len(c.Places) > mostRows {
		return b.rows, c.Same && b.rows != nil
	}
	rows = make([]T, 0, len(c.Places))
	fresh, next := c.New, int32(0)
	for _, p := range c.Places {
		if p == isNew {
			if len(fresh) == 0 {
				return nil, false
			}
			rows, fresh = append(rows, fresh[0]), fresh[1:]
			continue
		}
		at := next + p
		if at < 0 || int(at) >= len(b.rows) {
			return nil, false
		}
		rows = append(rows, b.rows[at])
		next = at + 1
	}
	b.keep(rows)
	return rows, true
}

// keep keeps rows for the next change, unless they are few: those of one pod are listed, too.
func (b *before[T]) keep(rows []T) {
	if 2*len(rows) >= len(b.rows) {
		b.rows, b.place = rows, nil
	}
}

// lists are the last ones of both calls.
type lists struct {
	sandboxes  before[pleg.ListedSandbox]
	containers before[pleg.ListedContainer]
}

// take returns an input as an entry, without the rows of lists of all pods.
func (l *lists) take(at time.Time, in engine.Input) entry {
	e := entry{At: at, In: in}
	if looked, is := in.(engine.Looked); is && looked.Report != nil {
		e.Ages = agesOf(looked.Report.Processes)
		e.In = e.Ages.minus().add(in)
	}
	r, is := in.(engine.Returned)
	if !is {
		return e
	}
	if len(r.Answer.Raw) > 0 { // nobody goes by it, and it is long
		r.Answer.Raw = nil
		e.In = r
	}
	if r.Answer.Sandboxes != nil {
		e.Sandboxes = l.sandboxes.changeTo(r.Answer.Sandboxes, func(s *pleg.ListedSandbox) string { return s.ID })
		r.Answer.Sandboxes = nil
		e.In = r
	}
	if r.Answer.Containers != nil {
		e.Containers = l.containers.changeTo(r.Answer.Containers, func(c *pleg.ListedContainer) string { return c.ID })
		r.Answer.Containers = nil
		e.In = r
	}
	return e
}

// give returns the input of an entry, and reports whether its lists make sense.
func (l *lists) give(e entry) (engine.Input, bool) {
	r, is := e.In.(engine.Returned)
	if !is {
		return e.Ages.add(e.In), true
	}
	first, second := true, true
	if e.Sandboxes.Same || e.Sandboxes.Places != nil {
		r.Answer.Sandboxes, first = l.sandboxes.apply(e.Sandboxes)
	}
	if e.Containers.Same || e.Containers.Places != nil {
		r.Answer.Containers, second = l.containers.apply(e.Containers)
	}
	return r, first && second
}
