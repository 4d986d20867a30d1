package diagnose

import (
	"slices"
	"strconv"
	"strings"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
)

// ChainLine returns a chain in one line, without what a link before it has named:
// "relist -> ListContainers -> status lock of pay/api-7d -> shim 4711 -> runc update
// (10m) -> D in nfs4_do_setattr, server 10.0.0.9:/vol -> /data". A link that is not
// proven is called likely. It is empty for no links.
func ChainLine(links []Link) string {
	var b strings.Builder
	for i, l := range links {
		named := slices.ContainsFunc(links[:i], func(before Link) bool { return strings.Contains(before.Name, l.Name) })
		switch {
		case l.Kind == LinkContainer && named:
			continue
		case b.Len() == 0:
		case l.Kind == LinkServer && links[i-1].Kind == LinkKernel:
			b.WriteString(", ")
		default:
			b.WriteString(" -> ")
		}
		if i > 0 && l.Proof == "" {
			b.WriteString("likely ")
		}
		b.WriteString(l.Name)
	}
	return b.String()
}

// proven returns the links up to the last one that is proven.
func proven(links []Link) []Link {
	for i, l := range links {
		if i > 0 && l.Proof == "" {
			return links[:i]
		}
	}
	return links
}

// chainEnd returns the end of the proven part of a chain: from the errand or the process
// on that holds all the rest up, else the last link.
func chainEnd(links []Link) string {
	links = proven(links)
	kinds := []string{LinkErrand, LinkProcess, LinkKernel, LinkServer, LinkMount, LinkDevice}
	from := slices.IndexFunc(links, func(l Link) bool { return slices.Contains(kinds, l.Kind) })
	if from < 0 {
		from = max(0, len(links)-1)
	}
	return ChainLine(links[from:])
}

// heldBy returns what a headline says of the chain of the first finding that has one and
// is as severe, unless it has said so.
func heldBy(said string, held []Finding, least Severity) string {
	i := slices.IndexFunc(held, func(f Finding) bool { return f.Severity >= least && len(f.Chain) > 0 })
	if i < 0 {
		return ""
	}
	links := proven(held[i].Chain)
	end := chainEnd(links)
	if last := links[len(links)-1].Kind; last == LinkRelist || last == LinkCall || strings.Contains(said, end) {
		return ""
	}
	return " -> " + end
}

// A chain is being made, link by link.
type chain struct {
	*view
	links  []Link
	likely bool            // a link was not proven, so that none below it is
	cuts   map[string]Step // by kind of link: what ends the first of them
}

func (c *chain) add(kind, id, name, proof string) {
	if len(c.links) > 0 && proof == "" {
		c.likely = true
	}
	if c.likely || len(c.links) == 0 {
		proof = ""
	}
	c.links = append(c.links, Link{Kind: kind, ID: id, Name: name, Proof: proof})
}

func (c *chain) has(kind string) bool {
	return slices.ContainsFunc(c.links, func(l Link) bool { return l.Kind == kind })
}

func pid(p evidence.Process) string { return strconv.Itoa(p.PID) }

// chainTo returns the chain down to an object whose status hangs, and on to what holds
// that up.
func (v *view) chainTo(h *hang) []Link {
	c := chain{view: v}
	c.waitsFor(h)
	l, joined := v.lockOf(h)
	sure := l != nil && joined != "" && !l.Likely
	if joined != "" || c.has(LinkRelist) && v.list() != nil {
		c.lock(h, l, joined)
	}
	var g *evidence.Goroutine
	by := "it asks for this one"
	switch {
	case sure:
		c.holders(l, true)
		g, by = &l.Holder, joined
	case c.has(LinkLock):
		by = "it is the status of this one"
	case l == nil:
		if g = v.openOf(h); g != nil {
			c.add(LinkGoroutine, strconv.Itoa(g.Number), goroutineName(*g), "it answers the call, in the runtime's own dump")
		}
	}
	c.add(LinkContainer, h.ID, objectOf(h.Flight), by)
	known, sandbox := len(c.links), v.sandbox(h.Flight)
	c.below(h.ID, sandbox, h.Op == call.PodSandboxStatus, g)
	if !sure && l != nil && len(c.links) == known { // what is only likely is told where nothing else is known
		c.holders(l, false)
		c.below(h.ID, sandbox, h.Op == call.PodSandboxStatus, &l.Holder)
	}
	return c.done()
}

