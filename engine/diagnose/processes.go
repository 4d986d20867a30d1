package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/waits"
)

// pressure returns the host's stalls where there is evidence of them.
func (v *view) pressure() string {
	if v.evidence.Pressure.Missing != "" {
		return ""
	}
	p := v.evidence.Pressure
	return fmt.Sprintf("host pressure, share of the last 60 s in which some task waited: cpu %.0f%%, io %.0f%%, memory %.0f%%", p.CPU.Some60, p.IO.Some60, p.Memory.Some60)
}

// stuckDaemon returns the runtime's own process if that does nothing. One of its
// threads sleeps in the kernel now and then.
func (v *view) stuckDaemon() (evidence.Process, bool) {
	for _, p := range v.daemonsNow() {
		if waits.IdleRuntime(&p) {
			return p, true
		}
	}
	return evidence.Process{}, false
}

// daemonsNow returns the runtime's own processes if their state is of the present.
func (v *view) daemonsNow() []evidence.Process {
	if v.lookOld {
		return nil
	}
	return v.daemons()
}

// daemon describes that process.
func (v *view) daemon() string {
	if p, stuck := v.stuckDaemon(); stuck {
		return v.describe("the runtime's process", p)
	}
	return ""
}

// StuckProcesses returns what is known of each of the runtime's and the kubelet's own
// processes and of the shims that does nothing, in a line of its own; nil if all work.
func StuckProcesses(r *evidence.Report) (all []string) {
	for _, of := range []struct {
		role      string
		processes []evidence.Process
	}{{"daemon", r.Processes.Daemons}, {"shim", r.Processes.Shims}} {
		for _, p := range of.processes {
			if p.State.Stuck() && waits.LongIdle(&p) {
				all = append(all, describe(of.role, p))
			}
		}
	}
	return all
}

// lasting says for how long a process has been in its state.
func lasting(p *evidence.Process) string {
	if p.AtLeast {
		return " for at least " + going(p.For)
	}
	return " for " + going(p.For)
}

// byNow returns a process of the last look with the ages that it has by now: on one screen those
// of one hang count up together, and a look is up to some seconds old.
func (v *view) byNow(p evidence.Process) evidence.Process {
	passed := v.passed()
	if p.For > 0 {
		p.For += passed
	}
	if p.Age > 0 {
		p.Age += passed
	}
	return p
}

// passed returns how old the last look is.
func (v *view) passed() time.Duration {
	if !v.sameClock() {
		return 0
	}
	return max(v.At.Sub(v.evidence.At), 0)
}

// describe says what is known of a process by now in one line.
func (v *view) describe(role string, p evidence.Process) string { return describe(role, v.byNow(p)) }

// describe says what is known of a process in one line.
func describe(role string, p evidence.Process) string {
	said := fmt.Sprintf("%s: pid %d (%s) is %v", role, p.PID, p.Command, p.State)
	if p.For >= time.Second && (p.State.Stuck() || p.State == evidence.Zombie) {
		said += lasting(&p)
	}
	said += tracedBy(p.Tracer)
	if p.Wchan != "" {
		said += ", waits in " + p.Wchan
	}
	if p.Mount.Type != "" {
		said += ", for " + fileSystem(p.Mount)
	}
	said += among(p.Among, func(evidence.Mount) string { return "" })
	said += servedBy(p.Servers)
	if p.Freezer != "" {
		said += ", by " + p.Freezer
	}
	if len(p.Stack) > 0 {
		said += ", kernel stack " + strings.Join(p.Stack[:min(len(p.Stack), 5)], " < ")
	}
	return said
}

// serversTold is how many programs are named of which one serves a file system.
const serversTold = 5

// servedBy says which program serves a file system, with a comma before it; nothing if none is known.
func servedBy(all []evidence.Holder) string {
	names := namesOf(all)
	switch {
	case len(all) == 0:
		return ""
	case len(all) > 1:
		return ", which one of these serves: " + join(names)
	case all[0].By == evidence.ByConnection, all[0].By == evidence.ByArguments:
		return ", which " + names[0] + " serves"
	}
	return ", which likely " + names[0] + " serves"
}

// namesOf names a few processes, each with its state where that matters, and says how many more there are.
func namesOf(all []evidence.Holder) (names []string) {
	for _, h := range all[:min(len(all), serversTold)] {
		name := fmt.Sprintf("pid %d (%s)", h.PID, h.Command)
		if h.State.Stuck() {
			name += fmt.Sprintf(", which is %v,", h.State)
		}
		names = append(names, name)
	}
	if left := len(all) - len(names); left > 0 {
		names = append(names, fmt.Sprintf("%d more", left))
	}
	return names
}

