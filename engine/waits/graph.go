// Package waits finds out who waits for whom: from the kubelet's relist, through a call to the runtime, a lock
// in the runtime, a container and its shim, down to the program, the kernel's function or the file server that
// holds all of them up. docs/waits.md explains it with two examples.
//
// A graph is built anew for each diagnosis, from what is known at that moment, and only if something waits: on
// a healthy node [Build] returns nil and allocates nothing. A graph never changes once it is built, and may be
// read from any goroutine. Names are as the runtime and the node gave them, not cleaned.
package waits

import (
	"time"

	"github.com/plegtop/plegtop/engine/evidence"
)

// A Kind says what a [Node] is. It is a word of the JSON contract.
type Kind string

// The kinds of nodes.
const (
	Relist    Kind = "relist"
	Call      Kind = "call" // of the CRI
	Lock      Kind = "lock" // in the runtime
	Goroutine Kind = "goroutine"
	Container Kind = "container" // or sandbox
	Shim      Kind = "shim"      // or conmon
	Helper    Kind = "helper"    // a program that the runtime or a shim has started: runc, a network plugin, mount
	Process   Kind = "process"   // of a container, or the runtime's own
	Kernel    Kind = "kernel"    // the function in which a process waits, or what holds it
	Server    Kind = "server"    // of a file system
	Mount     Kind = "mount"
	Device    Kind = "device"
)

// A Node is something that waits, or that something waits for.
type Node struct {
	Key    string          `line:"key"` // its kind and its id within that kind: the same in later graphs
	Kind   Kind            `line:"kind"`
	ID     string          `line:"id,omitempty"`     // of a container, process, goroutine, lock, device; empty where the name is enough
	Name   string          `line:"name"`             // for people, such as "runc update (10m)"
	Object evidence.Object `line:"subject,omitzero"` // the object that it belongs to; zero if it belongs to none
	Since  time.Time       `line:"since,omitzero"`

	sure    bool // of a call: it hangs, and is not just slow
	process *evidence.Process
	as      evidence.Role // of the process, and what it does
	doing   evidence.Doing
	lock    *evidence.Lock
	mount   evidence.Mount
	inside  bool // of a goroutine: it waits for something in the runtime
}

// WaitsInside reports whether a goroutine waits for something in the runtime itself, such as another goroutine.
// It is not known what that is.
func (n *Node) WaitsInside() bool { return n.inside }

// Process returns the process of a node that is a shim, a helper or a process; nil for any other node.
func (n *Node) Process() *evidence.Process { return n.process }

// Doing returns what the process of a node does, for a shim, a helper or a process. For any other node it is
// zero, which means that it works.
func (n *Node) Doing() evidence.Doing { return n.doing }

// Lock returns the lock that a node is, or the lock that a goroutine likely holds; nil for any other node.
func (n *Node) Lock() *evidence.Lock { return n.lock }

// Stuck reports whether a node is a process that does nothing, or a shim that has ended.
func (n *Node) Stuck() bool {
	return n.doing.DoesNothing() || n.Kind == Shim && n.doing.What == evidence.IsDead
}

// An Edge says that one node waits for another.
type Edge struct {
	From  int   `line:"from"` // both are places in [Graph.Nodes]
	To    int   `line:"to"`
	Proof Proof `line:"proof"`
}

// A Graph says who waits for whom at one moment. A nil graph is that of a node on which nobody waits.
type Graph struct {
	Nodes []Node `line:"nodes"`
	Edges []Edge `line:"edges"`

	byKey map[string]int
	out   [][]int // for each node the edges that begin there, the proven before the likely
	in    [][]int
}

// Find returns the place of the node with this key; -1 if there is none.
func (g *Graph) Find(key string) int {
	if g == nil {
		return -1
	}
	if i, ok := g.byKey[key]; ok {
		return i
	}
	return -1
}

// Each calls f for each node of a kind. An empty kind stands for all kinds.
func (g *Graph) Each(kind Kind, f func(place int, n *Node)) {
	if g == nil {
		return
	}
	for i := range g.Nodes {
		if kind == "" || g.Nodes[i].Kind == kind {
			f(i, &g.Nodes[i])
		}
	}
}

// link sets the lists of edges that begin and end at each node.
func (g *Graph) link() {
	g.out, g.in = make([][]int, len(g.Nodes)), make([][]int, len(g.Nodes))
	for _, proven := range []bool{true, false} {
		for i, e := range g.Edges {
			if e.Proof.Proven() == proven {
				g.out[e.From] = append(g.out[e.From], i)
				g.in[e.To] = append(g.in[e.To], i)
			}
		}
	}
}
