package stacks

import (
	"cmp"
	"slices"

	"github.com/plegtop/plegtop/engine/evidence"
)

// shownGroups returns the groups with the most goroutines. Groups that wait for a lock or answer a call come
// before the many groups that are idle in a healthy runtime.
func (d *dump) shownGroups() []evidence.Group {
	most := func(a, b *group) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(b.Longest, a.Longest), cmp.Compare(a.First, b.First))
	}
	slices.SortFunc(d.groups, func(a, b *group) int { return cmp.Or(cmp.Compare(b.tells, a.tells), most(a, b)) })
	groups := d.groups[:min(len(d.groups), shown)]
	slices.SortFunc(groups, most)
	var all []evidence.Group
	for _, g := range groups {
		g.Frames = names(g.frames)
		all = append(all, g.Group)
	}
	return all
}

// shownLocks returns the locks with the most waiters, each with the locks that its holder waits for in turn.
func (d *dump) shownLocks() []evidence.Lock {
	most := func(a, b *lock) int {
		return cmp.Or(cmp.Compare(b.Waiters, a.Waiters), cmp.Compare(b.Longest, a.Longest), cmp.Compare(a.at, b.at), cmp.Compare(a.Of, b.Of))
	}
	slices.SortFunc(d.locks, most)
	var chosen []*lock
	for _, l := range d.locks {
		for l != nil && len(chosen) < shown && !slices.Contains(chosen, l) {
			chosen = append(chosen, l)
			if l.holder == nil {
				break
			}
			l = l.holder.lock
		}
	}
	slices.SortFunc(chosen, most)
	var all []evidence.Lock
	for _, l := range chosen {
		slices.Sort(l.Calls)
		if l.holder != nil {
			l.Holder = d.shownGoroutine(l.holder)
			l.Likely = l.kind == nil || l.inexact || l.rank < exactAddress || l.candidates > 1
		}
		all = append(all, l.Lock)
	}
	return all
}

// shownOpen returns the goroutines that answer a call or wait for another program, the longest first. Numbers
// grow with time, so of two that began in the same minute the one with the lower number is older. If a
// goroutine was started by another one of them that answers a call, only that other one is in the result.
func (d *dump) shownOpen() []evidence.Goroutine {
	var open []*goroutine
	answers := map[int]bool{} // by number
	for _, g := range d.kept {
		if g.group.isOpen() {
			open = append(open, g)
			answers[g.Number] = answers[g.Number] || g.Call != ""
		}
	}
	open = slices.DeleteFunc(open, func(g *goroutine) bool { return answers[g.parent] })
	slices.SortFunc(open, func(a, b *goroutine) int {
		return cmp.Or(cmp.Compare(b.For, a.For), cmp.Compare(a.Number, b.Number))
	})
	var all []evidence.Goroutine
	for _, g := range open[:min(len(open), shown)] {
		all = append(all, d.shownGoroutine(g))
	}
	return all
}

// shownGoroutine returns a goroutine with its frames. If it only waits for others in the runtime, its Doing
// becomes that of a goroutine that it has started.
func (d *dump) shownGoroutine(g *goroutine) evidence.Goroutine {
	g.Frames = names(g.frames)
	if !g.group.Asks && g.lock == nil {
		child := slices.IndexFunc(d.kept, func(k *goroutine) bool { return k.parent == g.Number && k.group.Asks && k.group.isOpen() })
		if child >= 0 {
			g.Doing = d.kept[child].group.Doing
		}
	}
	return g.Goroutine
}

func names(frames []frame) []string {
	all := make([]string, len(frames))
	for i, f := range frames {
		all[i] = f.name
	}
	return all
}
