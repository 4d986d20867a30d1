package waits

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
)

// objectsToShims: an object waits for its shim where the runtime has asked that for
// something, where it does nothing, or where it waits itself for a helper.
func objectsToShims(b *builder) {
	for i := range b.Report.Processes.Shims {
		p := &b.Report.Processes.Shims[i]
		if !Idle(p) && p.Lives() {
			continue
		}
		owner, known := b.Lookup(p.Sandbox)
		if !known {
			owner, known = b.Lookup(p.Container)
		}
		if !known {
			owner = evidence.Object{ObjectRef: p.LooksAfter()}
		}
		if (known || p.Own) && (Idle(p) || known && deadShim(p, owner)) {
			b.edge(b.object(owner), b.shim(p, owner), "it is "+p.State.String()+" and answers nobody")
		}
	}
	for i := range len(b.graph.Nodes) { // those of the shims among them
		if n := b.graph.Nodes[i]; n.Kind == Container {
			b.objectToShim(i, n.Object)
		}
	}
}

// deadShim reports whether a shim has ended that its parent has not collected, while what
// it looks after runs.
func deadShim(p *evidence.Process, owner evidence.Object) bool {
	return !p.Lives() && owner.State == pleg.Running && p.For >= heldLasting
}

func (b *builder) objectToShim(i int, o evidence.Object) {
	p := b.shimOf(o)
	if p == nil {
		return
	}
	if g := b.asked[i]; g != nil && b.asksShim(i, &o, g) {
		return
	}
	if Idle(p) {
		b.edge(i, b.shim(p, o), "it is "+p.State.String()+" and answers nobody")
	}
}

// asksShim adds that a node waits for a shim because a goroutine has asked that for
// something.
func (b *builder) asksShim(waiting int, o *evidence.Object, g *evidence.Goroutine) bool {
	p := b.shimOf(*o)
	asks := p != nil && strings.HasPrefix(g.Doing, "ttrpc") && g.Waits == ""
	if asks {
		b.edge(waiting, b.shim(p, *o), "the goroutine waits for its answer to "+strings.TrimPrefix(g.Doing, "ttrpc "))
	}
	return asks
}

// shimOf returns the process that holds a sandbox, or a container as each of CRI-O's has
// one; nil if none is known.
func (b *builder) shimOf(o evidence.Object) *evidence.Process {
	if p := b.shims[o.ID]; p != nil || o.SandboxID == "" {
		return p
	}
	return b.shims[o.SandboxID]
}

// objectsToProcesses: a process of a container that does nothing likely holds up whoever
// asks for that container. Of a container one is told: that of which one waits for a
// server, or one of all if all are held. A sandbox's pause process is told only where no
// container of the pod is: they share a freezer.
func objectsToProcesses(b *builder) {
	told, idle := make(map[pleg.UID]bool), make(map[string]*evidence.Process)
	for id, all := range b.Report.Processes.Containers {
		if p := idleOf(all); p != nil {
			idle[id] = p
		}
	}
	for _, sandboxes := range []bool{false, true} {
		for _, id := range slices.Sorted(maps.Keys(idle)) {
			owner, known := b.Lookup(id)
			if known && owner.Sandbox == sandboxes && owner.State == pleg.Running && !(sandboxes && told[owner.Pod.UID]) {
				told[owner.Pod.UID] = true
				b.objectToProcess(owner, idle[id])
			}
		}
	}
	for i := range b.Hangs {
		if h := &b.Hangs[i]; b.blames(*h) {
			if p := WorstOf(b.Report.Processes.Containers[h.Object.ID]); p != nil && (Held(p) || InKernel(p)) {
				b.objectToProcess(h.Object, p)
			}
		}
	}
}

// objectToProcess adds a process, unless something else is known to hold its object up.
func (b *builder) objectToProcess(o evidence.Object, p *evidence.Process) {
	object := b.object(o)
	if !b.waits[object] {
		b.edge(object, b.process(p, o), "")
	}
}

// idleOf returns the process of a container that is in the kernel, one with a file system
// first, which says what all wait for; or one that is held if all of them are; nil if
// there is none.
func idleOf(all []evidence.Process) *evidence.Process {
	held, live := 0, 0
	var first *evidence.Process
	for i := range all {
		if !all[i].Lives() {
			continue
		}
		live++
		if Held(&all[i]) {
			held++
			first = better(first, &all[i])
		}
	}
	if held > 0 && held == live {
		return first
	}
	first = nil
	for i := range all {
		if InKernel(&all[i]) {
			first = better(first, &all[i])
		}
	}
	return first
}

// better returns the first of two processes, or the second if that alone tells its file
// system.
func better(a, b *evidence.Process) *evidence.Process {
	if a == nil || a.Mount.Type == "" && b.Mount.Type != "" {
		return b
	}
	return a
}

// WorstOf returns the process of a container or sandbox that is worst off; nil if there is
// none.
func WorstOf(all []evidence.Process) (worst *evidence.Process) {
	for i := range all {
		if worst == nil || all[i].State.Stuck() && !worst.State.Stuck() {
			worst = &all[i]
		}
	}
	return worst
}

