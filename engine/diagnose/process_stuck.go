package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
)

// ProcessStuck is a process of the runtime's, or of a container, that stands still.
const ProcessStuck ID = "process-stuck"

var processStuckKind = &kind{
	id: ProcessStuck, find: processStuck,
	is: stands, hangs: true,
	pod: "process stuck", state: "stuck",
	words: []nodeWord{(*view).kernelSaid}, kernel: ofDisk | ofDevice,
	severity: "critical", scenario: "`hung-inspect`, `status-lock`",
	when: "the runtime or a shim is stopped, frozen, or in D for longer than a disk takes (10 s; for a server 0.5 s), at the first look already; those that wait " +
		"for one file system together, with the disk or server; a warning for a container's own process, critical if it is in D while a list hangs, which may " +
		"wait for it",
}

const (
	// stuckLasting is how long a process has to be held from outside, or wait for a
	// server, to be no accident: runc freezes a container to change its limits.
	stuckLasting = 500 * time.Millisecond
	// stuckBusy is the same for a process in D that may wait for a disk: a busy one
	// takes seconds for a sync, the kernel itself complains after 2 min. It is also
	// how long a debugger may hold what it traces.
	stuckBusy = 10 * time.Second
	// stuckMost is how many processes get a finding of their own.
	stuckMost = 10
)

// A stuckProcess is a process that does nothing, and whose it is.
type stuckProcess struct {
	evidence.Process
	what     string // "runtime", "shim", "errand", "process"
	severity Severity
	owner    listed // none of the runtime
	others   int    // processes of the container in the same state
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
	return append(findings, oneEach(single, stuckMost, v.stuckFinding, func(rest []stuckProcess) Finding {
		all := Step{Text: "all that is stopped (T) or cannot be woken (D)", Command: allInKernel}
		f := restOf(ProcessStuck, fmt.Sprintf("%d more do nothing", len(rest)), all, rest, stuckProcess.line)
		f.Severity = rest[0].severity
		return f
	})...)
}

const allInKernel = "ps -eLo pid,tid,ppid,state,wchan:32,etime,args | awk '$4 ~ /[DTt]/'"

// line tells of the process among others.
func (p stuckProcess) line() (Subject, string) {
	role := p.what
	if p.what != "runtime" {
		role = fmt.Sprintf("%s of %s", p.word(), p.owner)
	}
	return p.owner.subject(), describe(role, p.Process)
}

// stuckProcesses returns those processes, the worst first.
func (v *view) stuckProcesses() []stuckProcess {
	if v.evidence.Processes.Missing != "" {
		return nil
	}
	if known := v.evidence == v.past.looked; known && !v.past.lookedStuck || !known && !anyStuck(&v.evidence.Processes) {
		return nil
	}
	owners := v.listedOwners()
	stuck := slices.Concat(stuckErrands(v, owners), stuckWorkloads(v, owners))
	if h := v.list(); h != nil && h.sure {
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
	for _, p := range v.daemonsNow() {
		if shimStuck(p) {
			stuck = append(stuck, stuckProcess{Process: p, what: "runtime", severity: Critical})
		}
	}
	slices.SortStableFunc(stuck, worstFirst)
	return stuck
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
	is := func(p evidence.Process) bool { return p.State.Stuck() || p.State == evidence.Zombie }
	for _, processes := range found.Containers {
		if slices.ContainsFunc(processes, is) {
			return true
		}
	}
	return slices.ContainsFunc(found.Shims, is) || slices.ContainsFunc(found.Errands, is) || slices.ContainsFunc(found.Daemons, is)
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
			stuck = append(stuck, stuckProcess{Process: p, what: monitorWord(p), severity: Critical, owner: owner})
		}
	}
	return stuck
}

// shimStuck reports whether a shim, or the runtime, does nothing. That it is stopped
// is sure at once.
func shimStuck(p evidence.Process) bool {
	return p.State == evidence.Stopped || held(p) || inKernel(p)
}

