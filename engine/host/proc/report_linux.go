package proc

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/knowledge"
	"github.com/plegtop/plegtop/engine/pleg"
)

// report returns what the look has found. It leaves out shims, helpers and daemons that have ended and only
// wait for their parent.
func (l *Look) report() evidence.Processes {
	found := evidence.Processes{Containers: map[string][]evidence.Process{}}
	for _, p := range l.seen {
		if p.identity.role == plain || p.now.state != evidence.Zombie {
			l.add(&found, p)
		}
	}
	containers := map[int]string{} // by the pid of a helper: "runc init" gets its container from its parent
	for _, h := range found.Helpers {
		containers[h.PID] = h.Container
	}
	for i := range found.Helpers {
		h := &found.Helpers[i]
		h.Container = cmp.Or(h.Container, containers[h.Parent])
	}
	isOwn := map[string]bool{} // by command: whether a daemon of ours with that name is known
	for _, d := range found.Daemons {
		isOwn[d.Command] = isOwn[d.Command] || d.Own
	}
	found.Daemons = slices.DeleteFunc(found.Daemons, func(d evidence.Process) bool { return isOwn[d.Command] && !d.Own })
	if _, runs := found.Kubelet(); runs {
		found.OtherKubelet = evidence.Process{}
	}
	found.Objects = l.groupObjects(found.Shims)
	found.KubeletRoots = l.kubeletRoots(&found)
	l.gaps.confined = len(found.Daemons)+len(found.Shims) == 0 && !slices.Contains([]string{"", firstNamespace}, l.spaceOf(l.w.known[1]))
	return found
}

// add adds a process to the list that it belongs to.
func (l *Look) add(found *evidence.Processes, p *process) {
	e, ids := l.describe(p), without(p.member.ids, l.w.node)
	role, isKubelet := p.identity.roleIn(ids), slices.Contains(knowledge.Kubelets, p.comm)
	if role == daemon || isKubelet {
		owner := l.ownerOf(p)
		e.Nested = owner == nested
		if isKubelet && owner == another {
			found.OtherKubelet, found.OtherKubelet.Socket = e, p.identity.socket
		}
		if role == daemon && (owner == another || owner == nested) {
			return
		}
	}
	switch role {
	case shim:
		e.Container, e.Sandbox, e.Socket = p.identity.container, p.identity.sandbox, p.identity.socket
		e.Own = l.isOurs(e.Socket)
		if e.Own || p.identity.mayServe(l.w.Endpoint) {
			found.Shims = append(found.Shims, e)
		}
	case helper:
		l.addHelper(&e, p)
		found.Helpers = append(found.Helpers, e)
	case daemon:
		e.Unit, e.Own = p.member.unit, p.owner == own
		if isKubelet {
			e.Socket = p.identity.socket
		}
		found.Daemons = append(found.Daemons, e)
	default:
		for _, id := range ids {
			e.Container = id
			found.Containers[id] = append(found.Containers[id], e)
		}
	}
}

// describe returns the state of a process. If the process is stuck, it also says where in the kernel it sleeps,
// what it waits for, and who traces it; if it is frozen, the file that froze it.
func (l *Look) describe(p *process) evidence.Process {
	e := evidence.Process{
		PID: p.of, Parent: p.stat.PPID, Command: p.comm, Age: l.age(p), Start: p.start,
		State: p.now.state, Thread: p.now.thread, For: l.at.Sub(p.now.since), AtLeast: !p.now.sure && l.at.After(p.now.since),
	}
	if e.State.Stuck() {
		t := l.thread(p.task, p.now.thread)
		e.Wchan, e.Stack = l.sleep(t)
		l.waitsFor(&e, p)
		if e.State == evidence.Traced {
			e.Tracer = l.tracer(t)
		}
	}
	if e.State == evidence.Frozen {
		e.Freezer = l.w.frozen[p.member.group].by
	}
	return e
}

// tracer returns the process that traces a thread. Its PID is 0 if that process is in a namespace that we do
// not see.
func (l *Look) tracer(t task) (tracer evidence.Tracer) {
	if number := StatusField(l.text(t, "status"), "TracerPid"); len(number) == 1 {
		tracer.PID, _ = strconv.Atoi(number[0])
	}
	if p, _ := l.again(tracer.PID); p != nil {
		tracer.Command, tracer.Start = p.comm, p.start
	}
	return tracer
}

// groupObjects returns the sandboxes and containers that control groups show: those in the groups of a
// kubelet's pods, and those that one of our shims has started. It leaves out those that another runtime's shim
// has started.
func (l *Look) groupObjects(shims []evidence.Process) []evidence.Object {
	sandboxes, others := map[int]string{}, map[int]bool{} // by the pid of a shim that may be ours; shims of others
	for _, s := range shims {
		sandboxes[s.PID] = s.Sandbox
	}
	for _, p := range l.seen {
		_, is := sandboxes[p.of]
		others[p.of] = p.identity.role == shim && !is
	}
	all, works := map[string]evidence.Object{}, map[string]bool{} // works: it has another program than pause
	for _, p := range l.seen {
		i := slices.IndexFunc(p.member.ids, func(id string) bool { return !slices.Contains(l.w.node, id) }) // the outermost
		if i < 0 || p.identity.role == shim || others[p.stat.PPID] {
			continue
		}
		id, uid := p.member.ids[i], p.member.uids[i]
		sandbox, ours := sandboxes[p.stat.PPID]
		if uid == "" && !ours && all[id].ID == "" {
			continue
		}
		o := all[id]
		o.ID, o.Pod.UID, o.From = id, pleg.UID(uid), "its control group"
		if sandbox == id {
			o.Sandbox = true
		} else {
			o.SandboxID = cmp.Or(o.SandboxID, sandbox)
		}
		works[id] = works[id] || p.comm != "pause"
		all[id] = o
	}
	for id, o := range all {
		o.Sandbox = o.SandboxID == "" && (o.Sandbox || !works[id])
		all[id] = o
	}
	return slices.SortedFunc(maps.Values(all), func(a, b evidence.Object) int { return cmp.Compare(a.ID, b.ID) })
}
