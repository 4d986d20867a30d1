package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
)

const (
	// errandYoung is how old an errand is at most that nobody has waited for yet.
	errandYoung = time.Second
	// errandBusy is how many times longer errands take where they wait for the CPU.
	errandBusy = 2
)

// errandsOf returns what the runtime and its shims have called and wait for, of one
// container or sandbox: what is about that one itself, or else what the shim of that
// sandbox has called. Those that began the others come first, the oldest before the rest;
// what has only just begun is left out. Either id may be empty.
func (v *view) errandsOf(containerID, sandboxID string) []evidence.Process {
	of := func(such func(evidence.Process) bool) (found []evidence.Process) {
		for _, p := range v.evidence.Processes.Errands {
			if p.Own && p.Age >= errandYoung && such(p) {
				found = append(found, p)
			}
		}
		slices.SortStableFunc(found, olderFirst)
		return found
	}
	id := cmp.Or(containerID, sandboxID)
	if id == "" {
		return nil
	}
	if found := of(func(p evidence.Process) bool { return p.Container == id }); found != nil || sandboxID == "" {
		return found
	}
	return of(func(p evidence.Process) bool { return p.Sandbox == sandboxID })
}

// olderFirst compares two processes. Who began another is no younger.
func olderFirst(a, b evidence.Process) int {
	return cmp.Or(cmp.Compare(b.Age, a.Age), cmp.Compare(a.PID, b.PID))
}

// errandLate reports whether an errand is older than its like ever gets on this node.
func (v *view) errandLate(p evidence.Process) bool {
	limit := p.ErrandLimit()
	return limit > 0 && p.Age >= v.unlessBusy(limit, errandBusy*limit)
}

// innermost returns the last of the errands that one has begun and waits for; itself if
// it has begun none.
func (v *view) innermost(p evidence.Process) evidence.Process {
	for range v.evidence.Processes.Errands { // a look that saw them in a circle ends, too
		child, waits := v.waitsForChild(p)
		if !waits {
			break
		}
		p = child
	}
	return p
}

// waitsForChild returns the errand that one has begun and waits for. It has done so for
// half of its life at least: a script that begins one program after the other waits for
// something else.
func (v *view) waitsForChild(p evidence.Process) (evidence.Process, bool) {
	for _, child := range v.evidence.Processes.Errands {
		if child.Parent == p.PID && child.PID != p.PID && 2*child.Age >= p.Age {
			return child, true
		}
	}
	return evidence.Process{}, false
}

// outermost returns the first of the errands that led to this one and should have ended;
// itself if there is none.
func (v *view) outermost(p evidence.Process) evidence.Process {
	all, at := v.evidence.Processes.Errands, p.Parent
	for range all {
		i := slices.IndexFunc(all, func(c evidence.Process) bool { return c.PID == at })
		if i < 0 {
			break
		}
		at = all[i].Parent
		if all[i].ErrandLimit() > 0 {
			p = all[i]
		}
	}
	return p
}

// errandWaits says what an errand waits for that has called another in turn; nothing if
// it has not.
func (v *view) errandWaits(p evidence.Process) string {
	inner := v.innermost(p)
	if inner.PID == p.PID {
		return ""
	}
	return describe("it waits for "+errandName(inner), inner)
}

// errandOwner returns for whom it runs. A sandbox that is being made is not listed; what
// tells no container is for the sandbox of the shim that called it.
func errandOwner(p evidence.Process, owners map[string]listed) listed {
	id := cmp.Or(p.Container, p.Sandbox)
	owner, known := owners[id]
	if !known {
		owner = listed{id: id, sandbox: isPlugin(p) || p.Container == "", pod: pleg.PodRef{Namespace: p.Namespace, Name: p.Pod}}
	}
	return owner
}

func isPlugin(p evidence.Process) bool { return strings.HasPrefix(p.Verb, "CNI") }

// errandName says what it is to do: runc delete, CNI ADD by calico, umount.
func errandName(p evidence.Process) string {
	switch {
	case isPlugin(p):
		return p.Verb + " by " + p.Command
	case p.Verb == "" || p.Verb == p.Command:
		return p.Command
	}
	return p.Command + " " + p.Verb
}

// errandPhrase says which errand it is and how old, such as "runc update of ns-1/api app
// has run for 10m0s (pid 9), child of the shim of ns-1/api".
func (v *view) errandPhrase(p evidence.Process, owners map[string]listed) string {
	of := ""
	if owner := errandOwner(p, owners); owner.id != "" {
		of = fmt.Sprintf(" of %s", owner)
	}
	return errandName(p) + of + " " + v.ran(p) + v.errandParent(p, owners)
}

// errandParent says whose child an errand is, with a comma before it; nothing if that
// is not known.
func (v *view) errandParent(p evidence.Process, owners map[string]listed) string {
	is := func(one evidence.Process) bool { return one.PID == p.Parent }
	if i := slices.IndexFunc(v.evidence.Processes.Shims, is); i >= 0 {
		shim := v.evidence.Processes.Shims[i]
		owner, known := owners[cmp.Or(shim.Sandbox, shim.Container)]
		if !known {
			owner = listed{id: cmp.Or(shim.Sandbox, shim.Container), sandbox: shim.Sandbox != ""}
		}
		return fmt.Sprintf(", child of the %s of %s", monitorWord(shim), owner)
	}
	if i := slices.IndexFunc(v.daemons(), is); i >= 0 {
		return ", child of " + v.daemons()[i].Command
	}
	return ""
}
