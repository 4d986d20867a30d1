package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/knowledge"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/waits"
)

// What several rules advise. A function here chooses rows of remedies.yaml by the facts; it holds no command.

// ---- the runtime

// thenRestart returns steps that end with a restart of the runtime. If its process does nothing, they end with what
// helps in that state: no signal and no restart does.
func (f *Facts) thenRestart(first ...Step) []Step {
	if p, stuck := f.stuckRuntime(); stuck {
		first = slices.DeleteFunc(first, func(s Step) bool { return s.acts() || s.asks }) // these would hang as well
		return append(first, f.freeProcess(p, "", p.Thread)...)
	}
	if !slices.ContainsFunc(first, Step.acts) {
		first = append(first, f.makingFit()...)
	}
	last := f.lastResort()
	if slices.ContainsFunc(first, Step.acts) {
		for i := range last {
			last[i] = last[i].after(notEnough)
		}
	}
	return append(first, last...)
}

// lastResort returns the restart of the runtime. A restart destroys what a bug report needs: if something hangs in
// the runtime, and no dump of its goroutines was written, that comes first.
func (f *Facts) lastResort() []Step {
	switch f.Scope {
	case answers.ListHangs, answers.NoStatus, answers.Silent:
		if s := f.deep().Stacks; s.Total > 0 && !strings.HasSuffix(s.From, ".log") {
			return append(f.dump(), f.restart("restarts the runtime: the last resort")...)
		}
	}
	return f.restart("restarts the runtime: the last resort")
}

// restart returns the restart of the runtime, and says what it is good for.
func (f *Facts) restart(effect string) []Step {
	_, first := f.unfit()
	return f.advise("runtime.restart", Values{"effect": effect, "livesOn": f.livesOn("containers live on"), "before": first})
}

// start returns the steps for a runtime that does not run.
func (f *Facts) start() []Step {
	v := Values{"data": f.Look.Disk.Path}
	if _, first := f.unfit(); first != "" {
		v["before"] = first
	} else if len(f.idleShims()) > 0 {
		v["ends"] = f.livesOn("running containers live on")
	}
	return f.advise("runtime.start", v)
}

// logs returns the look at the runtime's log.
func (f *Facts) logs() []Step { return f.advise("runtime.says", nil) }

// dump returns the step that makes the runtime write its goroutines, if it is one that does that at a signal.
func (f *Facts) dump() []Step {
	all := f.runtimesNow()
	if len(all) != 1 || f.program() != knowledge.Containerd.Program && !f.isCRIO() {
		return nil
	}
	return f.advise("runtime.dump", processValues(all[0]).with(Values{"known": f.deep().Stacks.Total > 0}))
}

// dumpFirst returns the same, unless a dump was read, or the runtime's process does nothing.
func (f *Facts) dumpFirst() []Step {
	if _, stuck := f.stuckRuntime(); stuck || f.deep().Stacks.Total > 0 {
		return nil
	}
	return f.dump()
}

// idleShims returns the shims of this runtime that do nothing, whatever they are asked. Nobody asks a conmon.
func (f *Facts) idleShims() (idle []evidence.Process) {
	for _, p := range f.Look.Processes.Shims {
		if p.Own && p.Sandbox != "" && f.doing(&p, evidence.AsMonitor).DoesNothing() {
			idle = append(idle, p)
		}
	}
	return idle
}

// livesOn says what becomes of containers when the runtime begins. They live on, which others says; but the
// containers of shims that do not answer end. (containerd, core/runtime/v2/shim_load.go)
func (f *Facts) livesOn(others string) string {
	idle := f.idleShims()
	switch len(idle) {
	case 0:
		return others
	case 1:
		pod := "sandbox " + idle[0].Sandbox
		if o, known := f.ours(idle[0].Sandbox); known && o.Pod.Name != "" {
			pod = "pod " + o.Pod.String()
		}
		return fmt.Sprintf("the containers of %s (shim %s) end, other %s", pod, stateWord(idle), others)
	}
	return fmt.Sprintf("the containers of %d pods (shims %s) end, other %s", len(idle), stateWord(idle), others)
}

