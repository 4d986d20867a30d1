package host

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine/evidence"
)

// settleAge is from when on a process is taken to be what it will remain. A
// container's first process begins as the runtime's, is moved into its control
// group later, and only then becomes what the container runs.
const settleAge = 10 * time.Second

// A tracked is what is remembered of a process from one look to the next.
type tracked struct {
	comm    string
	first   time.Time // when it was first seen
	settled bool      // member and part need not be read again
	member  membership
	part    part
	still   standing
	visit   uint64 // number of the look that saw it last
}

// A standing is a thread in a state, since when.
type standing struct {
	state  evidence.State
	thread int    // 0 for the first one
	runs   uint64 // how often the thread has been run, for one that sleeps in the kernel
	since  time.Time
}

// from returns s with the time at which this standing began, if it is that of
// was. A thread that was found in the kernel twice but ran in between is busy,
// not stuck: a disk does that.
func (s standing) from(was standing) standing {
	if !was.since.IsZero() && was.state == s.state && was.thread == s.thread && was.runs == s.runs {
		s.since = was.since
	}
	return s
}

// badness orders states by how little can be expected of them.
func badness(s evidence.State) int {
	switch s {
	case evidence.Uninterrupted:
		return 5
	case evidence.Frozen:
		return 4
	case evidence.Stopped, evidence.Traced:
		return 3
	case evidence.Running:
		return 2
	case evidence.Sleeping:
		return 1
	}
	return 0 // ended, while other threads may well live
}

// stateIn returns the state in the text of a stat file, or 0. The name before it
// may have any bytes in it.
func stateIn(stat string) evidence.State {
	rest := stat[strings.LastIndexByte(stat, ')')+1:]
	if len(rest) < 2 {
		return 0
	}
	return evidence.State(rest[1])
}

// stackOf returns the functions in the text of /proc/PID/stack, whose lines are
// like "[<0>] do_signal_stop+0x16f/0x210".
func stackOf(text string) []string {
	var functions []string
	for line := range strings.Lines(text) {
		if _, after, ok := strings.Cut(line, "] "); ok {
			line = after
		}
		line, _, _ = strings.Cut(strings.TrimSpace(line), "+0x")
		if line != "" && !strings.HasPrefix(line, "0xffffffff") { // the end of an older kernel's
			functions = append(functions, line)
		}
	}
	return functions
}

// bucket puts a process where it belongs in found. Node are the ids of the
// containers that the node itself is in, endpoint is the runtime's.
func bucket(found *evidence.Processes, p evidence.Process, m membership, a part, node []string, endpoint string) {
	ids := without(m.ids, node)
	switch role := roleIn(ids, a); role {
	case shim:
		if a.serves(endpoint) {
			p.Container, p.Sandbox, p.Socket = a.container, a.sandbox, a.socket
			found.Shims = append(found.Shims, p)
		}
	case runc:
		p.Container = a.container
		found.Runcs = append(found.Runcs, p)
	case daemon:
		found.Daemons = append(found.Daemons, p)
	default:
		for _, id := range ids {
			p.Container = id
			found.Containers[id] = append(found.Containers[id], p)
		}
	}
}

// roleIn returns a process's role, given the containers that it is in: what
// runs inside a container is that container's, though it be another containerd.
// Only a shim may be put into the group of its own pod.
func roleIn(ids []string, a part) role {
	if len(ids) == 0 || (a.role == shim && slices.Contains([]string{a.sandbox, a.container}, ids[len(ids)-1])) {
		return a.role
	}
	return plain
}

// heirs gives the errands that do not name their container the one of the
// errand that began them: "runc init" is told nothing but has a parent.
func heirs(runcs []evidence.Process) {
	named := map[int]string{}
	for _, p := range runcs {
		named[p.PID] = p.Container
	}
	for i := range runcs {
		if p := &runcs[i]; p.Container == "" {
			p.Container = named[p.Parent]
		}
	}
}

// gaps are the reasons why processes may be missing.
type gaps struct {
	denied, unread int
	hidden         bool
	confined       bool
	cut            string
	hanging        []procFile
}

func (g gaps) String() string {
	var why []string
	if g.cut != "" {
		why = append(why, g.cut)
	}
	for _, f := range g.hanging {
		why = append(why, fmt.Sprintf("reading %s of process %d hangs", f.file, f.pid))
	}
	if g.unread > 0 {
		why = append(why, "could not read "+counted(g.unread))
	}
	if g.denied > 0 {
		why = append(why, "denied for "+counted(g.denied)+": try sudo")
	}
	if g.hidden {
		why = append(why, "the processes of other users are hidden: try sudo")
	}
	if g.confined {
		why = append(why, "only the processes of a container are there, and no runtime: give the pod hostPID: true")
	}
	return strings.Join(why, "; ")
}

func counted(processes int) string {
	if processes == 1 {
		return "1 process"
	}
	return fmt.Sprintf("%d processes", processes)
}
