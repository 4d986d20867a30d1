package diagnose

import (
	"fmt"

	"github.com/plegtop/plegtop/engine/evidence"
)

// HostPressure is a node that stands still for want of something.
const HostPressure ID = "host-pressure"

var hostPressureKind = &kind{
	id: HostPressure, find: hostPressure,
	words: []nodeWord{(*view).kernelSaid}, kernel: ofDisk,
	severity: "warning", scenario: "a real node",
	when: "memory or I/O stalls of a fifth or half of all time over a minute",
}

// Thresholds of pressure, in percent of the time in which every task stood
// still ("full"). A machine that compiles on all its cores has a tenth of them:
// only one that hardly does anything else than wait is meant. Of the CPU there
// is none: on a whole node there is no time in which everybody waits for it, and
// many tasks that wait a little are what a busy node looks like.
const (
	memoryStalls = 20.0 // thrashing: a fifth of all time goes into bringing pages back
	ioStalls     = 50.0 // half of all time stands still for the disk
	stallsGoOn   = 0.5  // over the last 10 s at least this part of it: else it is over
)

// onIO is the group of what stands still for the disk.
const onIO = "I/O"

// hostPressure tells of a node that stands still for want of memory or of its disk.
func hostPressure(v *view) []Finding {
	p := v.evidence.Pressure
	if p.Missing != "" {
		return nil
	}
	return append(stall("memory", p.Memory, memoryStalls, v.advise("pressure.memory", nil)),
		stall(onIO, p.IO, ioStalls, v.advise("pressure.disk", nil))...)
}

func stall(resource string, s evidence.Stall, most float64, next []Step) []Finding {
	if s.Full60 < most || s.Full10 < most*stallsGoOn {
		return nil
	}
	return []Finding{{
		ID: HostPressure, Severity: Warning, Group: resource,
		Summary: fmt.Sprintf("the node is stuck on %s %.0f %% of the time", resource, s.Full60),
		Evidence: []string{
			fmt.Sprintf("%s pressure: full %.1f %% over 60 s, %.1f %% over 10 s; some %.1f %% and %.1f %%", resource, s.Full60, s.Full10, s.Some60, s.Some10),
			fmt.Sprintf("told from full %.0f %% over 60 s on", most),
		},
		Next: next,
	}}
}
