package diagnose

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/waits"
)

// graph returns who waits for whom; nil if nobody does.
func (v *view) graph() *waits.Graph {
	if v.graphed {
		return v.waits
	}
	v.graphed = true
	if v.anyHangs() || v.anyHeld() {
		v.waits = waits.Build(v.waitFacts())
	}
	return v.waits
}

func (v *view) anyHangs() bool {
	for range v.EachHang {
		return true
	}
	return false
}

// anyHeld reports whether a process does nothing, or a helper should have ended.
func (v *view) anyHeld() bool {
	if v.evidence.Processes.Missing != "" {
		return false
	}
	return v.cache.anyStuck(v.evidence) || len(v.Memory.Repeats) > 0 || slices.ContainsFunc(v.evidence.Processes.Helpers, func(p evidence.Process) bool { return v.helperLate(p) || waits.IsDelete(&p) })
}

// waitFacts returns what a graph is built of.
func (v *view) waitFacts() waits.Facts {
	var hangs []*answers.Hang
	if v.Scope != answers.AllSlow { // what hangs in a runtime that gets slower and slower is only slow as well
		hangs = slices.Collect(v.EachHang)
	}
	f := waits.Facts{
		Line:   func(i int) string { return v.hangLine(hangs[i]) },
		Report: v.evidence, Deep: v.deep(), Runtime: v.daemonsNow(), Retried: v.retried(), Busy: v.Busy, Passed: v.passed(), Pressed: v.Policy.Bounds().OneMoment || v.List() != nil && v.List().Sure,
		Lookup: v.ours, Shown: v.shown,
		Disk: func(m evidence.Mount) string {
			lines := v.disk(m)
			return strings.Join(lines[:min(1, len(lines))], "")
		},
	}
	blamed := make(map[*answers.Hang]bool)
	for _, h := range v.Blamed[:min(len(v.Blamed), waits.MostObjects)] {
		blamed[h] = true
	}
	f.Hung = make(map[call.Operation]int)
	for i, h := range hangs {
		if f.Hung[h.Op]++; i >= waits.MostObjects {
			continue
		}
		w := waits.Hang{Op: h.Op, Since: h.Since, Sure: h.Sure, Relist: h.Out && h.By == call.ByRelist, Blamed: blamed[h]}
		if h.Op.AboutObject() {
			w.Object, w.Beside = v.asked(h.Flight), v.ObjectsAnswered(v.BeganAt(h))
		}
		f.Hangs = append(f.Hangs, w)
	}
	for _, pod := range v.Holders {
		f.Alone = append(f.Alone, evidence.Object{ObjectRef: pleg.ObjectRef{Pod: pod, Sandbox: true}})
	}
	return f
}

// retried returns the helpers that are begun again and again for what is still listed as
// running, those that are late together.
func (v *view) retried() (all []evidence.Process) {
	for _, id := range slices.Sorted(maps.Keys(v.Memory.Repeats)) {
		if o, known := v.ours(id); known && o.State == pleg.Running && v.Memory.Repeats[id].Times > 1 {
			if p, _ := v.deleting(id); v.helperLate(p) && !waits.Idle(&p) {
				all = append(all, p)
			}
		}
	}
	return all
}

func (v *view) helperLate(p evidence.Process) bool { return waits.HelperLate(&p, v.Busy) }

// effects gives each finding that is about what surely waits for what another one is about
// that one as its cause: the one at the root of it. A cause is as bad as the worst of its
// effects.
func (v *view) effects(findings []Finding) {
	if v.waits == nil {
		return
	}
	waiting := make([]waits.Set, len(findings)) // for each
	for i := range findings {
		if f := &findings[i]; f.ID == PLEGUnhealthy {
			f.Nodes = []string{waits.Key(waits.Relist, "")}
		}
		waiting[i] = v.waits.Waiting(findings[i].Nodes...)
	}
	behind := func(i, j int) bool { return i != j && waiting[j].HasAny(v.waits, findings[i].Nodes...) }
	for i := range findings {
		root := -1
		for j := range findings {
			if behind(i, j) && !behind(j, i) && (root < 0 || behind(root, j)) {
				root = j
			}
		}
		if root >= 0 {
			findings[i].because(&findings[root])
			findings[root].Severity = max(findings[root].Severity, findings[i].Severity)
		}
	}
}

// because gives a finding its cause: the one at the root of it.
func (f *Finding) because(c *Finding) {
	f.Cause, f.CauseKey, f.CauseOf = c.ID, c.Key(), c.Subject
	if c.Cause != "" {
		f.Cause, f.CauseKey, f.CauseOf = c.Cause, c.CauseKey, c.CauseOf
	}
}

// noCause makes a finding a cause of its own.
func (f *Finding) noCause() { f.Cause, f.CauseKey, f.CauseOf = "", Key{}, Subject{} }

// leadsOn reports whether what a finding is about surely waits for more than a call: then
// the graph knows whom it waits for, and nobody else is its reason.
func (f *Finding) leadsOn() bool {
	links := proven(f.Chain)
	return len(links) > 0 && links[len(links)-1].Kind != waits.Relist && links[len(links)-1].Kind != waits.Call
}

// through returns the chain through a node of the graph: from the relist, or who else
// waits, down to what holds that up, with the place where it is the safest to act.
func (v *view) through(node string) []Link {
	g := v.graph()
	if g == nil {
		return nil
	}
	path := g.Through(g.Find(node))
	links := make([]Link, len(path))
	for i, l := range path {
		n := &g.Nodes[l.Place]
		links[i] = Link{Kind: n.Kind, ID: n.ID, Name: n.Name, Proof: l.Proof, Since: n.Since}
		if l.Again {
			links[i].Name += ", which waits for the first: a deadlock"
		}
	}
	v.cut(links, path)
	return links
}

