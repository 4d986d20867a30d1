package evidence

import (
	"time"

	"github.com/plegtop/plegtop/engine/knowledge"
	"github.com/plegtop/plegtop/engine/pleg"
)

// A Source says where one kind of evidence was read, and how that went. If there is a Source but no content,
// the place was read and was empty.
type Source struct {
	From    string        `line:"from,omitempty"`    // a file, a socket or a URL; empty if none is known
	Took    time.Duration `line:"tookSeconds"`       // how long the reading took
	Bytes   int64         `line:"bytes"`             // bytes that were read
	Missing string        `line:"missing,omitempty"` // why there is nothing, and what would help; empty if it was read
	Partial string        `line:"partial,omitempty"` // why something is missing; empty if nothing is
	Pending bool          `line:"-"`                 // it is still being read, and may be there in the next look; Missing says so too
}

// Deep is what is read only if something hangs. On a healthy node nothing of it is read.
type Deep struct {
	Objects Objects
	Stacks  Stacks
	Calls   RuntimeCalls
	Units   Units

	Unserved []Mount // FUSE mounts of pods or the runtime whose program has ended
}

// Pending reports whether something in it is still being read, so that another look in a moment may show more.
// For nil it returns false.
func (d *Deep) Pending() bool { return d != nil && (d.Stacks.Pending || d.Calls.Pending) }

// Objects are the sandboxes and containers of the runtime, by its own folders on the node. So they are known
// even if a list hangs.
type Objects struct {
	Source
	All []Object
}

// An Object is a sandbox or a container, as a list or the node itself shows it. Fields that are not known are
// empty.
type Object struct {
	pleg.ObjectRef
	SandboxID string     `line:"-"` // the sandbox that a container is in
	State     pleg.State `line:"-"` // as the runtime lists it, or as it can only be; the node itself does not show it
	From      string     `line:"-"` // what on the node shows it: a control group, a shim, a folder; empty if it comes from a list
}

// IsZero reports whether it is no object at all.
func (o Object) IsZero() bool { return o.ObjectRef == pleg.ObjectRef{} }

// RuntimeCalls are the calls that the runtime has received and not ended, from any client, by the runtime's own
// metrics.
type RuntimeCalls struct {
	Source
	InFlight []InFlight // by Method
}

// InFlight is how many calls of a method have begun and not ended.
type InFlight struct {
	Method string        `line:"method"` // of the CRI, such as "UpdateContainerResources"
	Count  int           `line:"count"`
	For    time.Duration `line:"forSeconds"` // at least; for so long looks have shown as many calls; 0 at the first
}

// Kernel is what the kernel has logged lately, as far as it makes runtimes hang. It is read in each look while
// something hangs, else once a minute. Its Source is about the last reading; its Lines are from all readings.
type Kernel struct {
	Source
	Lines []KernelLine // the youngest first, a few of each kind
}

// A KernelLine is one line of the kernel's log.
type KernelLine struct {
	Kind    string          // as the table of knowledge calls it, such as "hung task"
	About   knowledge.About // which findings it explains
	Age     time.Duration
	Text    string // as the kernel wrote it
	PID     int    // of the process that it names; 0 if it names none
	Command string // the name of that process
	Owner   int    // of a task that waits for a lock: the number of the task that likely has it; 0 if the kernel does not say
	Device  string // or server, or file system that it names; may be empty
	Group   string // the control group that it names, or that of a process that was killed, from the root of all; empty if the kernel does not say
	Own     bool   // of a process that was killed: a look has seen it as a daemon of [Processes]
	Failed  string // of a disk: "write" or "read", which a file system has asked for and did not get; empty if the line does not say
	Count   int    // how many of these lines there were, this one being the last; at least 1
}

// Units are the services of the init system that the runtime and the kubelet run in.
type Units struct {
	Source
	All []Unit
}

// A Unit is one service. Fields that the init system does not tell are zero.
type Unit struct {
	Name     string
	State    string        // as systemd says, such as "active", "activating"; empty if it was not asked
	Restarts int           // restarts by the init system on its own since a person started the service; if the init system was not asked, the restarts that looks have seen
	Up       time.Duration // for how long its process has been up
}
