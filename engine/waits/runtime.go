package waits

import (
	"slices"

	"github.com/plegtop/plegtop/engine/evidence"
)

// callsToRuntime: a call for which no object is at fault waits for the runtime itself: for
// its process, if that does nothing, else for a lock in it and for who holds that.
func callsToRuntime(b *builder) {
	for i := range b.Runtime {
		if p := &b.Runtime[i]; b.stands(p) {
			b.graph.Nodes[b.process(p, evidence.Object{})].stands = true
		}
	}
	blamed := slices.ContainsFunc(b.Hangs, b.blames)
	for i := range b.Hangs {
		if h := &b.Hangs[i]; !b.blames(*h) && !(blamed && h.Op.IsList()) {
			b.callToRuntime(b.call(i), h)
		}
	}
}

// blames reports whether the object of a call is at fault for it. It is not while the
// runtime waits for its own disk, unless something else shows of that object.
func (b *builder) blames(h Hang) bool {
	if !h.Blamed || !b.disk {
		return h.Blamed
	}
	elsewhere := func(p *evidence.Process) bool { // and not in the kernel for that disk, or for nobody knows what
		return p != nil && (p.State != evidence.Uninterrupted || ForServer(p) || p.Mount.Type != "" && !b.onStore(p))
	}
	shim, p := b.shimOf(h.Object), WorstOf(b.Report.Processes.Containers[h.Object.ID])
	l, joined := b.lockOf(&h)
	return elsewhere(shim) && Idle(shim) || p != nil && (Held(p) || InKernel(p) && ForServer(p)) ||
		elsewhere(b.helperFor(h.Object)) || l != nil && joined != "" && !l.Likely
}

func (b *builder) callToRuntime(waiting int, h *Hang) {
	if i := slices.IndexFunc(b.Runtime, func(p evidence.Process) bool { return IdleRuntime(&p) }); i >= 0 {
		p := &b.Runtime[i]
		b.edge(waiting, b.process(p, evidence.Object{}), "it is the runtime's own, and "+p.State.String())
		return
	}
	i := slices.IndexFunc(b.Deep.Stacks.Locks, func(l evidence.Lock) bool {
		return slices.Contains(l.Calls, h.Op.String()) && (!h.Op.AboutObject() || l.Of != evidence.OfContainer && l.Of != evidence.OfSandbox || l.Holder.Container == h.Object.ID)
	})
	if i < 0 {
		return
	}
	l := &b.Deep.Stacks.Locks[i] // with most waiters
	lock := b.lock(l)
	b.edge(waiting, lock, waitersOf(l))
	if last, works := b.holders(lock, l, true); works != nil && works.Container != "" {
		object := b.object(b.whose(works.Container))
		b.edge(last, object, "its stack names it")
		b.asked[object] = works
	}
}

// answering returns the goroutine that answers a call about no object and waits for no lock, the
// longest of several that all do the same; nil if none is known.
func (b *builder) answering(h *Hang) (found *evidence.Goroutine) {
	if h.Op.AboutObject() {
		return nil
	}
	for i, all := 0, b.Deep.Stacks.Open; i < len(all); i++ {
		switch g := &all[i]; {
		case g.Call != h.Op.String():
		case g.Doing == "", found != nil && g.Doing != found.Doing:
			return nil
		case found == nil:
			found = g
		}
	}
	return found
}

// callsToLikely: where nothing tells what a call waits for, the only helper there is that
// should have ended may hold it up, or a list any process that does nothing. Without those
// there is the goroutine that answers the call.
func callsToLikely(b *builder) {
	for _, g := range b.guessed {
		if !b.waits[g.object] {
			holder, _ := b.holders(g.object, g.lock, false)
			if n := &b.graph.Nodes[holder]; n.Kind == Goroutine {
				n.lock, n.Object = g.lock, b.graph.Nodes[g.object].Object
			}
			b.asksShim(holder, &b.graph.Nodes[g.object].Object, &g.lock.Holder)
		}
	}
	late, idle := b.likely()
	for i := range b.Hangs {
		h, waiting := &b.Hangs[i], b.call(i)
		if h.Blamed || b.waits[waiting] {
			continue
		}
		if len(late) == 1 {
			b.edge(waiting, late[0], "")
		}
		if h.Op.IsList() && h.Sure {
			for _, n := range idle {
				b.edge(waiting, b.object(b.graph.Nodes[n].Object), "")
			}
		}
		if g := b.answering(h); g != nil && !b.waits[waiting] {
			b.edge(waiting, b.goroutine(g), "it answers the call, in the runtime's own dump")
		}
	}
}

// likely returns the helpers that should have ended, and the processes of containers that
// do nothing.
func (b *builder) likely() (late, idle []int) {
	for i := range b.graph.Nodes {
		n := &b.graph.Nodes[i]
		switch p := n.process; {
		case p == nil:
		case n.Kind == Helper && p.Own && HelperLate(p, b.Busy) && b.outermost(p) == p:
			late = append(late, i)
		case n.Object.ID != "" && Idle(p):
			idle = append(idle, i)
		}
	}
	return late, idle
}
