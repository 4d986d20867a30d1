package waits

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/knowledge"
	"github.com/plegtop/plegtop/engine/pleg"
)

const (
	// heldLasting is how long a process has to be held from outside, or wait for a
	// server, to be no accident: runc freezes a container to change its limits.
	heldLasting = 500 * time.Millisecond
	// diskLasting is the same for a process in D that may wait for a disk: a busy one
	// takes seconds for a sync, the kernel itself complains after 2 min. It is also
	// how long a debugger may hold what it traces.
	diskLasting = 10 * time.Second
	// storeLasting is the same for the runtime on its own disk, while a list hangs or where
	// nobody looks again: nothing else is likelier to hold all of it up.
	storeLasting = 2 * time.Second
	// Grown is how old a helper is at least that anybody has waited for.
	Grown = time.Second
	// BusyFactor is how many times longer helpers take where they wait for the CPU.
	BusyFactor = 2
)

// Held reports whether a process is stopped or frozen from outside, and not for a moment
// only.
func Held(p *evidence.Process) bool {
	switch p.State {
	case evidence.Frozen, evidence.Stopped:
		return p.For >= heldLasting
	case evidence.Traced:
		return p.For >= diskLasting
	}
	return false
}

// InKernel reports whether a process is in the kernel for longer than a disk takes, or
// waits there for a server, a frozen file system or memory of its control group.
func InKernel(p *evidence.Process) bool {
	return p.State == evidence.Uninterrupted && (p.For >= diskLasting || p.For >= heldLasting && (ForServer(p) || OnFrozen(p) || ForMemory(p)))
}

// ForMemory reports whether a process waits until its control group has memory again.
func ForMemory(p *evidence.Process) bool {
	return p.WaitsIn(func(function string) bool { return knowledge.WaitsFor("memory", function) })
}

// OnFrozen reports whether a process waits until a file system is no longer frozen, as
// for a snapshot of its disk. The kernel's control groups have such a lock as well; but who
// waits for leave to write to a mount waits for nothing else, whichever mount that is.
func OnFrozen(p *evidence.Process) bool {
	freezes := func(function string) bool { return knowledge.WaitsFor("frozen", function) }
	toWrite := func(function string) bool { return knowledge.WaitsFor("write-mount", function) }
	known := strings.HasPrefix(p.Mount.Source, "/") || p.Mount.Type == "overlay" || p.Mount.Type == "" && slices.ContainsFunc(p.Stack, toWrite)
	return known && p.WaitsIn(freezes)
}

// Idle reports whether a shim, a helper or the runtime does nothing. That it is stopped is
// sure at once.
func Idle(p *evidence.Process) bool {
	return p.State == evidence.Stopped || Held(p) || InKernel(p)
}

// IdleRuntime reports the same of the runtime's own process. One of its threads sleeps in
// the kernel now and then.
func IdleRuntime(p *evidence.Process) bool {
	return p.State == evidence.Stopped || p.State.Stuck() && p.For >= heldLasting
}

// stands reports whether the runtime's own process does nothing, so that this is a reason.
// Where that is pressing a thread on its own disk, or one that is held, need not be so for
// as long as anybody else's.
func (f *Facts) stands(p *evidence.Process) bool {
	return Idle(p) || f.Pressed && IdleRuntime(p) && (p.State != evidence.Uninterrupted || p.For >= storeLasting && f.onStore(p))
}

// onStore reports whether a process waits in the kernel for a disk of the runtime's own. It
// does so, too, where it was frozen while the process wrote by a path, which nobody knows:
// what the runtime writes is mostly there.
func (f *Facts) onStore(p *evidence.Process) bool {
	m := FileSystem(f.Report, p)
	if m.Type == "" && OnFrozen(p) {
		return true
	}
	is := func(d evidence.Disk) bool {
		if d.Mount.Device == "" { // it could not be asked
			return m.Point != "" && strings.HasPrefix(d.Path, m.Point)
		}
		return d.Mount.Device == m.Device
	}
	return p.State == evidence.Uninterrupted && (is(f.Report.Disk) || is(f.Report.State))
}

