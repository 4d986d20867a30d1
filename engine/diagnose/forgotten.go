package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/ledger"
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
	i := slices.IndexFunc(of.Deaths, func(d ledger.Death) bool { return d.ID == id })
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

// dumpConfig returns the command that shows the lines of the runtime's configuration that match.
func (v *view) dumpConfig(lines string) string {
	if v.isCRIO() {
		return "crio config 2>/dev/null | grep -E " + quote(lines)
	}
	from := ""
	if of := v.flavours(); len(of) == 1 && of[0].Config != "" && of[0].Name != "containerd" { // else it finds its own
		from = " -c " + of[0].Config
	}
	return "containerd" + from + " config dump | grep -E " + quote(lines)
}

// saidAsItBegan returns the step that shows those of the runtime's lines since then which a command
// lets through.
func (v *view) saidAsItBegan(text, only string) Step {
	step := v.logStep(text)
	if runtime := v.youngRuntime(); runtime.PID != 0 {
		step.Command = fmt.Sprintf("journalctl _PID=%d --no-pager", runtime.PID)
	}
	step.Command += " | " + only
	return step
}

// rightFolders returns the steps for a runtime that has other folders than the shims were begun in.
func (v *view) rightFolders(shim evidence.Process) []Step {
	data, state := v.folders()
	begun := ""
	if runtime := v.youngRuntime(); runtime.PID != 0 { // which may name a configuration of its own
		begun = fmt.Sprintf("ps -o lstart,args -p %d; ", runtime.PID)
	}
	return []Step{
		{Text: "the folders of its configuration", Command: begun + v.dumpConfig("^ *(root|runroot|state) ")},
		{Text: "the state folder that the shim was begun in, to be held against those", Command: fmt.Sprintf("readlink /proc/%d/cwd", shim.PID)},
		{Text: "whether their disks are mounted", Command: "findmnt -T " + quote(data) + "; findmnt -T " + quote(state)},
		v.saidAsItBegan("what it said as it began", "head -n 200"),
	}
}
