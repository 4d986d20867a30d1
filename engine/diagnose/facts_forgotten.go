package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/past"
	"github.com/plegtop/plegtop/engine/pleg"
)

// When it begins, a runtime reads what it has from its folders. What it does not find there, or cannot read, it lists no
// more, while shims and containers go on: it has forgotten them. They come back when it begins once more with the right
// folders and can read them.

const (
	// orphanGrown is the age from which a shim must have a sandbox: it is started before that is listed, and may outlive it
	// while it cleans up.
	orphanGrown = time.Minute
	// listsFresh is how old lists may be to say what is not there.
	listsFresh = 30 * time.Second
)

// An origin says who began a process, by its age and that of the runtime.
type origin uint8

const (
	ofEarlier origin = iota // it was there before the runtime began
	ofUnknown               // nobody saw when that was
	ofPresent               // the runtime as it runs now has begun it, and forgets nothing of that
)

// originOf returns who began a process.
func (f *Facts) originOf(p evidence.Process) origin {
	runtime := f.youngRuntime()
	switch {
	case runtime.PID == 0:
		return ofUnknown
	case p.Age > runtime.Age+shimsFirst:
		return ofEarlier
	}
	return ofPresent
}

// youngRuntime returns the process that is surely the runtime's own, as it is now; zero if nobody saw it.
func (f *Facts) youngRuntime() evidence.Process {
	if f.young == nil {
		f.young = new(evidence.Process)
		for _, p := range f.Look.Processes.Runtimes() {
			if strings.HasPrefix(p.Command, f.program()) && p.Age > 0 && !f.LookOld {
				*f.young = p
				break
			}
		}
	}
	return *f.young
}

// lookedAfter reports whether the last look came after something left the lists; zero says that nobody saw it in them.
// What a runtime removes ends before that: what lives later was forgotten.
func (f *Facts) lookedAfter(gone time.Time) bool {
	looked, known := f.lookedAt()
	return gone.IsZero() || known && looked.After(gone)
}

// listsAreWhole reports whether what is not in the lists is not there.
func (f *Facts) listsAreWhole() bool {
	left := f.Anomalies.NoMetadata + f.Anomalies.NoID + f.Anomalies.NoPodUID
	both := f.Pods != nil && f.Failure == nil && f.Partial == "" && !f.Health.ListedAt.IsZero() // while the first list of containers hangs there are pods without any
	return both && f.Health.ListAge(f.at()) <= listsFresh && left == 0
}

// An orphan is a shim whose sandbox is not listed.
type orphan struct {
	evidence.Process
	below   []evidence.Process // lives, and came from it
	mayLive bool               // something lives below it, or not all processes were seen
	origin
}

// forgotten reports whether the runtime began after the shim, while what is below that lives.
func (o orphan) forgotten() bool { return o.origin == ofEarlier && len(o.below) > 0 }

// orphans returns the shims of this runtime whose sandbox is not listed. It counts those that the runtime as it runs now has
// not begun, as far as is known, and of how many of them it lists something.
func (f *Facts) orphans() (all []orphan, before, listed int) {
	if len(f.Gone) >= past.MostGone { // where so many go nobody can say what belongs to whom
		return nil, 0, 0
	}
	has := make(map[string]bool) // sandboxes of which containers are listed
	for p := range f.podsWith(func(p *podFacts) bool { return p.orphaned }) {
		for _, c := range seenOf(p).Orphans() {
			has[c.SandboxID] = true
		}
	}
	var live map[int][]evidence.Process
	for _, p := range f.Look.Processes.Shims {
		if !p.Own || p.Sandbox == "" {
			continue
		}
		is := f.podListing(p.Sandbox) != nil || has[p.Sandbox] // an old shim serves one container and has its id
		if f.originOf(p) != ofPresent {
			before++
			if is {
				listed++
			}
		}
		if is {
			continue
		}
		if live == nil {
			live = f.childrenLive()
		}
		if o := f.orphanOf(p, live); f.isOrphan(o) {
			all = append(all, o)
		}
	}
	return all, before, listed
}

func (f *Facts) orphanOf(p evidence.Process, live map[int][]evidence.Process) orphan {
	o := orphan{Process: p, below: live[p.PID], origin: f.originOf(p)}
	for _, in := range f.Look.Processes.Containers[p.Sandbox] {
		if in.Lives() && in.Parent != p.PID {
			o.below = append(o.below, in)
		}
	}
	o.mayLive = len(o.below) > 0 || !f.Look.Processes.Whole()
	return o
}

