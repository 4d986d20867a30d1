package waits

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
)

// MostObjects is how many objects whose status hangs a graph has: nobody reads more of
// them one by one, and a diagnosis of ten thousand must not take longer for them.
const MostObjects = 500

// A Hang is a call to the runtime that has no answer.
type Hang struct {
	Op     call.Operation
	Object evidence.Object // of a status call; else zero
	Since  time.Time
	Relist bool // a relist waits for it
	Sure   bool // for so long that it is not just slow
	Blamed bool // a status call: other calls are answered, so that its object is at fault
	Beside bool // other objects were answered since
}

// Facts are what a [Graph] is built of. Nothing of them is changed.
type Facts struct {
	Hangs   []Hang                 // the worst first, [MostObjects] at most
	Hung    map[call.Operation]int // how many calls of each operation hang, those beyond Hangs among them
	Line    func(int) string       // says of one of Hangs how long it has had no answer
	Alone   []evidence.Object      // pods whose list alone has no answer, while the lists of others have
	Report  *evidence.Report       // of the node; never nil
	Deep    *evidence.Deep         // what of the report's may be trusted now; never nil
	Runtime []evidence.Process
	Retried []evidence.Process                      // helpers that are begun again and again, each as old as all of its tries together
	Pressed bool                                    // a list hangs for sure, or nobody looks again
	Busy    bool                                    // the node is short of CPU: helpers take longer
	Passed  time.Duration                           // since the report: what is named with its age is that much older
	Lookup  func(id string) (evidence.Object, bool) // whose an id is that the runtime lists, or that is surely its own
	Shown   func(id string) (evidence.Object, bool) // what the node shows of any id
	Disk    func(evidence.Mount) string             // says what is known of the disk behind a file system; empty if nothing is
}

// kinds of edges, each in a file of its own. The order is that in which nodes come to be:
// who waits before what it waits for.
var rules = []func(*builder){
	relistsToCalls, callsToObjects, callsToRuntime, callsToPods, objectsToShims, objectsToHelpers, objectsToProcesses,
	callsToHelpers, callsToLikely, processesToKernel, objectsToUnserved,
}

// Build returns who waits for whom; nil if nobody does.
func Build(f Facts) *Graph {
	if len(f.Hangs) == 0 && !f.anyIdle() && !f.anyLate() {
		return nil
	}
	b := builder{Facts: f}
	b.graph = &Graph{byKey: make(map[string]int)}
	b.index()
	for _, rule := range rules {
		rule(&b)
	}
	if len(b.graph.Nodes) == 0 {
		return nil
	}
	b.graph.link()
	return b.graph
}

// A builder has a graph that is being built, and what its rules look things up in.
type builder struct {
	Facts
	graph    *Graph
	shims    map[string]*evidence.Process   // by sandbox, and of CRI-O by container
	byPID    map[int]*evidence.Process      // shims and helpers
	children map[int][]*evidence.Process    // helpers, by who has called them
	of       map[string][]*evidence.Process // helpers that are waited for, the oldest first, by container
	from     map[string][]*evidence.Process // and by the sandbox whose shim has called them
	first    map[call.Operation]int         // the place of the first call of an operation that hangs
	asked    map[int]*evidence.Goroutine    // by object: the goroutine that is at work on it
	edges    map[[2]int]int                 // places of edges, by both ends
	waits    map[int]bool                   // nodes at which an edge begins
	disk     bool                           // the runtime waits for its own disk
	alike    map[string]int                 // how many helpers do the same, by verb; nil until somebody asks
	guessed  []guess
}