// stateWord names the state of shims that do nothing in one word.
func stateWord(idle []evidence.Process) string {
	words := map[evidence.State]string{evidence.Stopped: "stopped", evidence.Frozen: "frozen", evidence.Traced: "traced"}
	if slices.ContainsFunc(idle, func(p evidence.Process) bool { return p.State != idle[0].State }) {
		return "stuck"
	}
	return cmp.Or(words[idle[0].State], "stuck")
}

// ---- disks

// makingFit returns the steps that come before a restart of a runtime that cannot write; none if it can.
func (f *Facts) makingFit() []Step {
	s, first := f.unfit()
	switch {
	case first == "":
		return nil
	case !s.full():
		return f.mending(s)
	}
	return f.pruning(s, s.noInodes())
}

// pruning returns what makes room in a store. The runtime's data loses images; its state, which mostly is in
// memory, gets more of that. inodes says that inodes are missing, and not bytes.
func (f *Facts) pruning(s store, inodes bool) []Step {
	v := Values{"path": s.Path, "inodes": inodes}
	switch forgotten, _ := f.unlisted(); {
	case s.Path == f.Look.Disk.Path && len(forgotten) > 0:
		return f.advise("disk.full-forgotten", v)
	case s.Path == f.Look.Disk.Path:
		return f.advise("disk.full", v)
	}
	if s.Mount.Type == "tmpfs" && s.Total > 0 {
		v["target"], v["twice"], v["was"] = s.Mount.Node, tmpfsSize(2*s.Total, 2*s.Inodes), tmpfsSize(s.Total, s.Inodes)
	}
	return f.advise("disk.state-full", v)
}

// tmpfsSize returns the options of a tmpfs of a size.
func tmpfsSize(total, inodes uint64) string {
	options := fmt.Sprintf("size=%dk", total>>10)
	if inodes > 0 {
		options += fmt.Sprintf(",nr_inodes=%d", inodes)
	}
	return options
}

// mending returns the steps for a store that cannot be written, or whose disk fails.
func (f *Facts) mending(s store) []Step {
	return f.orDrain(f.advise("disk.fails", Values{"target": s.Mount.Node, "disk": s.Mount.Source}))
}

// orDrain adds what is left if no command ends the trouble.
func (f *Facts) orDrain(steps []Step) []Step {
	drain := f.advise("node.drain", nil)
	if slices.ContainsFunc(steps, Step.acts) {
		drain[0] = drain[0].after(notEnough)
	}
	return append(steps, drain...)
}

// ---- processes

// freeProcess returns what can help a process in its state. container is the one it belongs to; thread is the
// thread that waits, or 0.
func (f *Facts) freeProcess(p evidence.Process, container string, thread int) []Step {
	v := processValues(p).with(Values{"frozen": p.State == evidence.Frozen})
	if thread != 0 {
		v["thread"] = strconv.Itoa(thread)
	}
	steps := f.advise("process.state", v)
	if goOn := f.letGoOn(p, container); len(goOn) > 0 {
		return append(steps, goOn...)
	}
	switch {
	case p.State == evidence.Zombie:
		if p.Parent > 1 {
			v["parent"] = strconv.Itoa(p.Parent)
		}
		return append(steps, f.advise("process.zombie", v)...)
	case doesAlone(p) == evidence.OnFrozenFS, doesAlone(p) == evidence.OnServer, p.Mount.Type != "", onFUSE(p):
		return append(steps, f.freeing(p)...)
	}
	v["container"] = f.containerOf(p)
	return f.orDrain(append(steps, f.advise("process.in-kernel", v)...))
}

// freeing returns what can end the wait of a process for a file system, even if it is not known for which.
func (f *Facts) freeing(p evidence.Process) []Step {
	switch {
	case p.Mount.Type != "", doesAlone(p) == evidence.OnFrozenFS:
		return f.freeingMount(p, p.Mount)
	case len(p.Among) == 1:
		return f.freeingMount(p, p.Among[0])
	case onFUSE(p):
		return f.advise("mount.fuse-unknown", processValues(p).with(Values{"candidates": holderNames(p.Servers)}))
	}
	return f.advise("mount.server-unknown", processValues(p))
}

// onFUSE reports whether a process waits for a program that serves a file system.
func onFUSE(p evidence.Process) bool {
	return p.WaitsIn(func(function string) bool { return evidence.MayWaitFor(evidence.Mount{Type: "fuse"}, function) })
}