// waitsFor adds the call that hangs, and the relist where that waits for it.
func (c *chain) waitsFor(h *hang) {
	if l := c.listBehind(h); l != nil {
		c.add(LinkRelist, "", "relist", "")
		c.add(LinkCall, "", l.Op.String(), c.hangLine(l))
		return
	}
	name := h.Op.String()
	if h.Op.AboutObject() {
		name += " of " + objectOf(h.Flight)
	}
	if h.out && h.By == engine.ByRelist {
		c.add(LinkRelist, "", "relist", "")
	}
	c.add(LinkCall, "", name, c.hangLine(h))
}

// listBehind returns the list that hangs with a status call: the one of its kind, if
// that hangs; nil if none does.
func (v *view) listBehind(h *hang) *hang {
	if h.Op == call.ContainerStatus && v.hangs(call.ListContainers) {
		return &v.general[call.ListContainers]
	}
	return v.list()
}

// lock adds the lock that the call waits for, by the runtime's dump or, without one, by
// who hangs and who does not; and its holder.
func (c *chain) lock(h *hang, l *evidence.Lock, joined string) {
	name := "status lock of " + objectOf(h.Flight)
	if joined == "" {
		proof := ""
		if c.objectsAnswered(c.began(h)) {
			proof = "its status call hangs, others are answered"
		}
		c.add(LinkLock, "", name, proof)
		return
	}
	c.add(LinkLock, l.Address, name, waitersOf(l))
}

// holders adds the goroutine that holds a lock, and on through the locks that it waits
// for itself. A lock that comes again is a deadlock.
func (c *chain) holders(l *evidence.Lock, sure bool) {
	for l.Holder.Number != 0 {
		proof := "same receiver address " + l.Address + " in the runtime's own dump"
		if l.Likely || !sure {
			proof = ""
		}
		c.add(LinkGoroutine, strconv.Itoa(l.Holder.Number), goroutineName(l.Holder), proof)
		next := c.lockAt(l.Holder.Waits)
		if next == nil {
			return
		}
		again := slices.ContainsFunc(c.links, func(link Link) bool { return link.Kind == LinkLock && link.ID == next.Address })
		name := lockName(next)
		if again {
			name += ", which waits for the first: a deadlock"
		}
		c.add(LinkLock, next.Address, name, "it waits for the lock at "+next.Address)
		if again {
			return
		}
		l = next
	}
}

// chainOf returns the chain down from a call about the whole runtime that hangs, where no
// object's status hangs: to the runtime's own process if that does nothing, else to the
// lock that the call waits for and who holds that; else to the only errand there is,
// which is only likely.
func (v *view) chainOf(h *hang) []Link {
	c := chain{view: v}
	if aboutList(h.Op) || h.By == engine.ByRelist {
		c.add(LinkRelist, "", "relist", "")
	}
	c.add(LinkCall, "", h.Op.String(), c.hangLine(h))
	if p, stuck := c.stuckDaemon(); stuck {
		c.process(p, "it is the runtime's own, and "+p.State.String())
		return c.done()
	}
	if locks := c.locksOf(h.Op.String()); len(locks) > 0 {
		l := locks[0]
		c.add(LinkLock, l.Address, lockName(l), waitersOf(l))
		c.holders(l, true)
		if id := l.Holder.Container; id != "" {
			f := c.flightOf(id)
			c.add(LinkContainer, id, objectOf(f), "its stack names it")
			c.below(id, c.sandbox(f), f.Op == call.PodSandboxStatus, &l.Holder)
		}
		return c.done()
	}
	if all := c.errandsLong(); len(all) == 1 {
		c.errand(all[0], "")
	}
	return c.done()
}

// chainOfStuck returns the chain that ends at a process that does nothing, if a call
// hangs that it may hold up; nil if none does.
func (v *view) chainOfStuck(p stuckProcess) []Link {
	for i := range v.objects {
		if h := &v.objects[i]; h.ID == p.owner.id || p.what != "process" && p.owner.id != "" && v.sandbox(h.Flight) == p.owner.id {
			return v.chainTo(h)
		}
	}
	switch h := v.list(); {
	case p.Verb != "":
		return v.chainFrom(p.Process)
	case p.what == "runtime" && v.silence != nil:
		return v.chainOf(v.silence)
	case h == nil || !h.sure:
		return nil
	case p.what == "runtime":
		return v.chainOf(h)
	case len(v.blamed) > 0 || len(v.locks()) > 0:
		return nil // the list waits for another
	default:
		c := chain{view: v}
		c.waitsFor(h)
		c.add(LinkContainer, p.owner.id, p.owner.String(), "")
		c.process(p.Process, "")
		return c.done()
	}
}
