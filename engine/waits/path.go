package waits

import (
	"slices"

	"github.com/plegtop/plegtop/engine/evidence"
)

// A Link is one node of a path, and by what it is known that the link before it waits for
// it.
type Link struct {
	Place int    // in [Graph.Nodes]
	Proof string // in words; empty of the first link, and of all from the first on that is only likely
	Again bool   // it came before: who waits here waits for itself
}

// Through returns the path from where the waiting is felt, the relist if that waits, down
// through a node to what holds that up in the end; nil for a place that is none. Where a
// link is not proven, none below it is.
func (g *Graph) Through(place int) []Link {
	if g == nil || place < 0 {
		return nil
	}
	links, edges := g.above(place)
	for at := place; len(g.out[at]) > 0; { // of several the first that is proven
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

// above returns the shortest way from the relist to a node, and its edges; or else the way from a node
// that waits for it and for which nobody waits. A way that is proven comes first.
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

// A Set is some nodes of a graph, by their places; each with the edge to take from there, -1 for none.
type Set map[int]int

// A direction is where a search goes: up to those that wait, or down to those they wait for.
type direction bool

const up, down direction = true, false

// search returns the nodes that are reached from some, which are among them with -1; the others each
// with the first edge that leads there.
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

// Waiting returns the nodes that surely wait for any of some, which are among them; nil if none of
// these is in the graph.
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

// HasAny reports whether any of some nodes is in the set.
func (s Set) HasAny(g *Graph, keys ...string) bool {
	return len(s) > 0 && slices.ContainsFunc(keys, func(key string) bool {
		_, in := s[g.Find(key)]
		return in
	})
}

// HoldsUp reports whether a call that hangs, and is not just slow, surely waits for a node.
func (g *Graph) HoldsUp(place int) bool {
	for i := range g.search(up, true, place) {
		if g.Nodes[i].sure {
			return true
		}
	}
	return false
}

// Below reports whether a node of a kind waits for this one.
func (g *Graph) Below(place int, kind Kind) bool {
	return slices.ContainsFunc(g.in[place], func(e int) bool { return g.Nodes[g.Edges[e].From].Kind == kind })
}

// Last follows a node to others of a kind for which it waits, each for the next, and
// returns the last of them; the node itself if there is none.
func (g *Graph) Last(place int, kind Kind) int {
	for range g.Nodes { // also in a circle
		i := slices.IndexFunc(g.out[place], func(e int) bool { return g.Nodes[g.Edges[e].To].Kind == kind })
		if i < 0 {
			break
		}
		place = g.Edges[g.out[place][i]].To
	}
	return place
}

// FileSystem returns the file system for which the process of a node waits in the kernel,
// surely or not; false if that is not known.
func (g *Graph) FileSystem(place int) (evidence.Mount, bool) {
	for _, kind := range []Kind{Kernel, Server, Mount} {
		if place = g.Last(place, kind); g.Nodes[place].Kind == Mount {
			return g.Nodes[place].mount, true
		}
	}
	return evidence.Mount{}, false
}
