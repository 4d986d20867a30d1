package proc

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/procfs"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/knowledge"
)

// report puts together what was seen. Helpers that have ended and only wait for
// their parent to notice help nobody any more.
func (l *Look) report() evidence.Processes {
	found := evidence.Processes{Containers: map[string][]evidence.Process{}}
	for _, s := range l.seen {
		if s.identity.role != plain && s.now.state == evidence.Zombie {
			continue
		}
		l.add(&found, s)
	}
	inheritContainers(found.Helpers)
	named := map[string]bool{} // whether one of that name is our runtime's
	for _, d := range found.Daemons {
		named[d.Command] = named[d.Command] || d.Own
	}
	found.Daemons = slices.DeleteFunc(found.Daemons, func(d evidence.Process) bool { return named[d.Command] && !d.Own })
	if _, runs := found.Kubelet(); runs {
		found.OtherKubelet = evidence.Process{}
	}
	found.Objects = l.groupObjects(found.Shims)
	found.KubeletRoots = l.kubeletRoots(found)
	l.gaps.confined = len(found.Daemons)+len(found.Shims) == 0 && l.isConfined()
	return found
}

// add puts a process where it belongs in found. Where the whole node is a
// container, what all its processes are in does not count.
func (l *Look) add(found *evidence.Processes, s sighting) {
	p, ids := l.process(s), without(s.member.ids, l.node)
	is, isKubelet := s.identity.roleIn(ids), slices.Contains(knowledge.Kubelets, s.comm)
	if is == daemon || isKubelet {
		whose := l.ownerOf(s)
		p.Nested = whose == nested
		if isKubelet && whose == another {
			found.OtherKubelet, found.OtherKubelet.Socket = p, s.identity.socket
		}
		if is == daemon && (whose == another || p.Nested) {
			return
		}
	}
	switch is {
	case shim:
		p.Container, p.Sandbox, p.Socket = s.identity.container, s.identity.sandbox, s.identity.socket
		p.Own = l.isOurs(p.Socket)
		if p.Own || s.identity.mayServe(l.endpoint) {
			found.Shims = append(found.Shims, p)
		}
	case runc:
		found.Helpers = append(found.Helpers, l.addHelper(p, s))
	case daemon:
		p.Unit, p.Own = s.member.unit, s.owner == own
		if isKubelet {
			p.Socket = s.identity.socket
		}
		found.Daemons = append(found.Daemons, p)
	default:
		for _, id := range ids {
			p.Container = id
			found.Containers[id] = append(found.Containers[id], p)
		}
	}
}

func (l *Look) process(s sighting) evidence.Process {
	p := evidence.Process{
		PID: s.proc.PID, Parent: s.stat.PPID, Command: s.comm,
		State: s.now.state, Thread: s.now.thread, For: l.at.Sub(s.now.since), AtLeast: !s.now.told && l.at.After(s.now.since), Age: l.age(s.stat), Start: s.stat.Starttime,
	}
	if p.State.Stuck() {
		p.Wchan, p.Stack = l.sleep(s)
		l.waitsFor(&p, s)
	}
	if p.State == evidence.Traced {
		p.Tracer = l.tracer(s)
	}
	if p.State == evidence.Frozen {
		p.Freezer = l.frozen[s.member.group].by
	}
	return p
}

// tracer returns who traces a thread.
func (l *Look) tracer(s sighting) (t evidence.Tracer) {
	text, _ := l.text(File{s.proc.PID, "status", true}, s.threadFolder(s.now.thread), "status")
	if number := StatusField(text, "TracerPid"); len(number) == 1 {
		t.PID, _ = strconv.Atoi(number[0])
	}
	if t.PID != 0 { // of one in a namespace that is not seen here it is 0
		comm, _ := l.text(File{PID: t.PID, Name: "comm"}, strconv.Itoa(t.PID), "comm")
		t.Command = strings.TrimSpace(comm)
	}
	return t
}

// Seen returns a process that is reported, and what its stat file said when.
func (l *Look) Seen(pid int) (p procfs.Proc, stat procfs.ProcStat, at time.Time) {
	i, _ := slices.BinarySearchFunc(l.seen, pid, func(s sighting, pid int) int { return cmp.Compare(s.proc.PID, pid) })
	s := l.seen[i]
	return s.proc, s.stat, s.read
}