// cutOrder is where a chain is cut, the safest first: a helper that ends makes one call
// fail; a process and a shim are of one pod; a file system may have other users; the
// runtime is everybody's.
var cutOrder = []waits.Kind{waits.Helper, waits.Process, waits.Shim, waits.Mount}

// cut marks where it is the safest to act.
func (v *view) cut(links []Link, path []waits.Link) {
	for _, kind := range cutOrder {
		i := slices.IndexFunc(links, func(l Link) bool { return l.Kind == kind })
		if i < 0 {
			continue
		}
		if n := &v.waits.Nodes[path[i].Place]; kind == waits.Helper && !v.runs(*n.Process()) {
			return // its number may be another's by now
		}
		if step, known := v.ending(path, i); known {
			links[i].Cut = &step
			return
		}
	}
	last := len(links) - 1
	if last < 0 || links[last].Kind != waits.Lock && !slices.ContainsFunc(links, func(l Link) bool { return l.Kind == waits.Goroutine }) {
		return
	}
	steps := v.runtimeSteps()
	links[last].Cut = &steps[len(steps)-1]
}

// ending returns what ends a link of a path, or lets it go on.
func (v *view) ending(path []waits.Link, i int) (Step, bool) {
	n := &v.waits.Nodes[path[i].Place]
	p := n.Process()
	switch n.Kind {
	case waits.Helper:
		return v.endHelper(*p), true
	case waits.Shim:
		return v.endShim(*p), true
	case waits.Process:
		return v.letGoOn(*p, p.Container)
	}
	for _, above := range slices.Backward(path[:i]) {
		if p := v.waits.Nodes[above.Place].Process(); p != nil {
			m, _ := v.waits.FileSystem(above.Place)
			steps := freeing(*p, m)
			if j := slices.IndexFunc(steps, func(s Step) bool { return s.Risky }); j >= 0 {
				return steps[j], true
			}
		}
	}
	return Step{}, false
}

// endHelper returns what ends a helper, or lets one go on that is held.
func (v *view) endHelper(p evidence.Process) Step {
	if step, held := v.letGoOn(p, p.Container); held {
		return step
	}
	if p.State == evidence.Uninterrupted {
		return Step{Text: "ends only this helper, if the kernel lets it go; the runtime's call fails then", Command: fmt.Sprintf("kill -9 %d", p.PID), Risky: true}
	}
	return Step{Text: "ends only this helper; the runtime's call fails and releases its lock; kill -9 if it stays", Command: fmt.Sprintf("kill %d", p.PID), Risky: true}
}

// letGoOn returns what lets a process of a container go on that is held from outside.
func (v *view) letGoOn(p evidence.Process, container string) (step Step, held bool) {
	step = Step{Text: "resumes it; who froze it, as for a checkpoint, may still need it so", Risky: true}
	switch {
	case p.State == evidence.Stopped:
		return resumes(p.PID), true
	case p.State == evidence.Traced && p.Tracer.PID != 0:
		step.Text, step.Command = "resumes it: ends what traces it, unless whoever runs that detaches it; a restart of what is traced is not needed", fmt.Sprintf("kill %d", p.Tracer.PID)
	case p.State != evidence.Frozen:
		return Step{}, false
	case p.Freezer == "":
		step.Command = v.ctr("tasks resume", container)
	case strings.HasSuffix(p.Freezer, "/cgroup.freeze"):
		step.Command = "echo 0 > " + quote(p.Freezer)
	default:
		step.Command = "echo THAWED > " + quote(p.Freezer)
	}
	return step, true
}

// resumes lets a process go on that a signal has stopped, which harms nothing.
func resumes(pid int) Step {
	return Step{Text: "resumes it", Command: fmt.Sprintf("kill -CONT %d", pid), Ends: true}
}

// endShim returns what ends a shim, or lets one go on that is held. A conmon's end ends
// nothing.
func (v *view) endShim(p evidence.Process) Step {
	if step, held := v.letGoOn(p, p.Container); held {
		return step
	}
	text := "ends only this pod; the kubelet creates it again"
	if strings.HasPrefix(p.Command, "conmon") {
		text = "ends only what looks after this container"
	}
	return Step{Text: text, Command: fmt.Sprintf("kill -9 %d", p.PID), Risky: true}
}

// withChain returns a finding with the chain through what it is about, and with the place
// to cut that before all else that is risky.
func (f Finding) withChain(v *view, nodes ...string) Finding {
	f.Nodes, f.Chain = nodes, v.through(nodes[0])
	i := slices.IndexFunc(f.Chain, func(l Link) bool { return l.Cut != nil })
	if i < 0 {
		return f
	}
	cut := *f.Chain[i].Cut
	after := []Step{cut}
	if f.Chain[i].Kind == waits.Helper && cut.Risky {
		after = append(after, v.afterHelper(cut)...)
	}
	risky := slices.IndexFunc(f.Next, func(s Step) bool { return s.Risky })
	switch {
	case slices.ContainsFunc(f.Next, cut.Same):
		return f
	case risky < 0:
		risky = len(f.Next)
	}
	after = slices.DeleteFunc(after, func(s Step) bool { return slices.ContainsFunc(f.Next, s.Same) })
	f.Next = slices.Insert(slices.Clone(f.Next), risky, after...)
	return f
}