// isOrphan reports whether a shim has been without a sandbox for long enough. While its network is set up or taken down it is
// not listed.
func (f *Facts) isOrphan(o orphan) bool {
	works := func(h evidence.Process) bool { return h.Own && (h.Sandbox == o.Sandbox || h.Container == o.Sandbox) }
	if slices.ContainsFunc(f.Look.Processes.Helpers, works) {
		return false
	}
	if o.forgotten() {
		return f.lookedAfter(f.Gone.Since(o.Sandbox))
	}
	return o.Age > orphanGrown && f.Gone.Since(o.Sandbox).IsZero()
}

// childrenLive returns the processes in containers that live, by the process that began them.
func (f *Facts) childrenLive() map[int][]evidence.Process {
	all, known := make(map[int][]evidence.Process), make(map[int]bool)
	for _, in := range f.Look.Processes.Containers {
		for _, p := range in {
			if p.Lives() && !known[p.PID] { // it may be in a container within a container
				known[p.PID], all[p.Parent] = true, append(all[p.Parent], p)
			}
		}
	}
	for _, of := range all {
		slices.SortFunc(of, func(a, b evidence.Process) int { return cmp.Compare(a.PID, b.PID) })
	}
	return all
}

// An unlisted is a pod whose sandbox is listed as ready, with the first processes of those of its containers that live and
// are not listed.
type unlisted struct {
	sandbox    evidence.Object
	containers []evidence.Process
	origin     // the earliest of theirs
}

// forgotten reports whether the runtime began after what lives.
func (u unlisted) forgotten() bool { return u.origin == ofEarlier }

// text names the pod and what lives of it.
func (u unlisted) text() string {
	var names []string
	for _, p := range u.containers {
		names = append(names, fmt.Sprintf("container %s (%s, pid %d)", pleg.ShortID(p.Container), p.Command, p.PID))
	}
	return u.sandbox.Path() + ": " + join(names)
}

// unlistedPods returns the pods with such containers, by name.
func (f *Facts) unlistedPods() []unlisted {
	if !f.searched {
		f.departed, f.searched = f.findUnlisted(), true
	}
	return f.departed
}

func (f *Facts) findUnlisted() (pods []unlisted) {
	if f.Look.Processes.Missing != "" || !f.listsAreWhole() || len(f.Gone) >= past.MostGone {
		return nil
	}
	var shims map[int]string // the sandboxes of ours, by pid
	of := make(map[string]int)
	for id, processes := range f.Look.Processes.Containers {
		if f.objects().Has(id) {
			continue
		}
		if shims == nil {
			shims = f.sandboxesOfShims()
		}
		p, sandbox := oldestOf(processes, shims)
		pod := f.podListing(sandbox)
		if sandbox == id || pod == nil || p.Age <= orphanGrown && f.originOf(p) != ofEarlier || !f.containerStays(pod, id) {
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
		pods[i].containers, pods[i].origin = append(pods[i].containers, p), min(pods[i].origin, f.originOf(p))
	}
	for _, u := range pods {
		slices.SortFunc(u.containers, func(a, b evidence.Process) int { return cmp.Compare(a.PID, b.PID) })
	}
	slices.SortFunc(pods, func(a, b unlisted) int { return a.sandbox.Pod.Compare(b.sandbox.Pod) })
	return pods
}

// containerStays reports whether the last look came after a container left the lists of its pod.
func (f *Facts) containerStays(of *engine.Pod, id string) bool {
	i := slices.IndexFunc(of.Deaths, func(d past.Death) bool { return d.ID == id })
	return i < 0 || f.lookedAfter(of.Deaths[i].At)
}

// sandboxesOfShims returns the sandboxes of this runtime's shims, by pid.
func (f *Facts) sandboxesOfShims() map[int]string {
	of := make(map[int]string, len(f.Look.Processes.Shims))
	for i := range f.Look.Processes.Shims {
		if p := &f.Look.Processes.Shims[i]; p.Own && p.Sandbox != "" {
			of[p.PID] = p.Sandbox
		}
	}
	return of
}

// oldestOf returns the oldest of some processes which lives and which a shim has begun, and the sandbox of that shim. A
// younger one may be a probe's.
func oldestOf(processes []evidence.Process, shims map[int]string) (oldest evidence.Process, sandbox string) {
	for _, p := range processes {
		if of := shims[p.Parent]; of != "" && p.Lives() && (sandbox == "" || p.Age > oldest.Age) {
			oldest, sandbox = p, of
		}
	}
	return oldest, sandbox
}

// hasForgotten reports whether something lives that the runtime does not list, and may have begun: images look unused then.
func (f *Facts) hasForgotten() bool {
	orphans, _, _ := f.orphans()
	return len(f.unlistedPods()) > 0 || slices.ContainsFunc(orphans, func(o orphan) bool { return o.mayLive && o.origin != ofPresent })
}
