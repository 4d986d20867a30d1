// Package evidence has the types for what the node itself shows, apart from the container runtime: its
// processes, its pressure, its clock, its kubelet. Package host gathers the evidence, package diagnose judges
// it, and the views show it. So none of them needs to know another.
//
// Everything in it is a plain value that never changes once it was handed out, and may be read from any
// goroutine. Texts are not cleaned. All durations are measured back from the [Report]'s At, so that a reader
// needs no clock.
package evidence

import "time"

// A Report is one look at the node. Each part says for itself why it is not
// there: a report is never an error.
type Report struct {
	At   time.Time     // the end of the look, by the node's clock
	Took time.Duration // how long the look took
	OS   string        // the ID of the node's os-release, such as "talos"; empty if it is not known
	Init string        // the node's init system, "systemd" or "openrc"; empty if nothing tells

	Processes Processes
	Socket    Socket
	Usage     []Usage // what the runtime, the kubelet and plegtop itself use, in this order, as far as they were found
	Limits    []Limit // of the runtime's own processes and of the node
	Pressure  Pressure
	Disk      Disk // of the runtime's data
	State     Disk // of the folder in which its shims work, such as /run/containerd
	// Devices are the disks with requests under way. There are none also if nothing is known of them.
	Devices []Device
	Clock   Clock
	Kernel  Kernel
	Kubelet Kubelet
	// Services are the services of the runtime and the kubelet, while the runtime's process is not older than
	// [FreshRuntime]; none if the init system says nothing.
	Services []Unit
	Deep     *Deep // nil if nothing hung when the look began
}

// FreshRuntime is how long after its start a runtime's process counts as new. While it is new, plegtop finds
// out how often the runtime was started before.
const FreshRuntime = time.Minute

// Socket is what the node has where the runtime's socket belongs.
type Socket struct {
	Missing string // why nothing is known of it; empty if there was a look
	Kind    string // "socket", "file", "folder", "pipe", "device"; empty if nothing is there

	// Holder is the process that listens at the socket, by the first look that found it; PID 0 if nobody does,
	// or if that cannot be known.
	Holder Process

	// Unlinked is a process of the runtime whose socket was made at this path, while what is there now does not
	// lead to that socket. Clients that are connected still get answers. New ones cannot connect. PID 0 if
	// there is none, or that cannot be known.
	Unlinked Process

	// Locked is the runtime's file that another process has locked. Locker is that process. Both are searched
	// for while nobody listens, and are empty if there is none.
	Locked string
	Locker Process
	Waits  Process // the runtime's process that waits for the lock
}

// Pressure is what /proc/pressure says: the share of time in which tasks stood still because a resource was
// short.
type Pressure struct {
	Missing string `line:"-"` // why there is none; empty if there is
	CPU     Stall  `line:"cpu"`
	IO      Stall  `line:"io"`
	Memory  Stall  `line:"memory"`
}

// IsZero reports whether there is none.
func (p Pressure) IsZero() bool { return p.Missing != "" }

// A Stall holds shares of time in percent, averaged over 10 s and over 60 s. In Some at least one task stood
// still, in Full all tasks did.
type Stall struct {
	Some10 float64 `line:"some10"`
	Some60 float64 `line:"some60"`
	Full10 float64 `line:"full10"`
	Full60 float64 `line:"full60"`
}

// Disk is the file system that holds one of the runtime's folders.
type Disk struct {
	Missing      string        `line:"-"`    // why there is none; empty if there is
	Broken       bool          `line:"-"`    // Missing is what the file system itself answers, such as an I/O error, or a folder in use is gone
	Path         string        `line:"path"` // of the folder on the node
	Mount        Mount         `line:"-"`    // the mount that the folder is on, without the Point; its parts are empty if they are not known
	Below        []string      `line:"-"`    // a few disks below the disk of Mount, such as "sda", the nearest first: those that it is a part of, or made of
	Total        uint64        `line:"totalBytes"`
	Free         uint64        `line:"freeBytes"` // bytes that ordinary users may still write
	Left         uint64        `line:"-"`         // bytes that root may still write
	Inodes       uint64        `line:"inodes"`    // Inodes and InodesUnused are 0 on file systems without a table of inodes
	InodesUnused uint64        `line:"inodesUnused"`
	ReadOnly     string        `line:"readOnly,omitempty"` // why nothing can be written: how the file system is mounted, or its state after an error; empty if it can be written
	Errors       uint64        `line:"-"`                  // errors that ext4 has found in it since its last check
	ErrorAge     time.Duration `line:"-"`                  // since the last of them
}

// IsZero reports whether only the disk's place is known: the disks of a picture of a node have no figures.
func (d Disk) IsZero() bool {
	return d.Missing != "" || d.Path == "" || d.Total == 0 && d.ReadOnly == ""
}

// A Device is a disk, or a part of one.
type Device struct {
	Number   string        `line:"-"`            // such as "8:17"
	Name     string        `line:"name"`         // such as "sdb1"
	InFlight int           `line:"inFlight"`     // requests that it has been given and has not answered
	Still    time.Duration `line:"stillSeconds"` // for how long it has answered none; 0 in the first look
}

// DeadIn returns for how much longer the device must answer nothing until it is dead; 0 if it is dead.
func (d Device) DeadIn() time.Duration { return max(quiet-d.Still, 0) }

// The resources that a [Limit] may be of.
const (
	OpenFiles = "open files"
	Threads   = "threads"
	Memory    = "memory"    // bytes that cannot be dropped, unlike those of files
	OOMKills  = "oom kills" // processes of its group that were killed for want of memory since the look before. The limit is left out if none was killed.
)

// A Limit is a resource that can run out, and how much of it is used.
type Limit struct {
	Of   string `line:"of,omitempty"`  // a daemon's name; empty for the whole node
	PID  int    `line:"pid,omitempty"` // of the daemon
	What string `line:"what"`          // such as [OpenFiles]
	Used uint64 `line:"used"`
	Most uint64 `line:"most"`
	Hard uint64 `line:"-"`    // up to this figure Most may be raised without more rights; 0 if that is not known
	Path string `line:"path"` // of the file that has the limit
}

// Clock compares the node's wall clock with its monotonic clock. If they suddenly differ, that is a step:
// somebody set the time, or the machine was suspended.
type Clock struct {
	Watched time.Duration // for how long they have been compared; 0 in the first look
	Step    time.Duration // the largest step seen, positive if the wall clock went forward; 0 if none
	StepAge time.Duration // the time since it was seen
	Steps   int
}

// Usage is what one of the node's programs uses.
type Usage struct {
	Name    string `line:"name"`           // "containerd", "kubelet", "plegtop"
	PID     int    `line:"pid,omitempty"`  // 0 if there are several processes of that name
	CPU     Cores  `line:"cores,omitzero"` // the average since the look before; -1 in the first look
	Memory  uint64 `line:"memoryBytes"`    // resident
	Threads int    `line:"threads"`

	Quota float64 `line:"quotaCores,omitempty"` // how many processors its control group may use at most; 0 for no limit
}

// Cores is how much of the node's processors is used; negative if that is not known.
type Cores float64

// IsZero reports whether it is not known.
func (c Cores) IsZero() bool { return !(c >= 0) }
