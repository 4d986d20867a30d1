package waits

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
)

// MostObjects is how many objects with a hanging status a graph has at most. Nobody reads more of them one by
// one, and a diagnosis of ten thousand must not take longer for them.
const MostObjects = 500

// A Hang is a call to the runtime that has no answer.
type Hang struct {
	Op     call.Operation
	Object evidence.Object // of a status call; else zero
	Since  time.Time
	Relist bool // a relist waits for it
	Sure   bool // it has hung so long that it is not just slow
	Blamed bool // only for a status call: other calls are answered, so its object is at fault
	Beside bool // other objects were answered since
}

// Facts are the input of [Build], which changes nothing in them.
type Facts struct {
	Hangs   []Hang                 // the worst first, [MostObjects] at most
	Hung    map[call.Operation]int // how many calls of each operation hang, including those that Hangs has no room for
	Line    func(int) string       // returns in words how long the call at this place in Hangs has had no answer
	Refused []Refusal              // calls that find nobody at the socket, those that have been refused longest first
	Alone   []evidence.Object      // pods whose own list has no answer, while the lists of other pods are answered
	Report  *evidence.Report       // of the node; never nil
	Deep    *evidence.Deep         // the part of the deep report that may be trusted now; never nil
	Runtime []evidence.Process
	Retried []evidence.Process                      // helpers that are started again and again, each as old as all of its tries together
	Pressed bool                                    // a list hangs for sure, or there is no second look
	Busy    bool                                    // the node is short of CPU: helpers take longer
	Passed  time.Duration                           // the time since the report; it is added to the ages in names
	Lookup  func(id string) (evidence.Object, bool) // the object of an id that the runtime lists, or that is surely its own
	Shown   func(id string) (evidence.Object, bool) // what the node shows of any id
	Disk    func(evidence.Mount) string             // returns in words what is known of the disk behind a file system; empty if nothing is
}

// edgeKinds are the functions that add the edges, one for each kind of edge. They run in this order: first
// those for the nodes that wait, then those for what they wait for.
var edgeKinds = []func(*builder){
	relistsToCalls, callsToObjects, callsToRuntime, refusalsToRuntime, callsToPods, objectsToShims, objectsToHelpers, objectsToProcesses,
	callsToHelpers, objectsToLikelyLocks, callsToLikely, processesToKernel, objectsToUnserved,
}

// Build returns the graph of who waits for whom; nil if nobody waits.
func Build(f Facts) *Graph {
	around := evidence.LookAround(f.Report, f.Pressed)
	if len(f.Hangs)+len(f.Retried) == 0 && !f.anyIdle(&around) {
		return nil
	}
	most := 3 * len(f.Hangs) // a call, its object and the object's lock
	b := builder{Facts: f, Around: around, graph: &Graph{Nodes: make([]Node, 0, most), Edges: make([]Edge, 0, most), byKey: make(map[string]int, most)}}
	b.index()
	for _, add := range edgeKinds {
		add(&b)
	}
	if len(b.graph.Nodes) == 0 {
		return nil
	}
	b.graph.link()
	return b.graph
}

// anyIdle reports whether a process does nothing or a helper is late. On most nodes there is none of either.
func (f *Facts) anyIdle(around *evidence.Around) bool {
	idle := func(all []evidence.Process, as evidence.Role) bool {
		for i := range all {
			if around.Doing(&all[i], as).DoesNothing() || as == evidence.AsMonitor && !all[i].Lives() {
				return true
			}
		}
		return false
	}
	for _, all := range f.Report.Processes.Containers {
		if idle(all, evidence.AsWorkload) {
			return true
		}
	}
	for i := range f.Report.Processes.Helpers {
		if p := &f.Report.Processes.Helpers[i]; p.Own && p.IsLate(f.Busy) || f.endsRunning(p) {
			return true
		}
	}
	return idle(f.Report.Processes.Shims, evidence.AsMonitor) || idle(f.Report.Processes.Helpers, evidence.AsHelper) || idle(f.Runtime, evidence.AsRuntime)
}

