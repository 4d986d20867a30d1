package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
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
		if p.State == evidence.Stopped || p.State.Stuck() && p.For >= stuckLasting {
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
		return describe("the runtime's process", p)
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
			if p.State.Stuck() && (held(p) || p.For > stuckBusy) {
				all = append(all, describe(of.role, p))
			}
		}
	}
	return all
}

// describe says what is known of a process in one line.
func describe(role string, p evidence.Process) string {
	said := fmt.Sprintf("%s: pid %d (%s) is %v", role, p.PID, p.Command, p.State)
	if p.For > 0 && (p.State.Stuck() || p.State == evidence.Zombie) {
		said += " for " + going(p.For)
	}
	if p.Wchan != "" {
		said += ", waits in " + p.Wchan
	}
	if p.Mount.Type != "" {
		said += ", for " + fileSystem(p.Mount)
	}
	if p.Freezer != "" {
		said += ", by " + p.Freezer
	}
	if len(p.Stack) > 0 {
		said += ", kernel stack " + strings.Join(p.Stack[:min(len(p.Stack), 5)], " < ")
	}
	return said
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

// monitorWord returns what a process that stays beside a container is called.
func monitorWord(p evidence.Process) string {
	if strings.HasPrefix(p.Command, "conmon") {
		return p.Command
	}
	return "shim"
}

// worst returns the process of a container or sandbox that is worst off.
func (v *view) worst(id string) (worst evidence.Process, found bool) {
	if id == "" {
		return worst, false
	}
	for _, p := range v.evidence.Processes.Containers[id] {
		if !found || p.State.Stuck() && !worst.State.Stuck() {
			worst, found = p, true
		}
	}
	return worst, found
}

// A listed is a sandbox or a container as it is listed.
type listed struct {
	pod       pleg.PodRef
	container string // its name; empty for a sandbox
	id        string
	sandboxID string // of a container
	sandbox   bool
	state     pleg.State
}

func (o listed) subject() Subject {
	return Subject{Pod: o.pod, Container: o.container, ContainerID: o.id}
}

// String returns the names that the object goes by, or its id.
func (o listed) String() string {
	switch {
	case o.pod != (pleg.PodRef{}):
	case o.sandbox:
		return "sandbox " + shortID(o.id) + ", which is not listed"
	default:
		return "container " + shortID(o.id) + ", which is not listed"
	}
	return objectName(o.pod, o.container)
}

// listing returns all that the runtime lists, by id.
func listing(s *engine.Snapshot) map[string]listed {
	objects := make(map[string]listed, s.Counts.Sandboxes+s.Counts.Containers)
	for _, p := range s.Pods {
		for _, sb := range seen(p).Sandboxes {
			objects[sb.ID] = listed{pod: p.PodRef, id: sb.ID, sandbox: true, state: sb.State}
		}
		for _, c := range seen(p).Containers {
			objects[c.ID] = listedContainer(p, c)
		}
	}
	delete(objects, "")
	return objects
}

func listedContainer(p *engine.Pod, c pleg.Container) listed {
	return listed{pod: p.PodRef, container: c.Name, id: c.ID, sandboxID: c.SandboxID, state: c.State}
}

// asListed returns what the node shows of an object as a list would have it.
func asListed(o evidence.Object) listed {
	return listed{
		pod:       pleg.PodRef{Namespace: o.Namespace, Name: o.Pod, UID: pleg.UID(o.UID)},
		container: o.Container, id: o.ID, sandboxID: o.SandboxID, sandbox: o.Sandbox,
	}
}

// waitingTold is how many processes in the kernel are told beside a list that
// hangs.
const waitingTold = 3

// waiting names processes of this runtime's containers that were found in the
// kernel twice, those that have been there longest first.
func (v *view) waiting() []string {
	if v.evidence.Processes.Missing != "" || !anyStuck(&v.evidence.Processes) {
		return nil
	}
	var found []stuckProcess
	owners := v.listedOwners()
	for id, processes := range v.evidence.Processes.Containers {
		owner, known := owners[id]
		for _, p := range processes {
			if known && p.State == evidence.Uninterrupted && p.For >= stuckLasting {
				found = append(found, stuckProcess{Process: p, owner: owner})
			}
		}
	}
	slices.SortFunc(found, func(a, b stuckProcess) int { return cmp.Or(cmp.Compare(b.For, a.For), cmp.Compare(a.PID, b.PID)) })
	var lines []string
	for _, p := range found[:min(len(found), waitingTold)] {
		lines = append(lines, describe("a process of "+p.owner.String(), p.Process))
	}
	return lines
}

// listedOwners returns what is listed, by id, and where a list is missing also those on
// the node that a shim which was started for our socket holds, or an errand of ours is about.
func (v *view) listedOwners() map[string]listed {
	owners := listing(v.Snapshot)
	if v.Failure == nil && v.Partial == "" && !v.Health.ListedAt.IsZero() {
		return owners
	}
	shown := make(map[string]evidence.Object)
	for _, o := range v.evidence.Objects() {
		shown[o.ID] = o
	}
	add := func(id, sandbox string) {
		if _, known := owners[id]; known || id == "" {
			return
		}
		l := asListed(shown[id])
		l.id, l.sandboxID, l.state = id, cmp.Or(sandbox, l.sandboxID), pleg.Running
		l.sandbox = l.sandbox || id == l.sandboxID
		if l.pod.Name == "" {
			l.pod = owners[l.sandboxID].pod
		}
		owners[id] = l
	}
	shims := make(map[int]string) // of this runtime: their sandbox
	for _, p := range v.evidence.Processes.Shims {
		if p.Own {
			shims[p.PID] = p.Sandbox
			add(p.Sandbox, p.Sandbox)
		}
	}
	for id, processes := range v.evidence.Processes.Containers {
		i := slices.IndexFunc(processes, func(p evidence.Process) bool { _, ours := shims[p.Parent]; return ours })
		if i >= 0 {
			add(id, shims[processes[i].Parent])
		}
	}
	for _, p := range v.evidence.Processes.Errands {
		if p.Own {
			add(p.Container, "")
		}
	}
	return owners
}

// processes says what the node knows of the processes behind an object.
func (v *view) processes(f engine.Flight) []string {
	var found []string
	if p, ok := v.worst(f.ID); ok {
		found = append(found, describe("its process", p))
	}
	if p, ok := v.shim(f.ID, v.sandbox(f)); ok {
		found = append(found, describe("its "+monitorWord(p), p))
	}
	return found
}

// behind names what a list waits for: the object whose status hangs, or else the
// process that does nothing; empty if none is known.
func (v *view) behind() string {
	for _, h := range v.blamed {
		if h.sure {
			return ", behind " + v.heldBy(h.Flight)
		}
	}
	if stuck := v.stuckProcesses(); len(stuck) > 0 && stuck[0].severity == Critical {
		owner := stuck[0].owner
		if stuck[0].what == "runtime" {
			return v.behindDaemon()
		}
		if owner.pod == (pleg.PodRef{}) {
			return ", behind a process of " + owner.String() + " " + processName(stuck[0].Process)
		}
		return ", behind " + owner.String() + " " + processName(stuck[0].Process)
	}
	return v.behindDaemon()
}

// behindDaemon names the runtime's own process if that does nothing.
func (v *view) behindDaemon() string {
	if p, stuck := v.stuckDaemon(); stuck {
		return ", behind " + p.Command + " " + processName(p)
	}
	return ""
}

// callName names a call with its object and the process behind it that does
// nothing: "ContainerStatus of payments/api-7d app (pid 37782, D in nfs4)".
func (v *view) callName(f engine.Flight) string {
	if !f.Op.AboutObject() {
		return f.Op.String()
	}
	if p, stuck := v.stuckBehind(f); stuck {
		return f.Op.String() + " of " + objectOf(f) + " " + processName(p)
	}
	return f.Op.String() + " of " + v.called(f)
}

// heldBy names an object whose status hangs as shortly as a line of 80 columns asks for
// that has more to say, and the process behind it that does nothing: "payments/api-7d app
// (pid 37782, D in nfs4)". Only one whose pod's name is not known is named by its id.
func (v *view) heldBy(f engine.Flight) string {
	name := objectName(f.Pod, f.Container)
	if f.Pod.Name == "" {
		name = cmp.Or(shortID(f.ID), objectOf(f))
	}
	if p, stuck := v.stuckBehind(f); stuck {
		return name + " " + processName(p)
	}
	if p, ok := v.worst(f.ID); ok && f.Pod.Name == "" {
		name += fmt.Sprintf(" (pid %d %s)", p.PID, p.Command)
	}
	return name
}

// stuckBehind returns the process behind an object that does nothing.
func (v *view) stuckBehind(f engine.Flight) (evidence.Process, bool) {
	if p, ok := v.worst(f.ID); ok && p.State.Stuck() {
		return p, true
	}
	p, ok := v.shim(f.ID, v.sandbox(f))
	return p, ok && shimStuck(p)
}

// called names the object of a call, and one whose pod's name is not known by its
// process, too.
func (v *view) called(f engine.Flight) string {
	name := objectOf(f)
	if p, ok := v.worst(f.ID); ok && f.Pod.Name == "" {
		name += fmt.Sprintf(", pid %d %s,", p.PID, p.Command)
	}
	return name
}

// processName says in a few characters which process it is, its state, and what it
// waits for in the kernel.
func processName(p evidence.Process) string {
	waits := beginning(p.Wchan, excerptMost/3)
	for _, function := range append([]string{p.Wchan}, p.Stack...) {
		if forServer(function) {
			waits, _, _ = strings.Cut(function, "_")
			if waits != "rpc" && waits != "xprt" { // what is below NFS
				break
			}
		}
	}
	if waits == "" {
		return fmt.Sprintf("(pid %d, %c)", p.PID, p.State)
	}
	return fmt.Sprintf("(pid %d, %c in %s)", p.PID, p.State, waits)
}
