package evidence

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/plegtop/plegtop/engine/pleg"
)

// ContainerOf returns a container as a list shows it.
func ContainerOf(pod pleg.PodRef, c *pleg.Container) Object {
	return Object{ObjectRef: pleg.ObjectRef{ID: c.ID, Pod: pod, Container: c.Name}, SandboxID: c.SandboxID, State: c.State}
}

// Objects returns the sandboxes and containers that the node shows without asking the runtime, each once, by
// ID: those that run, those that a shim or a helper works for, and after a deep look those that have a folder
// of the runtime. For each object it puts together what all of these sources say.
func (r *Report) Objects() []Object {
	all := slices.Clone(r.Processes.Objects)
	for _, p := range r.Processes.Shims {
		if ref := p.LooksAfter(); ref.ID != "" {
			all = append(all, Object{ObjectRef: ref, From: fmt.Sprintf("its shim, pid %d", p.PID)})
		}
	}
	for _, p := range r.Processes.Helpers {
		if p.Container != "" && p.Own {
			ref := pleg.ObjectRef{ID: p.Container, Pod: p.Pod, Sandbox: p.IsPlugin()} // a network is a sandbox's
			all = append(all, Object{ObjectRef: ref, From: fmt.Sprintf("%s %s, pid %d", p.Command, p.Verb, p.PID)})
		}
	}
	if r.Deep != nil {
		all = append(all, r.Deep.Objects.All...)
	}
	slices.SortStableFunc(all, func(a, b Object) int { return cmp.Compare(a.ID, b.ID) })
	merged := all[:0]
	for _, o := range all {
		if n := len(merged); n > 0 && merged[n-1].ID == o.ID {
			merged[n-1] = merged[n-1].with(o)
		} else {
			merged = append(merged, o)
		}
	}
	return merged
}

// with returns o, completed by what another source says about the same object. If one of them names the sandbox
// that the object is in, the object is a container, whatever the other says.
func (o Object) with(other Object) Object {
	o.SandboxID = cmp.Or(o.SandboxID, other.SandboxID)
	o.Pod, o.Container = o.Pod.Or(other.Pod), cmp.Or(o.Container, other.Container)
	o.Sandbox = (o.Sandbox || other.Sandbox) && o.SandboxID == "" && o.Container == ""
	return o
}