// shim returns the process that holds a sandbox, or a container as each of CRI-O's has
// one, by either's id; the first of these that has any.
func (v *view) shim(ids ...string) (evidence.Process, bool) {
	shims := v.evidence.Processes.Shims
	i := slices.IndexFunc(shims, func(p evidence.Process) bool {
		return slices.ContainsFunc(ids, func(id string) bool { return id != "" && (p.Sandbox == id || p.Container == id) })
	})
	if i < 0 {
		return evidence.Process{}, false
	}
	return shims[i], true
}

// worst returns the process of a container or sandbox that is worst off.
func (v *view) worst(id string) (evidence.Process, bool) {
	if p := waits.WorstOf(v.evidence.Processes.Containers[id]); p != nil && id != "" {
		return *p, true
	}
	return evidence.Process{}, false
}

// processes says what the node knows of the processes behind an object.
func (v *view) processes(f call.Flight) []string {
	var found []string
	if p, ok := v.worst(f.ID); ok {
		found = append(found, v.describe("its process", p))
	}
	if p, ok := v.shim(f.ID, v.sandbox(f)); ok {
		found = append(found, v.describe("its "+waits.MonitorWord(&p), p))
	}
	return found
}

// behind names what a call waits for, after a comma: an object, with the process behind it
// that does nothing, or the runtime's own process, and whether that is inferred; empty if none is known.
func (v *view) behind(node string) string {
	g := v.graph()
	for i, l := range g.Through(g.Find(node)) {
		by := ", blocked by "
		if i > 0 && l.Proof == "" {
			by = ", likely blocked by "
		}
		switch n := &g.Nodes[l.Place]; n.Kind {
		case waits.Container:
			return by + v.heldBy(n.Object)
		case waits.Process:
			return by + n.Process().Command + " " + processName(*n.Process())
		}
	}
	return ""
}

// callName names a call with its object and the process behind it that does
// nothing: "ContainerStatus of payments/api-7d app (pid 37782, D in nfs4)".
func (v *view) callName(f call.Flight) string {
	if !f.Op.AboutObject() {
		return f.Op.String()
	}
	if p, stuck := v.stuckBehind(v.asked(f)); stuck {
		return f.Op.String() + " of " + f.Object().String() + " " + processName(p)
	}
	return f.Op.String() + " of " + v.calledBy(f)
}

// heldBy names an object as shortly as a line of 80 columns asks for that has more to say,
// and the process behind it that does nothing: "payments/api-7d app (pid 37782, D in
// nfs4)". Only one whose pod's name is not known is named by its id.
func (v *view) heldBy(o evidence.Object) string {
	name := o.ObjectRef.Path()
	if o.Pod.Name == "" {
		name = cmp.Or(pleg.ShortID(o.ID), o.String())
	}
	if p, stuck := v.stuckBehind(o); stuck {
		return name + " " + processName(p)
	}
	if p, ok := v.worst(o.ID); ok && o.Pod.Name == "" {
		name += fmt.Sprintf(" (pid %d %s)", p.PID, p.Command)
	}
	return name
}

// stuckBehind returns the process behind an object that does nothing.
func (v *view) stuckBehind(o evidence.Object) (evidence.Process, bool) {
	if p, ok := v.worst(o.ID); ok && p.State.Stuck() {
		return p, true
	}
	p, ok := v.shim(o.ID, o.SandboxID)
	return p, ok && waits.Idle(&p)
}

// calledBy names the object of a call, and one whose pod's name is not known by its
// process, too.
func (v *view) calledBy(f call.Flight) string {
	name := f.Object().String()
	if p, ok := v.worst(f.ID); ok && f.Pod.Name == "" {
		name += fmt.Sprintf(", pid %d %s,", p.PID, p.Command)
	}
	return name
}

// processName says in a few characters which process it is, its state, and what it
// waits for in the kernel.
func processName(p evidence.Process) string {
	in := beginning(p.Wchan, excerptMost/3)
	for _, function := range append([]string{p.Wchan}, p.Stack...) {
		if evidence.ServerFunction(function) {
			in, _, _ = strings.Cut(function, "_")
			if in != "rpc" && in != "xprt" { // what is below NFS
				break
			}
		}
	}
	if in == "" {
		return fmt.Sprintf("(pid %d, %c)", p.PID, p.State)
	}
	return fmt.Sprintf("(pid %d, %c in %s)", p.PID, p.State, in)
}
