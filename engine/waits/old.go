package waits

import (
	"time"

	"github.com/plegtop/plegtop/engine/evidence"
)

// What follows is for rules that do not ask [evidence.Doing] yet. Each is a wrapper of it.

// BusyFactor is [evidence.BusyFactor].
const BusyFactor = evidence.BusyFactor

// Held reports whether a process surely stands still because somebody else has stopped, traced or frozen it.
func Held(p *evidence.Process) bool { return evidence.DoingOf(p, evidence.AsWorkload).Held() }

// InKernel reports whether a process surely waits in the kernel.
func InKernel(p *evidence.Process) bool { return evidence.DoingOf(p, evidence.AsWorkload).InKernel() }

// ForMemory reports whether a process waits until its control group has memory again.
func ForMemory(p *evidence.Process) bool { return waitsFor(p, evidence.OnMemory) }

// OnFrozen reports whether a process waits until a file system is no longer frozen.
func OnFrozen(p *evidence.Process) bool { return waitsFor(p, evidence.OnFrozenFS) }

// ForServer reports whether a process waits in the kernel for a server or a program.
func ForServer(p *evidence.Process) bool { return waitsFor(p, evidence.OnServer) }

func waitsFor(p *evidence.Process, what evidence.What) bool {
	return evidence.DoingOf(p, evidence.AsHelper).What == what
}

// Idle reports whether a shim, a helper or the runtime does nothing.
func Idle(p *evidence.Process) bool { return evidence.DoingOf(p, evidence.AsHelper).DoesNothing() }

// IdleRuntime reports whether the runtime's own process does nothing now.
func IdleRuntime(p *evidence.Process) bool {
	return evidence.DoingOf(p, evidence.AsRuntime).StandsNow()
}

// LongIdle reports whether a process that stands still has done so for longer than any work takes.
func LongIdle(p *evidence.Process) bool { return Held(p) || p.For > 10*time.Second }

// HelperLate is [evidence.Process.IsLate].
func HelperLate(p *evidence.Process, busy bool) bool { return p.IsLate(busy) }

// FileSystem is [evidence.Report.FileSystem].
func FileSystem(r *evidence.Report, p *evidence.Process) evidence.Mount { return r.FileSystem(p) }

// WorstOf returns the process of a container or sandbox that is worst off; nil if there is none.
func WorstOf(all []evidence.Process) *evidence.Process { return worstOf(all) }