// letGoOn returns what lets a process go on that is held from outside; nothing if it is not held. container is the
// one it belongs to.
func (f *Facts) letGoOn(p evidence.Process, container string) []Step {
	v := processValues(p)
	switch p.State {
	case evidence.Stopped:
		return f.advise("process.stopped", v)
	case evidence.Traced:
		if p.Tracer.PID != 0 {
			v["tracerPid"] = strconv.Itoa(p.Tracer.PID)
		}
		return f.advise("process.traced", v)
	case evidence.Frozen:
		v["freezer"], v["id"] = p.Freezer, container
		v["v1"] = p.Freezer != "" && !strings.HasSuffix(p.Freezer, "/cgroup.freeze")
		return f.advise("process.frozen", v)
	}
	return nil
}

// endShim returns what ends a shim, or lets it go on if it is held.
func (f *Facts) endShim(p evidence.Process) []Step {
	if steps := f.letGoOn(p, p.Container); len(steps) > 0 {
		return steps
	}
	v := processValues(p)
	if v["blocked"] = p.State == evidence.Uninterrupted; v["blocked"] == false {
		v["living"] = f.inKernelBelow(p)
	}
	return f.advise("shim.end", v)
}

// inKernelBelow names a process of a shim's pod, or a helper that the shim called, that stands in the kernel: the
// end of the shim would not end it. It is empty if there is none.
func (f *Facts) inKernelBelow(shim evidence.Process) string {
	name := func(p evidence.Process) string { return fmt.Sprintf("%s (pid %d)", p.Command, p.PID) }
	for _, p := range f.Look.Processes.Helpers {
		if p.State == evidence.Uninterrupted && (p.Parent == shim.PID || shim.Sandbox != "" && p.Sandbox == shim.Sandbox) {
			return name(p)
		}
	}
	for id, processes := range f.Look.Processes.Containers {
		o, known := f.ours(id)
		if id != shim.Sandbox && id != shim.Container && (!known || o.SandboxID != shim.Sandbox) {
			continue
		}
		for _, p := range processes {
			if p.State == evidence.Uninterrupted {
				return name(p)
			}
		}
	}
	return ""
}

// endHelper returns what ends a helper, or lets it go on if it is held: the first step, and those for when it is
// not enough.
func (f *Facts) endHelper(p evidence.Process) []Step {
	if steps := f.letGoOn(p, p.Container); len(steps) > 0 {
		return steps
	}
	v := processValues(p).with(Values{"verb": waits.HelperName(&p), "blocked": p.State == evidence.Uninterrupted})
	culprit := "helper.other"
	switch {
	case p.IsPlugin():
		agent := f.networkValues()
		culprit, v["agentPod"], v["agentNamespace"] = "helper.plugin", agent["name"], agent["namespace"]
	case knowledge.VerbLimit(p.Verb) > 0:
		culprit = "helper.runc"
	}
	return f.advise(culprit, v)
}

// freeOfHelper returns what ends a helper, and a restart if that does not set the runtime free. A helper that a
// signal has stopped only has to go on.
func (f *Facts) freeOfHelper(p evidence.Process) []Step {
	steps := f.endHelper(p)
	if _, stuck := f.stuckRuntime(); stuck || p.State == evidence.Stopped {
		return steps
	}
	for _, s := range f.restart("restarts the runtime: the last resort") {
		steps = append(steps, s.after(notEnough))
	}
	return steps
}

// ---- file systems

// freeingMount returns what can end the wait of a process for a file system.
func (f *Facts) freeingMount(p evidence.Process, m evidence.Mount) []Step {
	v := processValues(p).with(Values{
		"container": f.containerOf(p), "target": m.Node, "at": cmp.Or(m.Node, m.Point), "pod": f.podUsing(p, m),
	})
	switch {
	case doesAlone(p) == evidence.OnFrozenFS:
		return f.advise("mount.frozen", v)
	case strings.HasPrefix(m.Type, "fuse") && m.Type != "fuseblk":
		v["abort"] = m.Abort
		return f.freeingFUSE(p.Servers, v)
	case strings.HasPrefix(m.Type, "nfs"):
		v["address"] = serverOf(m)
		return f.advise("mount.nfs", v)
	case strings.HasPrefix(m.Type, "cifs"), strings.HasPrefix(m.Type, "smb"):
		return f.advise("mount.cifs", v)
	case m.Served():
		return f.advise("mount.server", v)
	}
	v["device"], v["disk"] = m.Device, strings.TrimPrefix(m.Source, "/dev/")
	return f.orDrain(f.advise("mount.disk", v))
}

