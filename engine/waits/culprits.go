package waits

import (
	"cmp"
	"maps"
	"slices"
)

// A Culprit is what waits for nobody, with all that waits for it, surely.
type Culprit struct {
	Nodes []int `line:"nodes"` // the one; several are a deadlock: each waits for another one of them
	Waits []int `line:"waits"` // who waits for it, in the order of the graph
}

// Culprits returns them, those that hold up a relist first, then those for which most
// wait; nil for no graph. An edge that is only likely accuses nobody.
func (g *Graph) Culprits() []Culprit {
	if g == nil {
		return nil
	}
	var all []Culprit
	for _, group := range g.circles() {
		if slices.ContainsFunc(group, func(i int) bool { return g.leaves(i, group) }) {
			continue
		}
		if c := (Culprit{Nodes: group, Waits: g.waiting(group)}); len(c.Waits) > 0 {
			all = append(all, c)
		}
	}
	relist := func(c Culprit) int {
		if slices.ContainsFunc(c.Waits, func(i int) bool { return g.Nodes[i].Kind == Relist }) {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(all, func(a, b Culprit) int {
		return cmp.Or(cmp.Compare(relist(a), relist(b)), cmp.Compare(len(b.Waits), len(a.Waits)), cmp.Compare(a.Nodes[0], b.Nodes[0]))
	})
	return all
}

// leaves reports whether a node surely waits for one that is not of its group.
func (g *Graph) leaves(i int, group []int) bool {
	return slices.ContainsFunc(g.out[i], func(e int) bool { return g.Edges[e].Proof != "" && !slices.Contains(group, g.Edges[e].To) })
}

// waiting returns who surely waits for any of a group, but for those in it.
func (g *Graph) waiting(group []int) []int {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(g.search(true, group[0]))), func(i int) bool { return slices.Contains(group, i) })
}

// A Set is some nodes of a graph, by their places.
type Set map[int]int

// Waiting returns who surely waits for any of some nodes, at once or by way of others, and
// these nodes, too; nothing for none.
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
	return g.search(true, places...)
}

// HasAny reports whether any of some nodes is in the set.
func (s Set) HasAny(g *Graph, keys ...string) bool {
	return len(s) > 0 && slices.ContainsFunc(keys, func(key string) bool {
		_, in := s[g.Find(key)]
		return in
	})
}

// circles returns the nodes in groups, of which each node of several surely waits for all
// others of its own; most are alone. It is Tarjan's algorithm for strongly connected
// components.
func (g *Graph) circles() (groups [][]int) {
	t := tarjan{graph: g, number: make([]int, len(g.Nodes)), low: make([]int, len(g.Nodes)), on: make([]bool, len(g.Nodes))}
	for i := range g.Nodes {
		if t.number[i] == 0 {
			t.visit(i)
		}
	}
	return t.groups
}

type tarjan struct {
	graph       *Graph
	number, low []int // by node, from 1 on in the order of the visits; the lowest that is reached from it
	on          []bool
	stack       []int
	visits      int
	groups      [][]int
}

func (t *tarjan) visit(i int) {
	t.visits++
	t.number[i], t.low[i] = t.visits, t.visits
	t.stack, t.on[i] = append(t.stack, i), true
	for _, e := range t.graph.out[i] {
		edge := t.graph.Edges[e]
		switch {
		case edge.Proof == "":
		case t.number[edge.To] == 0:
			t.visit(edge.To)
			t.low[i] = min(t.low[i], t.low[edge.To])
		case t.on[edge.To]:
			t.low[i] = min(t.low[i], t.number[edge.To])
		}
	}
	if t.low[i] != t.number[i] {
		return
	}
	at := slices.Index(t.stack, i)
	group := slices.Clone(t.stack[at:])
	t.stack = t.stack[:at]
	for _, j := range group {
		t.on[j] = false
	}
	slices.Sort(group)
	t.groups = append(t.groups, group)
}
