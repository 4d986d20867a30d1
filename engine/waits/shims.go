package waits

import (
	"strings"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
)

// objectsToShims adds that an object waits for its shim if the shim does nothing. A dead shim counts while its
// containers run.
func objectsToShims(b *builder) {
	for i := range b.Report.Processes.Shims {
		p := &b.Report.Processes.Shims[i]
		d := b.Doing(p, evidence.AsMonitor)
		if !d.Sure {
			continue
		}
		owner, known := b.ownerOf(p)
		if d.DoesNothing() && (known || p.Own) || d.What == evidence.IsDead && known && owner.State == pleg.Running {
			b.edge(b.object(owner), b.shim(p), by(answersNobody, p.State))
		}
	}
	for i := range len(b.graph.Nodes) { // also the objects of the shims above
		n := &b.graph.Nodes[i]
		if p := b.shimOf(n.Object); n.Kind == Container && p != nil && b.Doing(p, evidence.AsMonitor).DoesNothing() {
			b.edge(i, b.shim(p), by(answersNobody, p.State))
		}
	}
}

// ownerOf returns the object that a shim looks after, and whether it is known.
func (b *builder) ownerOf(p *evidence.Process) (evidence.Object, bool) {
	for _, id := range []string{p.Sandbox, p.Container} {
		if o, known := b.Lookup(id); known {
			return o, true
		}
	}
	return evidence.Object{ObjectRef: p.LooksAfter()}, false
}

func (b *builder) shim(p *evidence.Process) int {
	owner, _ := b.ownerOf(p)
	return b.process(p, evidence.AsMonitor, owner)
}

// goroutineToShim adds that a node waits for the shim of an object, if a goroutine has asked the shim for
// something.
func (b *builder) goroutineToShim(waiting int, o evidence.Object, g *evidence.Goroutine) {
	request, asks := strings.CutPrefix(g.Doing, "ttrpc ")
	if p := b.shimOf(o); p != nil && asks && g.Waits == "" {
		b.edge(waiting, b.shim(p), by(askedTheShim, request))
	}
}

// shimOf returns the process that looks after a sandbox or a container; nil if none is known. With CRI-O each
// container has a process of its own.
func (b *builder) shimOf(o evidence.Object) *evidence.Process {
	if p := b.shims[o.ID]; p != nil || o.SandboxID == "" {
		return p
	}
	return b.shims[o.SandboxID]
}
