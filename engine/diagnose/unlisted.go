package diagnose

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/ledger"
	"github.com/plegtop/plegtop/engine/pleg"
)

// An unlisted is a pod whose sandbox is listed as ready, with the first processes of those of its
// containers that live and are not listed.
type unlisted struct {
	sandbox    evidence.Object
	containers []evidence.Process
	forgotten  bool // the runtime has begun after one of them
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
	n, forgotten := 0, false
	for _, u := range pods {
		n += len(u.containers)
		forgotten = forgotten || u.forgotten
	}
	live := "live"
	if n == 1 {
		live = "lives"
	}
	f := Finding{ID: LeftRunning, Severity: Warning, Group: "unlisted", Summary: fmt.Sprintf("%s of %s %s that %s does not list", count(n, "container"), count(len(pods), "pod"), live, v.program())}
	if len(pods) == 1 {
		f.Subject = pods[0].subject()
	}
	f.say("a kubelet finds none of them in their pods, and begins each once more beside the first")
	data, _ := v.folders()
	f.Next = []Step{
		{Text: "what it could not load as it began", Command: v.logs() + " | grep -i -e 'failed to load' -e 'no space'"},
		{Text: "whether its disk has room", Command: "df -h " + quote(data) + "; df -i " + quote(data)},
		{Text: "all that lives, whatever the lists have", Command: v.ctr("tasks ls")},
	}
	if runtime, known := v.youngRuntime(); forgotten && known {
		f.Summary += ": it forgot them when it began at " + v.clock(v.evidence.At.Add(-runtime.Age))
		f.Next = append(append(f.Next, v.makingFit()...), v.restart("reads them again; "+v.restartRisk()))
	} else {
		f.Next = append(f.Next, endsAll(pods[0].containers, "ends what lives of "+pods[0].sandbox.Path()+"; nobody looks after it"))
	}
	return []Finding{about(f, pods, unlisted.String)}
}

// unlistedPods returns the pods with such containers, by name.
func (v *view) unlistedPods() (pods []unlisted) {
	if v.evidence.Processes.Missing != "" || !listsAreWhole(v.Snapshot) || len(v.Gone) >= ledger.MostGone {
		return nil
	}
	of := make(map[string]int)
	for id, processes := range v.evidence.Processes.Containers {
		if v.isListed(id) {
			continue
		}
		sandbox, p, is := v.belowReady(processes)
		if !is || sandbox.ID == id || !v.isUnlisted(id, p) {
			continue
		}
		i, known := of[sandbox.ID]
		if !known {
			i = len(pods)
			of[sandbox.ID], pods = i, append(pods, unlisted{sandbox: sandbox})
		}
		p.Container = id
		pods[i].containers, pods[i].forgotten = append(pods[i].containers, p), pods[i].forgotten || v.outlived(p)
	}
	for _, u := range pods {
		slices.SortFunc(u.containers, func(a, b evidence.Process) int { return cmp.Compare(a.PID, b.PID) })
	}
	slices.SortFunc(pods, func(a, b unlisted) int { return a.sandbox.Pod.Compare(b.sandbox.Pod) })
	return pods
}

// belowReady returns that of some processes which lives and which the shim of a sandbox has begun
// that is listed as ready.
func (v *view) belowReady(processes []evidence.Process) (sandbox evidence.Object, first evidence.Process, is bool) {
	shims := v.evidence.Processes.Shims
	for _, p := range processes {
		i := slices.IndexFunc(shims, func(s evidence.Process) bool { return s.PID == p.Parent && s.Own && s.Sandbox != "" })
		if i < 0 || !p.Lives() {
			continue
		}
		sandbox, is = v.listed(shims[i].Sandbox)
		return sandbox, p, is && sandbox.Sandbox && sandbox.State == pleg.Running
	}
	return sandbox, first, false
}

// isUnlisted reports whether a process has been of a container that is not listed for long enough.
func (v *view) isUnlisted(id string, p evidence.Process) bool {
	if v.outlived(p) {
		return v.stillThere(id)
	}
	return p.Age > orphanGrown && v.Gone.Since(id).IsZero()
}
