package waits

import (
	"slices"

	"github.com/plegtop/plegtop/engine/evidence"
)

// A Link is one node of a path, and the proof that the link before it waits for it.
type Link struct {
	Place int    // in [Graph.Nodes]
	Proof string // in words; empty for the first link, and for all links after the first one that is only likely, including that one
	Again bool   // it came before in the path, so it waits for itself
}

// Through returns a path through a node. It begins where the waiting is felt, which is the relist if that
// waits, and leads down to what holds up the node in the end. It returns nil if place is negative. After the
// first link that is not proven, no link has a proof.
func (g *Graph) Through(place int) []Link {
	if g == nil || place < 0 {
		return nil
	}
	links, edges := g.above(place)
	for at := place; len(g.out[at]) > 0; { // if there are several edges, take the first: proven ones come first
		e := g.out[at][0]
		at = g.Edges[e].To
		again := slices.ContainsFunc(links, func(l Link) bool { return l.Place == at })
		links, edges = append(links, Link{Place: at, Again: again}), append(edges, e)
		if again {
			break
		}
	}
	for i, e := range edges {
		proof := g.Edges[e].Proof
		if !proof.Proven() {
			break
		}
		links[i+1].Proof = proof.String()
	}
	return links
}

// above returns the shortest way from the relist to a node, and its edges. If the relist does not wait for the
// node, it returns the way from a node that waits for it and that nobody waits for. It prefers a way that is
// proven.
func (g *Graph) above(place int) (links []Link, edges []int) {
	for _, proven := range []bool{true, false} {
		came, top := g.search(up, proven, place), -1
		for i := range g.Nodes {
			if _, reached := came[i]; !reached {
				continue
			}
			if g.Nodes[i].Kind == Relist {
				top = i
				break
			}
			if top < 0 && len(g.in[i]) == 0 {
				top = i
			}
		}
		if top < 0 {
			continue
		}
		links = []Link{{Place: top}}
		for at := top; at != place; {
			edges = append(edges, came[at])
			at = g.Edges[came[at]].To
			links = append(links, Link{Place: at})
		}
		return links, edges
	}
	return []Link{{Place: place}}, nil // in a circle for which nobody waits
}

// A Set is a set of nodes of a graph, by their places. The value is the edge to take from there; -1 for none.
type Set map[int]int

// A direction is where a search goes: up to the nodes that wait, or down to the nodes that they wait for.
type direction bool

const up, down direction = true, false

// search returns the nodes that can be reached from some nodes. Those nodes are in the set with -1, the others
// with the first edge that leads to them. If proven, only proven edges count.
func (g *Graph) search(to direction, proven bool, from ...int) Set {
	came, edges := make(Set), g.out
	if to == up {
		edges = g.in
	}
	for _, i := range from {
		came[i] = -1
	}
	for next := slices.Clone(from); len(next) > 0; next = next[1:] {
		for _, e := range edges[next[0]] {
			edge := &g.Edges[e]
			other := edge.To
			if to == up {
				other = edge.From
			}
			if _, known := came[other]; !known && (edge.Proof.Proven() || !proven) {
				came[other] = e
				next = append(next, other)
			}
		}
	}
	return came
}

// Waiting returns the nodes that surely wait for any of the nodes with these keys, together with those nodes;
// nil if none of them is in the graph.
func (g *Graph) Waiting(keys ...string) Set {
	var places []int
	for _, key := range keys {
		if i := g.Find(key); i >= 0 {
			places = append(places, i)
		}
	}
	if places == nil {
		return nil
	}
	return g.search(up, true, places...)
}

// HasAny reports whether any of the nodes with these keys is in the set.
func (s Set) HasAny(g *Graph, keys ...string) bool {
	return len(s) > 0 && slices.ContainsFunc(keys, func(key string) bool {
		_, in := s[g.Find(key)]
		return in
	})
}

// HoldsUp reports whether a call surely waits for this node that hangs and is not just slow.
func (g *Graph) HoldsUp(place int) bool {
	for i := range g.search(up, true, place) {
		if g.Nodes[i].sure {
			return true
		}
	}
	return false
}

// Below reports whether a node of this kind waits directly for the node at place.
func (g *Graph) Below(place int, kind Kind) bool {
	return slices.ContainsFunc(g.in[place], func(e int) bool { return g.Nodes[g.Edges[e].From].Kind == kind })
}

// Last goes from a node to a node of this kind that it waits for, and on from there, as far as that goes. It
// returns the place of the last node; the first node itself if it waits for none of this kind.
func (g *Graph) Last(place int, kind Kind) int {
	for range g.Nodes { // the loop ends also in a circle
		i := slices.IndexFunc(g.out[place], func(e int) bool { return g.Nodes[g.Edges[e].To].Kind == kind })
		if i < 0 {
			break
		}
		place = g.Edges[g.out[place][i]].To
	}
	return place
}

// FileSystem returns the file system for which the process of a node waits in the kernel, surely or only
// likely; false if that is not known.
func (g *Graph) FileSystem(place int) (evidence.Mount, bool) {
	for _, kind := range []Kind{Kernel, Server, Mount} {
		if place = g.Last(place, kind); g.Nodes[place].Kind == Mount {
			return g.Nodes[place].mount, true
		}
	}
	return evidence.Mount{}, false
}
