package waits

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/plegtop/plegtop/engine/evidence"
)

// processesToKernel: a process that does nothing waits in a function of the kernel, or is
// held from outside; and there for the server or the device behind the file that its
// system call is about.
func processesToKernel(b *builder) {
	for i := range len(b.graph.Nodes) {
		n := b.graph.Nodes[i]
		if p := n.process; p != nil && (p.State.Stuck() && (n.Kind != Shim || Idle(p)) || n.Kind == Helper && p.Mount.Served()) {
			b.toKernel(i, p)
		}
	}
	b.toOnlyDisk()
}

func (b *builder) toKernel(process int, p *evidence.Process) {
	n, by := Node{Key: strconv.Itoa(p.PID), Kind: Kernel, Name: p.State.String(), Since: b.since(p.For)}, "its state"
	switch p.State {
	case evidence.Uninterrupted:
		n.Name = "D"
		if function, shows := kernelFunction(p); function != "" {
			n.ID, n.Name, by = function, "D in "+function, shows
		}
	case evidence.Sleeping: // for a server that is a program
		if function, shows := kernelFunction(p); function != "" {
			n.ID, n.Name, by = function, "waits in "+function, shows
		}
	case evidence.Frozen:
		n.ID, by = p.Freezer, "its control group"
	}
	kernel := b.node(n)
	b.edge(process, kernel, by)
	if m := FileSystem(b.Report, p); m.Type != "" {
		b.toFileSystem(kernel, m, "its system call is on that mount")
	} else if store := storeOf(b.Report); onDisk(store) && OnFrozen(p) && b.graph.Nodes[process].Kind == Process && b.graph.Nodes[process].Object == (evidence.Object{}) {
		b.toFileSystem(kernel, store, "") // what the runtime writes is mostly there
	}
}

// kernelFunction returns the function that tells most of what a process waits for, and
// what shows it: of a file server's not the remote call below it.
func kernelFunction(p *evidence.Process) (function, by string) {
	for _, f := range slices.Concat([]string{p.Wchan}, p.Stack) {
		f = strings.TrimLeft(f, "_")
		if evidence.ServerFunction(f) && !strings.HasPrefix(f, "rpc_") && !strings.HasPrefix(f, "xprt_") && !strings.Contains(f, "call_sync") {
			function = f
			break
		}
	}
	switch {
	case function == "" && p.Wchan != "":
		return p.Wchan, "its wchan"
	case function == "" && len(p.Stack) > 0:
		return p.Stack[0], "its kernel stack"
	case strings.TrimLeft(p.Wchan, "_") == function:
		return function, "its wchan"
	}
	return function, "its kernel stack"
}

// FileSystem returns the file system for which a process in the kernel waits; of a
// container's own files that is the runtime's disk.
func FileSystem(r *evidence.Report, p *evidence.Process) evidence.Mount {
	if store := storeOf(r); p.Mount.Type == "overlay" && store.Device != "" {
		return store
	}
	return p.Mount
}

// storeOf returns the file system of the runtime's data, as that of its folder.
func storeOf(r *evidence.Report) evidence.Mount {
	store := r.Disk.Mount
	store.Point = r.Disk.Path
	return store
}

func (b *builder) toFileSystem(kernel int, m evidence.Mount, proof string) {
	mount := b.node(Node{Key: cmp.Or(m.Device, m.Point), Kind: Mount, ID: m.Device, Name: "mount " + m.Point, mount: m})
	if m.Served() && !strings.HasPrefix(m.Type, "fuse") {
		server := b.node(Node{Key: m.Source, Kind: Server, ID: m.Source, Name: "server " + m.Source, mount: m})
		b.edge(kernel, server, proof)
		b.edge(server, mount, "mounted from there")
		return
	}
	b.edge(kernel, mount, proof)
	if onDisk(m) && m.Source != "" {
		by := cmp.Or(b.Disk(m), "the mount is on it")
		b.edge(mount, b.node(Node{Key: m.Device, Kind: Device, ID: m.Device, Name: m.Source, mount: m}), by)
	}
}

// onDisk reports whether a file system has a device of its own.
func onDisk(m evidence.Mount) bool { return m.Device != "" && !strings.HasPrefix(m.Device, "0:") }

// toOnlyDisk: where processes wait for one disk alone, who waits in the kernel for nobody
// knows what likely waits for that, too: to unmount anything, all of it is written first.
func (b *builder) toOnlyDisk() {
	only := -1
	for i := range b.graph.Nodes {
		switch n := &b.graph.Nodes[i]; {
		case n.Kind != Mount && n.Kind != Server:
		case only >= 0 && b.graph.Nodes[only].mount.Device != n.mount.Device:
			return
		case n.Kind == Mount:
			only = i
		}
	}
	if only < 0 || !onDisk(b.graph.Nodes[only].mount) {
		return
	}
	for i := range b.graph.Nodes {
		if n := &b.graph.Nodes[i]; n.process != nil && n.process.State == evidence.Uninterrupted && n.process.Mount.Type == "" && !ForServer(n.process) {
			if kernel := b.graph.Find(Key(Kernel, strconv.Itoa(n.process.PID))); kernel >= 0 {
				b.edge(kernel, only, "")
			}
		}
	}
}
