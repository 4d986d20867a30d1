package stacks

import (
	"time"

	"github.com/plegtop/plegtop/engine/knowledge"
)

// The rank of a candidate is the time that it has waited, plus these, which are more than any time.
const (
	asksOthers   time.Duration = 1 << 60 // it waits for somebody else, who may be what hangs
	exactAddress time.Duration = 1 << 61
)

// findHolders finds the holder of each lock among the kept goroutines. The holder works on the thing that the
// lock belongs to, and does not wait for the lock. If a stack does not show what a lock belongs to, or what a
// goroutine works on, the holder is the only goroutine that has a lock of the kind.
func (d *dump) findHolders() {
	hidden := map[*knowledge.Lock]*lock{} // for the goroutines whose stacks do not say which lock of the kind they have
	for _, l := range d.locks {
		hidden[l.kind] = &lock{}
	}
	for _, g := range d.kept {
		var left *knowledge.Lock // the kind of lock that an inner function has let go of
		for _, f := range g.frames {
			if f.at != 0 {
				d.byKey[lockKey{at: f.at, of: f.owner}].offer(g, f.inexact)
			}
			for _, kind := range f.holds {
				if kind == left {
					continue
				}
				if f.at != 0 {
					d.byKey[lockKey{at: f.at, kind: kind}].offer(g, f.inexact)
				}
				if g.lock != nil && g.lock.kind == kind {
					continue
				}
				d.byKey[lockKey{kind: kind}].offer(g, true)
				if f.at == 0 {
					hidden[kind].offer(g, true)
				}
			}
			if left == nil {
				left = f.leaves
			}
		}
	}
	for _, l := range d.locks {
		switch only := hidden[l.kind]; {
		case l.kind == nil && l.candidates > maxHolders, l.kind != nil && l.at == 0 && l.candidates > 1:
			l.holder = nil
		case l.holder == nil && only.candidates == 1:
			l.offer(only.holder, true)
		}
	}
}

// offer makes a goroutine the holder if it is likelier than the holder so far. A goroutine may be
// offered several times in a row, for several of its frames.
func (l *lock) offer(g *goroutine, inexact bool) {
	if l == nil || l == g.lock {
		return
	}
	if l.last != g {
		l.last = g
		l.candidates++
	}
	rank := g.For
	if g.group.Asks {
		rank += asksOthers
	}
	if !inexact {
		rank += exactAddress
	}
	if l.holder == nil || rank > l.rank {
		l.holder, l.rank = g, rank
	}
}
