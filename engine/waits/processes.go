package waits

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
)

// objectsToProcesses adds that an object likely waits for a process of its container that does nothing, since
// that process may hold up any call about the container. Each container has only one process for this: one that
// waits in the kernel, or one of all processes if all are held. The pause process of a sandbox gets an edge
// only if no container of the pod has one, because they share a freezer.
func objectsToProcesses(b *builder) {
	reported, idle := make(map[pleg.UID]bool), make(map[string]*evidence.Process)
	for id, all := range b.Report.Processes.Containers {
		if p := b.idleOf(all); p != nil {
			idle[id] = p
		}
	}
	for _, sandboxes := range []bool{false, true} {
		for _, id := range slices.Sorted(maps.Keys(idle)) {
			owner, known := b.Lookup(id)
			if known && owner.Sandbox == sandboxes && owner.State == pleg.Running && !(sandboxes && reported[owner.Pod.UID]) {
				reported[owner.Pod.UID] = true
				b.objectToProcess(owner, idle[id])
			}
		}
	}
	for i, h := range b.Hangs {
		if p := evidence.WorstOf(b.Report.Processes.Containers[h.Object.ID]); b.blamed[i] && p != nil && b.Doing(p, evidence.AsWorkload).DoesNothing() {
			b.objectToProcess(h.Object, p)
		}
	}
}

// objectToProcess adds that an object waits for a process, unless it is already known what the object waits
// for.
func (b *builder) objectToProcess(o evidence.Object, p *evidence.Process) {
	if object := b.object(o); !b.waits[object] {
		b.edge(object, b.process(p, evidence.AsWorkload, o), Proof{})
	}
}

// idleOf returns a process of a container that is held, if all processes are; or else a process that waits in
// the kernel; nil if there is none. It prefers a process whose file system is known.
func (b *builder) idleOf(all []evidence.Process) *evidence.Process {
	live := 0
	var held, inKernel []*evidence.Process
	for i := range all {
		d := b.Doing(&all[i], evidence.AsWorkload)
		if d.What != evidence.IsDead {
			live++
		}
		if d.Held() {
			held = append(held, &all[i])
		} else if d.InKernel() {
			inKernel = append(inKernel, &all[i])
		}
	}
	if len(held) == live {
		inKernel = held
	}
	if len(inKernel) == 0 {
		return nil
	}
	return inKernel[max(0, slices.IndexFunc(inKernel, func(p *evidence.Process) bool { return p.Mount.Type != "" }))]
}

// process returns the place of the node of a process with this role.
func (b *builder) process(p *evidence.Process, as evidence.Role, owner evidence.Object) int {
	pid := strconv.Itoa(p.PID)
	n := Node{ID: pid, Object: owner, process: p, as: as, doing: b.Doing(p, as)}
	kind := Process
	switch as {
	case evidence.AsMonitor:
		kind, n.Name = Shim, MonitorWord(p)+" "+pid
	case evidence.AsHelper:
		kind, n.Name, n.Since = Helper, fmt.Sprintf("%s (%s)", HelperName(p), Roughly(p.Age+b.Passed)), b.since(p.Age)
	default:
		n.Name, n.Since = fmt.Sprintf("pid %d (%s)", p.PID, p.Command), b.since(p.For)
	}
	return b.node(kind, pid, n)
}

// since returns the time at which something began, given how long it had lasted at the look; zero if that is
// not known.
func (b *builder) since(lasted time.Duration) time.Time {
	if lasted == 0 || b.Report.At.IsZero() {
		return time.Time{}
	}
	return b.Report.At.Add(-lasted)
}

// HelperName returns what a helper does, in words: runc delete, CNI ADD by calico, umount.
func HelperName(p *evidence.Process) string {
	switch {
	case p.IsPlugin():
		return p.Verb + " by " + p.Command
	case p.Verb == "" || p.Verb == p.Command:
		return p.Command
	}
	return p.Command + " " + p.Verb
}

// MonitorWord returns the word for a process that stays beside a container: shim, conmon.
func MonitorWord(p *evidence.Process) string {
	if strings.HasPrefix(p.Command, "conmon") {
		return p.Command
	}
	return "shim"
}

// Roughly returns a duration by its largest unit or two: 47s, 10m, 2h5m.
func Roughly(d time.Duration) string {
	switch {
	case d < time.Second:
		return "less than 1s"
	case d < time.Minute:
		return d.Truncate(time.Second).String()
	case d < time.Hour:
		return fmt.Sprintf("%dm", d/time.Minute)
	}
	return fmt.Sprintf("%dh%dm", d/time.Hour, d%time.Hour/time.Minute)
}
