package stacks

import (
	"cmp"
	"slices"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/knowledge"
)

// A holder is the goroutine that holds a lock, as far as the stacks tell.
type holder struct {
	kept    int32 // its place
	found   int   // goroutines that may be it; 0 if there is none
	inexact bool
	calls   bool // it stands in a call that others must answer
}

const (
	maxMay  = 4 // goroutines that may hold a lock of a kind that is not known: of more none is named
	maxSame = 8 // locks at the same address
)

// shownLocks are the locks of most waiters, and those that their holders wait for.
func (d *dump) shownLocks() []evidence.Lock {
	d.findHolders()
	order := make([]int32, len(d.locks))
	for i := range order {
		order[i] = int32(i)
	}
	byWaiters := func(i, j int32) int {
		a, b := &d.locks[i], &d.locks[j]
		return cmp.Or(cmp.Compare(b.waiters, a.waiters), cmp.Compare(b.longest, a.longest), cmp.Compare(a.at, b.at), cmp.Compare(a.of, b.of))
	}
	slices.SortFunc(order, byWaiters)
	var chosen []int32
	for _, next := range order {
		for next >= 0 && len(chosen) < shown && !slices.Contains(chosen, next) {
			chosen = append(chosen, next)
			next = d.nextLock(next)
		}
	}
	slices.SortFunc(chosen, byWaiters)
	var locks []evidence.Lock
	for _, i := range chosen {
		locks = append(locks, d.shownLock(&d.locks[i]))
	}
	return locks
}

// nextLock is the lock that the holder of one waits for, -1 if it waits for none.
func (d *dump) nextLock(i int32) int32 {
	if l := &d.locks[i]; l.holder.found > 0 {
		return d.kept[l.holder.kept].lock
	}
	return -1
}

func (d *dump) shownLock(l *lock) evidence.Lock {
	slices.Sort(l.calls)
	to := evidence.Lock{Of: l.of, Address: l.address(), Waiters: l.waiters, Longest: minutes(l.longest), Calls: l.calls}
	if l.holder.found == 0 {
		return to
	}
	to.Likely = l.guard == nil || l.inexact || l.holder.inexact || l.holder.found > 1
	to.Holder = d.shownGoroutine(&d.kept[l.holder.kept])
	return to
}

func (d *dump) shownGoroutine(k *kept) evidence.Goroutine {
	of := &d.groups[k.group]
	g := evidence.Goroutine{Number: k.number, State: k.state, For: minutes(k.minutes), Call: of.call, Frames: d.names(of)}
	g.Doing = d.doingFor(k)
	if k.lock >= 0 {
		g.Waits = d.locks[k.lock].address()
	}
	return g
}

// findHolders finds the holder of each lock among the goroutines that were kept: one that
// works on what the lock belongs to, and does not wait for it.
func (d *dump) findHolders() {
	at := map[uint64][]int32{}
	for i := range d.locks {
		if l := &d.locks[i]; l.at != 0 && len(at[l.at]) < maxSame {
			at[l.at] = append(at[l.at], int32(i))
		}
	}
	for i := range d.kept {
		for _, r := range d.kept[i].on {
			for _, l := range at[r.at] {
				if d.mayHold(int32(i), l, int(r.depth)) {
					d.hold(int32(i), l, r.inexact)
				}
			}
		}
	}
	for i := range d.locks {
		if l := &d.locks[i]; l.guard == nil && l.holder.found > maxMay {
			l.holder = holder{}
		}
	}
	d.findUntold()
}

// mayHold reports whether a goroutine may hold a lock by one of its frames.
func (d *dump) mayHold(i, l int32, depth int) bool {
	k, of := &d.kept[i], &d.locks[l]
	f := &d.functions[d.groups[k.group].frames[depth]]
	switch {
	case k.lock == l:
		return false
	case of.guard == nil:
		return f.owner != "" && f.owner == of.owner
	}
	return slices.Contains(f.holds, of.guard) && !d.left(k, depth, of.guard)
}

// hold makes a goroutine the holder of a lock if it is more likely than who was found.
func (d *dump) hold(i, l int32, inexact bool) {
	is := &d.locks[l].holder
	if is.found > 0 && is.kept == i {
		is.inexact = is.inexact && inexact
		return
	}
	k := &d.kept[i]
	_, calls := d.doing(&d.groups[k.group])
	found := holder{i, is.found + 1, inexact, calls}
	if is.found == 0 || found.better(*is, k.minutes, d.kept[is.kept].minutes) {
		*is = found
		return
	}
	is.found++
}

// better reports whether h is more likely than other, who is the one that came first; each
// has waited for as many minutes.
func (h holder) better(other holder, waited, otherWaited int32) bool {
	switch {
	case h.inexact != other.inexact:
		return other.inexact
	case h.calls != other.calls:
		return h.calls
	}
	return waited > otherWaited
}

// findUntold finds the holder of locks of which a stack does not tell what they belong to:
// the only goroutine that holds one of the kind, and whose address could be the same.
func (d *dump) findUntold() {
	type find struct {
		*knowledge.Lock
		untold bool // what it holds is not told
	}
	holders := map[find][]int32{} // two at most
	for i := range d.kept {
		k := &d.kept[i]
		for depth, f := range d.groups[k.group].frames {
			for _, g := range d.functions[f].holds {
				if k.lock >= 0 && d.locks[k.lock].guard == g || d.left(k, depth, g) {
					continue
				}
				tells := slices.ContainsFunc(k.on, func(r receiver) bool { return int(r.depth) == depth })
				for _, at := range []find{{g, false}, {g, true}} {
					if have := holders[at]; len(have) < 2 && !slices.Contains(have, int32(i)) && !(at.untold && tells) {
						holders[at] = append(have, int32(i))
					}
				}
			}
		}
	}
	for i := range d.locks {
		l := &d.locks[i]
		if by := holders[find{l.guard, l.at != 0}]; l.guard != nil && l.holder.found == 0 && len(by) == 1 {
			d.hold(by[0], int32(i), true)
		}
	}
}

// left reports whether a goroutine has called something, from one of its frames, for which
// it has let go of its lock.
func (d *dump) left(k *kept, depth int, g *knowledge.Lock) bool {
	of := &d.groups[k.group]
	return of.leaver < depth && d.functions[of.frames[of.leaver]].leaves == g
}
