package diagnose

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/knowledge"
	"github.com/plegtop/plegtop/engine/waits"
)

// freeProcess returns the steps that can help a process in its state. container is the container that it belongs to;
// thread is the thread that waits, or 0.
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

// freeing returns the steps that can end the wait of a process for a file system, even if nobody knows which file
// system it is.
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

// letGoOn returns the steps that let a process continue that is held from outside; nil if it is not held. container is
// the container that it belongs to.
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

// endShim returns the steps that end a shim, or that let it continue if it is held.
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

// inKernelBelow returns the name of a process that stands in the kernel: one of the shim's pod, or a helper that the
// shim called. Ending the shim would not end that process. It is empty if there is none.
func (f *Facts) inKernelBelow(shim evidence.Process) string {
	for _, p := range f.Look.Processes.Helpers {
		if p.State == evidence.Uninterrupted && (p.Parent == shim.PID || shim.Sandbox != "" && p.Sandbox == shim.Sandbox) {
			return theProcess(p)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(f.Look.Processes.Containers)) {
		o, known := f.ours(id)
		if id != shim.Sandbox && id != shim.Container && (!known || o.SandboxID != shim.Sandbox) {
			continue
		}
		for _, p := range f.Look.Processes.Containers[id] {
			if p.State == evidence.Uninterrupted {
				return theProcess(p)
			}
		}
	}
	return ""
}

// endHelper returns the steps that end a helper, or that let it continue if it is held. The later steps are for when
// the first one is not enough.
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

// freeOfHelper returns the steps that end a helper, and then a restart, in case the runtime is still not free. A helper
// that a signal has stopped only has to continue.
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
