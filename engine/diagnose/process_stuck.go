package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
)

const (
	// stuckLasting is how long a process has to be in its state to be no accident:
	// every process sleeps in D for a moment now and then, and runc freezes a
	// container to change its limits. A look finds the same state only if the process
	// has not run since the one before.
	stuckLasting = 500 * time.Millisecond
	// stuckBusy is the same for a container's process in D that may wait for a disk:
	// a busy one takes seconds for a sync, the kernel itself complains after 2 min.
	stuckBusy = 10 * time.Second
	// stuckGrown is the age below which a shim or a runc still mounts, and may wait for
	// the disk in doing so.
	stuckGrown = 10 * time.Second
	// stuckMost is how many processes get a finding of their own.
	stuckMost = 10
)

// A stuckProcess is a process that does nothing, and whose it is.
type stuckProcess struct {
	evidence.Process
	what     string // "shim", "runc", "process"
	severity Severity
	owner    listed
	others   int // processes of the container in the same state
}

// processStuck finds shims, runcs and containers' processes that are stopped,
// frozen or in the kernel for good. What [inspectHung] tells as evidence of a call
// that hangs is not told again, except for a shim: it is the reason then.
func processStuck(v *view) []Finding {
	return oneEach(v.stuckProcesses(), stuckMost, v.stuckFinding, func(rest []stuckProcess) Finding {
		all := Step{Text: "all that is stopped (T) or cannot be woken (D)", Command: "ps -eo pid,ppid,state,wchan:32,etime,args"}
		f := restOf(ProcessStuck, fmt.Sprintf("%d more do nothing", len(rest)), all, rest,
			func(p stuckProcess) (Subject, string) {
				return p.owner.subject(), describe(fmt.Sprintf("%s of %s", p.what, p.owner), p.Process)
			})
		f.Severity = rest[0].severity
		return f
	})
}

// stuckProcesses returns those processes, the worst first.
func (v *view) stuckProcesses() []stuckProcess {
	if v.evidence == nil || v.evidence.Processes.Missing != "" {
		return nil
	}
	if known := v.evidence == v.past.looked; known && !v.past.lookedStuck || !known && !anyStuck(&v.evidence.Processes) {
		return nil
	}
	owners := v.listedOwners()
	stuck := slices.Concat(stuckRuncs(v, owners), stuckWorkloads(v, owners))
	if h, hangs := v.list(); hangs && h.sure {
		for i := range stuck {
			if stuck[i].State == evidence.Uninterrupted {
				stuck[i].severity = Critical // the list may wait for it
			}
		}
	}
	stuck = slices.DeleteFunc(stuck, func(p stuckProcess) bool {
		return slices.ContainsFunc(v.objects, func(h hang) bool { return h.ID == p.owner.id })
	})
	stuck = append(stuck, stuckShims(v, owners)...)
	slices.SortStableFunc(stuck, func(a, b stuckProcess) int {
		return cmp.Or(cmp.Compare(b.severity, a.severity), cmp.Compare(b.For, a.For), cmp.Compare(a.PID, b.PID))
	})
	return stuck
}

// anyStuck reports whether any process is worth a closer look, as on most nodes
// none is.
func anyStuck(found *evidence.Processes) bool {
	is := func(p evidence.Process) bool { return p.State.Stuck() || p.State == evidence.Zombie }
	for _, processes := range found.Containers {
		if slices.ContainsFunc(processes, is) {
			return true
		}
	}
	return slices.ContainsFunc(found.Shims, is) || slices.ContainsFunc(found.Runcs, is)
}

// stuckShims returns the shims of this runtime that do nothing: those that ask
// them, exec, stop and the verbose status, wait with them.
func stuckShims(v *view, owners map[string]listed) []stuckProcess {
	var stuck []stuckProcess
	for _, p := range v.evidence.Processes.Shims {
		owner, known := owners[p.Sandbox]
		if !known {
			owner, known = owners[p.Container]
		}
		switch {
		case !known && !p.Own:
			continue
		case !known:
			owner = listed{id: p.Sandbox, sandbox: true}
		}
		if shimStuck(p) || p.State == evidence.Zombie && known && owner.state == pleg.Running && p.For >= stuckLasting {
			stuck = append(stuck, stuckProcess{Process: p, what: "shim", severity: Critical, owner: owner})
		}
	}
	return stuck
}

// shimStuck reports whether a shim does nothing. That it is stopped is sure at
// once.
func shimStuck(p evidence.Process) bool {
	return p.State == evidence.Stopped || p.State.Stuck() && lasts(p)
}

func stuckRuncs(v *view, owners map[string]listed) []stuckProcess {
	var stuck []stuckProcess
	for _, p := range v.evidence.Processes.Runcs {
		if owner, known := owners[p.Container]; known && p.State.Stuck() && lasts(p) {
			stuck = append(stuck, stuckProcess{Process: p, what: "runc", severity: Warning, owner: owner})
		}
	}
	return stuck
}

// lasts reports whether a shim or a runc is no longer being set up, and was found
// in its state twice.
func lasts(p evidence.Process) bool {
	return p.For >= stuckLasting && max(p.Age, p.For) >= stuckGrown
}

