package diagnose

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
)

// below adds what a container or sandbox waits for: its shim, what that has called, and
// the kernel.
func (c *chain) below(id, sandbox string, isSandbox bool, g *evidence.Goroutine) {
	shim, hasShim := c.shim(id, sandbox)
	if hasShim {
		put(&c.cuts, LinkShim, endShim(shim))
	}
	errand, found := c.errandFor(id, sandbox, isSandbox)
	asked := g != nil && strings.HasPrefix(g.Doing, "ttrpc") && g.Waits == ""
	switch {
	case !hasShim:
	case asked:
		c.add(LinkShim, pid(shim), shimName(shim), "the goroutine waits for its answer to "+strings.TrimPrefix(g.Doing, "ttrpc "))
	case shimStuck(shim):
		c.add(LinkShim, pid(shim), shimName(shim), "it is "+shim.State.String()+" and answers nobody")
	case found && errand.Parent == shim.PID:
		c.add(LinkShim, pid(shim), shimName(shim), fmt.Sprintf("it waits for its child, pid %d (%s)", errand.PID, errand.Command))
	}
	switch p, ok := c.worst(id); {
	case found:
		c.errand(errand, c.errandProof(errand, shim, id))
	case hasShim && shimStuck(shim):
		c.kernel(shim)
	case ok && (held(p) || inKernel(p)):
		c.process(p, "")
	}
}

func shimName(p evidence.Process) string { return monitorWord(p) + " " + pid(p) }

// process adds a process that does nothing.
func (c *chain) process(p evidence.Process, proof string) {
	c.add(LinkProcess, pid(p), fmt.Sprintf("pid %d (%s)", p.PID, p.Command), proof)
	if step, ok := letGoOn(p, p.Container); ok {
		put(&c.cuts, LinkProcess, step)
	}
	c.kernel(p)
}

// errandFor returns what works on a container or sandbox and has not ended: that which
// is about it, or else a child of its shim that is about nobody else. Those that last as
// long as what they run are no matter.
func (v *view) errandFor(id, sandbox string, isSandbox bool) (evidence.Process, bool) {
	container := id
	if isSandbox {
		container = ""
	}
	for _, p := range v.errandsOf(container, sandbox) {
		if p.ErrandLimit() > 0 && (isSandbox || p.Container == id || p.Container == "") {
			return p, true
		}
	}
	return evidence.Process{}, false
}

// errandProof says by what an errand is one of the object above it.
func (v *view) errandProof(p, shim evidence.Process, id string) string {
	var by []string
	if p.Parent != 0 && p.Parent == shim.PID {
		by = append(by, "child of the "+monitorWord(shim))
	} else if slices.ContainsFunc(v.daemons(), func(d evidence.Process) bool { return d.PID == p.Parent }) {
		by = append(by, fmt.Sprintf("child of the runtime (pid %d)", p.Parent))
	}
	if p.Container == id && id != "" {
		by = append(by, "named in its arguments")
	}
	return join(by)
}

// errand adds an errand, what it has called itself, and what that waits for in the kernel.
func (c *chain) errand(p evidence.Process, proof string) {
	put(&c.cuts, LinkErrand, endErrand(p))
	for range 4 { // runc calls itself, and a wrapper of it runc
		c.add(LinkErrand, pid(p), fmt.Sprintf("%s (%s)", errandName(p), roughly(p.Age)), proof)
		child, waits := c.waitsForChild(p)
		if !waits || p.State.Stuck() {
			break
		}
		p, proof = child, fmt.Sprintf("child of pid %d", p.PID)
	}
	c.kernel(p)
}

// kernel adds where a process is held that does nothing, and the file system that it
// waits for.
func (c *chain) kernel(p evidence.Process) {
	switch p.State {
	case evidence.Uninterrupted:
		if function, by := kernelFunction(p); function != "" {
			c.add(LinkKernel, function, "D in "+function, by)
		} else {
			c.add(LinkKernel, "", "D", "its state")
		}
		c.fileSystem(p)
	case evidence.Frozen:
		c.add(LinkKernel, p.Freezer, p.State.String(), "its control group")
	case evidence.Stopped, evidence.Traced:
		c.add(LinkKernel, "", p.State.String(), "its state")
	}
}

// kernelFunction returns the function that tells most of what a process waits for, and
// what shows it: of a file server's not the remote call below it.
func kernelFunction(p evidence.Process) (function, by string) {
	for _, f := range slices.Concat([]string{p.Wchan}, p.Stack) {
		f = strings.TrimLeft(f, "_")
		if forServer(f) && !strings.HasPrefix(f, "rpc_") && !strings.HasPrefix(f, "xprt_") && !strings.Contains(f, "call_sync") {
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

// fileSystem adds the server or the device behind the file that a system call is about.
func (c *chain) fileSystem(p evidence.Process) {
	m := c.waitsOn(p)
	if m.Type == "" {
		return
	}
	on := "its system call is on that mount"
	if i := slices.IndexFunc(freeing(p), func(s Step) bool { return s.Risky }); i >= 0 {
		put(&c.cuts, LinkMount, freeing(p)[i])
	}
	if isServed(m) && !strings.HasPrefix(m.Type, "fuse") {
		c.add(LinkServer, m.Source, "server "+m.Source, on)
		c.add(LinkMount, m.Device, m.Point, "mounted from there")
		return
	}
	c.add(LinkMount, m.Device, m.Point, on)
	if !strings.HasPrefix(m.Device, "0:") && m.Source != "" {
		proof := "the mount is on it"
		if lines := c.disk(m); len(lines) > 0 {
			proof = lines[0]
		}
		c.add(LinkDevice, m.Device, m.Source, proof)
	}
}

// roughly returns a duration by its largest unit or two: 47s, 10m, 2h5m.
func roughly(d time.Duration) string {
	if d >= time.Minute && d < time.Hour {
		return fmt.Sprintf("%dm", d/time.Minute)
	}
	return going(d)
}

// flightOf returns the status call that asks for an object, named as far as a list or
// the node names it.
func (v *view) flightOf(id string) engine.Flight {
	o, known := listing(v.Snapshot)[id]
	if !known {
		shown, _ := v.shown(id) // nothing if the node does not show it
		o = asListed(shown)
	}
	f := engine.Flight{Op: call.ContainerStatus, ID: id, Pod: o.pod, Container: o.container}
	if o.sandbox {
		f.Op = call.PodSandboxStatus
	}
	return f
}
