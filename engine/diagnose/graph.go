package diagnose

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/knowledge"
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

// cut marks where it is the safest to act. What stands in the kernel is not ended itself: what it waits
// for is, where that is known.
func (v *view) cut(links []Link, path []waits.Link) {
	var inWords *Step
	at := 0
	for _, kind := range cutOrder {
		i := slices.IndexFunc(links, func(l Link) bool { return l.Kind == kind })
		if i < 0 {
			continue
		}
		if n := &v.waits.Nodes[path[i].Place]; kind == waits.Helper && !v.runs(*n.Process()) {
			return // its number may be another's by now
		}
		here := kind == waits.Mount || kind == waits.Helper && v.waits.Nodes[path[i].Place].Process().State != evidence.Uninterrupted
		if step, known := v.ending(path, i); known && (step.Command != "" || here) {
			links[i].Cut = &step
			return
		} else if known && inWords == nil {
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
	steps := v.runtimeSteps()
	links[last].Cut = &steps[len(steps)-1]
}

// ending returns what ends a link of a path, or lets it go on.
func (v *view) ending(path []waits.Link, i int) (Step, bool) {
	n := &v.waits.Nodes[path[i].Place]
	p := n.Process()
	switch n.Kind {
	case waits.Helper:
		return firstAct(v.endHelper(*p))
	case waits.Shim:
		return firstAct(v.endShim(*p))
	case waits.Process:
		return firstAct(v.letGoOn(*p, p.Container))
	}
	for _, above := range slices.Backward(path[:i]) {
		if p := v.waits.Nodes[above.Place].Process(); p != nil {
			m, _ := v.waits.FileSystem(above.Place)
			return firstAct(v.freeing(*p, m))
		}
	}
	return Step{}, false
}

// firstAct returns the first of some steps that acts.
func firstAct(steps []Step) (Step, bool) {
	if i := slices.IndexFunc(steps, Step.acts); i >= 0 {
		return steps[i], true
	}
	return Step{}, false
}

// endHelper returns what ends a helper, or lets one go on that is held: the first step, and those
// for when it is not enough.
func (v *view) endHelper(p evidence.Process) []Step {
	if steps := v.letGoOn(p, p.Container); len(steps) > 0 {
		return steps
	}
	values := v.processValues(p)
	values["verb"] = one(waits.HelperName(&p))
	if p.State == evidence.Uninterrupted {
		values["blocked"] = one("yes")
	}
	culprit := "helper.other"
	switch {
	case p.IsPlugin():
		agent := v.networkValues()
		culprit, values["agentPod"], values["agentNamespace"] = "helper.plugin", agent["name"], agent["namespace"]
	case knowledge.VerbLimit(p.Verb) > 0:
		culprit = "helper.runc"
	}
	return v.advise(culprit, values)
}

// freeOfHelper returns what ends a helper, and a restart for where that has not set the runtime free.
// One that a signal has stopped only has to go on.
func (v *view) freeOfHelper(p evidence.Process) []Step {
	steps := v.endHelper(p)
	if _, stuck := v.stuckDaemon(); stuck || p.State == evidence.Stopped {
		return steps
	}
	for _, again := range v.restart(lastResortText) {
		steps = append(steps, again.after(notEnough))
	}
	return steps
}

// processValues are what commands about a process need.
func (v *view) processValues(p evidence.Process) Values {
	return Values{"pid": pids(p), "start": one(startOf(p)), "name": one(p.Command)}
}

// startsOf returns when a process began that is the only one: a command compares one number.
func startsOf(all []evidence.Process) []string {
	if len(all) != 1 {
		return nil
	}
	return one(startOf(all[0]))
}

// startOf returns when a process began as its stat file has it; empty if that is not known.
func startOf(p evidence.Process) string {
	if p.Start == 0 {
		return ""
	}
	return strconv.FormatUint(p.Start, 10)
}

// letGoOn returns what lets a process of a container go on that is held from outside; nothing if it
// is not held.
func (v *view) letGoOn(p evidence.Process, container string) []Step {
	values := v.processValues(p)
	switch p.State {
	case evidence.Stopped:
		return v.advise("process.stopped", values)
	case evidence.Traced:
		if p.Tracer.PID != 0 {
			values["tracerPid"] = one(strconv.Itoa(p.Tracer.PID))
		}
		return v.advise("process.traced", values)
	case evidence.Frozen:
		values["freezer"], values["id"] = one(p.Freezer), one(container)
		if p.Freezer != "" && !strings.HasSuffix(p.Freezer, "/cgroup.freeze") {
			values["v1"] = one("yes")
		}
		return v.advise("process.frozen", values)
	}
	return nil
}

// endShim returns what ends a shim, or lets one go on that is held. A conmon's end ends nothing.
func (v *view) endShim(p evidence.Process) []Step {
	if steps := v.letGoOn(p, p.Container); len(steps) > 0 {
		return steps
	}
	values := v.processValues(p)
	if p.State == evidence.Uninterrupted {
		values["blocked"] = one("yes")
	} else if living := v.inKernelBelow(p); living != "" {
		values["living"] = one(living)
	}
	return v.advise("shim.end", values)
}

// inKernelBelow names a process of a shim's pod, or one that the shim called, that stands in the kernel,
// so that the end of the shim would not end it; empty if none does.
func (v *view) inKernelBelow(shim evidence.Process) string {
	helpers := v.evidence.Processes.Helpers
	if i := slices.IndexFunc(helpers, func(p evidence.Process) bool {
		return p.State == evidence.Uninterrupted && (p.Parent == shim.PID || shim.Sandbox != "" && p.Sandbox == shim.Sandbox)
	}); i >= 0 {
		return theProcess(helpers[i])
	}
	for id, processes := range v.evidence.Processes.Containers {
		o, known := v.ours(id)
		if id != shim.Sandbox && id != shim.Container && (!known || o.SandboxID != shim.Sandbox) {
			continue
		}
		if i := slices.IndexFunc(processes, func(p evidence.Process) bool { return p.State == evidence.Uninterrupted }); i >= 0 {
			return theProcess(processes[i])
		}
	}
	return ""
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
	helpers := v.evidence.Processes.Helpers
	if j := slices.IndexFunc(helpers, func(p evidence.Process) bool { return strconv.Itoa(p.PID) == f.Chain[i].ID }); f.Chain[i].Kind == waits.Helper && j >= 0 {
		after = v.freeOfHelper(helpers[j])
	}
	risky := slices.IndexFunc(f.Next, Step.acts)
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
