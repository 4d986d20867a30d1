// Package waits says who waits for whom: from the kubelet's relist through a call to the
// runtime, a lock in it, a container and its shim down to the program, the kernel's
// function or the file server that holds all of it up. docs/waits.md explains it with
// two examples.
//
// A graph is made anew for each diagnosis, from what is known at that moment, and only
// where something waits: on a healthy node [Build] returns nil and allocates nothing. A
// graph is never changed once it was made, and may be read from any goroutine. Names are
// as the runtime and the node gave them, not cleaned.
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
	Helper    Kind = "helper"    // a program that the runtime or a shim has called: runc, a network plugin, mount
	Process   Kind = "process"   // of a container, or the runtime's own
	Kernel    Kind = "kernel"    // the function in which a process waits, or what holds it
	Server    Kind = "server"    // of a file system
	Mount     Kind = "mount"
	Device    Kind = "device"
)

// A Node is somebody who waits, or for whom somebody waits.
type Node struct {
	Key    string          `line:"key"` // its kind and its id within that: the same in later graphs
	Kind   Kind            `line:"kind"`
	ID     string          `line:"id,omitempty"`     // of a container, process, goroutine, lock, device; empty where the name is enough
	Name   string          `line:"name"`             // for people, such as "runc update (10m)"
	Object evidence.Object `line:"subject,omitzero"` // the object that it belongs to; zero if it is of none
	Since  time.Time       `line:"since,omitzero"`

	sure    bool // of a call: it hangs, and is not just slow
	process *evidence.Process
	as      evidence.Role // of the process, and what it does
	doing   evidence.Doing
	lock    *evidence.Lock
	mount   evidence.Mount
	inside  bool // of a goroutine: it waits for something in the runtime
}

// WaitsInside reports whether a goroutine waits for something in the runtime itself, such as another
// goroutine: what that is nobody knows.
func (n *Node) WaitsInside() bool { return n.inside }

// Process returns the process of a shim, a helper or a process; nil for any other node.
func (n *Node) Process() *evidence.Process { return n.process }

// Doing returns what the process of a shim, a helper or a process does; that of any other node works.
func (n *Node) Doing() evidence.Doing { return n.doing }

// Lock returns the lock that a node is, or that its goroutine likely holds; nil for any other.
func (n *Node) Lock() *evidence.Lock { return n.lock }

// Stuck reports whether a node is a process that does nothing.
func (n *Node) Stuck() bool {
	return n.doing.DoesNothing() || n.Kind == Shim && n.doing.What == evidence.IsDead
}

// An Edge says that one node waits for another.
type Edge struct {
	From  int   `line:"from"` // both are places in [Graph.Nodes]
	To    int   `line:"to"`
	Proof Proof `line:"proof"`
}

// A Graph is who waits for whom at one moment. Nil is that of a node on which nobody
// waits.
type Graph struct {
	Nodes []Node `line:"nodes"`
	Edges []Edge `line:"edges"`

	byKey map[string]int
	out   [][]int // for each node the edges that begin there, the proven before the likely
	in    [][]int
}

// Find returns the place of a node; -1 if there is none of that key.
func (g *Graph) Find(key string) int {
	if g == nil {
		return -1
	}
	if i, ok := g.byKey[key]; ok {
		return i
	}
	return -1
}

// Each calls f for each node of a kind; of all kinds for the empty one.
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

// link makes the lists of edges by node.
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
