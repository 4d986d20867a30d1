package diagnose

import (
	"slices"
	"strings"

	"github.com/plegtop/plegtop/engine/evidence"
)

// anyStuck reports whether any process does nothing, or any shim is dead. On most nodes none is.
func anyStuck(found *evidence.Processes) bool {
	stuck := func(p evidence.Process) bool { return p.State.Stuck() }
	for _, processes := range found.Containers {
		if slices.ContainsFunc(processes, stuck) {
			return true
		}
	}
	dead := func(p evidence.Process) bool { return p.State.Stuck() || !p.Lives() }
	return slices.ContainsFunc(found.Shims, dead) || slices.ContainsFunc(found.Helpers, stuck) || slices.ContainsFunc(found.Daemons, stuck)
}

// runtimes returns the processes that may be the runtime itself.
func (f *Facts) runtimes() (all []evidence.Process) {
	for _, p := range f.Look.Processes.Daemons {
		if strings.HasPrefix(p.Command, f.program()) {
			all = append(all, p)
		}
	}
	return all
}

// runtimesNow returns what runtimes returns, if the look shows what they do now; else nil.
func (f *Facts) runtimesNow() []evidence.Process {
	if f.LookOld {
		return nil
	}
	return f.runtimes()
}

// stuckRuntime returns the runtime's own process, if it does nothing.
func (f *Facts) stuckRuntime() (evidence.Process, bool) {
	for _, p := range f.runtimesNow() {
		if f.doing(&p, evidence.AsRuntime).StandsNow() {
			return p, true
		}
	}
	return evidence.Process{}, false
}

// shimOf returns the process that holds a sandbox, or the one that holds a container as in CRI-O, by either id.
func (f *Facts) shimOf(ids ...string) (evidence.Process, bool) {
	for _, p := range f.Look.Processes.Shims {
		if slices.ContainsFunc(ids, func(id string) bool { return id != "" && (p.Sandbox == id || p.Container == id) }) {
			return p, true
		}
	}
	return evidence.Process{}, false
}

// worstOf returns the process of a container or sandbox that is in the worst state.
func (f *Facts) worstOf(id string) (evidence.Process, bool) {
	if p := evidence.WorstOf(f.Look.Processes.Containers[id]); p != nil && id != "" {
		return *p, true
	}
	return evidence.Process{}, false
}

// stuckBehind returns the process behind an object that does nothing.
func (f *Facts) stuckBehind(o evidence.Object) (evidence.Process, bool) {
	if p, ok := f.worstOf(o.ID); ok && p.State.Stuck() {
		return p, true
	}
	p, ok := f.shimOf(o.ID, o.SandboxID)
	return p, ok && f.doing(&p, evidence.AsMonitor).DoesNothing()
}

// doesAlone returns what a process does, as far as the process itself shows that, whatever its role is.
func doesAlone(p evidence.Process) evidence.What { return evidence.DoingOf(&p, evidence.AsHelper).What }

// containerOf returns the id of the container that a process is in; empty if it is in none. A process that the runtime
// has for a container, such as a shim, is in none.
func (f *Facts) containerOf(p evidence.Process) string {
	its := func(o evidence.Process) bool { return o.PID == p.PID }
	if p.Container != "" && slices.ContainsFunc(f.Look.Processes.Containers[p.Container], its) {
		return p.Container
	}
	return ""
}

// runs reports whether the last look has seen a helper. If not, its process number may belong to another process by
// now.
func (f *Facts) runs(p evidence.Process) bool {
	return slices.ContainsFunc(f.Look.Processes.Helpers, func(q evidence.Process) bool { return q.PID == p.PID })
}

func (f *Facts) helperLate(p evidence.Process) bool { return p.IsLate(f.Busy) }
