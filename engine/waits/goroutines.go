package waits

import (
	"slices"
	"strconv"
	"strings"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/knowledge"
)

// callsToHelpers adds the calls that wait for helpers, as far as the runtime's metrics or its dump show them.
// It does so only if nobody is known to wait for the helper's object. It adds the call of the CRI, whichever
// client made it, the goroutine that answers the call, and the goroutine that asks the shim for the helper.
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
		if n.Object.ID != "" {
			i = b.object(n.Object)
		}
		if !waited[i] {
			b.callToHelper(i, n.process, n.Object.ID)
			waited[i] = true
		}
	}
}

// callToHelper adds the call that waits for an object and its helper, or for the helper alone. It is the call
// whose goroutine works on the same container, or the only such call if there is also only one such helper.
func (b *builder) callToHelper(to int, p *evidence.Process, id string) {
	answers := func(g *evidence.Goroutine) bool { return knowledge.Runs(g.Call, p.Verb) }
	if own := b.open(func(g *evidence.Goroutine) bool { return g.Container == id && id != "" && answers(g) }); len(own) > 0 {
		b.edge(b.answer(own[0]), to, by(goroutineAtWork))
		return
	}
	open := b.open(func(g *evidence.Goroutine) bool { return g.Container == "" && answers(g) })
	asking := b.open(func(g *evidence.Goroutine) bool {
		return g.Container == "" && (strings.EqualFold(g.Doing, "ttrpc Task."+p.Verb) || strings.EqualFold(g.Doing, p.Verb))
	})
	calls := slices.DeleteFunc(slices.Clone(b.Deep.Calls.InFlight), func(f evidence.InFlight) bool { return !knowledge.Runs(f.Method, p.Verb) })
	from := -1
	switch {
	case len(open) > 1 || len(asking) > 1 || len(calls) > 1 || !b.isOnly(p):
		return
	case len(open) == 1:
		from = b.answer(open[0])
	case len(calls) == 1 && calls[0].Count == 1: // by the runtime's metrics
		from = b.clientCall(calls[0].Method)
	case len(asking) == 0:
		return
	}
	if len(asking) == 1 && !answers(asking[0]) { // StartContainer waits for the end of a container in another goroutine
		goroutine := b.goroutine(asking[0])
		if from >= 0 {
			b.edge(from, goroutine, by(onlyAsker))
		}
		from = goroutine
	}
	b.edge(from, to, by(onlyCallAndHelper))
}

// isOnly reports whether a helper that somebody may wait for is the only one that does this.
func (b *builder) isOnly(p *evidence.Process) bool {
	for i := range b.Report.Processes.Helpers {
		if q := &b.Report.Processes.Helpers[i]; q.Own && q.PID != p.PID && q.Verb == p.Verb && q.Age >= evidence.Grown && b.outermost(q) == q {
			return false
		}
	}
	return p.Age >= evidence.Grown
}

// clientCall returns the place of the node of a call of the CRI, whichever client has made it.
func (b *builder) clientCall(method string) int { return b.node(Call, method, Node{Name: method}) }

// answer adds a call of the CRI and the goroutine that answers it, and returns the place of the goroutine.
func (b *builder) answer(g *evidence.Goroutine) int {
	goroutine := b.goroutine(g)
	b.edge(b.clientCall(g.Call), goroutine, by(answersCall))
	return goroutine
}

// open returns the goroutines for which fits is true, among those that answer a call or wait for another
// program.
func (b *builder) open(fits func(*evidence.Goroutine) bool) (found []*evidence.Goroutine) {
	for i := range b.Deep.Stacks.Open {
		if g := &b.Deep.Stacks.Open[i]; fits(g) {
			found = append(found, g)
		}
	}
	return found
}

// answererOf returns the goroutine that answers a call; nil if none is known. For a call about an object, it is
// the goroutine that works on that object, or the only one if one such call hangs. For another call it is the
// one that has run longest, if all of them do the same.
func (b *builder) answererOf(h *Hang) *evidence.Goroutine {
	all := b.open(func(g *evidence.Goroutine) bool { return g.Call == h.Op.String() })
	if len(all) == 0 {
		return nil
	}
	is := func(g *evidence.Goroutine) bool { return g.Container == h.Object.ID }
	differs := func(g *evidence.Goroutine) bool { return g.Doing == "" || g.Doing != all[0].Doing }
	switch i := slices.IndexFunc(all, is); {
	case !h.Op.AboutObject():
		if slices.ContainsFunc(all, differs) {
			return nil
		}
	case i >= 0 && h.Object.ID != "":
		return all[i]
	case len(all) > 1 || all[0].Container != "" || b.Hung[h.Op] != 1:
		return nil
	}
	return all[0]
}

func (b *builder) goroutine(g *evidence.Goroutine) int {
	number := strconv.Itoa(g.Number)
	return b.node(Goroutine, number, Node{ID: number, Name: "goroutine " + number + Doing(g), inside: waitsInside(g)})
}

// Doing returns what a goroutine waits for, with a space before it; "" if that is not known.
func Doing(g *evidence.Goroutine) string {
	what := strings.TrimPrefix(g.Doing, waitFor)
	switch {
	case g.Doing == "":
		return ""
	case waitsInside(g):
		return " waiting for " + what
	}
	return " in " + g.Doing
}

// waitFor begins the Doing of a goroutine that only waits. (stack-roles.yaml)
const waitFor = "wait for "

func waitsInside(g *evidence.Goroutine) bool {
	return g.Doing != "" && (g.Waits != "" || strings.HasPrefix(g.Doing, waitFor))
}
