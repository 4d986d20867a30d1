package evidence

import (
	"cmp"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/knowledge"
	"github.com/plegtop/plegtop/engine/pleg"
)

// Processes is what /proc shows of the containers and of the programs that run them. They are judged only
// together with what the runtime lists.
type Processes struct {
	Missing string // why there are none at all, such as "not Linux"; empty if there was a look
	Partial string // why some may be missing, such as "cut off after 2s"; empty if none are

	Containers map[string][]Process // by the id in their cgroup: of a container, or of a sandbox for its pause process
	Objects    []Object             // the containers and sandboxes that a runtime made for a kubelet, by ID: not those that run within another
	Shims      []Process            // one for each shim, its Sandbox set; conmon counts as one for each container
	Helpers    []Process            // programs of the runtime and its shims, in any state, that do one thing and end: runc, network plugins, mounts and so on; each with its Parent, its Verb and, if it is known, its container
	Daemons    []Process            // the runtime's and the kubelet's own, as far as they are not known to be another runtime's

	// Roots has the processes that keep the root file systems of some containers busy, by the container's id.
	// These are the containers that are listed as running and had no process in the look before.
	Roots map[string][]Holder

	// OtherKubelet is a kubelet that serves another runtime, at its Socket, while there is no kubelet that may
	// serve this one. Then the report's Kubelet is not asked. PID 0 if there is none.
	OtherKubelet Process

	// KubeletRoots is the folder where a kubelet keeps its pods, for each running container that has mounts
	// from there, whichever runtime it belongs to. It is searched for only if no kubelet runs.
	KubeletRoots map[string]string
}

// Kubelet returns the process of the kubelet that may belong to our runtime; ok is false if there is none. The
// kubelet may run in a container, but not in a container that is a node of its own.
func (p Processes) Kubelet() (kubelet Process, ok bool) {
	is := func(one Process) bool {
		return slices.Contains(knowledge.Kubelets, one.Command) && one.PID != p.OtherKubelet.PID && !one.Nested
	}
	if i := slices.IndexFunc(p.Daemons, is); i >= 0 {
		return p.Daemons[i], true
	}
	for _, in := range p.Containers {
		if i := slices.IndexFunc(in, is); i >= 0 {
			return in[i], true
		}
	}
	return Process{}, false
}

// Suspects returns the ids of the sandboxes and containers that are suspicious: a process or the shim stands
// still, or a helper is at work. If any status call hangs, it is likely the call for one of these.
func (p *Processes) Suspects() map[string]bool {
	ids := make(map[string]bool)
	for id, in := range p.Containers {
		if slices.ContainsFunc(in, func(one Process) bool { return one.State.Stuck() }) {
			ids[id] = true
		}
	}
	for _, one := range p.Shims {
		if one.State.Stuck() {
			ids[one.Sandbox], ids[one.Container] = true, true
		}
	}
	for _, one := range p.Helpers {
		ids[one.Sandbox], ids[one.Container] = true, true
	}
	return ids
}

// Runtimes returns the processes that surely are the runtime's own. Of each program it returns the oldest
// process, because a runtime starts others of its own name for a moment.
func (p *Processes) Runtimes() (all []Process) {
	for _, d := range p.Daemons {
		if !d.Own || !slices.Contains(knowledge.Runtimes, d.Command) {
			continue
		}
		if i := slices.IndexFunc(all, func(o Process) bool { return o.Command == d.Command }); i < 0 {
			all = append(all, d)
		} else if d.Age > all[i].Age {
			all[i] = d
		}
	}
	return all
}

// Whole reports whether the look found all processes that exist.
func (p *Processes) Whole() bool { return p.Missing == "" && p.Partial == "" }

// Live reports whether a container or sandbox has a process that has not ended.
func (p Processes) Live(id string) bool { return slices.ContainsFunc(p.Containers[id], Process.Lives) }

// Lives reports whether a process has not ended. A zombie is only what is left of a process.
func (p Process) Lives() bool { return p.State != Zombie }

// A Process is one process, or one of its threads if only that one stands still.
type Process struct {
	PID     int    `line:"pid"`
	Parent  int    `line:"parent"`
	Command string `line:"command"` // comm, at most 15 bytes; of a helper the whole name of its program

	// Verb is what a helper does. For an OCI runtime it is "create", "delete" and so on, whatever the name of
	// its program is. For a network plugin it is "CNI ADD" or the like, and then Pod is set. For any other
	// helper it is the name of its program, such as "umount". Empty if not known. See [Process.HelperLimit].
	Verb      string      `line:"verb,omitempty"`
	Container string      `line:"containerId,omitempty"` // id from the cgroup or the arguments; may be empty
	Pod       pleg.PodRef `line:",inline,clean"`         // of a network plugin and of the programs that it calls; without its UID

	Age     time.Duration `line:"ageSeconds"`        // since its start; 0 if that could not be read
	Start   uint64        `line:"-"`                 // the same in ticks since the boot, as its stat file has it; 0 if that could not be read
	State   State         `line:"state"`             // of the thread that is worst off
	Thread  int           `line:"thread,omitempty"`  // whose state that is; 0 for the first one
	For     time.Duration `line:"forSeconds"`        // in this state, as far as the kernel or looks before tell; 0 if they do not
	AtLeast bool          `line:"-"`                 // For counts from the first look that saw this state. The state may be older, because no look saw it begin.
	Mount   Mount         `line:"mount,omitempty"`   // with the file that its system call is about, if it is in uninterruptible sleep, or a helper that waits for a server; zero if that is not known
	Among   []Mount       `line:"-"`                 // where Mount is not known and it waits for a server: the mounts of servers that it sees; it may wait for one of them
	Servers []Holder      `line:"-"`                 // where it waits for a FUSE file system: the program that serves that; several where it is not known which
	Freezer string        `line:"freezer,omitempty"` // of a frozen one: the file of the control group that froze it; empty if that is not known
	Wchan   string        `line:"waitsIn,omitempty"` // the kernel function in which it sleeps; empty if not permitted
	Stack   []string      `line:"-"`                 // kernel stack, the innermost function first; empty if not permitted
	Tracer  Tracer        `line:"-"`                 // of a traced one; zero if that is not known

	Sandbox string `line:"-"` // of a shim: the id that it was started with; of a helper: that of the shim that it comes from, if any
	Socket  string `line:"-"` // of a shim or the kubelet: the runtime's socket that it was started with; empty if there was none
	Own     bool   `line:"-"` // of a shim, a daemon or a helper: it belongs to the runtime that is looked at; false if that is not known
	Nested  bool   `line:"-"` // a kubelet that is in another pid namespace than the runtime and has another socket there, as in a container that is a node of its own

	// Unit is the service of the node's init system in which a daemon runs, such as "containerd.service", or
	// "k3s.service" for the containerd inside k3s. With OpenRC it is the bare name. Empty if it is not known.
	Unit string `line:"-"`
}

