package diagnose

import (
	"slices"
	"strconv"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/waits"
)

// cutOrder says where a chain is cut; the safest place comes first. Ending a helper makes one call fail. A process and
// a shim belong to one pod. A file system may have other users.
var cutOrder = []waits.Kind{waits.Helper, waits.Process, waits.Shim, waits.Mount}

// cut sets the step of the link where it is safest to cut the chain. A process in the kernel cannot be ended; then the
// thing that it waits for is cut, if that is known. Otherwise, a chain that ends inside the runtime gets the restart.
func (f *Facts) cut(links []Link, path []waits.Link) {
	var inWords *Step
	at := 0
	for _, kind := range cutOrder {
		i := slices.IndexFunc(links, func(l Link) bool { return l.Kind == kind })
		if i < 0 {
			continue
		}
		p := f.waits.Nodes[path[i].Place].Process()
		if kind == waits.Helper && !f.runs(*p) {
			return // its process number may belong to another process by now
		}
		step, known := f.ending(path, i)
		wordsDo := kind == waits.Mount || kind == waits.Helper && p.State != evidence.Uninterrupted
		switch {
		case known && (step.Command != "" || wordsDo):
			links[i].Cut = &step
			return
		case known && inWords == nil:
			inWords, at = &step, i
		}
	}
	if inWords != nil {
		links[at].Cut = inWords
		return
	}
	last := len(links) - 1
	if last < 0 || links[last].Kind != waits.Lock && !slices.ContainsFunc(links, func(l Link) bool { return l.Kind == waits.Goroutine }) {
		return
	}
	steps := f.thenRestart()
	links[last].Cut = &steps[len(steps)-1]
}

// ending returns the step that ends a link of a path, or that lets it go on. It returns false if there is none.
func (f *Facts) ending(path []waits.Link, i int) (Step, bool) {
	n := &f.waits.Nodes[path[i].Place]
	p := n.Process()
	switch n.Kind {
	case waits.Helper:
		return firstAct(f.endHelper(*p))
	case waits.Shim:
		return firstAct(f.endShim(*p))
	case waits.Process:
		return firstAct(f.letGoOn(*p, p.Container))
	}
	for _, above := range slices.Backward(path[:i]) {
		if p := f.waits.Nodes[above.Place].Process(); p != nil {
			m, _ := f.waits.FileSystem(above.Place)
			return firstAct(f.freeingMount(*p, m))
		}
	}
	return Step{}, false
}

// firstAct returns the first step that acts.
func firstAct(steps []Step) (Step, bool) {
	if i := slices.IndexFunc(steps, Step.acts); i >= 0 {
		return steps[i], true
	}
	return Step{}, false
}

// withCut returns the steps of a finding, with the cut of its chain before all other steps that act.
func (f *Facts) withCut(steps []Step, chain []Link) []Step {
	i := slices.IndexFunc(chain, func(l Link) bool { return l.Cut != nil })
	if i < 0 || slices.ContainsFunc(steps, chain[i].Cut.Same) {
		return steps
	}
	cuts := []Step{*chain[i].Cut}
	if chain[i].Kind == waits.Helper {
		for _, p := range f.Look.Processes.Helpers {
			if strconv.Itoa(p.PID) == chain[i].ID {
				cuts = f.freeOfHelper(p)
			}
		}
	}
	cuts = slices.DeleteFunc(cuts, func(s Step) bool { return slices.ContainsFunc(steps, s.Same) })
	at := slices.IndexFunc(steps, Step.acts)
	if at < 0 {
		at = len(steps)
	}
	return slices.Insert(slices.Clone(steps), at, cuts...)
}
