package diagnose

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/past"
	"github.com/plegtop/plegtop/engine/pleg"
)

// When a runtime starts, it reads its objects from its folders. If an object is not there, or cannot be read, the
// runtime does not list it any more, while its shim and its containers go on: the runtime has forgotten it. The object
// comes back when the runtime starts again with the right folders and can read them.

const (
	// unlistedFor is the age from which a shim or a container must be listed. A shim is started before its sandbox is
	// listed, and may outlive the sandbox while it cleans up.
	unlistedFor = time.Minute
	// listsFresh is how old lists may be if we conclude from them that an object is not there.
	listsFresh = 30 * time.Second
)

// beganBefore reports whether a process began before the runtime. If nobody saw when the runtime began, it reports
// whether the process is old.
func (f *Facts) beganBefore(p evidence.Process) bool {
	return p.Age > cmp.Or(f.youngRuntime().Age, unlistedFor)+shimsFirst
}

// youngRuntime returns the process that is surely the runtime's own, as it is now; zero if nobody saw it.
func (f *Facts) youngRuntime() evidence.Process {
	for _, p := range f.Look.Processes.Runtimes() {
		if strings.HasPrefix(p.Command, f.program()) && p.Age > 0 && !f.LookOld {
			return p
		}
	}
	return evidence.Process{}
}

// lookedAfter reports whether the last look came after an object left the lists. A zero gone means that nobody saw the
// object in them. A process that a runtime removes has ended before the object leaves the lists, so a process that
// lives later was forgotten.
func (f *Facts) lookedAfter(gone time.Time) bool {
	looked, known := f.lookedAt()
	return gone.IsZero() || known && looked.After(gone)
}

// listsAreWhole reports whether an object that is not in the lists does not exist for the runtime.
func (f *Facts) listsAreWhole() bool {
	left := f.Anomalies.NoMetadata + f.Anomalies.NoID + f.Anomalies.NoPodUID
	both := f.Pods != nil && f.Failure == nil && f.Partial == "" && !f.Health.ListedAt.IsZero() // while the first list of containers hangs there are pods without any
	return both && f.Health.ListAge(f.at()) <= listsFresh && left == 0
}

// An unlisted is a sandbox with a shim of this runtime, or a container below such a shim, that is in no list.
type unlisted struct {
	pleg.ObjectRef
	process evidence.Process   // the shim of a sandbox, the first process of a container
	lives   []evidence.Process // its processes that live
}

// unlisted returns the objects that the runtime has forgotten, which live and began before it, and the other objects
// that are not listed. It remembers both. It returns none if many sandboxes leave the lists at once: then nobody can
// say what belongs to whom.
func (f *Facts) unlisted() (forgotten, leftOver []unlisted) {
	if f.searched || f.Look.Processes.Missing != "" || !f.listsAreWhole() || len(f.Gone) >= past.MostGone || f.allListed() {
		return f.lost, f.leftOver
	}
	f.searched = true
	has := make(map[string]bool) // sandboxes that a listed container names
	for p := range f.podsWith(func(p *podFacts) bool { return p.orphaned }) {
		for _, c := range seenOf(p).Orphans() {
			has[c.SandboxID] = true
		}
	}
	below := f.livesBelow()
	for _, shim := range f.Look.Processes.Shims {
		id := shim.Sandbox
		switch pod := f.podListing(id); {
		case !shim.Own || id == "" || has[id]:
		case pod != nil:
			f.addContainers(pod, id, below[id])
		default:
			f.addUnlisted(pleg.ObjectRef{ID: id, Sandbox: true}, shim, below[id], f.Gone.Since(id))
		}
	}
	return f.lost, f.leftOver
}

// addContainers adds the containers below the shim of a sandbox, if the sandbox is listed as ready.
func (f *Facts) addContainers(pod *engine.Pod, sandbox string, lives []evidence.Process) {
	if ready, _ := pod.Find(sandbox); !ready.Sandbox || ready.State != pleg.Running {
		return
	}
	for len(lives) > 0 {
		id, first, n := lives[0].Container, lives[0], 0
		for ; n < len(lives) && lives[n].Container == id; n++ {
			if lives[n].Age > first.Age { // a younger process may be a probe's
				first = lives[n]
			}
		}
		var gone time.Time
		if i := slices.IndexFunc(pod.Deaths, func(d past.Death) bool { return d.ID == id }); i >= 0 {
			gone = pod.Deaths[i].At
		}
		if !f.objects().Has(id) && id != sandbox {
			f.addUnlisted(pleg.ObjectRef{ID: id, Pod: pod.PodRef}, first, lives[:n], gone)
		}
		lives = lives[n:]
	}
}

