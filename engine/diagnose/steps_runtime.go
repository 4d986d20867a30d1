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

// These are the steps that several rules use. A function here chooses rows of remedies.yaml by the facts; it contains
// no command.

// thenRestart returns steps that end with a restart of the runtime. If the runtime's process does nothing, no signal
// and no restart helps; then the steps end with what helps in that state.
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

// lastResort returns the restart of the runtime. A restart destroys what a bug report needs. So if something hangs in
// the runtime, and a dump of its goroutines was read but not written to a file, the dump comes first.
func (f *Facts) lastResort() []Step {
	switch f.Scope {
	case answers.ListHangs, answers.NoStatus, answers.Silent:
		if s := f.deep().Stacks; s.Total > 0 && !strings.HasSuffix(s.From, ".log") {
			return append(f.dump(), f.restart("restarts the runtime: the last resort")...)
		}
	}
	return f.restart("restarts the runtime: the last resort")
}

// restart returns the steps that restart the runtime. effect says what the restart is good for.
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

// logs returns the step that looks at the runtime's log.
func (f *Facts) logs() []Step { return f.advise("runtime.says", nil) }

// dump returns the step that makes the runtime write its goroutines, if the runtime is one that does that after a
// signal; else nil.
func (f *Facts) dump() []Step {
	all := f.runtimesNow()
	if len(all) != 1 || f.program() != knowledge.Containerd.Program && !f.isCRIO() {
		return nil
	}
	return f.advise("runtime.dump", processValues(all[0]).with(Values{"known": f.deep().Stacks.Total > 0}))
}

// dumpFirst returns what dump returns, unless a dump was read already, or the runtime's process does nothing.
func (f *Facts) dumpFirst() []Step {
	if _, stuck := f.stuckRuntime(); stuck || f.deep().Stacks.Total > 0 {
		return nil
	}
	return f.dump()
}

// idleShims returns the shims of this runtime that do nothing and so answer no request. It leaves out conmons, because
// nobody asks them.
func (f *Facts) idleShims() (idle []evidence.Process) {
	for _, p := range f.Look.Processes.Shims {
		if p.Own && p.Sandbox != "" && f.doing(&p, evidence.AsMonitor).DoesNothing() {
			idle = append(idle, p)
		}
	}
	return idle
}

// livesOn returns in words what happens to containers when the runtime starts. They live on, in the words of others;
// but the containers of shims that do not answer end. (containerd, core/runtime/v2/shim_load.go)
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

// stateWord returns one word for the state of shims that do nothing.
func stateWord(idle []evidence.Process) string {
	words := map[evidence.State]string{evidence.Stopped: "stopped", evidence.Frozen: "frozen", evidence.Traced: "traced"}
	if slices.ContainsFunc(idle, func(p evidence.Process) bool { return p.State != idle[0].State }) {
		return "stuck"
	}
	return cmp.Or(words[idle[0].State], "stuck")
}

// networkPod returns the pod of this node that sets up its network; nil if none is known. If there are several, it
// returns one that runs.
func (f *Facts) networkPod() (found *engine.Pod) {
	for _, p := range f.Pods {
		runs := slices.ContainsFunc(seenOf(p).Sandboxes, func(s pleg.Sandbox) bool { return s.State == pleg.Running })
		if knowledge.SetsUpNetwork(p.Name) && (runs || found == nil) {
			found = p
		}
	}
	return found
}

// networkValues returns what sentences and commands about the network of this node need: its agent's container and pod.
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
