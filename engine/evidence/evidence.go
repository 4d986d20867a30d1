// Package evidence has the words for what the node itself says, beside the
// container runtime: its processes, its pressure, its clock, its kubelet. Package
// host gathers it, diagnose judges it, the views show it, so that none of them
// needs to know another.
//
// Everything in it is a plain value that never changes once it was handed out,
// and may be read from any goroutine. Texts are not cleaned. All durations are
// measured back from the [Report]'s At, so that a reader needs no clock.
package evidence

import "time"

// A Report is one look at the node. Each part says for itself why it is not
// there: a report is never an error.
type Report struct {
	At   time.Time     // when the look ended, by the node's clock
	Took time.Duration // the look itself

	Processes Processes
	Usage     []Usage // of the runtime, the kubelet and plegtop itself, in this order, as far as they were found
	Pressure  Pressure
	Disk      Disk
	Clock     Clock
	Kubelet   Kubelet
}

// Pressure is what /proc/pressure says: the share of time in which tasks stood
// still for want of a resource.
type Pressure struct {
	Missing         string // why there is none; empty if there is
	CPU, IO, Memory Stall
}

// A Stall holds shares of time in percent, averaged over 10 s and over 60 s:
// Some, in which at least one task stood still, and Full, in which all did.
type Stall struct {
	Some10, Some60, Full10, Full60 float64
}

// Disk is the file system that holds the runtime's root.
type Disk struct {
	Missing              string // why there is none; empty if there is
	Path                 string // of the runtime's root on the node
	Total, Free          uint64 // bytes; Free is what is left to ordinary users
	Inodes, InodesUnused uint64 // 0 on file systems that have no table of them
}

// Clock compares the node's wall clock with its monotonic one. What parts them
// is a step: somebody set the time, or the machine was suspended.
type Clock struct {
	Watched time.Duration // for how long they have been compared; 0 at the first look
	Step    time.Duration // the largest step seen, positive if the wall clock went forward; 0 if none
	StepAge time.Duration // since it was seen
	Steps   int
}

// Usage is what one of the node's programs takes.
type Usage struct {
	Name    string  // "containerd", "kubelet", "plegtop"
	PID     int     // 0 if there are several processes of that name
	CPU     float64 // cores used, averaged since the look before; -1 at the first look
	Memory  uint64  // resident bytes
	Threads int
}
