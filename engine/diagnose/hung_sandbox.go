package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

// A hungObject is a status call that hangs, and with a sandbox those of its
// containers if all of them hang as well: they share a shim, and it is one
// trouble.
type hungObject struct {
	hang
	containers []hang
}

// gathered returns what hangs, in its order, with a whole pod as one.
func (r *reading) gathered() []hungObject {
	var all []hungObject
	taken := make([]bool, len(r.objects))
	for i, h := range r.objects {
		if taken[i] {
			continue
		}
		sandbox, containers := r.wholePod(h)
		if sandbox < 0 {
			all = append(all, hungObject{hang: h})
			continue
		}
		whole := hungObject{hang: r.objects[sandbox]}
		taken[sandbox] = true
		for _, j := range containers {
			taken[j] = true
			whole.containers = append(whole.containers, r.objects[j])
		}
		all = append(all, whole)
	}
	return all
}

// wholePod returns the places of a sandbox and of its containers among the
// objects, if the sandbox of an object hangs with every container in it that has
// not ended; -1 if not.
func (r *reading) wholePod(h hang) (sandbox int, containers []int) {
	id := r.sandbox(h.Flight)
	sandbox = r.hungAt(call.PodSandboxStatus, id)
	if sandbox < 0 || id == "" {
		return -1, nil
	}
	for _, c := range r.inSandbox(r.objects[sandbox].Pod, id) {
		i := r.hungAt(call.ContainerStatus, c.ID)
		if i < 0 && c.State != pleg.Exited {
			return -1, nil
		}
		if i >= 0 {
			containers = append(containers, i)
		}
	}
	if len(containers) == 0 {
		return -1, nil
	}
	return sandbox, containers
}

func (r *reading) hungAt(op call.Operation, id string) int {
	return slices.IndexFunc(r.objects, func(h hang) bool { return h.Op == op && h.ID == id })
}

// inSandbox returns the containers that are listed in a sandbox.
func (r *reading) inSandbox(pod pleg.PodRef, sandbox string) (inside []pleg.Container) {
	for _, p := range r.Pods {
		if p.PodRef != pod || p.Seen() == nil {
			continue
		}
		for _, c := range p.Seen().Containers {
			if c.SandboxID == sandbox && c.ID != "" {
				inside = append(inside, c)
			}
		}
	}
	return inside
}

// summary says what hangs, and for how long.
func (o hungObject) summary(r *reading) string {
	who := object(o.Flight)
	switch n := len(o.containers); n {
	case 0:
	case 1:
		who += " and ContainerStatus of its container"
	default:
		who += fmt.Sprintf(" and ContainerStatus of its %d containers", n)
	}
	return fmt.Sprintf("%v of %s %s", o.Op, who, r.unanswered(o.hang))
}

// also names the containers that hang with their sandbox.
func (o hungObject) also() string {
	if len(o.containers) == 0 {
		return ""
	}
	var names []string
	for _, c := range o.containers {
		names = append(names, fmt.Sprintf("%s (%s)", c.Container, c.ID))
	}
	return "hangs as well: ContainerStatus of " + strings.Join(names, ", ") + "; they share a shim"
}
