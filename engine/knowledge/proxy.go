package knowledge

import (
	"slices"
	"strings"
)

// A Proxy is a program that speaks CRI in front of a runtime. The kubelet connects to the proxy's socket.
type Proxy struct {
	Program string // its name, or how the name begins; the kernel keeps 15 bytes
	Source  string
}

var proxies = lazy[Proxy]("proxies.yaml")

// IsProxy reports whether a process with this name is in front of a runtime.
func IsProxy(program string) bool {
	return slices.ContainsFunc(proxies(), func(p Proxy) bool {
		return strings.HasPrefix(program, p.Program[:min(len(p.Program), commLength)])
	})
}

// A Handler is a kind of OCI runtime that runs pods, by the name that a RuntimeClass uses.
type Handler struct {
	Name     string
	Source   string
	Handlers []string // the names of handlers; empty is the runtime's default
	Programs []string // how the names of the programs in the control group of a pod's sandbox begin
	// Inside says that a container's processes are processes of the node.
	Inside bool
}

var handlers = lazy[Handler]("handlers.yaml")

// RunsElsewhere reports whether the processes of a pod may be in a virtual machine or in a sandbox's own process. It
// decides by the pod's handler, or by the name of a program in its sandbox's control group. Both may be empty. For a
// handler that is in no row it returns true, because that may be anything.
func RunsElsewhere(handler, program string) bool {
	begins := func(name string, all []string) bool {
		return name != "" && slices.ContainsFunc(all, func(b string) bool { return strings.HasPrefix(name, b[:min(len(b), commLength)]) })
	}
	known := handler == ""
	for _, h := range handlers() {
		if !h.Inside && begins(program, h.Programs) {
			return true
		}
		if slices.Contains(h.Handlers, handler) && h.Inside {
			known = true
		}
	}
	return !known
}