// addUnlisted adds one object, unless it left the lists so lately that it may just be ending, or is so young that it
// may not be listed yet. It also leaves out an object that a helper works on: while the network of a sandbox is set up
// or taken down, the sandbox is not listed.
func (f *Facts) addUnlisted(o pleg.ObjectRef, process evidence.Process, lives []evidence.Process, gone time.Time) {
	works := slices.ContainsFunc(f.Look.Processes.Helpers, func(h evidence.Process) bool { return h.Own && (h.Sandbox == o.ID || h.Container == o.ID) })
	switch u := (unlisted{o, process, lives}); {
	case works || !f.lookedAfter(gone):
	case len(lives) > 0 && f.beganBefore(process):
		f.lost = append(f.lost, u)
	case process.Age > unlistedFor && (gone.IsZero() || !o.Sandbox):
		f.leftOver = append(f.leftOver, u)
	}
}

// values returns what the line about one needs.
func (u unlisted) values() Values {
	v := Values{"object": "container " + pleg.ShortID(u.ID) + " of " + u.Pod.String(), "process": u.process, "age": age(u.process.Age)}
	if u.Sandbox {
		below := []string{"nothing that was seen"}
		for i, p := range u.lives[:min(len(u.lives), namedShims)] {
			below = append(below[:i], theProcess(p))
		}
		v["object"], v["below"] = "sandbox "+pleg.ShortID(u.ID), below
	}
	return v
}

// allListed reports whether all that the node shows is listed. On nearly every node it is.
func (f *Facts) allListed() bool {
	for i := range f.Look.Processes.Shims {
		if p := &f.Look.Processes.Shims[i]; p.Own && p.Sandbox != "" && !f.objects().Has(p.Sandbox) {
			return false
		}
	}
	for id := range f.Look.Processes.Containers {
		if !f.objects().Has(id) {
			return false
		}
	}
	return true
}

// livesBelow returns the processes that live in containers below each shim of this runtime, by sandbox. Each process
// has the id of its container, and the processes of one container follow each other.
func (f *Facts) livesBelow() map[string][]evidence.Process {
	sandboxes, shims, seen := map[int]string{}, map[string]bool{}, map[int]bool{}
	for _, p := range f.Look.Processes.Shims {
		if p.Own {
			sandboxes[p.PID], shims[p.Sandbox] = p.Sandbox, true
		}
	}
	below := make(map[string][]evidence.Process)
	for _, id := range slices.Sorted(maps.Keys(f.Look.Processes.Containers)) {
		for _, p := range f.Look.Processes.Containers[id] {
			sandbox := sandboxes[p.Parent]
			if sandbox == "" && shims[id] {
				sandbox = id
			}
			if sandbox != "" && p.Lives() && !seen[p.PID] { // the process may be in a container within a container
				p.Container, seen[p.PID] = id, true
				below[sandbox] = append(below[sandbox], p)
			}
		}
	}
	return below
}

// unlistedValues returns what sentences and steps need about all of them. The pid is that of a shim that surely holds
// nothing, because nobody may end another shim.
func (f *Facts) unlistedValues(all []unlisted) Values {
	v, sandboxes := Values{"program": f.program()}, 0
	var processes []evidence.Process
	for _, u := range all {
		processes = append(processes, u.process)
		if !u.Sandbox {
			continue
		}
		if sandboxes++; sandboxes == 1 {
			v["sandbox"], v["shimPid"] = short(u.ID), pids(u.process)
		}
		if len(u.lives) == 0 && f.Look.Processes.Whole() && v["pid"] == nil {
			v["pid"], v["start"] = pids(u.process), startOf(u.process.Start)
		}
	}
	v["processes"], v["sandboxes"] = pids(processes[:min(len(processes), namedShims)]...), sandboxes
	var what []string
	if sandboxes > 0 {
		what = append(what, count(sandboxes, "sandbox"))
	}
	if n := len(all) - sandboxes; n > 0 {
		what = append(what, count(n, "container"))
	}
	v["what"] = strings.Join(what, " and ")
	return v
}
