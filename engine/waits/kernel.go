package waits

import (
	"strconv"
	"strings"

	"github.com/plegtop/plegtop/engine/evidence"
)

// processesToKernel adds that a process which does nothing waits in a function of the kernel, or is held from
// outside. From there it adds the server or the device behind the file that its system call is about.
func processesToKernel(b *builder) {
	for i := range len(b.graph.Nodes) {
		n := &b.graph.Nodes[i]
		if n.process == nil {
			continue
		}
		if runtime := b.withoutMemory(n); runtime != nil {
			b.edge(i, b.runtime(runtime), by(groupWithoutMemory))
		} else if n.process.State.Stuck() && (n.Kind != Shim || n.doing.DoesNothing()) || n.Kind == Helper && n.doing.What == evidence.OnServer {
			b.toKernel(i, n.process, n.as)
		}
	}
	b.toOnlyDisk()
}

// withoutMemory returns the runtime's process if the process of a node is its child, and both wait for memory:
// the control group of the runtime has none left. Otherwise it returns nil.
func (b *builder) withoutMemory(n *Node) *evidence.Process {
	for i := range b.Runtime {
		if p := &b.Runtime[i]; n.doing.What == evidence.OnMemory && n.process.Parent == p.PID && b.Doing(p, evidence.AsRuntime).What == evidence.OnMemory {
			return p
		}
	}
	return nil
}

// toKernel adds what a process waits for in the kernel, and the file system behind it.
func (b *builder) toKernel(process int, p *evidence.Process, as evidence.Role) {
	n, proof := Node{Name: p.State.String(), Since: b.since(p.For)}, inState
	function, shown := kernelFunction(p)
	switch p.State {
	case evidence.Frozen:
		n.ID, proof = p.Freezer, inControlGroup
	case evidence.Sleeping: // it waits for a server that is a program
		n.ID, n.Name, proof = function, "waits in "+function, shown
	case evidence.Uninterrupted:
		n.ID, n.Name, proof = function, strings.TrimSuffix("D in "+function, " in "), shown
	}
	kernel := b.node(Kernel, strconv.Itoa(p.PID), n)
	b.edge(process, kernel, by(proof))
	if m := b.Report.FileSystem(p); m.Type != "" {
		b.toFileSystem(kernel, m, by(callOnMount))
	} else if store, sign, on := b.StoreOf(p, as); on && store.OnDevice() {
		b.toFileSystem(kernel, store, by(storeSigns[sign]))
	}
}

// storeSigns are the proofs that a process waits for the runtime's disk. Without a sign the proof is empty, and
// the wait is only likely.
var storeSigns = [...]By{evidence.DeviceDead: storeIsDead, evidence.FileThere: fileOnStore, evidence.KindOfIt: kindOfStore, evidence.SinceStart: writesAtStart}

// kernelFunction returns the function that says most about what a process waits for, and where that function
// was seen. Among the functions of a file server it passes over the remote call below them.
func kernelFunction(p *evidence.Process) (function string, shown By) {
	for _, f := range append([]string{p.Wchan}, p.Stack...) {
		f = strings.TrimLeft(f, "_")
		if evidence.ServerFunction(f) && !strings.HasPrefix(f, "rpc_") && !strings.HasPrefix(f, "xprt_") && !strings.Contains(f, "call_sync") {
			if f == strings.TrimLeft(p.Wchan, "_") {
				return f, inWchan
			}
			return f, inKernelStack
		}
	}
	switch {
	case p.Wchan != "":
		return p.Wchan, inWchan
	case len(p.Stack) > 0:
		return p.Stack[0], inKernelStack
	}
	return "", inState
}

// toFileSystem adds the file system that a process waits for in the kernel, with its server or its device. FUSE
// has no server: the program behind it is on this node.
func (b *builder) toFileSystem(kernel int, m evidence.Mount, proof Proof) {
	mount := b.mount(m)
	if m.Served() && !strings.HasPrefix(m.Type, "fuse") {
		server := b.node(Server, m.Source, Node{ID: m.Source, Name: "server " + m.Source, mount: m})
		b.edge(kernel, server, proof)
		b.edge(server, mount, by(mountedFrom))
		return
	}
	b.edge(kernel, mount, proof)
	if m.OnDevice() && m.Source != "" {
		proof := by(mountOnDevice)
		if line := b.Disk(m); line != "" {
			proof = by(reported, line)
		}
		b.edge(mount, b.node(Device, m.Device, Node{ID: m.Device, Name: m.Source, mount: m}), proof)
	}
}

// toOnlyDisk adds likely edges if all known waits are for one disk. Then a process in the kernel whose file
// system is not known likely waits for that disk too: before anything is unmounted, all of its data is written.
func (b *builder) toOnlyDisk() {
	places := make(map[string]int) // of mounts and servers, by device
	b.graph.Each("", func(i int, n *Node) {
		if _, known := places[n.mount.Device]; !known && (n.Kind == Mount || n.Kind == Server) { // a mount comes before its server
			places[n.mount.Device] = i
		}
	})
	for _, only := range places {
		if len(places) > 1 || !b.graph.Nodes[only].mount.OnDevice() {
			return
		}
		b.graph.Each("", func(_ int, n *Node) {
			if p := n.process; p != nil && p.State == evidence.Uninterrupted && p.Mount.Type == "" && n.doing.What != evidence.OnServer {
				if kernel := b.graph.Find(Key(Kernel, n.ID)); kernel >= 0 {
					b.edge(kernel, only, Proof{})
				}
			}
		})
	}
}