// stuckWorkloads returns one process for each container of which one waits for a
// server that does not answer, or all are stopped or frozen. A sandbox's pause
// process is told only where no container of the pod is: they share a freezer.
func stuckWorkloads(v *view, owners map[string]listed) []stuckProcess {
	var stuck []stuckProcess
	told := make(map[pleg.UID]bool)
	for _, sandboxes := range []bool{false, true} {
		for id, processes := range v.evidence.Processes.Containers {
			owner, known := owners[id]
			if !known || owner.sandbox != sandboxes || owner.state != pleg.Running || sandboxes && told[owner.pod.UID] {
				continue
			}
			if p, found := stuckWorkload(processes); found {
				p.owner = owner
				told[owner.pod.UID] = true
				stuck = append(stuck, p)
			}
		}
	}
	return stuck
}

func stuckWorkload(processes []evidence.Process) (stuckProcess, bool) {
	live := slices.DeleteFunc(slices.Clone(processes), func(p evidence.Process) bool { return p.State == evidence.Zombie })
	first := func(is func(evidence.Process) bool) (stuckProcess, bool) {
		i := slices.IndexFunc(live, is)
		if i < 0 {
			return stuckProcess{}, false
		}
		n := 0
		for _, p := range live {
			if is(p) {
				n++
			}
		}
		return stuckProcess{Process: live[i], what: "process", severity: Warning, others: n - 1}, true
	}
	if p, found := first(held); found && p.others == len(live)-1 {
		return p, true
	}
	return first(inKernel)
}

// held reports whether a process is stopped or frozen from outside.
func held(p evidence.Process) bool {
	switch p.State {
	case evidence.Frozen, evidence.Stopped:
		return p.For >= stuckLasting
	case evidence.Traced:
		return p.For >= stuckGrown // a debugger stops what it traces for moments
	}
	return false
}

// inKernel reports whether a process is in the kernel for longer than a disk takes,
// or for a server over the network.
func inKernel(p evidence.Process) bool {
	return p.State == evidence.Uninterrupted && (p.For >= stuckBusy || p.For >= stuckLasting && waitsForServer(p))
}

// String returns whose process it is, and which.
func (p stuckProcess) String() string {
	switch {
	case p.what != "process":
		return fmt.Sprintf("the %s of %s, pid %d,", p.what, p.owner, p.PID)
	case p.owner.pod == (pleg.PodRef{}):
		return fmt.Sprintf("pid %d (%s) of %s,", p.PID, p.Command, p.owner)
	}
	return fmt.Sprintf("pid %d (%s) of %s", p.PID, p.Command, p.owner)
}

func (v *view) stuckFinding(p stuckProcess) Finding {
	f := Finding{
		ID: ProcessStuck, Severity: p.severity,
		Summary:  fmt.Sprintf("%s is %s", p, p.State),
		Subject:  p.owner.subject(),
		Evidence: []string{describe("its "+p.what, p.Process)},
	}
	if p.For > 0 {
		f.Summary += fmt.Sprintf(" for %s", going(p.For))
		f.say(fmt.Sprintf("in this state since %s at the latest", clock(v.evidence.At.Add(-p.For))))
	}
	if p.others > 0 {
		f.say(fmt.Sprintf("%d more of its processes are in such a state", p.others))
	}
	if p.what == "shim" {
		f.say(v.containersOf(p.owner)...)
	}
	f.Next = p.next()
	return f
}

// containersOf tells which containers a shim looks after: nobody learns of their
// end while it does nothing.
func (v *view) containersOf(shim listed) []string {
	var lines []string
	for _, c := range v.containersIn(shim.pod) {
		if c.State == pleg.Running && (c.SandboxID == shim.id || c.SandboxID == "") && len(lines) < stuckMost {
			lines = append(lines, fmt.Sprintf("%s (%s) is listed as running; its end would not be seen", c.Name, c.ID))
		}
	}
	return lines
}

func (p stuckProcess) next() []Step {
	steps := []Step{
		{Text: "its state, and where in the kernel it waits", Command: fmt.Sprintf("ps -o pid,ppid,state,wchan:32,etime,args -p %d", p.PID)},
		{Text: "its kernel stack", Command: fmt.Sprintf("cat /proc/%d/stack", p.PID)},
	}
	switch {
	case p.State == evidence.Frozen:
		steps[1] = Step{Text: "which cgroup is frozen", Command: fmt.Sprintf("cat /proc/%d/cgroup", p.PID)}
		return append(steps, Step{Text: "lets it go on", Command: "ctr -n k8s.io tasks resume " + quote(p.owner.id), Risky: true})
	case p.State == evidence.Stopped:
		return append(steps, Step{Text: "lets it go on", Command: fmt.Sprintf("kill -CONT %d", p.PID), Risky: true})
	case p.State == evidence.Zombie:
		return append(steps, Step{Text: fmt.Sprintf("its parent, pid %d, has to collect it", p.Parent)})
	case waitsForServer(p.Process):
		return append(steps, Step{Text: "which mounts are of a server over the network", Command: fmt.Sprintf("cat /proc/%d/mountinfo", p.PID)})
	}
	return steps
}