// WorstOf returns the first process of a container or sandbox that does nothing. If all work, it returns the
// first process; nil if there is none.
func WorstOf(all []Process) *Process {
	if len(all) == 0 {
		return nil
	}
	return &all[max(0, slices.IndexFunc(all, func(p Process) bool { return p.State.Stuck() }))]
}

// WaitsIn reports whether a process sleeps in a function of the kernel for which such returns true, or in a
// function that one of these has called.
func (p *Process) WaitsIn(such func(function string) bool) bool {
	return such(p.Wchan) || slices.ContainsFunc(p.Stack, such)
}

// A Tracer is a process that traces another one, such as a debugger.
type Tracer struct {
	PID     int
	Command string // comm; empty if it could not be read
	Start   uint64 // in ticks since the boot; 0 if it could not be read
}

// A Holder is a process that has something open, so that others must wait.
type Holder struct {
	PID       int
	Command   string // comm
	Start     uint64 // in ticks since the boot
	State     State  // of its first thread
	Container string // in which it runs; empty for none
	By        Hold
}

// A Hold says by which sign a process counts as a [Holder].
type Hold string

// The signs that a process keeps a root file system busy.
const (
	ByFolder Hold = "folder" // its working folder is there
	ByRoot   Hold = "root"   // its root is there
	ByFile   Hold = "file"   // it has a file open there
	ByMounts Hold = "mounts" // it is in the mount namespace of the process, and an unmount elsewhere does not remove it there
)

// The signs that a program serves a FUSE file system.
const (
	ByConnection Hold = "connection" // the kernel names the connection of the file system
	ByArguments  Hold = "arguments"  // its arguments name the place where the file system is mounted
	ByName       Hold = "name"       // it has the name of the file system
	ByDevice     Hold = "device"     // it has /dev/fuse open
)

// LooksAfter returns the sandbox for which a shim was started, or the container for which a conmon or an old
// shim was started. The ID is empty if that is not known.
func (p *Process) LooksAfter() pleg.ObjectRef {
	return pleg.ObjectRef{ID: cmp.Or(p.Sandbox, p.Container), Sandbox: p.Sandbox != ""}
}

// A Mount is a mounted file system, as the kernel shows it.
type Mount struct {
	Point  string // where it is mounted, as its process sees it
	Type   string // such as "ext4", "nfs4", "fuse.sshfs"
	Source string // such as "/dev/sdb1", "nas:/export"
	Device string // its number, such as "8:17"; one that begins with "0:" is no disk

	// Node is where the same file system is mounted on the node. A command there is about this mount and no
	// other. Empty if that is not known, or if it is mounted in several places.
	Node string
	// Abort is the file that ends the connection between a FUSE file system and its program; empty if the node
	// does not have this file.
	Abort string
	// Pod is the UID of the pod whose volume it is; empty if that is not known, or if several pods have it.
	Pod pleg.UID
}

// String returns where it is mounted.
func (m Mount) String() string { return m.Point }

// State is a process's state as /proc/PID/stat spells it, apart from [Frozen].
type State byte

// The states that matter here. No other state is used.
const (
	Running       State = 'R'
	Sleeping      State = 'S'
	Uninterrupted State = 'D' // in the kernel, where no signal can wake it
	Stopped       State = 'T'
	Traced        State = 't'
	Zombie        State = 'Z'

	// Frozen is the state of a process in a control group that was frozen, as for a pause. The kernel has no
	// letter for it: /proc says D or S, which depends on the kind of control group.
	Frozen State = 'F'
)

// String returns the state in words.
func (s State) String() string {
	switch s {
	case Running:
		return "running"
	case Sleeping:
		return "sleeping"
	case Uninterrupted:
		return "in uninterruptible sleep (D)"
	case Stopped:
		return "stopped (T)"
	case Traced:
		return "traced (t)"
	case Zombie:
		return "a zombie (Z)"
	case Frozen:
		return "frozen by its control group"
	}
	return "in state " + string(rune(s))
}

// Stuck reports whether a process in this state does nothing, whatever it is
// asked.
func (s State) Stuck() bool {
	return s == Uninterrupted || s == Stopped || s == Traced || s == Frozen
}
