package diagnose

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
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
		from = len(links) - 1
	}
	if from < 0 {
		return ""
	}
	return ChainLine(links[from:])
}

// heldBy returns what a headline says of the chain of the first critical finding that
// has one, unless it has said so.
func heldBy(said string, held []Finding) string {
	i := slices.IndexFunc(held, func(f Finding) bool { return f.Severity == Critical && len(f.Chain) > 0 })
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

// has reports whether there is a link of a kind.
func (c *chain) has(kind string) bool {
	return slices.ContainsFunc(c.links, func(l Link) bool { return l.Kind == kind })
}

// pid returns the id of a process's link.
func pid(p evidence.Process) string { return strconv.Itoa(p.PID) }

// chainTo returns the chain down to an object whose status hangs, and on to what holds
// that up.
func (v *view) chainTo(h *hang) []Link {
	c := chain{view: v}
	c.waitsFor(h)
	l, joined := v.lockOf(h)
	if l != nil || c.has(LinkRelist) && v.list() != nil {
		c.lock(h, l, joined)
	}
	name := objectOf(h.Flight)
	switch {
	case l != nil && l.Holder.Number != 0:
		c.add(LinkContainer, h.ID, name, joined)
	case c.has(LinkLock):
		c.add(LinkContainer, h.ID, name, "it is the status of this one")
	default:
		c.add(LinkContainer, h.ID, name, "it asks for this one")
	}
	c.below(h.ID, v.sandbox(h.Flight), h.Op == call.PodSandboxStatus, l)
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
	if aboutObject(h.Op) {
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
	if l == nil {
		proof := ""
		if c.objectsAnswered(c.began(h)) {
			proof = "its status call hangs, others are answered"
		}
		c.add(LinkLock, "", name, proof)
		return
	}
	proof := joined
	if joined != "" {
		proof = fmt.Sprintf("%s wait for it in the runtime's own dump, %s among them", count(l.Waiters, "goroutine"), waitingCalls(l))
	}
	c.add(LinkLock, l.Address, name, proof)
	c.holders(l)
}

// holders adds the goroutine that holds a lock, and on through the locks that it waits
// for itself. A lock that comes again is a deadlock.
func (c *chain) holders(l *evidence.Lock) {
	for l.Holder.Number != 0 {
		proof := "same receiver address " + l.Address + " in the runtime's own dump"
		if l.Likely {
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
	locks := c.locks()
	if i := slices.IndexFunc(locks, func(l evidence.Lock) bool { return slices.Contains(l.Calls, h.Op.String()) }); i >= 0 {
		l := &locks[i]
		c.add(LinkLock, l.Address, lockName(l), fmt.Sprintf("%s wait for it in the runtime's own dump, %s among them", count(l.Waiters, "goroutine"), waitingCalls(l)))
		c.holders(l)
		if id := l.Holder.Container; id != "" {
			f := c.flightOf(id)
			c.add(LinkContainer, id, objectOf(f), "its stack names it")
			c.below(id, c.sandbox(f), f.Op == call.PodSandboxStatus, l)
		}
		return c.done()
	}
	if all := c.errandsLong(); len(all) == 1 {
		c.errand(all[0], "")
	}
	return c.done()
}

// chainFrom returns the chain of an errand that has not ended: down from the status or
// from the call that waits for it, as far as the runtime's metrics or its dump tell which
// that is.
func (v *view) chainFrom(p evidence.Process) []Link {
	for i := range v.objects {
		if h := &v.objects[i]; h.ID == p.Container && p.Container != "" {
			return v.chainTo(h)
		}
	}
	c := chain{view: v}
	f := c.flightOf(p.Container)
	if f.Pod.Name == "" && p.Pod != "" {
		f.Pod.Namespace, f.Pod.Name = p.Namespace, p.Pod
	}
	waits := c.callOf(p)
	c.links = append(c.links, waits...)
	if p.Container != "" {
		c.add(LinkContainer, p.Container, objectOf(f), "the only such call, and the only such errand")
	}
	shim, hasShim := c.shim(p.Container, c.sandbox(f))
	if hasShim && shim.PID == p.Parent {
		put(&c.cuts, LinkShim, endShim(shim))
		c.add(LinkShim, pid(shim), shimName(shim), fmt.Sprintf("it waits for its child, pid %d (%s)", p.PID, p.Command))
	}
	c.errand(p, c.errandProof(p, shim, p.Container))
	return c.done()
}

// callOf returns the call of the CRI that waits for an errand, and the goroutine that
// answers it, if there is one such call and one such errand.
func (v *view) callOf(p evidence.Process) (links []Link) {
	alike := func(q evidence.Process) bool { return q.Verb == p.Verb && q.Age >= callHung }
	if v.evidence.Deep == nil || len(slices.DeleteFunc(slices.Clone(v.evidence.Processes.Errands), func(q evidence.Process) bool { return !alike(q) })) != 1 {
		return nil
	}
	for method, verbs := range verbOf {
		if !slices.Contains(verbs, p.Verb) {
			continue
		}
		g := v.answering(method)
		flying := slices.ContainsFunc(v.evidence.Deep.Calls.InFlight, func(f evidence.InFlight) bool { return f.Method == method && f.Count == 1 })
		if g == nil && !flying || len(links) > 0 && links[0].Name > method {
			continue
		}
		links = []Link{{Kind: LinkCall, Name: method}}
		if g != nil {
			links = append(links, Link{Kind: LinkGoroutine, ID: strconv.Itoa(g.First), Name: fmt.Sprintf("goroutine %d", g.First), Proof: "the only one that answers it, in the runtime's own dump"})
		}
	}
	return links
}

// answering returns the goroutine that answers a method of the CRI and waits for a shim
// or a program; nil if there is none, or several.
func (v *view) answering(method string) (only *evidence.Group) {
	for i, all := 0, v.evidence.Deep.Stacks.Groups; i < len(all); i++ {
		g := &all[i]
		if !slices.ContainsFunc(g.Frames, func(f string) bool { return strings.HasSuffix(f, "."+method) }) {
			continue
		}
		if only != nil || g.Count != 1 {
			return nil
		}
		only = g
	}
	return only
}

// errandsLong returns the errands of the runtime and its shims that have run for long.
func (v *view) errandsLong() (all []evidence.Process) {
	for _, p := range v.evidence.Processes.Errands {
		if p.Age >= errandLong && !slices.Contains(longVerbs, p.Verb) && v.isParent(p.Parent) {
			all = append(all, p)
		}
	}
	return all
}

// flightOf returns the status call that asks for an object, named as far as a list or
// the node names it.
func (v *view) flightOf(id string) engine.Flight {
	f := engine.Flight{Op: call.ContainerStatus, ID: id}
	if o, known := listing(v.Snapshot)[id]; known {
		f.Pod, f.Container = o.pod, o.container
		if o.sandbox {
			f.Op = call.PodSandboxStatus
		}
		return f
	}
	if o, known := v.shown(id); known {
		f.Pod, f.Container = pleg.PodRef{Namespace: o.Namespace, Name: o.Pod, UID: pleg.UID(o.UID)}, o.Container
		if o.Sandbox {
			f.Op = call.PodSandboxStatus
		}
	}
	return f
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
	case p.what == "runtime" && v.silence != nil:
		return v.chainOf(v.silence)
	case h == nil || !h.sure:
		return nil
	case p.what == "runtime":
		return v.chainOf(h)
	case p.Verb != "":
		return v.chainFrom(p.Process)
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

// below adds what a container or sandbox waits for: its shim, what that has called, and
// the kernel.
func (c *chain) below(id, sandbox string, isSandbox bool, l *evidence.Lock) {
	shim, hasShim := c.shim(id, sandbox)
	if hasShim {
		put(&c.cuts, LinkShim, endShim(shim))
	}
	errand, found := c.errandFor(id, sandbox, isSandbox)
	asked := l != nil && strings.HasPrefix(l.Holder.Doing, "ttrpc") && l.Holder.Waits == ""
	switch {
	case !hasShim:
	case asked:
		c.add(LinkShim, pid(shim), shimName(shim), "the goroutine waits for its answer to "+strings.TrimPrefix(l.Holder.Doing, "ttrpc "))
	case shimStuck(shim):
		c.add(LinkShim, pid(shim), shimName(shim), "it is "+shim.State.String()+" and answers nobody")
	case found && errand.Parent == shim.PID:
		c.add(LinkShim, pid(shim), shimName(shim), fmt.Sprintf("it waits for its child, pid %d (%s)", errand.PID, errand.Command))
	}
	switch p, ok := c.worst(id); {
	case found:
		c.errand(errand, c.errandProof(errand, shim, id))
	case hasShim && shimStuck(shim):
		c.kernel(shim)
	case ok && (held(p) || inKernel(p)):
		c.process(p, "")
	}
}

func shimName(p evidence.Process) string { return monitorWord(p) + " " + pid(p) }

// process adds a process that does nothing.
func (c *chain) process(p evidence.Process, proof string) {
	c.add(LinkProcess, pid(p), fmt.Sprintf("pid %d (%s)", p.PID, p.Command), proof)
	if step, ok := letGoOn(p); ok {
		put(&c.cuts, LinkProcess, step)
	}
	c.kernel(p)
}

// errandFor returns what works on a container or sandbox and has not ended: that which
// is named for it, before a child of its shim that is for nobody; the oldest first.
func (v *view) errandFor(id, sandbox string, isSandbox bool) (best evidence.Process, found bool) {
	shim, hasShim := v.shim(id, sandbox)
	rank := func(p evidence.Process) int {
		switch {
		case p.Age < callHung || slices.Contains(longVerbs, p.Verb):
			return 0
		case p.Container == id && id != "":
			return 3
		case p.Container == "" && hasShim && p.Parent == shim.PID:
			return 2
		case isSandbox && hasShim && p.Parent == shim.PID:
			return 1
		}
		return 0
	}
	for _, p := range v.evidence.Processes.Errands {
		if r := rank(p); r > 0 && (!found || r > rank(best) || r == rank(best) && p.Age > best.Age) {
			best, found = p, true
		}
	}
	return best, found
}

// errandProof says by what an errand is one of the object above it.
func (v *view) errandProof(p, shim evidence.Process, id string) string {
	var by []string
	if p.Parent != 0 && p.Parent == shim.PID {
		by = append(by, "child of the "+monitorWord(shim))
	} else if slices.ContainsFunc(v.daemons(), func(d evidence.Process) bool { return d.PID == p.Parent }) {
		by = append(by, fmt.Sprintf("child of the runtime (pid %d)", p.Parent))
	}
	if p.Container == id && id != "" {
		by = append(by, "named in its arguments")
	}
	return join(by)
}

// errand adds an errand, what it has called itself, and what that waits for in the kernel.
func (c *chain) errand(p evidence.Process, proof string) {
	put(&c.cuts, LinkErrand, endErrand(p))
	for range 4 { // runc calls itself, and a wrapper of it runc
		c.add(LinkErrand, pid(p), fmt.Sprintf("%s (%s)", errandName(p), roughly(p.Age)), proof)
		errands := c.evidence.Processes.Errands
		i := slices.IndexFunc(errands, func(child evidence.Process) bool { return child.Parent == p.PID && child.PID != p.PID })
		if i < 0 || p.State.Stuck() {
			break
		}
		p, proof = errands[i], fmt.Sprintf("child of pid %d", p.PID)
	}
	c.kernel(p)
}

// kernel adds where a process is held that does nothing, and the file system that it
// waits for.
func (c *chain) kernel(p evidence.Process) {
	switch p.State {
	case evidence.Uninterrupted:
		if function, by := kernelFunction(p); function != "" {
			c.add(LinkKernel, function, "D in "+function, by)
		} else {
			c.add(LinkKernel, "", "D", "its state")
		}
		c.fileSystem(p)
	case evidence.Frozen:
		c.add(LinkKernel, p.Freezer, p.State.String(), "its control group")
	case evidence.Stopped, evidence.Traced:
		c.add(LinkKernel, "", p.State.String(), "its state")
	}
}

// kernelFunction returns the function that tells most of what a process waits for, and
// what shows it: of a file server's not the remote call below it.
func kernelFunction(p evidence.Process) (function, by string) {
	for _, f := range slices.Concat([]string{p.Wchan}, p.Stack) {
		f = strings.TrimLeft(f, "_")
		if forServer(f) && !strings.HasPrefix(f, "rpc_") && !strings.HasPrefix(f, "xprt_") && !strings.Contains(f, "call_sync") {
			function = f
			break
		}
	}
	switch {
	case function == "" && p.Wchan != "":
		return p.Wchan, "its wchan"
	case function == "" && len(p.Stack) > 0:
		return p.Stack[0], "its kernel stack"
	case strings.TrimLeft(p.Wchan, "_") == function:
		return function, "its wchan"
	}
	return function, "its kernel stack"
}

// fileSystem adds the server or the device behind the file that a system call is about.
func (c *chain) fileSystem(p evidence.Process) {
	m := c.waitsOn(p)
	if m.Type == "" {
		return
	}
	on := "its system call is on that mount"
	if i := slices.IndexFunc(freeing(p), func(s Step) bool { return s.Risky }); i >= 0 {
		put(&c.cuts, LinkMount, freeing(p)[i])
	}
	if isServed(m) && !strings.HasPrefix(m.Type, "fuse") {
		c.add(LinkServer, m.Source, "server "+m.Source, on)
		c.add(LinkMount, m.Device, m.Point, "mounted from there")
		return
	}
	c.add(LinkMount, m.Device, m.Point, on)
	if !strings.HasPrefix(m.Device, "0:") && m.Source != "" {
		proof := "the mount is on it"
		if lines := c.disk(m); len(lines) > 0 {
			proof = lines[0]
		}
		c.add(LinkDevice, m.Device, m.Source, proof)
	}
}

// roughly returns a duration by its largest unit or two: 47s, 10m, 2h5m.
func roughly(d time.Duration) string {
	if d >= time.Minute && d < time.Hour {
		return fmt.Sprintf("%dm", d/time.Minute)
	}
	return going(d)
}