// stuckErrands returns what the runtime or a shim has called and that does nothing, also
// for a sandbox that is still being made.
func stuckErrands(v *view, owners map[string]listed) []stuckProcess {
	var stuck []stuckProcess
	for _, p := range v.evidence.Processes.Errands {
		if _, known := owners[p.Container]; !held(p) && !inKernel(p) || !known && !p.Own {
			continue
		}
		stuck = append(stuck, stuckProcess{Process: p, what: "errand", severity: Warning, owner: errandOwner(p, owners)})
	}
	return stuck
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
		i := slices.IndexFunc(live, func(p evidence.Process) bool { return is(p) && p.Mount.Type != "" }) // it says what all wait for
		if i < 0 {
			i = slices.IndexFunc(live, is)
		}
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
		return p.For >= stuckBusy
	}
	return false
}

// inKernel reports whether a process is in the kernel for longer than a disk takes,
// or for a server over the network.
func inKernel(p evidence.Process) bool {
	return p.State == evidence.Uninterrupted && (p.For >= stuckBusy || p.For >= stuckLasting && waitsForServer(p))
}

// word returns what the process is called: shim, conmon, runc update.
func (p stuckProcess) word() string {
	if p.what == "errand" {
		return errandName(p.Process)
	}
	return p.what
}

// String returns whose process it is, and which.
func (p stuckProcess) String() string {
	switch {
	case p.what == "runtime":
		return fmt.Sprintf("the runtime, pid %d (%s),", p.PID, p.Command)
	case p.what != "process":
		return fmt.Sprintf("the %s of %s, pid %d,", p.word(), p.owner, p.PID)
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
		Evidence: []string{describe("its "+p.word(), p.Process)},
	}
	if p.For > 0 {
		f.Summary += fmt.Sprintf(" for %s", going(p.For))
		f.say(fmt.Sprintf("in this state since %s at the latest", clock(v.evidence.At.Add(-p.For))))
	}
	if p.what == "errand" && p.Age > 0 {
		f.say("begun " + going(p.Age) + " ago")
	}
	if p.others > 0 {
		f.say(fmt.Sprintf("%d more of its processes are in such a state", p.others))
	}
	if p.what == monitorWord(p.Process) {
		f.say(v.containersOf(p.owner)...)
	}
	f.Next = p.next()
	return f.withChain(v.chainOfStuck(p))
}

// containersOf tells which containers a shim looks after: nobody learns of their
// end while it does nothing.
func (v *view) containersOf(shim listed) []string {
	var lines []string
	for _, c := range v.containersIn(shim.pod) {
		if c.State == pleg.Running && (c.SandboxID == shim.id || c.SandboxID == "" || c.ID == shim.id) && len(lines) < stuckMost {
			lines = append(lines, fmt.Sprintf("%s (%s) is listed as running; its end would not be seen", c.Name, c.ID))
		}
	}
	return lines
}

// next returns what can help a process in its state.
func (p stuckProcess) next() []Step {
	thread := fmt.Sprintf("/proc/%d", p.PID)
	steps := []Step{{Text: "its state, and where in the kernel it waits", Command: fmt.Sprintf("ps -o pid,ppid,state,wchan:32,etime,args -p %d", p.PID)}}
	if p.Thread != 0 {
		thread += fmt.Sprintf("/task/%d", p.Thread)
		steps[0].Command = fmt.Sprintf("ps -Lo pid,tid,state,wchan:32,etime,args -p %d", p.PID)
	}
	if p.State != evidence.Frozen {
		steps = append(steps, Step{Text: "its kernel stack", Command: "cat " + thread + "/stack"})
	}
	goOn, held := letGoOn(p.Process, p.owner.id)
	switch {
	case p.State == evidence.Frozen:
		return append(steps, Step{Text: "which cgroup is frozen", Command: fmt.Sprintf("cat /proc/%d/cgroup", p.PID)}, goOn)
	case held:
		return append(steps, goOn)
	case p.State == evidence.Traced:
		return append(steps, Step{Text: "who traces it", Command: fmt.Sprintf("grep TracerPid /proc/%d/status", p.PID)})
	case p.State == evidence.Zombie:
		return append(steps, Step{Text: fmt.Sprintf("its parent, pid %d, has to collect it", p.Parent)})
	case p.Mount.Type != "":
		return append(steps, freeing(p.Process)...)
	case waitsForServer(p.Process):
		return append(steps, Step{Text: "which mounts are of a server over the network", Command: fmt.Sprintf("cat /proc/%d/mountinfo", p.PID)})
	}
	return steps
}