// A builder has the graph that is being built, and what the kinds of edges share.
type builder struct {
	Facts
	evidence.Around
	graph    *Graph
	edges    map[[2]int]int                 // places of edges, by both ends
	waits    map[int]bool                   // nodes at which an edge begins
	lists    [2]int                         // places of the first lists that hang: of sandboxes, of containers; -1 for none
	blamed   []bool                         // by place in Hangs: the object of the call is at fault
	onDisk   bool                           // the runtime, or a program that works for it, waits for the runtime's own disk
	shims    map[string]*evidence.Process   // by sandbox, and of CRI-O by container
	callers  map[int]*evidence.Process      // shims and helpers, by pid
	children map[int][]*evidence.Process    // helpers, by parent
	helpers  map[string][]*evidence.Process // the helpers that somebody may wait for, the oldest first, by container and by the sandbox of the shim that started them
}

// index makes the tables in which the kinds of edges look things up: there may be thousands of shims and
// helpers.
func (b *builder) index() {
	b.edges, b.waits = make(map[[2]int]int), make(map[int]bool)
	b.shims, b.helpers = make(map[string]*evidence.Process), make(map[string][]*evidence.Process)
	b.callers, b.children = make(map[int]*evidence.Process), make(map[int][]*evidence.Process)
	for i := range b.Report.Processes.Shims {
		p := &b.Report.Processes.Shims[i]
		b.callers[p.PID] = p
		for _, id := range []string{p.Sandbox, p.Container} {
			if b.shims[id] == nil && id != "" {
				b.shims[id] = p
			}
		}
	}
	for i := range b.Report.Processes.Helpers {
		p := &b.Report.Processes.Helpers[i]
		b.callers[p.PID] = p
		b.children[p.Parent] = append(b.children[p.Parent], p)
		if p.Own && p.Age >= evidence.Grown && p.HelperLimit() > 0 {
			b.helpers[p.Container] = append(b.helpers[p.Container], p)
			b.helpers[p.Sandbox] = append(b.helpers[p.Sandbox], p)
		}
	}
	for _, all := range b.helpers { // a parent is no younger than its child
		slices.SortStableFunc(all, func(a, b *evidence.Process) int { return cmp.Or(cmp.Compare(b.Age, a.Age), cmp.Compare(a.PID, b.PID)) })
	}
	for i, op := range []call.Operation{call.ListPodSandbox, call.ListContainers} {
		b.lists[i] = slices.IndexFunc(b.Hangs, func(h Hang) bool { return h.Op == op })
	}
	b.onDisk, b.blamed = b.storeHangs(), make([]bool, len(b.Hangs))
	for i := range b.Hangs {
		b.blamed[i] = b.blames(&b.Hangs[i])
	}
}

// Key returns the key of a node, from its kind and its id within that kind.
func Key(kind Kind, id string) string { return strings.TrimSpace(string(kind) + " " + id) }

// CallKey returns the key of a call about an object; id is "" for a call about none.
func CallKey(op call.Operation, id string) string { return Key(Call, op.String()+" "+id) }

// ObjectKey returns the key of an object, which may be a pod without a known id.
func ObjectKey(o pleg.ObjectRef) string { return Key(Container, cmp.Or(o.ID, o.Pod.String())) }

// node returns the place of a node, by its kind and its id within that kind. It adds n if there is no such node
// yet.
func (b *builder) node(kind Kind, id string, n Node) int {
	n.Kind, n.Key = kind, Key(kind, id)
	i, known := b.graph.byKey[n.Key]
	if !known {
		i = len(b.graph.Nodes)
		b.graph.byKey[n.Key] = i
		b.graph.Nodes = append(b.graph.Nodes, n)
	}
	return i
}

// edge adds an edge: one node waits for another. If the edge is already there without a proof, it gets this
// proof.
func (b *builder) edge(from, to int, proof Proof) {
	i, known := b.edges[[2]int{from, to}]
	switch {
	case from == to:
	case !known:
		b.edges[[2]int{from, to}], b.waits[from] = len(b.graph.Edges), true
		b.graph.Edges = append(b.graph.Edges, Edge{from, to, proof})
	case !b.graph.Edges[i].Proof.Proven():
		b.graph.Edges[i].Proof = proof
	}
}

func (b *builder) object(o evidence.Object) int {
	return b.node(Container, cmp.Or(o.ID, o.Pod.String()), Node{ID: o.ID, Name: o.String(), Object: o})
}

// objectOf returns the object of an id. It has only the id if nothing is known of it.
func (b *builder) objectOf(id string) evidence.Object {
	for _, find := range []func(string) (evidence.Object, bool){b.Lookup, b.Shown} {
		if o, known := find(id); known {
			return o
		}
	}
	return evidence.Object{ObjectRef: pleg.ObjectRef{ID: id}}
}
