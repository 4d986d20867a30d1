package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/waits"
)

// ProcessStuck is a process of the runtime's, or of a container, that stands still.
const ProcessStuck ID = "process-stuck"

var processStuckKind = &kind{
	id: ProcessStuck, find: processStuck,
	is: stands, hangs: true,
	pod: "stuck process", state: "stuck", podAlone: true,
	words: []nodeWord{(*view).kernelSaid}, kernel: ofDisk | ofDevice,
	severity: "critical", scenario: "`hung-inspect`, `status-lock`",
	when: "the runtime or a shim is stopped, frozen, or in D for longer than a disk takes (10 s; 2 s for the runtime on its own disk while a list hangs, or in " +
		"`check`; 0.5 s for a server or a frozen file system), at the first look already; those that wait for one file system together, with the disk or server; a warning for a container's own process and, while all calls are answered, for one thread of the runtime; critical if it is in D while a list hangs, which may " +
		"wait for it",
}

// stuckMost is how many processes get a finding of their own.
const stuckMost = 10

// A stuckProcess is a process of the graph that does nothing, or a helper that has not
// ended.
type stuckProcess struct {
	evidence.Process
	node     string         // its key
	owner    pleg.ObjectRef // zero for the runtime's own
	what     string         // "runtime", "shim", "helper", "process"
	severity Severity
	others   []evidence.Process // of the same owner, in such a state or not ended either
}

func (v *view) stuckOf(n *waits.Node, what string) stuckProcess {
	return stuckProcess{Process: v.byNow(*n.Process()), node: n.Key, owner: n.Object.ObjectRef, what: what, severity: Warning}
}

func (p stuckProcess) subject() Subject { return Subject{ObjectRef: p.owner} }

// keysOf returns what findings about processes are about in the graph.
func keysOf(all []stuckProcess) (keys []string) {
	for _, p := range all {
		keys = append(keys, p.node)
	}
	return keys
}

// processStuck finds the runtime, shims, runcs and containers' processes that are
// stopped, frozen or in the kernel for good. What [inspectHung] tells as evidence of
// a call that hangs is not told again, except for a shim: it is the reason then.
// Those that wait for one file system are told together.
func processStuck(v *view) []Finding {
	groups, single := v.byFileSystem(v.stuckProcesses())
	var findings []Finding
	for _, g := range groups {
		findings = append(findings, v.waitingFinding(g))
	}
	return append(findings, folded(v, ProcessStuck, single, stuckMost, stuckProcess.name, v.processesStuck, func(rest []stuckProcess) Finding {
		f := restOf(ProcessStuck, fmt.Sprintf("%d more do nothing", len(rest)), v.advise("process.all", nil), rest, stuckProcess.line)
		f.Severity, f.Nodes = rest[0].severity, keysOf(rest)
		return f
	})...)
}

// line tells of the process among others.
func (p stuckProcess) line() string {
	role := p.what
	if p.what != "runtime" {
		role = fmt.Sprintf("%s of %s", p.word(), called(p.owner))
	}
	return describe(role, p.Process)
}

// stuckProcesses returns those processes, the worst first. What is likely behind a status
// call that hangs is told with that.
func (v *view) stuckProcesses() (stuck []stuckProcess) {
	h := v.List()
	listHangs := h != nil && h.Sure
	v.graph().Each("", func(_ int, n *waits.Node) {
		if n.Process() == nil || !n.Stuck() {
			return
		}
		p := v.stuckOf(n, "process")
		switch {
		case n.Kind == waits.Shim:
			p.what, p.severity = waits.MonitorWord(&p.Process), Critical
		case n.Kind == waits.Helper:
			p.what = "helper"
		case n.Object == (evidence.Object{}) && v.oneThread(n):
			p.what, p.owner.Pod = "runtime", v.podOfShare(&p.Process)
		case n.Object == (evidence.Object{}):
			p.what, p.severity = "runtime", Critical
		case v.waits.Find(waits.CallKey(call.ContainerStatus, n.Object.ID)) >= 0, v.waits.Find(waits.CallKey(call.PodSandboxStatus, n.Object.ID)) >= 0:
			return
		default:
			p.others = v.alsoIn(n)
		}
		if listHangs && p.State == evidence.Uninterrupted {
			p.severity = Critical // the list may wait for it
		}
		stuck = append(stuck, p)
	})
	slices.SortStableFunc(stuck, worstFirst)
	return stuck
}

