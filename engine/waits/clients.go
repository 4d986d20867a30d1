package waits

import (
	"slices"
	"strings"

	"github.com/plegtop/plegtop/engine/evidence"
)

// callsToHelpers: of a helper for whose object nobody is known to wait, the call of the CRI
// that waits for it, whoever made that, and the goroutines that answer the call and that
// ask the shim for the helper: as far as the runtime's metrics or its dump tell which that
// is.
func callsToHelpers(b *builder) {
	waited := make(map[int]bool)
	for _, e := range b.graph.Edges {
		waited[e.To] = true
	}
	for i := range len(b.graph.Nodes) {
		n := b.graph.Nodes[i]
		if n.Kind != Helper || !n.process.Own || b.outermost(n.process) != n.process {
			continue
		}
		to := i
		if n.Object.ID != "" {
			to = b.object(n.Object)
		}
		if !waited[to] {
			b.callToHelper(to, n.process, n.Object.ID)
			waited[to] = true
		}
	}
}

// callToHelper adds the call that waits for an object and its helper, or for the helper
// alone: the goroutine is at work on the same container, or there is one such call and one
// such helper.
func (b *builder) callToHelper(to int, p *evidence.Process, id string) {
	answers := func(g *evidence.Goroutine) bool { return slices.Contains(helpersOf[g.Call], p.Verb) }
	asks := func(g *evidence.Goroutine) bool {
		return strings.EqualFold(g.Doing, "ttrpc Task."+p.Verb) || strings.EqualFold(g.Doing, p.Verb)
	}
	if own := b.open(id, answers); id != "" && len(own) > 0 {
		b.edge(b.answer(own[0]), to, "the goroutine is at work on it, by its stack")
		return
	}
	open, asking, flying := b.open("", answers), b.open("", asks), b.flying(p.Verb)
	if b.same(p) != 1 || len(open) > 1 || len(asking) > 1 || len(flying) > 1 {
		return
	}
	from := -1
	switch {
	case len(open) == 1:
		from = b.answer(open[0])
	case len(flying) == 1 && flying[0].Count == 1:
		from = b.client(flying[0].Method)
	case len(asking) == 0:
		return
	}
	if len(asking) == 1 && !answers(asking[0]) { // for a container's end is waited in another one
		goroutine := b.goroutine(asking[0])
		if from >= 0 {
			b.edge(from, goroutine, "the only one that asks a shim for that, in the runtime's own dump")
		}
		from = goroutine
	}
	b.edge(from, to, "the only such call, and the only such helper")
}

// client returns the node of a call of the CRI that another client has made, or we.
func (b *builder) client(method string) int {
	return b.node(Node{Key: method, Kind: Call, Name: method})
}

// answer adds a call of the CRI and the goroutine that answers it, and returns that.
func (b *builder) answer(g *evidence.Goroutine) int {
	goroutine := b.goroutine(g)
	b.edge(b.client(g.Call), goroutine, "it answers the call, in the runtime's own dump")
	return goroutine
}

// open returns the goroutines at work on a container that are such.
func (b *builder) open(id string, such func(*evidence.Goroutine) bool) (found []*evidence.Goroutine) {
	for i, all := 0, b.Deep.Stacks.Open; i < len(all); i++ {
		if all[i].Container == id && such(&all[i]) {
			found = append(found, &all[i])
		}
	}
	return found
}

// flying returns the calls in flight, by the runtime's metrics, that may wait for a helper.
func (b *builder) flying(verb string) (found []evidence.InFlight) {
	for _, f := range b.Deep.Calls.InFlight {
		if slices.Contains(helpersOf[f.Method], verb) {
			found = append(found, f)
		}
	}
	return found
}

// same returns how many helpers do the same as one.
func (b *builder) same(p *evidence.Process) int {
	if b.alike == nil {
		b.alike = make(map[string]int)
		for i := range b.Report.Processes.Helpers {
			if q := &b.Report.Processes.Helpers[i]; q.Own && q.Age >= Grown && b.outermost(q) == q {
				b.alike[q.Verb]++
			}
		}
	}
	return b.alike[p.Verb]
}