// index makes what helpers and shims are found by: there may be thousands of either.
func (b *builder) index() {
	processes := &b.Report.Processes
	b.shims, b.byPID = make(map[string]*evidence.Process, len(processes.Shims)), make(map[int]*evidence.Process)
	b.children, b.of, b.from = make(map[int][]*evidence.Process), make(map[string][]*evidence.Process), make(map[string][]*evidence.Process)
	b.first = make(map[call.Operation]int)
	b.asked = make(map[int]*evidence.Goroutine)
	b.edges, b.waits = make(map[[2]int]int), make(map[int]bool)
	for i := range processes.Shims {
		p := &processes.Shims[i]
		b.byPID[p.PID] = p
		for _, id := range []string{p.Sandbox, p.Container} {
			if _, known := b.shims[id]; id != "" && !known {
				b.shims[id] = p
			}
		}
	}
	for i := range processes.Helpers {
		p := &processes.Helpers[i]
		b.byPID[p.PID] = p
		b.children[p.Parent] = append(b.children[p.Parent], p)
		if !p.Own || p.Age < Grown {
			continue
		}
		b.of[p.Container] = append(b.of[p.Container], p)
		b.from[p.Sandbox] = append(b.from[p.Sandbox], p)
	}
	for _, all := range []map[string][]*evidence.Process{b.of, b.from} {
		for _, helpers := range all {
			slices.SortStableFunc(helpers, olderFirst)
		}
	}
	b.disk = slices.ContainsFunc(b.Runtime, func(p evidence.Process) bool { return b.stands(&p) && b.onStore(&p) })
	for i := range b.Hangs {
		if op := b.Hangs[i].Op; !b.hangs(op) {
			b.first[op] = i
		}
	}
}

// olderFirst compares two helpers. Who began another is no younger.
func olderFirst(a, b *evidence.Process) int {
	return cmp.Or(cmp.Compare(b.Age, a.Age), cmp.Compare(a.PID, b.PID))
}

// Key returns the key of a node of a kind by what it is known by within that.
func Key(kind Kind, known string) string { return strings.TrimSpace(string(kind) + " " + known) }

// CallKey returns the key of a call about an object, or of one without an id.
func CallKey(op call.Operation, id string) string { return Key(Call, knownCall(op, id)) }

func knownCall(op call.Operation, id string) string { return op.String() + " " + id }

// ObjectKey returns the key of an object, which may be a pod of which no id is known.
func ObjectKey(o pleg.ObjectRef) string { return Key(Container, knownObject(o)) }

func knownObject(o pleg.ObjectRef) string { return cmp.Or(o.ID, o.Pod.String()) }

// node returns the place of a node, which is made if there is none of its key.
func (b *builder) node(n Node) int {
	n.Key = Key(n.Kind, n.Key)
	i, known := b.graph.byKey[n.Key]
	if !known {
		i = len(b.graph.Nodes)
		b.graph.byKey[n.Key] = i
		b.graph.Nodes = append(b.graph.Nodes, n)
	}
	return i
}

// edge adds that one node waits for another, unless that is known. A proof is better than
// none.
func (b *builder) edge(from, to int, proof string) {
	if from == to {
		return
	}
	if i, known := b.edges[[2]int{from, to}]; known {
		e := &b.graph.Edges[i]
		e.Proof = cmp.Or(e.Proof, proof)
		return
	}
	b.edges[[2]int{from, to}], b.waits[from] = len(b.graph.Edges), true
	b.graph.Edges = append(b.graph.Edges, Edge{from, to, proof})
}

func (b *builder) object(o evidence.Object) int {
	return b.node(Node{Key: knownObject(o.ObjectRef), Kind: Container, ID: o.ID, Name: o.String(), Object: o})
}

// whose returns the object of an id; one of which only the id is known if nobody shows it.
func (f *Facts) whose(id string) evidence.Object {
	if o, known := f.Lookup(id); known {
		return o
	}
	if o, known := f.Shown(id); known {
		return o
	}
	return evidence.Object{ObjectRef: pleg.ObjectRef{ID: id}}
}

// Roughly returns a duration by its largest unit or two: 47s, 10m, 2h5m.
func Roughly(d time.Duration) string {
	switch {
	case d < time.Second:
		return "less than 1s"
	case d < time.Minute:
		return d.Truncate(time.Second).String()
	case d < time.Hour:
		return fmt.Sprintf("%dm", d/time.Minute)
	}
	return fmt.Sprintf("%dh%dm", d/time.Hour, d%time.Hour/time.Minute)
}
