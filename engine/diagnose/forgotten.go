package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/plegtop/plegtop/engine/evidence"
)

// When it begins, a runtime reads what it has from its folders. What it does not find there, or
// cannot read, it lists no more, while the shims and the containers go on: it has forgotten them.
// They come back when it begins once more with the right folders and can read them.

// youngRuntime returns the process that is surely the runtime's own, by its state of the present.
func (v *view) youngRuntime() (evidence.Process, bool) {
	if v.lookOld {
		return evidence.Process{}, false
	}
	all := v.evidence.Processes.Runtimes()
	i := slices.IndexFunc(all, func(p evidence.Process) bool { return strings.HasPrefix(p.Command, v.program()) && p.Age > 0 })
	if i < 0 {
		return evidence.Process{}, false
	}
	return all[i], true
}

// outlived reports whether a process was there before the runtime began: that one has not begun it.
func (v *view) outlived(p evidence.Process) bool {
	runtime, known := v.youngRuntime()
	return known && p.Age > runtime.Age+shimsFirst
}

// stillThere reports whether the last look has seen what an object had after that left the lists:
// what is removed ends before it does so.
func (v *view) stillThere(id string) bool {
	gone := v.Gone.Since(id)
	looked, known := v.looked()
	return gone.IsZero() || known && looked.After(gone)
}

// sinceItBegan says since when the runtime runs; empty where that is not known.
func (v *view) sinceItBegan() string {
	runtime, known := v.youngRuntime()
	if !known {
		return ""
	}
	return " since it began " + going(v.byNow(runtime).Age) + " ago"
}

// childrenLive returns the processes in containers that live, by the process that began them.
func (v *view) childrenLive() map[int][]evidence.Process {
	all := make(map[int][]evidence.Process)
	for _, in := range v.evidence.Processes.Containers {
		for _, p := range in {
			same := func(q evidence.Process) bool { return q.PID == p.PID } // in a container within a container
			if p.Lives() && !slices.ContainsFunc(all[p.Parent], same) {
				all[p.Parent] = append(all[p.Parent], p)
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

// dumpConfig returns the command that shows the lines of containerd's configuration that match.
func (v *view) dumpConfig(lines string) string {
	from := ""
	if of := v.flavours(); len(of) == 1 && of[0].Config != "" && of[0].Name != "containerd" { // else it finds its own
		from = " -c " + of[0].Config
	}
	return "containerd" + from + " config dump | grep -E " + quote(lines)
}

// rightFolders returns the steps for a runtime that has other folders than the shims were begun in.
func (v *view) rightFolders(shim evidence.Process) []Step {
	data, state := v.folders()
	begun := ""
	if runtime, known := v.youngRuntime(); known { // which may name a configuration of its own
		begun = fmt.Sprintf("ps -o lstart,args -p %d; ", runtime.PID)
	}
	return []Step{
		{Text: "the folders of its configuration", Command: begun + v.dumpConfig("^(root|state) ")},
		{Text: "the state folder that the shim was begun in, to be held against those", Command: fmt.Sprintf("readlink /proc/%d/cwd", shim.PID)},
		{Text: "whether their disks are mounted", Command: "findmnt -T " + quote(data) + "; findmnt -T " + quote(state)},
		v.logStep("what it said as it began"),
	}
}
