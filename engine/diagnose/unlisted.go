package diagnose

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/past"
	"github.com/plegtop/plegtop/engine/pleg"
)

// An unlisted is a pod whose sandbox is listed as ready, with the first processes of those of its
// containers that live and are not listed.
type unlisted struct {
	sandbox    evidence.Object
	containers []evidence.Process
	origin     // the earliest of theirs
}

func (u unlisted) subject() Subject { return Subject{ObjectRef: u.sandbox.ObjectRef} }

// String returns the pod and what lives of it.
func (u unlisted) String() string {
	var names []string
	for _, p := range u.containers {
		names = append(names, fmt.Sprintf("container %s (%s, pid %d)", pleg.ShortID(p.Container), p.Command, p.PID))
	}
	return u.sandbox.Path() + ": " + join(names)
}

// unlistedRun finds containers that live and that no list has, below the shim of a sandbox that is
// listed as ready. A runtime that begins while its disk is full drops those whose state it cannot
// read, and says nothing more of them.
func (v *view) unlistedRun() []Finding {
	pods := v.unlistedPods()
	if len(pods) == 0 {
		return nil
	}
	n := 0
	for _, u := range pods {
		n += len(u.containers)
	}
	live := "live"
	if n == 1 {
		live = "lives"
	}
	f := Finding{ID: OrphanShims, Severity: Warning, Group: "unlisted", Summary: fmt.Sprintf("%s of %s %s that %s does not list", count(n, "container"), count(len(pods), "pod"), live, v.program())}
	if len(pods) == 1 {
		f.Subject = pods[0].subject()
	}
	if slices.ContainsFunc(pods, unlisted.forgotten) {
		f.Summary += ": it forgot them when it began at " + v.clock(v.evidence.At.Add(-v.youngRuntime().Age))
	}
	f.say("a kubelet finds none of them in their pods, and begins each once more beside the first")
	f.Next = v.unlistedSteps(pods)
	return []Finding{about(f, pods, unlisted.String)}
}

// forgotten reports whether the runtime began after what lives.
func (u unlisted) forgotten() bool { return u.origin == ofEarlier }

// unlistedSteps returns what to do about such containers: only what the runtime as it runs now has
// begun is ended, as a start that can read the others brings them back.
func (v *view) unlistedSteps(pods []unlisted) []Step {
	data, _ := v.folders()
	values := Values{"data": one(data)}
	begun := slices.ContainsFunc(pods, unlisted.forgotten)
	unknown := slices.ContainsFunc(pods, func(u unlisted) bool { return u.origin == ofUnknown })
	if !begun && !unknown {
		values["pid"], values["start"], values["pod"] = pids(pods[0].containers...), startsOf(pods[0].containers), one(pods[0].sandbox.Path())
		return v.advise("container.forgotten", values)
	}
	steps := append(v.advise("container.forgotten", values), v.makingFit()...)
	for _, again := range v.restart("reads them again") {
		if !begun {
			again = again.after("it began after them, by the times of ps -o lstart")
		}
		steps = append(steps, again)
	}
	return steps
}

// unlistedPods returns the pods with such containers, by name.
func (v *view) unlistedPods() []unlisted {
	if v.dropped == nil {
		all := v.findUnlisted()
		v.dropped = &all
	}
	return *v.dropped
}

func (v *view) findUnlisted() (pods []unlisted) {
	if v.evidence.Processes.Missing != "" || !listsAreWhole(v.Snapshot) || len(v.Gone) >= past.MostGone {
		return nil
	}
	var shims map[int]string // sandboxes of ours, by the pid of the shim
	listed, of := v.objects(), make(map[string]int)
	for id, processes := range v.evidence.Processes.Containers {
		if listed.Has(id) {
			continue
		}
		if shims == nil {
			shims = v.sandboxesOfShims()
		}
		p, sandbox := first(processes, shims)
		pod := v.podListing(sandbox)
		if sandbox == id || pod == nil || p.Age <= orphanGrown && v.origin(p) != ofEarlier || !v.containerStays(pod, id) {
			continue
		}
		ready, is := pod.Find(sandbox)
		if !is || !ready.Sandbox || ready.State != pleg.Running {
			continue
		}
		i, known := of[sandbox]
		if !known {
			i = len(pods)
			of[sandbox], pods = i, append(pods, unlisted{sandbox: ready, origin: ofPresent})
		}
		p.Container = id
		pods[i].containers, pods[i].origin = append(pods[i].containers, p), min(pods[i].origin, v.origin(p))
	}
	for _, u := range pods {
		slices.SortFunc(u.containers, func(a, b evidence.Process) int { return cmp.Compare(a.PID, b.PID) })
	}
	slices.SortFunc(pods, func(a, b unlisted) int { return a.sandbox.Pod.Compare(b.sandbox.Pod) })
	return pods
}

// sandboxesOfShims returns the sandboxes of this runtime's shims, by the numbers of their processes.
func (v *view) sandboxesOfShims() map[int]string {
	of := make(map[int]string, len(v.evidence.Processes.Shims))
	for i := range v.evidence.Processes.Shims {
		if p := &v.evidence.Processes.Shims[i]; p.Own && p.Sandbox != "" {
			of[p.PID] = p.Sandbox
		}
	}
	return of
}

// first returns the oldest of some processes which lives and which a shim has begun, and the
// sandbox of that: a younger one may be a probe's.
func first(processes []evidence.Process, shims map[int]string) (oldest evidence.Process, sandbox string) {
	for _, p := range processes {
		if of := shims[p.Parent]; of != "" && p.Lives() && (sandbox == "" || p.Age > oldest.Age) {
			oldest, sandbox = p, of
		}
	}
	return oldest, sandbox
}
