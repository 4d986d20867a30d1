package waits

import (
	"fmt"
	"slices"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/knowledge"
)

// callsToObjects adds that a status call which hangs alone waits for its object. It waits through the lock of
// the object's status, for which a list waits as well, and through the holder of that lock.
func callsToObjects(b *builder) {
	for i, blamed := range b.blamed {
		if blamed {
			b.callToObject(i, &b.Hangs[i])
		}
	}
}

func (b *builder) callToObject(i int, h *Hang) {
	waiting, object, list := b.call(i), b.object(h.Object), b.list(h.Op)
	from, proof := waiting, by(asksForObject)
	l, of := b.lockOf(h)
	if of.Proven() || list >= 0 {
		from, proof = b.statusLock(h, l, of), by(statusOfObject)
		b.edge(waiting, from, statusProof(h, l, of))
		if list >= 0 {
			b.edge(b.call(list), from, b.listProof(h, l, of, b.Hangs[list].Op))
		}
	} else if g := b.answererOf(h); l == nil && g != nil {
		from = b.goroutine(g)
		b.edge(waiting, from, by(answersCall))
		b.goroutineToShim(object, h.Object, g)
	}
	if l != nil && of.Proven() && !l.Likely {
		last, works := b.holders(from, l, true)
		from, proof = last, of
		if works == &l.Holder {
			b.goroutineToShim(object, h.Object, works)
		} else { // the holder waits for another lock, and not for what it works on
			proof = Proof{}
		}
	}
	b.edge(from, object, proof)
}

// statusLock returns the place of the node of the lock of an object's status. The runtime's dump shows that
// lock, or else the calls that hang and those that do not.
func (b *builder) statusLock(h *Hang, l *evidence.Lock, of Proof) int {
	id, n := h.Object.ID, Node{Name: "status lock of " + h.Object.String(), Object: h.Object}
	if of.Proven() {
		id, n.ID, n.lock = l.Address, l.Address, l
	}
	return b.node(Lock, id, n)
}

// statusProof returns the proof that a status call waits for the lock of its object; empty if there is none.
func statusProof(h *Hang, l *evidence.Lock, of Proof) Proof {
	switch {
	case of.Proven():
		return waitersOf(l)
	case h.Beside:
		return by(othersAnswered)
	}
	return Proof{}
}

// listProof returns the proof that a list waits for the lock of an object's status. It is empty if the dump
// shows that the list waits for another lock. It is also empty, without a dump, for a list of containers and a
// sandbox: that list takes no lock of a sandbox.
func (b *builder) listProof(h *Hang, l *evidence.Lock, of Proof, list call.Operation) Proof {
	waits := func(l evidence.Lock) bool { return slices.Contains(l.Calls, list.String()) }
	if of.Proven() && !waits(*l) && slices.ContainsFunc(b.Deep.Stacks.Locks, waits) ||
		!of.Proven() && (list == call.ListContainers) != (h.Op == call.ContainerStatus) {
		return Proof{}
	}
	return statusProof(h, l, of)
}

// lockOf returns the lock that an object's status waits for, nil if none is known, and the proof that the lock
// belongs to that object. A lock has no name. It belongs to the object if its holder works on the object. It
// also does if it is the only lock that calls of this kind wait for, and this is the only object whose status
// hangs.
func (b *builder) lockOf(h *Hang) (*evidence.Lock, Proof) {
	var own, listed []*evidence.Lock
	list := b.list(h.Op)
	for i := range b.Deep.Stacks.Locks {
		l := &b.Deep.Stacks.Locks[i]
		of := l.Holder.Container
		switch {
		case l.Of == evidence.OfContainer && h.Op != call.ContainerStatus, l.Of == evidence.OfSandbox && h.Op != call.PodSandboxStatus:
		case of != "" && of == h.Object.ID && !l.Likely:
			return l, by(holderAtWork)
		case of != "" && of != h.Object.ID:
		case slices.Contains(l.Calls, h.Op.String()):
			own = append(own, l)
		case list >= 0 && slices.Contains(l.Calls, b.Hangs[list].Op.String()):
			listed = append(listed, l)
		}
	}
	found := own
	if len(own) == 0 { // locks for which only a list waits may belong to other objects
		found = listed
	}
	if len(found) == 0 {
		return nil, Proof{}
	}
	l := found[0] // with most waiters
	if b.Hung[h.Op] != 1 || len(found) != 1 || !h.Beside {
		return l, Proof{}
	}
	if p := b.helperFor(h.Object); p != nil && knowledge.Runs(l.Holder.Call, p.Verb) {
		return l, by(holderAnswers, l.Holder.Call, HelperName(p))
	}
	if len(own) == 0 {
		return l, Proof{}
	}
	return l, by(othersAnswered)
}

// holders adds the goroutine that holds a lock, and follows the locks that the goroutine waits for itself. It
// returns the place of the last node, and the goroutine there if it waits for no further lock. If a lock comes
// again, the graph has a circle.
func (b *builder) holders(lock int, l *evidence.Lock, sure bool) (last int, works *evidence.Goroutine) {
	for range len(b.Deep.Stacks.Locks) + 1 {
		if l.Holder.Number == 0 {
			return lock, nil
		}
		var proof Proof
		if sure && !l.Likely {
			proof = by(sameAddress, l.Address)
		}
		holder := b.goroutine(&l.Holder)
		b.edge(lock, holder, proof)
		i := slices.IndexFunc(b.Deep.Stacks.Locks, func(next evidence.Lock) bool { return next.Address == l.Holder.Waits && next.Address != "" })
		if i < 0 {
			return holder, &l.Holder
		}
		l = &b.Deep.Stacks.Locks[i]
		lock = b.lock(l)
		b.edge(holder, lock, by(waitsForLock, l.Address))
		if b.waits[lock] {
			return holder, nil
		}
	}
	return lock, nil
}

func (b *builder) lock(l *evidence.Lock) int {
	return b.node(Lock, l.Address, Node{ID: l.Address, Name: LockName(l), lock: l})
}

// LockName returns a name for a lock, from what it guards and its address.
func LockName(l *evidence.Lock) string { return fmt.Sprintf("lock of %s at %s", l.Of, l.Address) }
