package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/knowledge"
	"github.com/plegtop/plegtop/engine/pleg"
)

// What several rules advise. A function here chooses rows of remedies.yaml by the facts; it holds no command.

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
