package knowledge

import (
	"slices"
	"strings"
)

// A Proxy is a program that speaks CRI in front of a runtime: the kubelet was given its socket.
type Proxy struct {
	Program string // its name, or how that begins; the kernel keeps 15 bytes
	Source  string
}

var proxies = lazy[Proxy]("proxies.yaml")

// IsProxy reports whether a process of that name stands in front of a runtime.
func IsProxy(program string) bool {
	return slices.ContainsFunc(proxies(), func(p Proxy) bool {
		return strings.HasPrefix(program, p.Program[:min(len(p.Program), commLength)])
	})
}

// A Handler is a kind of OCI runtime by which pods run, as a RuntimeClass names it.
type Handler struct {
	Name     string
	Source   string
	Handlers []string // the names of handlers, or how they begin; empty is the runtime's default
	Programs []string // how the programs begin that are in the control group of a pod's sandbox
	// Inside says that a container's processes are processes of the node.
	Inside bool
}

var handlers = lazy[Handler]("handlers.yaml")

// RunsElsewhere reports whether the processes of a pod may be in a virtual machine or a sandbox's own
// process: by its handler, or by the name of a program in its sandbox's group. Both may be empty. A
// handler that no row has proves nothing, and so may be anything.
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
