package evidence

import (
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/knowledge"
)

// What says what a process does, as far as it matters to those that wait for it.
type What uint8

// What a process may do. A thread in uninterruptible sleep waits for a disk if nothing else is known.
const (
	Works      What = iota // it runs, or sleeps until something wakes it
	IsStopped              // it is stopped by a signal
	IsTraced               // it is traced, as by a debugger
	IsFrozen               // it is frozen by its control group
	OnServer               // it waits in the kernel for a file server, or for a program that serves files
	OnDisk                 // it waits in the kernel for a disk, or for something that is not known
	OnFrozenFS             // it waits in the kernel to write to a file system that is frozen, as for a snapshot
	OnMemory               // it waits in the kernel until its control group has memory again
	IsDead                 // it has ended, and its parent has not collected it
)

// A Role is what a process is to the runtime.
type Role uint8

// The roles.
const (
	AsWorkload Role = iota // a process of a container
	AsMonitor              // a shim or a conmon
	AsHelper               // a program that the runtime or a shim has started
	AsRuntime              // the runtime's own process
)

// Doing is what a process does at the time of a look. The zero value is a process that works.
type Doing struct {
	What What
	For  time.Duration // for how long, as in [Process]: by the kernel or by earlier looks
	Sure bool          // it has lasted so long that it will not pass by itself; false also if only a second look can tell

	after time.Duration
}

// DoesNothing reports whether the process does nothing, whatever it is asked, and surely for more than a
// moment.
func (d Doing) DoesNothing() bool { return d.Held() || d.InKernel() }

// Held reports whether the process surely stands still because somebody else has stopped, traced or
// frozen it.
func (d Doing) Held() bool { return d.Sure && d.What >= IsStopped && d.What <= IsFrozen }

// InKernel reports whether the process surely waits in the kernel, where no signal ends the wait.
func (d Doing) InKernel() bool { return d.Sure && d.What >= OnServer && d.What <= OnMemory }

// StandsNow reports whether the process does nothing now, and has done nothing for longer than a thread usually
// sleeps in the kernel. It may go on in the next moment.
func (d Doing) StandsNow() bool {
	return d.What == IsStopped || d.What != Works && d.What != IsDead && d.For >= moment
}

// SureAfter returns how long the process must do the same until that surely does not pass by itself; 0 if one
// look is enough, or if the process works.
func (d Doing) SureAfter() time.Duration { return d.after }

const (
	// A state that lasts longer than moment is not a short pause: runc freezes a container for some
	// milliseconds to change its limits, and a file server answers within some milliseconds.
	moment = 500 * time.Millisecond
	// quiet is the time after which a device is dead if it has requests under way and has answered none. A busy
	// disk has a long queue, but answers some of it all the time.
	quiet = 2 * time.Second
)

// A circumstance is what else is known of a process and of the node.
type circumstance uint8

const (
	notWorkload circumstance = 1 << iota // the process is the runtime's, or works for it
	pressing                             // the process is the runtime's, and [Around.Pressing]
	onStore                              // it waits for the disk of the runtime's data, or of its state
	deadDevice                           // the device behind its file system is [quiet]
)

// lasting says after which time what a process does will not pass by itself. The first row whose circumstances
// all hold is used.
var lasting = []struct {
	what   What
	given  circumstance
	after  time.Duration
	reason string
}{
	{IsStopped, notWorkload, 0, "neither runtime nor kubelet stops these processes by a signal: somebody has, and has to let them go on"},
	{IsStopped, 0, moment, "cpulimit and the like stop a program and let it go on many times a second"},
	{IsTraced, pressing, moment, "nothing is likelier to hold all of a runtime up that answers nothing"},
	{IsTraced, 0, 2 * time.Second, "strace stops a thread for less than a millisecond at each system call, and a debugger that attaches, or writes a core of a small program, for about a second"},
	{IsFrozen, 0, moment, "runc freezes a container for some milliseconds to change its limits: only a second look knows"},
	{OnServer, 0, moment, "a file server answers within milliseconds"},
	{OnFrozenFS, 0, moment, "a file system is frozen for as long as a snapshot of its disk takes, and nobody knows how long that is"},
	{OnMemory, 0, moment, "what takes memory too fast sleeps for a moment; it is put to sleep again and again only where nothing is left"},
	{OnDisk, deadDevice, moment, "a device that has answered nothing for 2 s while it had requests will not answer this one soon"},
	{OnDisk, pressing | onStore, 2 * time.Second, "a busy disk takes a second or two for a sync; but nothing is likelier to hold all of the runtime up"},
	{OnDisk, 0, 10 * time.Second, "a busy disk takes seconds for a sync; the kernel itself complains after 2 min"},
	{IsDead, 0, moment, "a parent collects its child within milliseconds"},
}