// freeingFUSE returns what can end a wait for a program that serves a file system. A program that is only stopped
// has to go on.
func (f *Facts) freeingFUSE(servers []evidence.Holder, v Values) (steps []Step) {
	if len(servers) != 1 {
		v["candidates"] = holderNames(servers)
		v["served"] = v["candidates"]
		return f.advise("mount.fuse", v)
	}
	h := servers[0]
	p := evidence.Process{PID: h.PID, Command: h.Command, Start: h.Start, State: h.State}
	if h.State == evidence.Stopped {
		steps = f.letGoOn(p, h.Container)
	}
	v["served"] = f.holderName(h)
	steps = append(steps, f.advise("mount.fuse", v)...)
	for _, s := range f.advise("mount.fuse-server", processValues(p).with(Values{"at": v["at"], "pod": v["pod"], "serving": v["served"]})) {
		switch {
		case s.Looks():
			steps = slices.Insert(steps, 0, s)
		case slices.ContainsFunc(steps, Step.acts):
			steps = append(steps, s.after(notEnough))
		default:
			steps = append(steps, s)
		}
	}
	return steps
}

// holderName names a process, with its container if it is in one.
func (f *Facts) holderName(h evidence.Holder) string {
	name := fmt.Sprintf("pid %d (%s)", h.PID, h.Command)
	if o, known := f.ours(h.Container); known {
		name += " of " + called(o.ObjectRef)
	}
	return name
}

// podUsing names the pod of a process that waits for a file system, or whose volume that is, or the process.
func (f *Facts) podUsing(p evidence.Process, m evidence.Mount) string {
	if o, known := f.ours(p.Container); known && o.Pod.Name != "" {
		return o.Pod.String()
	}
	return cmp.Or(f.podWithVolume(m).String(), fmt.Sprintf("%s (pid %d)", p.Command, p.PID))
}

// podWithVolume returns the pod that a mounted volume belongs to; zero if that is not known.
func (f *Facts) podWithVolume(m evidence.Mount) pleg.PodRef {
	for _, p := range f.Pods {
		if m.Pod != "" && p.UID == m.Pod {
			return p.PodRef
		}
	}
	return pleg.PodRef{}
}

// ---- where to cut a chain

// cutOrder is where a chain is cut, the safest place first. The end of a helper makes one call fail. A process and
// a shim belong to one pod. A file system may have other users.
var cutOrder = []waits.Kind{waits.Helper, waits.Process, waits.Shim, waits.Mount}

// cut gives the safest place of a chain its step. A process in the kernel cannot be ended: what it waits for is, if
// that is known. Else a chain that ends inside the runtime has the restart.
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
			return // its number may be another's by now
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

// ending returns what ends a link of a path, or lets it go on.
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

// withCut returns the steps of a finding with the cut of its chain before all else that acts.
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

// ---- the network

// networkPod returns the pod of this node that sets up its network; nil if none is known. Of several the one that
// runs counts.
func (f *Facts) networkPod() (found *engine.Pod) {
	for _, p := range f.Pods {
		runs := slices.ContainsFunc(seenOf(p).Sandboxes, func(s pleg.Sandbox) bool { return s.State == pleg.Running })
		if knowledge.SetsUpNetwork(p.Name) && (runs || found == nil) {
			found = p
		}
	}
	return found
}

// networkValues are what sentences and commands about the network of this node need: its agent's container and
// pod.
func (f *Facts) networkValues() Values {
	pod := f.networkPod()
	if pod == nil {
		return Values{}
	}
	all, running := seenOf(pod), 0
	v := Values{"namespace": pod.Namespace, "name": pod.Name, "networkPod": pod.PodRef.String()}
	for _, c := range all.Containers {
		if c.State != pleg.Running {
			continue
		}
		if running++; running == 1 {
			v["agentId"] = short(c.ID)
		}
	}
	v["networkRuns"] = fmt.Sprintf("%d of %d containers running", running, len(all.Containers))
	if len(all.Sandboxes) > 0 {
		v["sandbox"] = short(all.Sandboxes[0].ID)
	}
	return v
}
