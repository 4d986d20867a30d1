package waits

import (
	"cmp"
	"strings"

	"github.com/plegtop/plegtop/engine/evidence"
)

// objectsToLikelyLocks adds, if nothing else is known of an object whose status hangs, that it waits for the
// holder of a lock that is likely its own.
func objectsToLikelyLocks(b *builder) {
	for i, blamed := range b.blamed {
		h := &b.Hangs[i]
		l, of := b.lockOf(h)
		if !blamed || l == nil || of.Proven() && !l.Likely || b.waits[b.object(h.Object)] {
			continue
		}
		holder, _ := b.holders(b.object(h.Object), l, false)
		if n := &b.graph.Nodes[holder]; n.Kind == Goroutine {
			n.lock, n.Object = l, h.Object
		}
		b.goroutineToShim(holder, h.Object, &l.Holder)
	}
}

// callsToLikely adds what may hold up a call, if nothing shows what the call waits for. It is the only helper
// that should have ended, or, for a list, any process that does nothing. If there is neither, it is the
// goroutine that answers the call.
func callsToLikely(b *builder) {
	late, idle := b.likely()
	for i := range b.Hangs {
		h, waiting := &b.Hangs[i], b.call(i)
		if h.Blamed || b.waits[waiting] {
			continue
		}
		if len(late) == 1 {
			b.edge(waiting, late[0], Proof{})
		}
		if h.Op.IsList() && h.Sure {
			for _, n := range idle {
				b.edge(waiting, b.object(b.graph.Nodes[n].Object), Proof{})
			}
		}
		if b.waits[waiting] || h.Op.AboutObject() {
			continue
		}
		if g := b.answererOf(h); g != nil {
			b.edge(waiting, b.goroutine(g), by(answersCall))
		}
	}
}

// likely returns the places of the helpers that should have ended, and of the processes of containers that do
// nothing.
func (b *builder) likely() (late, idle []int) {
	b.graph.Each("", func(i int, n *Node) {
		switch p := n.process; {
		case p == nil:
		case n.Kind == Helper && p.Own && p.IsLate(b.Busy) && b.outermost(p) == p:
			late = append(late, i)
		case n.Object.ID != "" && n.doing.DoesNothing():
			idle = append(idle, i)
		}
	})
	return late, idle
}

// objectsToUnserved adds, if nothing shows what an object waits for whose status hangs, that it likely waits
// for a file system of its pod whose program has ended.
func objectsToUnserved(b *builder) {
	for _, h := range b.Hangs {
		if !h.Blamed || h.Object.Pod.UID == "" || b.waits[b.object(h.Object)] {
			continue
		}
		for _, m := range b.Deep.Unserved {
			if strings.Contains(m.Point, "/pods/"+string(h.Object.Pod.UID)+"/") {
				b.edge(b.object(h.Object), b.mount(m), Proof{})
			}
		}
	}
}

// mount returns the place of the node of a mounted file system.
func (b *builder) mount(m evidence.Mount) int {
	return b.node(Mount, cmp.Or(m.Device, m.Point), Node{ID: m.Device, Name: "mount " + m.Point, mount: m})
}