// Around is what else on the node decides whether a process does nothing. It is a value that may be copied and
// read from any goroutine.
type Around struct {
	report   *Report
	pressing bool
	store    StoreSign
}

// LookAround returns what is needed to judge the processes of a report. Pressing says that a list hangs for
// sure, or that there is no second look. Then less is needed to be sure of the runtime's own process.
func LookAround(r *Report, pressing bool) Around {
	return Around{r, pressing, r.storeSign()}
}

// Doing returns what a process with this role does.
func (a *Around) Doing(p *Process, as Role) Doing {
	d := Doing{What: whatDoes(p, as), For: p.For}
	if d.What == Works || d.What == OnServer && p.State == Sleeping { // a signal ends that sleep: only the age of the process can show that it is late
		return d
	}
	given := a.circumstances(p, as)
	for i := range lasting {
		if row := &lasting[i]; row.what == d.What && row.given&given == row.given {
			d.after, d.Sure = row.after, p.For >= row.after
			break
		}
	}
	return d
}

var nothingAround = Around{report: new(Report)}

// DoingOf returns what a process does, judged by the process alone.
func DoingOf(p *Process, as Role) Doing { return nothingAround.Doing(p, as) }

// whatDoes returns what a process does. The order matters: a process on a file system of a server waits for the
// server, whatever the name of the kernel's function is.
func whatDoes(p *Process, as Role) What {
	switch p.State {
	case Stopped:
		return IsStopped
	case Traced:
		return IsTraced
	case Frozen:
		return IsFrozen
	case Zombie:
		return IsDead
	case Sleeping:
		if as == AsHelper && p.Mount.Served() {
			return OnServer
		}
		return Works
	case Uninterrupted:
		return p.waitsFor()
	}
	return Works
}

// waitsFor returns what a process in uninterruptible sleep waits for.
func (p *Process) waitsFor() What {
	switch {
	case p.Mount.Served():
		return OnServer
	case p.onFrozen():
		return OnFrozenFS
	case p.WaitsIn(ServerFunction):
		return OnServer
	case p.waitsInOneOf("memory"):
		return OnMemory
	}
	return OnDisk
}

func (p *Process) waitsInOneOf(reason string) bool {
	return p.WaitsIn(func(function string) bool { return knowledge.WaitsFor(reason, function) })
}

// circumstances returns what else holds for a process that does nothing now.
func (a *Around) circumstances(p *Process, as Role) (given circumstance) {
	if as != AsWorkload {
		given |= notWorkload
	}
	if as == AsRuntime && a.pressing {
		given |= pressing
	}
	if p.State != Uninterrupted {
		return given
	}
	m := a.report.FileSystem(p)
	if a.OnStore(p, as) {
		given |= onStore
		if m == (Mount{}) {
			m = a.report.StoreMount()
		}
	}
	if a.report.isDead(m) {
		given |= deadDevice
	}
	return given
}

// onFrozen reports whether a process waits until a file system is no longer frozen. The kernel's control groups
// have the same kind of lock, so the function alone does not show it. A process that waits for permission to
// write to a mount can only wait for a frozen file system, whichever mount that is.
func (p *Process) onFrozen() bool {
	known := p.Mount.Type != "" && (p.Mount.Source != "" && p.Mount.Source[0] == '/' || p.Mount.Type == "overlay") ||
		p.Mount.Type == "" && slices.ContainsFunc(p.Stack, func(function string) bool { return knowledge.WaitsFor("write-mount", function) })
	return known && p.waitsInOneOf("frozen")
}

// BusyFactor is how many times longer helpers take if they wait for the CPU.
const BusyFactor = 2

// Grown is the age from which a helper counts as one that somebody waits for.
const Grown = time.Second

// IsLate reports whether a helper is older than helpers of its kind ever get if nothing is wrong. If busy, the
// node is short of CPU, and helpers may take BusyFactor times as long.
func (p *Process) IsLate(busy bool) bool {
	limit := p.HelperLimit()
	if busy {
		limit *= BusyFactor
	}
	return limit > 0 && p.Age >= limit
}
