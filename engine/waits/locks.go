package waits

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
)

// helpersOf are the helpers of calls of the CRI, by their verbs.
var helpersOf = map[string][]string{
	"UpdateContainerResources": {"update"},
	"CreateContainer":          {"create"},
	"StartContainer":           {"create", "start"},
	"StopContainer":            {"kill", "delete", "umount"},
	"RemoveContainer":          {"delete", "umount"},
	"RunPodSandbox":            {"create", "start", "CNI ADD"},
	"StopPodSandbox":           {"kill", "delete", "umount", "CNI DEL"},
	"RemovePodSandbox":         {"delete", "umount"},
	"Status":                   {"CNI STATUS"},
}

// callsToObjects: a status call that hangs alone waits for its object, through the lock of
// that object's status, for which a list waits as well, and through whoever holds the lock.
func callsToObjects(b *builder) {
	for i := range b.Hangs {
		if h := &b.Hangs[i]; b.blames(*h) {
			b.callToObject(i, h)
		}
	}
}

func (b *builder) callToObject(i int, h *Hang) {
	from, by := []int{b.call(i)}, "it asks for this one"
	list := b.list(h.Op)
	if list >= 0 {
		from = append(from, b.call(list))
	}
	l, joined := b.lockOf(h)
	sure := l != nil && joined != "" && !l.Likely
	object := b.object(h.Object)
	locked := joined != "" || list >= 0
	if locked {
		lock := b.statusLock(h, l, joined)
		for _, waiting := range from {
			proof := b.lockProof(h, l, joined)
			if joined != "" && waiting != from[0] && b.waitsElsewhere(b.Hangs[list].Op.String(), l) {
				proof = ""
			}
			if joined == "" && waiting != from[0] && (b.Hangs[list].Op == call.ListContainers) != (h.Op == call.ContainerStatus) {
				proof = "" // a list of the others takes no such lock
			}
			b.edge(waiting, lock, proof)
		}
		from, by = []int{lock}, "it is the status of this one"
	}
	switch {
	case sure:
		last, works := b.holders(from[0], l, true)
		if from, by = []int{last}, joined; works != &l.Holder { // which waits for another lock, and not for what it works on
			by = ""
			break
		}
		b.asked[object] = works
	case l == nil && !locked:
		if g := b.openOf(h); g != nil {
			goroutine := b.goroutine(g)
			b.edge(from[0], goroutine, "it answers the call, in the runtime's own dump")
			from, b.asked[object] = []int{goroutine}, g
		}
	case l != nil: // whose lock that is, is only likely: it is told where nothing else is known
		b.guessed = append(b.guessed, guess{object, l})
	}
	for _, waiting := range from {
		b.edge(waiting, object, by)
	}
}

// A guess is that an object waits for the holder of a lock that is likely its own.
type guess struct {
	object int
	lock   *evidence.Lock
}

// statusLock returns the node of the lock of an object's status, by the runtime's dump or,
// without one, by who hangs and who does not.
func (b *builder) statusLock(h *Hang, l *evidence.Lock, joined string) int {
	n := Node{Key: h.Object.ID, Kind: Lock, Name: "status lock of " + h.Object.String(), Object: h.Object}
	if joined != "" {
		n.Key, n.ID, n.lock = l.Address, l.Address, l
	}
	return b.node(n)
}

func (b *builder) lockProof(h *Hang, l *evidence.Lock, joined string) string {
	switch {
	case joined != "":
		return waitersOf(l)
	case h.Beside:
		return othersAnswered
	}
	return ""
}

// waitsElsewhere reports whether by the dump a call waits for other locks than this one.
func (b *builder) waitsElsewhere(op string, l *evidence.Lock) bool {
	waits := func(l evidence.Lock) bool { return slices.Contains(l.Calls, op) }
	return !waits(*l) && slices.ContainsFunc(b.Deep.Stacks.Locks, waits)
}

const othersAnswered = "its status call hangs, others are answered"