// objectsToHelpers: an object waits for a helper that works on it and has not ended, its
// shim between them if that has called it; and each of those for the helper that it has
// called in turn. A helper that should have ended, or does nothing, is told whether or not
// anybody asks for its object.
func objectsToHelpers(b *builder) {
	for i := range b.Retried {
		b.lateHelper(&b.Retried[i])
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
		switch {
		case Held(p) || InKernel(p):
			if _, known := b.Lookup(p.Container); p.Own || known {
				b.lateHelper(p)
			}
		case p.Own && !Idle(p) && HelperLate(p, b.Busy):
			b.lateHelper(b.outermost(p))
		case b.endsRunning(p):
			b.lateHelper(p)
		}
	}
}

func (b *builder) lateHelper(p *evidence.Process) {
	owner := b.helperOwner(p)
	if owner.ID == "" {
		b.chainOfHelpers(b.helper(p, owner), owner)
		return
	}
	b.objectToHelper(b.object(owner), owner, p)
}

// objectToHelper adds a helper of an object, with the shim that waits for it.
func (b *builder) objectToHelper(object int, o evidence.Object, p *evidence.Process) {
	from, shim := object, b.shimOf(o)
	if shim != nil {
		place := b.graph.Find(Key(Shim, strconv.Itoa(shim.PID)))
		asked := place >= 0 && b.has(object, place)
		if p.Parent == shim.PID {
			place = b.shim(shim, o)
			b.edge(object, place, fmt.Sprintf("it waits for its child, pid %d (%s)", p.PID, p.Command))
			asked = true
		}
		if asked {
			from = place
		}
	}
	helper := b.helper(p, o)
	b.edge(from, helper, b.helperProof(p, shim, o.ID))
	b.chainOfHelpers(helper, o)
}

func (b *builder) has(from, to int) bool {
	_, known := b.edges[[2]int{from, to}]
	return known
}

// chainOfHelpers adds those that a helper has called in turn: runc calls itself, and a
// wrapper of it runc.
func (b *builder) chainOfHelpers(place int, o evidence.Object) {
	for range 4 {
		p := b.graph.Nodes[place].process
		child := b.childOf(p)
		if p.State.Stuck() || child == nil {
			return
		}
		next := b.helper(child, o)
		b.edge(place, next, fmt.Sprintf("child of pid %d", p.PID))
		if place = next; b.waits[next] {
			return
		}
	}
}

// childOf returns the helper that one has begun and waits for; nil if there is none. It has
// done so for half of its life at least: a script that begins one program after the other
// waits for something else.
func (b *builder) childOf(p *evidence.Process) *evidence.Process {
	for _, child := range b.children[p.PID] {
		if child.PID != p.PID && 2*child.Age >= p.Age {
			return child
		}
	}
	return nil
}

// outermost returns the first of the helpers that led to this one and should have ended;
// itself if there is none.
func (b *builder) outermost(p *evidence.Process) *evidence.Process {
	at := p.Parent
	for range b.Report.Processes.Helpers { // a look that saw them in a circle ends, too
		caller := b.byPID[at]
		if caller == nil || caller.Sandbox != "" && b.shims[caller.Sandbox] == caller {
			break
		}
		at = caller.Parent
		if caller.HelperLimit() > 0 {
			p = caller
		}
	}
	return p
}

// helperFor returns what works on an object and has not ended: that which is about it, or
// else a child of its shim that is about nobody else; nil if there is none. Those that
// last as long as what they run are no matter.
func (b *builder) helperFor(o evidence.Object) *evidence.Process {
	sandbox := o.SandboxID
	if o.Sandbox {
		sandbox = o.ID
	}
	if o.ID == "" {
		return nil
	}
	all := b.of[o.ID]
	if len(all) == 0 && sandbox != "" {
		all = b.from[sandbox]
	}
	for _, p := range all {
		if p.HelperLimit() > 0 && (o.Sandbox || p.Container == o.ID || p.Container == "") {
			return p
		}
	}
	return nil
}

// helperOwner returns for whom a helper runs. A sandbox that is being made is not listed;
// what tells no container is for the sandbox of the shim that called it.
func (b *builder) helperOwner(p *evidence.Process) evidence.Object {
	o := b.whose(cmp.Or(p.Container, p.Sandbox))
	if o.Pod == (pleg.PodRef{}) {
		o.Sandbox = o.Sandbox || p.IsPlugin() || p.Container == ""
	}
	o.Pod = o.Pod.Or(p.Pod)
	return o
}

// helperProof says by what a helper is one of the object above it.
func (b *builder) helperProof(p, shim *evidence.Process, id string) string {
	var by []string
	if p.Parent != 0 && shim != nil && p.Parent == shim.PID {
		by = append(by, "child of the "+MonitorWord(shim))
	} else if slices.ContainsFunc(b.Runtime, func(d evidence.Process) bool { return d.PID == p.Parent }) {
		by = append(by, fmt.Sprintf("child of the runtime (pid %d)", p.Parent))
	}
	if p.Container == id && id != "" {
		by = append(by, "named in its arguments")
	}
	return strings.Join(by, ", ")
}

// begunSince reports whether a helper was begun after the status of an object hung: what
// hangs waited for something else then. What should have ended itself is told anyhow.
func (b *builder) begunSince(p *evidence.Process, id string) bool {
	return p.Age > 0 && !HelperLate(p, b.Busy) && slices.ContainsFunc(b.Hangs, func(h Hang) bool {
		return h.Blamed && h.Object.ID == id && b.Report.At.Add(-p.Age).After(h.Since.Add(Grown))
	})
}
