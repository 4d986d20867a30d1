package waits

import (
	"strings"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
)

// objectsToShims: an object waits for its shim where the runtime has asked the shim for
// something, or where the shim does nothing. A dead shim counts while its containers run.
func objectsToShims(b *builder) {
	for i := range b.Report.Processes.Shims {
		p := &b.Report.Processes.Shims[i]
		d := b.Doing(p, evidence.AsMonitor)
		if !d.Sure {
			continue
		}
		owner, known := b.Lookup(p.Sandbox)
		if !known {
			owner, known = b.Lookup(p.Container)
		}
		if !known {
			owner = evidence.Object{ObjectRef: p.LooksAfter()}
		}
		if d.DoesNothing() && (known || p.Own) || d.What == evidence.IsDead && known && owner.State == pleg.Running {
			b.toIdleShim(b.object(owner), p, owner)
		}
	}
	for i := range len(b.graph.Nodes) { // those of the shims among them
		n := b.graph.Nodes[i]
		p := b.shimOf(n.Object)
		switch {
		case n.Kind != Container || p == nil:
		case b.Doing(p, evidence.AsMonitor).DoesNothing():
			b.toIdleShim(i, p, n.Object)
		}
	}
}

func (b *builder) toIdleShim(object int, p *evidence.Process, owner evidence.Object) {
	b.edge(object, b.process(p, evidence.AsMonitor, owner), by(AnswersNobody, p.State))
}

// goroutineToShim adds that a node waits for the shim of an object if a goroutine has asked the shim for
// something.
func (b *builder) goroutineToShim(waiting int, o evidence.Object, g *evidence.Goroutine) {
	request, asks := strings.CutPrefix(g.Doing, "ttrpc ")
	if p := b.shimOf(o); p != nil && asks && g.Waits == "" {
		b.edge(waiting, b.process(p, evidence.AsMonitor, o), by(AskedTheShim, request))
	}
}

// shimOf returns the process that looks after a sandbox, or after a container as each of CRI-O's has
// its own; nil if none is known.
func (b *builder) shimOf(o evidence.Object) *evidence.Process {
	if p := b.shims[o.ID]; p != nil || o.SandboxID == "" {
		return p
	}
	return b.shims[o.SandboxID]
}
