package waits

import (
	"bufio"
	"fmt"
	"io"
	"slices"
)

// WriteDot writes the graph in the language of Graphviz, with culprits in bold and what is
// only likely dashed; of what a node waits for and what waits for it only, unless place is
// -1. clean makes a text from outside safe. A graph that is nil is written without nodes. It
// returns the first error of writing.
func (g *Graph) WriteDot(to io.Writer, place int, clean func(string) string) error {
	w := bufio.NewWriter(to)
	fmt.Fprint(w, "digraph waits {\n\trankdir=LR;\n\tnode [shape=box];\n")
	if g != nil {
		shown := g.around(place)
		culprits := make(map[int]bool)
		for _, c := range g.Culprits() {
			for _, i := range c.Nodes {
				culprits[i] = true
			}
		}
		for i, n := range g.Nodes {
			if shown[i] {
				style := ""
				if culprits[i] {
					style = " style=bold"
				}
				fmt.Fprintf(w, "\tn%d [label=%q%s];\n", i, clean(string(n.Kind)+": "+n.Name), style)
			}
		}
		for _, e := range g.Edges {
			switch {
			case !shown[e.From] || !shown[e.To]:
			case e.Proof == "":
				fmt.Fprintf(w, "\tn%d -> n%d [label=\"likely\" style=dashed];\n", e.From, e.To)
			default:
				fmt.Fprintf(w, "\tn%d -> n%d [tooltip=%q];\n", e.From, e.To, clean(e.Proof))
			}
		}
	}
	fmt.Fprint(w, "}\n")
	return w.Flush()
}

// around returns which nodes one waits for or is waited for by, likely ones too, and
// itself; all for -1.
func (g *Graph) around(place int) []bool {
	if place < 0 {
		return slices.Repeat([]bool{true}, len(g.Nodes))
	}
	shown := make([]bool, len(g.Nodes))
	for i := range g.search(false, place) {
		shown[i] = true
	}
	for next := []int{place}; len(next) > 0; next = next[1:] {
		for _, e := range g.out[next[0]] {
			if to := g.Edges[e].To; !shown[to] {
				shown[to] = true
				next = append(next, to)
			}
		}
	}
	return shown
}
