package diagnose

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/waits"
)

// lasting returns in words for how long a process has been in its state.
func lasting(p *evidence.Process) string {
	if p.AtLeast {
		return "at least " + going(p.For)
	}
	return going(p.For)
}

// describe returns one line about what is known of a process. role says which process it is.
func describe(role string, p evidence.Process) line {
	v := Values{
		"role": role, "process": fmt.Sprintf("pid %d (%s)", p.PID, p.Command), "state": p.State, "tracer": tracerOf(p.Tracer),
		"function": p.Wchan, "among": amongOf(p.Among, nil), "servers": serversOf(p.Servers), "freezer": p.Freezer,
		"stack": strings.Join(p.Stack[:min(len(p.Stack), 5)], " < "),
	}
	if p.For >= time.Second && (p.State.Stuck() || p.State == evidence.Zombie) {
		v["lasting"] = lasting(&p)
	}
	if p.Mount.Type != "" {
		v["mount"] = fileSystem(p.Mount)
	}
	return lineOf("process", v)
}

// describe returns one line about what is known of a process, with its ages as of now.
func (f *Facts) describe(role string, p evidence.Process) line { return describe(role, f.byNow(p)) }

// runtimeLine returns a line about the runtime's own process if it does nothing; else nil.
func (f *Facts) runtimeLine() []line {
	if p, stuck := f.stuckRuntime(); stuck {
		return []line{f.describe("the runtime's process", p)}
	}
	return nil
}

// processLines returns lines about the processes behind the object of a call.
func (f *Facts) processLines(c call.Flight) (lines []line) {
	if p, ok := f.worstOf(c.ID); ok {
		lines = append(lines, f.describe("its process", p))
	}
	if p, ok := f.shimOf(c.ID, f.sandboxOf(c)); ok {
		lines = append(lines, f.describe("its "+waits.MonitorWord(&p), p))
	}
	return lines
}

// StuckProcesses returns a line for each process that does nothing, of the runtime, the kubelet and the shims; nil if
// all work.
func StuckProcesses(r *evidence.Report) (all []string) {
	for _, of := range []struct {
		name      string
		as        evidence.Role
		processes []evidence.Process
	}{{"daemon", evidence.AsRuntime, r.Processes.Daemons}, {"shim", evidence.AsMonitor, r.Processes.Shims}} {
		for _, p := range of.processes {
			if evidence.DoingOf(&p, of.as).DoesNothing() {
				l := describe(of.name, p)
				text, _ := sentence(l.template, l.values, r.At)
				all = append(all, text)
			}
		}
	}
	return all
}

// tracerOf returns the process that traces another one, in words; empty if that is not known.
func tracerOf(t evidence.Tracer) string {
	switch {
	case t.PID == 0:
		return ""
	case t.Command == "":
		return fmt.Sprintf("pid %d", t.PID)
	}
	return fmt.Sprintf("pid %d (%s)", t.PID, t.Command)
}

// fileSystem returns the name of a mounted file system: /data (ext4 on /dev/sdb1).
func fileSystem(m evidence.Mount) string {
	return fmt.Sprintf("%s (%s on %s)", m.Point, m.Type, m.Source)
}

// namedMounts is how many file systems are named, if a process waits for one of several.
const namedMounts = 3

// amongOf returns in words for which file systems of servers a process may wait: "a NFS mount, one of: A, B and 2
// more"; empty for none. of returns the words that name the owner of a mount; it may be nil.
func amongOf(mounts []evidence.Mount, of func(evidence.Mount) string) string {
	if len(mounts) == 0 {
		return ""
	}
	named := func(m evidence.Mount) string {
		if of == nil {
			return fileSystem(m)
		}
		return fileSystem(m) + of(m)
	}
	kind, _, _ := strings.Cut(mounts[0].Type, ".")
	kind = "a " + strings.ToUpper(strings.TrimRight(kind, "34")) + " mount, "
	if len(mounts) == 1 {
		return kind + "likely " + named(mounts[0])
	}
	var names []string
	for _, m := range mounts[:min(len(mounts), namedMounts)] {
		names = append(names, named(m))
	}
	text := kind + "one of: " + join(names)
	if left := len(mounts) - len(names); left > 0 {
		text += fmt.Sprintf(" and %d more", left)
	}
	return text
}