// oneThread reports whether only a thread of the runtime waits in the kernel, while every call is
// answered: that is a trouble of what it waits for, such as one share, and not yet of the node.
func (v *view) oneThread(n *waits.Node) bool {
	p := n.Process()
	return p.Thread != 0 && p.Thread != p.PID && p.State == evidence.Uninterrupted && !v.anyHangs()
}

// podOfShare returns the pod whose volume a process of the runtime waits for, or that of all for one of
// which it waits; zero if that is not known.
func (v *view) podOfShare(p *evidence.Process) pleg.PodRef {
	m := p.Mount
	if m.Type == "" && len(p.Among) > 0 {
		m = p.Among[0]
		if slices.ContainsFunc(p.Among, func(o evidence.Mount) bool { return o.Pod != m.Pod }) {
			return pleg.PodRef{}
		}
	}
	return v.podWithVolume(m)
}

// podWithVolume returns the pod that a mounted volume belongs to; zero if that is not known.
func (v *view) podWithVolume(m evidence.Mount) pleg.PodRef {
	i := slices.IndexFunc(v.Pods, func(p *engine.Pod) bool { return m.Pod != "" && p.UID == m.Pod })
	if i < 0 {
		return pleg.PodRef{}
	}
	return v.Pods[i].PodRef
}

// ofPod says whose volume a mount is, with a blank before it; nothing if that is not known.
func (v *view) ofPod(m evidence.Mount) string {
	if pod := v.podWithVolume(m); pod != (pleg.PodRef{}) {
		return " of " + pod.String()
	}
	return ""
}

// alsoIn returns the other processes of a container that are held, or in the kernel, like
// that of a node.
func (v *view) alsoIn(n *waits.Node) (others []evidence.Process) {
	same := waits.InKernel
	if waits.Held(n.Process()) {
		same = waits.Held
	}
	for _, p := range v.evidence.Processes.Containers[n.Object.ID] {
		if p.PID != n.Process().PID && same(&p) {
			others = append(others, p)
		}
	}
	return others
}

// worstFirst compares two of them.
func worstFirst(a, b stuckProcess) int {
	other := func(p stuckProcess) int {
		if p.what == "runtime" {
			return 0
		}
		return 1
	}
	return cmp.Or(cmp.Compare(b.severity, a.severity), cmp.Compare(other(a), other(b)), cmp.Compare(b.For, a.For), cmp.Compare(a.PID, b.PID))
}

// anyStuck reports whether any process is worth a closer look, as on most nodes
// none is.
func anyStuck(found *evidence.Processes) bool {
	is := func(p evidence.Process) bool { return p.State.Stuck() }
	isShim := func(p evidence.Process) bool { return p.State.Stuck() || !p.Lives() }
	for _, processes := range found.Containers {
		if slices.ContainsFunc(processes, is) {
			return true
		}
	}
	return slices.ContainsFunc(found.Shims, isShim) || slices.ContainsFunc(found.Helpers, is) || slices.ContainsFunc(found.Daemons, is)
}

// word returns what the process is called: shim, conmon, runc update.
func (p stuckProcess) word() string {
	if p.what == "helper" {
		return waits.HelperName(&p.Process)
	}
	return p.what
}

// String returns whose process it is, and which.
func (p stuckProcess) String() string {
	switch {
	case p.what == "runtime":
		return fmt.Sprintf("the runtime, pid %d (%s),", p.PID, p.Command)
	case p.what != "process":
		return fmt.Sprintf("the %s of %s, pid %d,", p.word(), called(p.owner), p.PID)
	case p.owner.Pod == (pleg.PodRef{}):
		return fmt.Sprintf("pid %d (%s) of %s,", p.PID, p.Command, called(p.owner))
	}
	return fmt.Sprintf("pid %d (%s) of %s", p.PID, p.Command, called(p.owner))
}

// name names one trouble: what the same programs of the pods of one owner do.
func (p stuckProcess) name() group { return p.group(manner{p.word(), p.State.String()}) }

// group returns the group of a process by what it does; one that has no owner is alone.
func (p stuckProcess) group(what manner) group {
	of := p.owner
	if of.ID == "" {
		of.ID = fmt.Sprint("pid ", p.PID)
	}
	return groupOf(of, what)
}