// lockOf returns the lock that an object's status waits for, nil if none is known, and
// what proves that it is that object's; empty if that is only likely. A lock has no name:
// it is the only one that such calls wait for, and the object the only one whose status
// hangs; or its holder is at work on the object.
func (b *builder) lockOf(h *Hang) (lock *evidence.Lock, proof string) {
	list, op := b.list(h.Op), h.Op.String()
	var found []*evidence.Lock
	for i, all := 0, b.Deep.Stacks.Locks; i < len(all); i++ {
		l := &all[i]
		of := l.Holder.Container
		if l.Of == evidence.OfContainer && h.Op != call.ContainerStatus || l.Of == evidence.OfSandbox && h.Op != call.PodSandboxStatus {
			continue
		}
		if of != "" && of == h.Object.ID && !l.Likely {
			return l, "its holder is at work on it, by its stack"
		}
		waited := slices.Contains(l.Calls, op) || list >= 0 && slices.Contains(l.Calls, b.Hangs[list].Op.String())
		if waited && (of == "" || of == h.Object.ID) {
			found = append(found, l)
		}
	}
	own := func(l *evidence.Lock) bool { return slices.Contains(l.Calls, op) }
	if slices.ContainsFunc(found, own) {
		found = slices.DeleteFunc(found, func(l *evidence.Lock) bool { return !own(l) })
	}
	if len(found) == 0 {
		return nil, ""
	}
	lock = found[0] // with most waiters
	if b.Hung[h.Op] != 1 || len(found) != 1 || !h.Beside {
		return lock, ""
	}
	if p := b.helperFor(h.Object); p != nil && slices.Contains(helpersOf[lock.Holder.Call], p.Verb) {
		return lock, fmt.Sprintf("%s; its holder answers %s, and %s is at work on it", othersAnswered, lock.Holder.Call, HelperName(p))
	}
	if own(lock) {
		return lock, othersAnswered
	}
	return lock, ""
}

// holders adds the goroutine that holds a lock, and on through the locks that it waits for
// itself, and returns the last of these. Where a lock comes again the graph has a cycle.
func (b *builder) holders(lock int, l *evidence.Lock, sure bool) (last int, works *evidence.Goroutine) {
	for range len(b.Deep.Stacks.Locks) + 1 {
		if l.Holder.Number == 0 {
			return lock, nil
		}
		proof := "same receiver address " + l.Address + " in the runtime's own dump"
		if l.Likely || !sure {
			proof = ""
		}
		holder := b.goroutine(&l.Holder)
		b.edge(lock, holder, proof)
		next := b.lockAt(l.Holder.Waits)
		if next == nil {
			return holder, &l.Holder
		}
		to := b.lock(next)
		b.edge(holder, to, "it waits for the lock at "+next.Address)
		if b.waits[to] {
			return holder, nil
		}
		lock, l = to, next
	}
	return lock, nil
}

func (b *builder) lock(l *evidence.Lock) int {
	return b.node(Node{Key: l.Address, Kind: Lock, ID: l.Address, Name: LockName(l), lock: l})
}

// LockName names a lock by what it guards and where that is.
func LockName(l *evidence.Lock) string { return fmt.Sprintf("lock of %s at %s", l.Of, l.Address) }

// lockAt returns the lock of what has an address; nil if none is known.
func (b *builder) lockAt(address string) *evidence.Lock {
	locks := b.Deep.Stacks.Locks
	i := slices.IndexFunc(locks, func(l evidence.Lock) bool { return l.Address == address })
	if address == "" || i < 0 {
		return nil
	}
	return &locks[i]
}

func (b *builder) goroutine(g *evidence.Goroutine) int {
	number := strconv.Itoa(g.Number)
	return b.node(Node{Key: number, Kind: Goroutine, ID: number, Name: "goroutine " + number + Doing(g)})
}

// Doing says what a goroutine waits for, with a space before it; nothing if that is not
// known.
func Doing(g *evidence.Goroutine) string {
	what, waits := strings.CutPrefix(g.Doing, "wait for ")
	switch {
	case g.Doing == "":
		return ""
	case waits || g.Waits != "":
		return " waiting for " + what
	}
	return " in " + g.Doing
}

// waitersOf says who waits for a lock, as the proof that a call does.
func waitersOf(l *evidence.Lock) string {
	said := strconv.Itoa(l.Waiters) + " goroutines"
	if l.Waiters == 1 {
		said = "1 goroutine"
	}
	said += " waiting for it in the runtime's own dump"
	if len(l.Calls) > 0 {
		said += ", " + strings.Join(l.Calls, ", ") + " among them"
	}
	return said
}

// openOf returns the goroutine that answers the status call about an object: one that is
// at work on it, or the only one where one such call hangs; nil if none is known.
func (b *builder) openOf(h *Hang) *evidence.Goroutine {
	var found []*evidence.Goroutine
	for i, all := 0, b.Deep.Stacks.Open; i < len(all); i++ {
		if g := &all[i]; g.Call == h.Op.String() {
			if g.Container == h.Object.ID && h.Object.ID != "" {
				return g
			}
			found = append(found, g)
		}
	}
	if len(found) != 1 || found[0].Container != "" || b.Hung[h.Op] != 1 {
		return nil
	}
	return found[0]
}