// HelperLate reports whether a helper is older than its like ever gets on a node, busy or
// not.
func HelperLate(p *evidence.Process, busy bool) bool {
	limit := p.HelperLimit()
	if busy {
		limit *= BusyFactor
	}
	return limit > 0 && p.Age >= limit
}

// HelperName says what a helper is to do: runc delete, CNI ADD by calico, umount.
func HelperName(p *evidence.Process) string {
	switch {
	case p.IsPlugin():
		return p.Verb + " by " + p.Command
	case p.Verb == "" || p.Verb == p.Command:
		return p.Command
	}
	return p.Command + " " + p.Verb
}

// MonitorWord returns what a process that stays beside a container is called.
func MonitorWord(p *evidence.Process) string {
	if strings.HasPrefix(p.Command, "conmon") {
		return p.Command
	}
	return "shim"
}

// ForServer reports whether a process waits in the kernel for a server or a program.
func ForServer(p *evidence.Process) bool {
	return p.Mount.Served() || p.WaitsIn(evidence.ServerFunction)
}

// anyIdle reports whether any process does nothing, as on most nodes none does.
func (f *Facts) anyIdle() bool {
	processes := &f.Report.Processes
	idle := func(p evidence.Process) bool { return Idle(&p) }
	idleShim := func(p evidence.Process) bool { return Idle(&p) || !p.Lives() }
	for _, all := range processes.Containers {
		if slices.ContainsFunc(all, idle) {
			return true
		}
	}
	return slices.ContainsFunc(processes.Shims, idleShim) || slices.ContainsFunc(processes.Helpers, idle) ||
		slices.ContainsFunc(f.Runtime, func(p evidence.Process) bool { return f.stands(&p) })
}

// anyLate reports whether any helper should have ended, or is to tell of an end that the
// runtime does not know yet.
func (f *Facts) anyLate() bool {
	return len(f.Retried) > 0 || slices.ContainsFunc(f.Report.Processes.Helpers, func(p evidence.Process) bool {
		return p.Own && HelperLate(&p, f.Busy) || f.endsRunning(&p)
	})
}

// endsRunning reports whether a helper is to delete what is still listed as running: the
// runtime waits for it to tell of that end.
func (f *Facts) endsRunning(p *evidence.Process) bool {
	if !IsDelete(p) {
		return false
	}
	o, known := f.Lookup(p.Container)
	return known && o.State == pleg.Running && !f.Report.Processes.Live(o.ID)
}

// IsDelete reports whether a helper of our runtime deletes a container, and not for a
// moment only.
func IsDelete(p *evidence.Process) bool {
	return p.Own && p.Verb == "delete" && p.Container != "" && p.Age >= Grown
}

// process returns the node of a process that is no shim and no helper.
func (b *builder) process(p *evidence.Process, whose evidence.Object) int {
	return b.node(Node{
		Key: strconv.Itoa(p.PID), Kind: Process, ID: strconv.Itoa(p.PID), Name: fmt.Sprintf("pid %d (%s)", p.PID, p.Command),
		Object: whose, Since: b.since(p.For), process: p,
	})
}

func (b *builder) shim(p *evidence.Process, whose evidence.Object) int {
	name := MonitorWord(p) + " " + strconv.Itoa(p.PID)
	return b.node(Node{Key: strconv.Itoa(p.PID), Kind: Shim, ID: strconv.Itoa(p.PID), Name: name, Object: whose, process: p})
}

func (b *builder) helper(p *evidence.Process, whose evidence.Object) int {
	return b.node(Node{
		Key: strconv.Itoa(p.PID), Kind: Helper, ID: strconv.Itoa(p.PID), Name: fmt.Sprintf("%s (%s)", HelperName(p), Roughly(p.Age+b.Passed)),
		Object: whose, Since: b.since(p.Age), process: p,
	})
}

// since returns when something began that has lasted so long at the look; zero if that is
// not known.
func (b *builder) since(lasted time.Duration) time.Time {
	if lasted == 0 || b.Report.At.IsZero() {
		return time.Time{}
	}
	return b.Report.At.Add(-lasted)
}

// LongIdle reports whether a process has done nothing for so long that no work explains it.
func LongIdle(p *evidence.Process) bool { return Held(p) || p.For > diskLasting }
