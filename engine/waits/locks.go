package waits

import (
	"fmt"
	"slices"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/knowledge"
)

// callsToObjects: a status call that hangs alone waits for its object, through the lock of
// that object's status, for which a list waits as well, and through whoever holds the lock.
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
		} else { // it waits for another lock, and not for what it works on
			proof = Proof{}
		}
	}
	b.edge(from, object, proof)
}

// statusLock returns the node of the lock of an object's status, by the runtime's dump or,
// without one, by which calls hang and which do not.
func (b *builder) statusLock(h *Hang, l *evidence.Lock, of Proof) int {
	id, n := h.Object.ID, Node{Name: "status lock of " + h.Object.String(), Object: h.Object}
	if of.Proven() {
		id, n.ID, n.lock = l.Address, l.Address, l
	}
	return b.node(Lock, id, n)
}

// statusProof proves that a status call waits for the lock of its object.
func statusProof(h *Hang, l *evidence.Lock, of Proof) Proof {
	switch {
	case of.Proven():
		return waitersOf(l)
	case h.Beside:
		return by(othersAnswered)
	}
	return Proof{}
}

// listProof proves that a list waits for the lock of an object's status. It does not where by the dump
// it waits for another lock; and without a dump a list of containers takes no lock of a sandbox's.
func (b *builder) listProof(h *Hang, l *evidence.Lock, of Proof, list call.Operation) Proof {
	waits := func(l evidence.Lock) bool { return slices.Contains(l.Calls, list.String()) }
	if of.Proven() && !waits(*l) && slices.ContainsFunc(b.Deep.Stacks.Locks, waits) ||
		!of.Proven() && (list == call.ListContainers) != (h.Op == call.ContainerStatus) {
		return Proof{}
	}
	return statusProof(h, l, of)
}

// lockOf returns the lock that an object's status waits for, nil if none is known, and
// what proves that it is that object's. A lock has no name: it is the object's if its holder
// is at work on the object; or if it is the only one that such calls wait for, and the object
// the only one whose status hangs.
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
	if len(own) == 0 { // those for which a list alone waits may be of other objects
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

// holders adds the goroutine that holds a lock, and on through the locks that it waits for
// itself. It returns the last node, and the goroutine there if that waits for no further lock.
// Where a lock comes again the graph has a circle.
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

// LockName names a lock by what it guards and its address.
func LockName(l *evidence.Lock) string { return fmt.Sprintf("lock of %s at %s", l.Of, l.Address) }
