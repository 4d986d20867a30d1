package waits

import (
	"cmp"
	"maps"
	"slices"
)

// A Culprit is a node that waits for nobody, with all nodes that surely wait for it.
type Culprit struct {
	Nodes []int `line:"nodes"` // one node; several nodes are a deadlock, in which each waits for another one
	Waits []int `line:"waits"` // the nodes that wait for it, in the order of the graph
}

// Culprits returns the culprits: first those that hold up a relist, then those for which most nodes wait; nil
// for no graph. An edge that is only likely does not count.
func (g *Graph) Culprits() (all []Culprit) {
	if g == nil {
		return nil
	}
	for i := range g.Nodes {
		group := slices.Sorted(maps.Keys(g.search(down, true, i)))
		leaves := func(j int) bool { _, back := g.search(down, true, j)[i]; return !back }
		if group[0] != i || slices.ContainsFunc(group, leaves) { // it waits for others, or its circle was added with the first of its nodes
			continue
		}
		waits := slices.DeleteFunc(slices.Sorted(maps.Keys(g.search(up, true, i))), func(j int) bool { return slices.Contains(group, j) })
		if len(waits) > 0 {
			all = append(all, Culprit{group, waits})
		}
	}
	noRelist := func(c Culprit) int { // 0 where a relist waits
		return min(0, slices.IndexFunc(c.Waits, func(i int) bool { return g.Nodes[i].Kind == Relist }))
	}
	slices.SortStableFunc(all, func(a, b Culprit) int {
		return cmp.Or(cmp.Compare(noRelist(b), noRelist(a)), cmp.Compare(len(b.Waits), len(a.Waits)), cmp.Compare(a.Nodes[0], b.Nodes[0]))
	})
	return all
}