// namedServers is how many possible servers of a file system are named.
const namedServers = 5

// serversOf returns in words which program serves a file system; empty if none is known.
func serversOf(all []evidence.Holder) string {
	names := holderNames(all)
	switch {
	case len(all) == 0:
		return ""
	case len(all) > 1:
		return "which one of these serves: " + join(names)
	case all[0].By == evidence.ByConnection, all[0].By == evidence.ByArguments:
		return "which " + names[0] + " serves"
	}
	return "which likely " + names[0] + " serves"
}

// holderNames returns the names of the first processes, each with its state if it does nothing, and how many more there
// are.
func holderNames(all []evidence.Holder) (names []string) {
	for _, h := range all[:min(len(all), namedServers)] {
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

// brief returns in a few characters which process it is, its state, and what it waits for in the kernel: "(pid 37782, D
// in nfs4)".
func brief(p evidence.Process) string {
	in := beginning(p.Wchan, excerptMost/3)
	for _, function := range append([]string{p.Wchan}, p.Stack...) {
		if evidence.ServerFunction(function) {
			in, _, _ = strings.Cut(function, "_")
			if in != "rpc" && in != "xprt" { // these functions are below NFS
				break
			}
		}
	}
	if in == "" {
		return fmt.Sprintf("(pid %d, %c)", p.PID, p.State)
	}
	return fmt.Sprintf("(pid %d, %c in %s)", p.PID, p.State, in)
}

// heldBy returns a short name of an object, with the process behind it that does nothing: "payments/api-7d app (pid
// 37782, D in nfs4)". If the name of its pod is not known, it uses the object's id.
func (f *Facts) heldBy(o evidence.Object) string {
	name := o.ObjectRef.Path()
	if o.Pod.Name == "" {
		if name = pleg.ShortID(o.ID); name == "" {
			name = o.String()
		}
	}
	if p, stuck := f.stuckBehind(o); stuck {
		return name + " " + brief(p)
	}
	if p, ok := f.worstOf(o.ID); ok && o.Pod.Name == "" {
		name += fmt.Sprintf(" (pid %d %s)", p.PID, p.Command)
	}
	return name
}

// calledBy returns the name of the object of a call, with its process if the name of its pod is not known.
func (f *Facts) calledBy(c call.Flight) string {
	name := c.Object().String()
	if p, ok := f.worstOf(c.ID); ok && c.Pod.Name == "" {
		name += fmt.Sprintf(", pid %d %s,", p.PID, p.Command)
	}
	return name
}

// callName returns the name of a call with its object, and the process behind the object if that does nothing.
func (f *Facts) callName(c call.Flight) string {
	if !c.Op.AboutObject() {
		return c.Op.String()
	}
	if p, stuck := f.stuckBehind(f.objectOf(c)); stuck {
		return c.Op.String() + " of " + c.Object().String() + " " + brief(p)
	}
	return c.Op.String() + " of " + f.calledBy(c)
}

// processValues returns what commands about a process need. With start, a command can check that the number still
// belongs to the same process.
func processValues(p evidence.Process) Values {
	if p.PID == 0 { // nobody has found it
		return Values{}
	}
	return Values{"pid": []string{strconv.Itoa(p.PID)}, "start": startOf(p.Start), "name": p.Command}
}

// startOf returns the start time of a process as its stat file has it; empty if that is not known.
func startOf(start uint64) string {
	if start == 0 {
		return ""
	}
	return strconv.FormatUint(start, 10)
}

// pids returns the numbers of processes.
func pids(all ...evidence.Process) (numbers []string) {
	for _, p := range all {
		numbers = append(numbers, strconv.Itoa(p.PID))
	}
	return numbers
}
