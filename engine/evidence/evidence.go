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
	OS   string        // the ID of the node's os-release, such as "talos"; empty if it is not known
	Init string        // the node's init system, "systemd" or "openrc"; empty if nothing tells

	Processes Processes
	Socket    Socket
	Usage     []Usage // of the runtime, the kubelet and plegtop itself, in this order, as far as they were found
	Limits    []Limit // of the runtime's own processes and of the node
	Pressure  Pressure
	Disk      Disk // of the runtime's data
	State     Disk // of what its shims work in, such as /run/containerd
	// Devices are those with requests under way; none too where nothing is known of them.
	Devices []Device
	Clock   Clock
	Kernel  Kernel
	Kubelet Kubelet
	// Services are those of the runtime and the kubelet while the runtime's process is not
	// older than [FreshRuntime]; none where the init system says nothing.
	Services []Unit
	Deep     *Deep // nil where nothing hung when the look began
}

// FreshRuntime is for how long after its start a runtime's process is new: how often it was
// begun before that is looked for then.
const FreshRuntime = time.Minute

// Socket is what the node has where the runtime's socket belongs.
type Socket struct {
	Missing string // why nothing is known of it; empty if there was a look
	Kind    string // "socket", "file", "folder", "pipe", "device"; empty if nothing is there

	// Holder is who listens at it, or did when the look was made that first found it;
	// PID 0 if nobody does, or that cannot be known.
	Holder Process

	// Unlinked is the runtime's process that listens at a socket which was made there, while
	// what is there now does not lead to it. Clients that are connected still get answers. New
	// ones cannot connect. PID 0 if there is none, or that cannot be known.
	Unlinked Process

	// Locked is the runtime's file that another process has locked. Locker is that process. Both
	// are looked for while nobody listens, and are empty if there is none.
	Locked string
	Locker Process
	Waits  Process // the runtime's own
}

// Pressure is what /proc/pressure says: the share of time in which tasks stood
// still for want of a resource.
type Pressure struct {
	Missing string `line:"-"` // why there is none; empty if there is
	CPU     Stall  `line:"cpu"`
	IO      Stall  `line:"io"`
	Memory  Stall  `line:"memory"`
}

// IsZero reports whether there is none.
func (p Pressure) IsZero() bool { return p.Missing != "" }

// A Stall holds shares of time in percent, averaged over 10 s and over 60 s:
// Some, in which at least one task stood still, and Full, in which all did.
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
	Mount        Mount         `line:"-"`    // what it is on, without the Point; its parts are empty if they are not known
	Below        []string      `line:"-"`    // the disks that the one of Mount is a part of or made of, such as "sda"; the nearest first, a few
	Total        uint64        `line:"totalBytes"`
	Free         uint64        `line:"freeBytes"` // what is left to ordinary users
	Left         uint64        `line:"-"`         // bytes that are left to root
	Inodes       uint64        `line:"inodes"`    // both are 0 on file systems that have no table of them
	InodesUnused uint64        `line:"inodesUnused"`
	ReadOnly     string        `line:"readOnly,omitempty"` // why nothing can be written: how the file system is mounted, or what it came to after an error; empty if it can
	Errors       uint64        `line:"-"`                  // that ext4 has found in it since it was last checked
	ErrorAge     time.Duration `line:"-"`                  // since the last of them
}

// IsZero reports whether nothing but its place is known: a drawn node has disks without figures.
func (d Disk) IsZero() bool {
	return d.Missing != "" || d.Path == "" || d.Total == 0 && d.ReadOnly == ""
}

// A Device is a disk, or a part of one.
type Device struct {
	Number   string        `line:"-"`            // such as "8:17"
	Name     string        `line:"name"`         // such as "sdb1"
	InFlight int           `line:"inFlight"`     // requests that it has been given and has not answered
	Still    time.Duration `line:"stillSeconds"` // for how long it has answered none; 0 at the first look
}

// What a [Limit] is of.
const (
	OpenFiles = "open files"
	Threads   = "threads"
	Memory    = "memory"    // bytes that cannot be dropped, unlike those of files
	OOMKills  = "oom kills" // of processes of its group for want of memory, since the look before. The limit is left out if none was killed.
)

// A Limit is a resource that can run out, and how much of it is used.
type Limit struct {
	Of   string `line:"of,omitempty"`  // a daemon's name; empty for the whole node
	PID  int    `line:"pid,omitempty"` // of the daemon
	What string `line:"what"`          // such as [OpenFiles]
	Used uint64 `line:"used"`
	Most uint64 `line:"most"`
	Hard uint64 `line:"-"`    // what Most may be raised to without other rights; 0 if that is not known
	Path string `line:"path"` // of the file that has the limit
}

// Clock compares the node's wall clock with its monotonic one. If they drift apart
// at once, that is a step: somebody set the time, or the machine was suspended.
type Clock struct {
	Watched time.Duration // for how long they have been compared; 0 at the first look
	Step    time.Duration // the largest step seen, positive if the wall clock went forward; 0 if none
	StepAge time.Duration // since it was seen
	Steps   int
}

// Usage is what one of the node's programs takes.
type Usage struct {
	Name    string `line:"name"`           // "containerd", "kubelet", "plegtop"
	PID     int    `line:"pid,omitempty"`  // 0 if there are several processes of that name
	CPU     Cores  `line:"cores,omitzero"` // averaged since the look before; -1 at the first look
	Memory  uint64 `line:"memoryBytes"`    // resident
	Threads int    `line:"threads"`

	Quota float64 `line:"quotaCores,omitempty"` // how many processors its control group may use at most; 0 for no limit
}

// Cores is how much of the node's processors is used; negative if that is not known.
type Cores float64

// IsZero reports whether it is not known.
func (c Cores) IsZero() bool { return !(c >= 0) }
