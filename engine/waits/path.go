package waits

import (
	"slices"

	"github.com/plegtop/plegtop/engine/evidence"
)

// A Link is one node of a path, and by what it is known that the link before it waits for
// it.
type Link struct {
	Place int // in [Graph.Nodes]
	Proof string
	Again bool // it came before: who waits here waits for itself
}

// Through returns the path from where the waiting is felt, the relist if that waits, down
// through a node to what holds that up in the end; nil for a place that is none. Where a
// link is not proven, none below it is: their proofs are left out.
func (g *Graph) Through(place int) []Link {
	if g == nil || place < 0 {
		return nil
	}
	links := g.below(g.above(place))
	likely := false
	for i := range links {
		if i > 0 && links[i].Proof == "" {
			likely = true
		}
		if i == 0 || likely {
			links[i].Proof = ""
		}
	}
	return links
}

// above returns the shortest way from the relist to a node; or else from what waits for it
// and for which nobody waits. A way that is proven comes first.
func (g *Graph) above(place int) []Link {
	for _, proven := range []bool{true, false} {
		came := g.search(proven, place)
		best := -1
		for i := range g.Nodes {
			if _, reached := came[i]; !reached {
				continue
			}
			if g.Nodes[i].Kind == Relist {
				best = i
				break
			}
			if best < 0 && len(g.in[i]) == 0 {
				best = i
			}
		}
		if best >= 0 {
			return g.way(best, place, came)
		}
	}
	return []Link{{Place: place}} // in a circle for which nobody waits
}

// search returns the nodes from which a way leads to any of some, each with the edge to
// take; -1 for these themselves.
func (g *Graph) search(proven bool, to ...int) map[int]int {
	came := make(map[int]int)
	for _, i := range to {
		came[i] = -1
	}
	for next := slices.Clone(to); len(next) > 0; next = next[1:] {
		for _, e := range g.in[next[0]] {
			edge := g.Edges[e]
			if _, known := came[edge.From]; !known && (edge.Proof != "" || !proven) {
				came[edge.From] = e
				next = append(next, edge.From)
			}
		}
	}
	return came
}

// HoldsUp reports whether a call that hangs, and is not just slow, surely waits for a node.
func (g *Graph) HoldsUp(place int) bool {
	for i := range g.search(true, place) {
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

// way returns the links from one node to another one, both among them.
func (g *Graph) way(from, to int, came map[int]int) []Link {
	links := []Link{{Place: from}}
	for at := from; at != to; {
		e := g.Edges[came[at]]
		at = e.To
		links = append(links, Link{Place: at, Proof: e.Proof})
	}
	return links
}

// below goes on from the last link with what that waits for in turn, of several the first
// that is proven, down to what waits for nobody or came before.
func (g *Graph) below(links []Link) []Link {
	for at := links[len(links)-1].Place; len(g.out[at]) > 0; {
		e := g.Edges[g.out[at][0]]
		again := slices.ContainsFunc(links, func(l Link) bool { return l.Place == e.To })
		links = append(links, Link{Place: e.To, Proof: e.Proof, Again: again})
		if at = e.To; again {
			break
		}
	}
	return links
}
