package diagnose

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/past"
)

// When it begins, a runtime reads what it has from its folders. What it does not find there, or
// cannot read, it lists no more, while the shims and the containers go on: it has forgotten them.
// They come back when it begins once more with the right folders and can read them.

// An origin says whose doing a process is, by its age and that of the runtime.
type origin uint8

const (
	ofEarlier origin = iota // it was there before the runtime began
	ofUnknown               // nobody saw when that was
	ofPresent               // the runtime has begun it, and forgets nothing of that
)

// origin returns whose doing a process is.
func (v *view) origin(p evidence.Process) origin {
	runtime := v.youngRuntime()
	switch {
	case runtime.PID == 0:
		return ofUnknown
	case p.Age > runtime.Age+shimsFirst:
		return ofEarlier
	}
	return ofPresent
}

// youngRuntime returns the process that is surely the runtime's own, by its state of the present;
// zero where nobody saw it.
func (v *view) youngRuntime() evidence.Process {
	if v.runtime == nil {
		v.runtime = new(evidence.Process)
		all := v.evidence.Processes.Runtimes()
		i := slices.IndexFunc(all, func(p evidence.Process) bool { return strings.HasPrefix(p.Command, v.program()) && p.Age > 0 })
		if i >= 0 && !v.lookOld {
			v.runtime = &all[i]
		}
	}
	return *v.runtime
}

// sandboxStays reports whether the last look has seen what a sandbox had after that left the lists:
// what is removed ends before it does so.
func (v *view) sandboxStays(id string) bool { return v.lookedAfter(v.Gone.Since(id)) }

// containerStays reports the same of a container of a pod.
func (v *view) containerStays(of *engine.Pod, id string) bool {
	i := slices.IndexFunc(of.Deaths, func(d past.Death) bool { return d.ID == id })
	return i < 0 || v.lookedAfter(of.Deaths[i].At)
}

// lookedAfter reports whether the last look came after something left the lists; zero says that
// nobody saw it in them.
func (v *view) lookedAfter(gone time.Time) bool {
	looked, known := v.looked()
	return gone.IsZero() || known && looked.After(gone)
}

// childrenLive returns the processes in containers that live, by the process that began them.
func (v *view) childrenLive() map[int][]evidence.Process {
	all, known := make(map[int][]evidence.Process), make(map[int]bool)
	for _, in := range v.evidence.Processes.Containers {
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

// folders returns the runtime's own: what it keeps, and what its shims work in.
func (v *view) folders() (data, state string) {
	of := v.flavours()[0]
	return cmp.Or(v.evidence.Disk.Path, of.Data), cmp.Or(v.evidence.State.Path, of.State)
}

// rightFolders returns the steps for a runtime that has other folders than the shims were begun in.
func (v *view) rightFolders(shim evidence.Process, right string) []Step {
	data, state := v.folders()
	values := Values{"data": one(data), "state": one(state), "shimPid": pids(shim), "right": one(right)}
	if runtime := v.youngRuntime(); runtime.PID != 0 {
		values["runtimePid"] = pids(runtime)
	}
	return v.advise("runtime.other-folders", values)
}
