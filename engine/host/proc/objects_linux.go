package proc

import (
	"cmp"
	"maps"
	"slices"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
)

// groupObjects returns the sandboxes and containers that control groups show: those that
// a group of a kubelet's pods or a shim that may be ours tells of. What another
// runtime's shim has begun is that one's.
func (l *Look) groupObjects(shims []evidence.Process) []evidence.Object {
	parents, others := map[int]string{}, map[int]bool{} // of shims: the sandboxes of those that may be ours
	for _, p := range shims {
		parents[p.PID] = p.Sandbox
	}
	for _, s := range l.seen {
		if _, is := parents[s.proc.PID]; s.identity.role == shim && !is {
			others[s.proc.PID] = true
		}
	}
	all, work := map[string]evidence.Object{}, map[string]bool{} // work: of containers that do some
	for _, s := range l.seen {
		id, uid := s.member.outermost(l.node)
		sandbox, ours := parents[s.stat.PPID]
		if id == "" || s.identity.role == shim || others[s.stat.PPID] || uid == "" && !ours && all[id].ID == "" {
			continue
		}
		o := all[id]
		o.ID, o.Pod.UID, o.From = id, pleg.UID(uid), "its control group"
		if sandbox == id {
			o.Sandbox = true
		} else {
			o.SandboxID = cmp.Or(o.SandboxID, sandbox)
		}
		work[id] = work[id] || s.comm != "pause"
		all[id] = o
	}
	for id, o := range all {
		o.Sandbox = o.SandboxID == "" && (o.Sandbox || !work[id])
		all[id] = o
	}
	return slices.SortedFunc(maps.Values(all), func(a, b evidence.Object) int { return cmp.Compare(a.ID, b.ID) })
}

// outermost returns the container that a process is in and the UID of its pod, apart
// from those that the whole node is in; empty where there is none.
func (m membership) outermost(node []string) (id, uid string) {
	for i, id := range m.ids {
		if !slices.Contains(node, id) {
			return id, m.uids[i]
		}
	}
	return "", ""
}
