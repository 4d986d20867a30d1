package proc

import (
	"fmt"
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
	start   uint64 // in ticks after the node's, which tells it from others of its number
	comm    string
	first   time.Time // when it was first seen
	settled bool      // member and identity need not be read again
	asked   bool      // whether it is a helper, as identity says

	member   membership
	identity identity
	owner    owner  // of a daemon
	space    string // its pid namespace, of those that were asked for it; empty if that may not be known
	last     threadState
	wait     waited
}

// An owner is whose a daemon is.
type owner uint8

const (
	unknown owner = iota
	own           // of the runtime at the endpoint, or its kubelet
	another       // of another runtime
	nested        // the kubelet of a node that runs within this one
)

// A waited is what a thread waits for, from when on.
type waited struct {
	threadState
	mount   evidence.Mount
	among   []evidence.Mount
	servers []evidence.Holder
	deep    bool // it was found out in a deep look
}

// A threadState is the state that a thread is in, since when.
type threadState struct {
	state  evidence.State
	thread int    // 0 for the first one
	cpu    int    // on which it ran last
	runs   uint64 // how often the thread has been run, for one that sleeps in the kernel
	since  time.Time
	told   bool // since, by the kernel; else that is when a look saw it so first
}

// from returns s with the time at which this state began, if it is that of was. A
// thread that was found in the kernel twice but ran in between is busy, not stuck:
// a disk does that. What is known of it by now is the better only if it is much so.
func (s threadState) from(was threadState) threadState {
	if s.isStill(was) && !was.since.IsZero() && was.since.Add(-time.Second).Before(s.since) {
		s.since, s.told = was.since, was.told
	}
	return s
}

// isStill reports whether a thread has done nothing since it was in a state.
func (s threadState) isStill(was threadState) bool {
	return was.state == s.state && was.thread == s.thread && was.runs == s.runs
}

// badness orders states by how little can be expected of them. One that has
// ended has none, while its other threads may well live.
var badness = map[evidence.State]int{
	evidence.Uninterrupted: 5, evidence.Frozen: 4, evidence.Stopped: 3, evidence.Traced: 3, evidence.Running: 2, evidence.Sleeping: 1,
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

// StatusField returns what a field of a file such as /proc/PID/status says.
func StatusField(text, name string) []string {
	for line := range strings.Lines(text) {
		if value, is := strings.CutPrefix(line, name+":"); is {
			return strings.Fields(value)
		}
	}
	return nil
}

// inheritContainers gives the helpers that do not name their container the one
// of the helper that began them: "runc init" is told nothing but has a parent.
func inheritContainers(runcs []evidence.Process) {
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

// A File is what one read is about. For most files of a process the kernel
// takes a lock that the process itself, or whoever moves it between control
// groups, may hold for ever: these are risky. The list of processes, their
// threads and their stat are not.
type File struct {
	PID   int // 0 for what belongs to none
	Name  string
	Risky bool
}

// gaps are the reasons why processes may be missing.
type gaps struct {
	denied, unread int
	hidden         bool
	confined       bool
	cut            string
	hanging        []File
}

func (g gaps) String() string {
	var why []string
	if g.cut != "" {
		why = append(why, g.cut)
	}
	for _, f := range g.hanging {
		of := ""
		if f.PID != 0 {
			of = fmt.Sprintf(" of process %d", f.PID)
		}
		why = append(why, "reading "+f.Name+of+" hangs")
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