// processesStuck is about one process, or about those of several pods of one owner, of
// which the first is the worst.
func (v *view) processesStuck(same []stuckProcess) Finding {
	p := same[0]
	f := Finding{
		ID: ProcessStuck, Severity: p.severity,
		Summary:  fmt.Sprintf("%s is %s", p, p.State) + tracedBy(p.Tracer),
		Subject:  p.subject(),
		Evidence: []string{describe("its "+p.word(), p.Process)},
	}
	ofRuntime := p.what == "runtime" && p.severity == Warning
	if ofRuntime {
		f.Summary = "a thread of " + f.Summary
	}
	if p.For >= time.Second {
		f.Summary += lasting(&p.Process)
		f.say(fmt.Sprintf("in this state since %s at the latest", v.clock(v.At.Add(-p.For))))
	}
	if ofRuntime {
		f.Summary += among(p.Among, v.ofPod)
	}
	if p.Mount.Type == "" && waits.OnFrozen(&p.Process) {
		f.Summary += ", to write to a file system that is frozen"
		f.say("its system call names a path, which cannot be seen")
	}
	if p.what == "helper" && p.Age > 0 {
		f.say("begun " + going(p.Age) + " ago")
	}
	if n := len(p.others); n > 0 {
		f.say(fmt.Sprintf("%d more of its processes are in such a state", n))
	}
	if p.what == waits.MonitorWord(&p.Process) {
		f.Evidence = append(v.outOfReach(p), f.Evidence...)
	}
	f.Next = p.next(v)
	if len(same) > 1 {
		f.Summary = fmt.Sprintf("the %s of %s: %s, the first%s%s", p.word(), podsOf(same), p.State, tracedBy(p.Tracer), lasting(&p.Process))
		f = about(f, same, stuckProcess.line)
	}
	return f.waitedFor(v, same)
}

// waitedFor returns a finding with the chain down to what it is about, if anything waits
// for that.
func (f Finding) waitedFor(v *view, all []stuckProcess) Finding {
	f.Nodes = keysOf(all)
	path := v.waits.Through(v.waits.Find(all[0].node))
	if kind := v.waits.Nodes[path[0].Place].Kind; kind != waits.Relist && kind != waits.Call && all[0].what != "helper" {
		return f
	}
	return f.withChain(v, f.Nodes...)
}

// outOfReach says what becomes of the containers that a shim or a conmon looks after while it does
// nothing. The runtime asks a shim to stop them and to run something in them; beside a conmon it does
// so itself.
func (v *view) outOfReach(p stuckProcess) []string {
	var names []string
	for _, c := range v.containersIn(p.owner.Pod) {
		if c.State == pleg.Running && (c.SandboxID == p.owner.ID || c.SandboxID == "" || c.ID == p.owner.ID) && len(names) < stuckMost {
			names = append(names, c.Name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	line := fmt.Sprintf("until it goes on nobody sees the end of %s, listed as running", join(slices.Sorted(slices.Values(names))))
	if p.what == "shim" {
		line += ", and to stop the pod hangs, as does an exec probe"
	}
	return []string{line}
}

// next returns what can help a process in its state.
func (p stuckProcess) next(v *view) []Step {
	values := v.processValues(p.Process)
	if p.Thread != 0 {
		values["thread"] = one(strconv.Itoa(p.Thread))
	}
	if p.State == evidence.Frozen {
		values["frozen"] = one("yes")
	}
	steps := v.advise("process.state", values)
	if goOn := v.letGoOn(p.Process, p.owner.ID); len(goOn) > 0 {
		return append(steps, goOn...)
	}
	switch {
	case p.State == evidence.Zombie:
		if p.Parent > 1 {
			values["parent"] = one(strconv.Itoa(p.Parent))
		}
		return append(steps, v.advise("process.zombie", values)...)
	case waits.OnFrozen(&p.Process), waits.ForServer(&p.Process), p.Mount.Type != "", p.onFuse():
		return append(steps, p.freed(v)...)
	}
	values["container"] = one(v.containerOf(p.Process))
	return v.orDrain(append(steps, v.advise("process.in-kernel", values)...))
}

// freed returns what can end its wait for a file system, also where it is not known which.
func (p stuckProcess) freed(v *view) []Step {
	switch {
	case p.Mount.Type != "", waits.OnFrozen(&p.Process):
		return v.freeing(p.Process, p.Mount)
	case len(p.Among) == 1:
		return v.freeing(p.Process, p.Among[0])
	case p.onFuse():
		values := v.processValues(p.Process)
		values["candidates"] = namesOf(p.Servers)
		return v.advise("mount.fuse-unknown", values)
	}
	return v.advise("mount.server-unknown", v.processValues(p.Process))
}

// onFuse reports whether it waits for a program that serves a file system.
func (p stuckProcess) onFuse() bool {
	return p.WaitsIn(func(function string) bool { return evidence.MayWaitFor(evidence.Mount{Type: "fuse"}, function) })
}
