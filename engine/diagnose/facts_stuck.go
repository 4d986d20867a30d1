package diagnose

import (
	"cmp"
	"slices"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/waits"
)

// A stuckProcess is a process of the graph that does nothing.
type stuckProcess struct {
	evidence.Process
	node     *waits.Node
	owner    pleg.ObjectRef // zero for the runtime itself
	role     string         // "runtime", "shim", "conmon", "helper" or "process"
	severity Severity
	others   int // more processes of the same container in the same state
}

// stuckProcesses returns the processes that do nothing, the worst first.
func (f *Facts) stuckProcesses() (stuck []stuckProcess) {
	h := f.List()
	listHangs := h != nil && h.Sure
	f.Graph().Each("", func(_ int, n *waits.Node) {
		if n.Process() == nil || !n.Stuck() {
			return
		}
		s := stuckProcess{Process: f.byNow(*n.Process()), node: n, owner: n.Object.ObjectRef, role: "process", severity: Warning}
		switch {
		case n.Kind == waits.Shim:
			s.role, s.severity = waits.MonitorWord(&s.Process), Critical
		case n.Kind == waits.Helper:
			s.role = "helper"
		case n.Object == (evidence.Object{}) && f.oneThread(s.Process):
			s.role, s.owner.Pod = "runtime", f.podOfShare(s.Process)
		case n.Object == (evidence.Object{}):
			s.role, s.severity = "runtime", Critical
		case f.waits.Find(waits.CallKey(call.ContainerStatus, n.Object.ID)) >= 0, f.waits.Find(waits.CallKey(call.PodSandboxStatus, n.Object.ID)) >= 0:
			return
		default:
			s.others = f.alsoStuck(n)
		}
		if listHangs && s.State == evidence.Uninterrupted {
			s.severity = Critical // the list may wait for it
		}
		stuck = append(stuck, s)
	})
	slices.SortStableFunc(stuck, worstFirst)
	return stuck
}

func worstFirst(a, b stuckProcess) int {
	last := func(s stuckProcess) int { // the runtime comes before all else
		if s.role == "runtime" {
			return 0
		}
		return 1
	}
	return cmp.Or(cmp.Compare(b.severity, a.severity), cmp.Compare(last(a), last(b)), cmp.Compare(b.For, a.For), cmp.Compare(a.PID, b.PID))
}

// oneThread reports whether only one thread of the runtime waits in the kernel, while every call is answered. Then the
// trouble is with what it waits for, such as one share, and not with the node.
func (f *Facts) oneThread(p evidence.Process) bool {
	return p.Thread != 0 && p.Thread != p.PID && p.State == evidence.Uninterrupted && !f.anyHangs()
}

// podOfShare returns the pod whose volume a process of the runtime waits for. If it may wait for one of several
// volumes, all of them must be of one pod. It is zero if that is not known.
func (f *Facts) podOfShare(p evidence.Process) pleg.PodRef {
	m := p.Mount
	if m.Type == "" && len(p.Among) > 0 {
		m = p.Among[0]
		if slices.ContainsFunc(p.Among, func(o evidence.Mount) bool { return o.Pod != m.Pod }) {
			return pleg.PodRef{}
		}
	}
	return f.podWithVolume(m)
}

// ofPod returns the words that name the pod that a mount belongs to; empty if that is not known.
func (f *Facts) ofPod(m evidence.Mount) string {
	if pod := f.podWithVolume(m); pod != (pleg.PodRef{}) {
		return " of " + pod.String()
	}
	return ""
}

// alsoStuck returns how many other processes of a container are held, or wait in the kernel, like the process of a
// node.
func (f *Facts) alsoStuck(n *waits.Node) (others int) {
	same := evidence.Doing.InKernel
	if f.doing(n.Process(), evidence.AsWorkload).Held() {
		same = evidence.Doing.Held
	}
	for _, p := range f.Look.Processes.Containers[n.Object.ID] {
		if p.PID != n.Process().PID && same(f.doing(&p, evidence.AsWorkload)) {
			others++
		}
	}
	return others
}

// byFileSystem groups processes that wait for one file system, if there are several or one is the runtime. The others
// are single.
func (f *Facts) byFileSystem(stuck []stuckProcess) (groups [][]stuckProcess, single []stuckProcess) {
	by := make(map[string][]stuckProcess)
	var devices []string
	for _, s := range stuck {
		m, _ := f.waits.FileSystem(f.waits.Find(s.node.Key))
		if m.Device != "" && by[m.Device] == nil {
			devices = append(devices, m.Device)
		}
		by[m.Device] = append(by[m.Device], s)
	}
	single = by[""]
	for _, d := range devices {
		if g := by[d]; len(g) > 1 || g[0].role == "runtime" {
			groups = append(groups, g)
		} else {
			single = append(single, g...)
		}
	}
	slices.SortStableFunc(single, worstFirst)
	return groups, single
}
