package waits

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
)

// objectsToHelpers adds that an object waits for a helper that works on it and has not ended. If the object's
// shim has started the helper, the shim is between them. Each helper in turn waits for the helper that it has
// started. A helper that should have ended, or that does nothing, is in the graph even if nobody asks for its
// object.
func objectsToHelpers(b *builder) {
	for i := range b.Retried {
		b.addHelper(&b.Retried[i])
	}
	for i := range len(b.graph.Nodes) {
		if n := b.graph.Nodes[i]; n.Kind == Container {
			if p := b.helperFor(n.Object); p != nil && !b.begunSince(p, n.Object.ID) {
				b.objectToHelper(i, n.Object, p)
			}
		}
	}
	for i := range b.Report.Processes.Helpers {
		p := &b.Report.Processes.Helpers[i]
		_, known := b.Lookup(p.Container)
		switch idle := b.Doing(p, evidence.AsHelper).DoesNothing(); {
		case idle && (p.Own || known):
			b.addHelper(p)
		case idle:
		case p.Own && p.IsLate(b.Busy):
			b.addHelper(b.outermost(p))
		case b.endsRunning(p):
			b.addHelper(p)
		}
	}
}

// endsRunning reports whether a helper should delete a container that is still listed as running, though it has
// no process any more. The runtime waits for the helper before it reports that end.
func (f *Facts) endsRunning(p *evidence.Process) bool {
	if !IsDelete(p) {
		return false
	}
	o, known := f.Lookup(p.Container)
	return known && o.State == pleg.Running && !f.Report.Processes.Live(o.ID)
}

// IsDelete reports whether a helper of our runtime deletes a container, and has done so for more than a moment.
func IsDelete(p *evidence.Process) bool {
	return p.Own && p.Verb == "delete" && p.Container != "" && p.Age >= evidence.Grown
}

// addHelper adds a helper with the object that it works for. A sandbox that is being made is not listed. A
// helper that names no container works for the sandbox of the shim that started it.
func (b *builder) addHelper(p *evidence.Process) {
	o := b.objectOf(cmp.Or(p.Container, p.Sandbox))
	if o.Pod == (pleg.PodRef{}) {
		o.Sandbox = o.Sandbox || p.IsPlugin() || p.Container == ""
	}
	o.Pod = o.Pod.Or(p.Pod)
	if o.ID == "" {
		b.helpersBelow(b.process(p, evidence.AsHelper, o), o)
		return
	}
	b.objectToHelper(b.object(o), o, p)
}

// objectToHelper adds a helper of an object. If the helper is a child of the object's shim, it adds the shim
// between them.
func (b *builder) objectToHelper(object int, o evidence.Object, p *evidence.Process) {
	from, shim := object, b.shimOf(o)
	var proof Proof
	isRuntime := func(d evidence.Process) bool { return d.PID == p.Parent }
	switch {
	case shim != nil && p.Parent == shim.PID:
		from, proof = b.shim(shim), by(helperOfMonitor, MonitorWord(shim))
		b.edge(object, from, by(childOfShim, p.PID, p.Command))
	case slices.ContainsFunc(b.Runtime, isRuntime):
		proof = by(helperOfRuntime, p.Parent)
	}
	switch named := p.Container == o.ID && o.ID != ""; {
	case named && proof.Proven():
		proof.And = namedInArguments
	case named:
		proof = by(namedInArguments)
	}
	if shim != nil {
		place := b.graph.Find(Key(Shim, strconv.Itoa(shim.PID)))
		if _, asked := b.edges[[2]int{object, place}]; asked {
			from = place
		}
	}
	helper := b.process(p, evidence.AsHelper, o)
	b.edge(from, helper, proof)
	b.helpersBelow(helper, o)
}

// mostNested is how many helpers in turn start each other at most: a wrapper starts runc, runc starts itself,
// and that starts a hook.
const mostNested = 4

// helpersBelow adds the helpers that a helper has started in turn.
func (b *builder) helpersBelow(place int, o evidence.Object) {
	for range mostNested {
		p := b.graph.Nodes[place].process
		// The child must have run for at least half of the parent's life: a script that starts one program
		// after the other waits for something else.
		i := slices.IndexFunc(b.children[p.PID], func(child *evidence.Process) bool { return child.PID != p.PID && 2*child.Age >= p.Age })
		if p.State.Stuck() || i < 0 {
			return
		}
		next := b.process(b.children[p.PID][i], evidence.AsHelper, o)
		b.edge(place, next, by(childOfHelper, p.PID))
		if place = next; b.waits[next] {
			return
		}
	}
}

// outermost returns the first helper in the chain of callers of p that should have ended; p itself if there is
// none.
func (b *builder) outermost(p *evidence.Process) *evidence.Process {
	caller := b.callers[p.Parent]
	for range b.Report.Processes.Helpers { // the loop ends even if a look saw them in a circle
		if caller == nil || caller.Sandbox != "" && b.shims[caller.Sandbox] == caller {
			break
		}
		if caller.HelperLimit() > 0 {
			p = caller
		}
		caller = b.callers[caller.Parent]
	}
	return p
}

// helperFor returns the helper that works on an object and has not ended; nil if there is none. It is the
// helper that names the object, or else a child of the object's shim that names no other. Helpers without a
// limit, which run until their container ends, do not count.
func (b *builder) helperFor(o evidence.Object) *evidence.Process {
	if o.ID == "" {
		return nil
	}
	sandbox := o.SandboxID
	if o.Sandbox {
		sandbox = o.ID
	}
	if i := slices.IndexFunc(b.helpers[o.ID], func(p *evidence.Process) bool { return p.Container == o.ID }); i >= 0 {
		return b.helpers[o.ID][i]
	}
	for _, p := range b.helpers[sandbox] {
		if p.Sandbox == sandbox && sandbox != "" && (o.Sandbox || p.Container == "") {
			return p
		}
	}
	return nil
}

// begunSince reports whether a helper was started after the status of an object began to hang: then the call
// has waited for something else. A helper that should itself have ended counts in any case.
func (b *builder) begunSince(p *evidence.Process, id string) bool {
	begun := b.Report.At.Add(-p.Age)
	return p.Age > 0 && !p.IsLate(b.Busy) && slices.ContainsFunc(b.Hangs, func(h Hang) bool {
		return h.Blamed && h.Object.ID == id && begun.After(h.Since.Add(evidence.Grown))
	})
}
