package host

import (
	"cmp"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/procfs"

	"github.com/plegtop/plegtop/engine/evidence"
)

// threadsPerLook bounds how many threads are read in a look but the first, for
// the first must tell all it can. What is left has its turn in the next one.
const threadsPerLook = 1000

// findStates finds the state of everything seen: the first thread's, unless
// the process is frozen or another thread is worse off.
func (l *walk) findStates() {
	frozen := l.frozenGroups()
	var open []*sighting
	for i := range l.seen {
		s := &l.seen[i]
		s.now = threadState{state: stateOf(s.stat), since: l.at}
		switch {
		case frozen[s.member.group] && s.now.state != evidence.Zombie:
			s.now.state = evidence.Frozen
		case !s.now.state.Stuck() && s.stat.NumThreads > 1:
			open = append(open, s)
		}
	}
	l.findThreadStates(open)
	for i := range l.seen {
		s := &l.seen[i]
		if s.now.state == evidence.Uninterrupted {
			s.now.runs = l.runs(*s)
		}
		s.now = s.now.from(s.last)
		s.last = s.now
	}
}

func stateOf(stat procfs.ProcStat) evidence.State {
	if stat.State == "" {
		return 0
	}
	return evidence.State(stat.State[0])
}

// findThreadStates looks at the threads of the processes. One that was stuck in the
// look before is all that counts of its process as long as it stays so; the
// others take turns.
func (l *walk) findThreadStates(open []*sighting) {
	open = slices.DeleteFunc(open, func(s *sighting) bool { return s.last.thread != 0 && l.readThread(s, s.last.thread) })
	slices.SortStableFunc(open, func(a, b *sighting) int { return cmp.Compare(l.turn(a), l.turn(b)) })
	left := l.budget
	for _, s := range open {
		if l.looks > 1 && left <= 0 { // not before the first, which may have more than its share
			l.nextPID = s.proc.PID
			return
		}
		left -= s.stat.NumThreads
		l.readThreads(s)
	}
}

// turn orders processes from where the last look left off.
func (l *walk) turn(s *sighting) int {
	if s.proc.PID >= l.nextPID {
		return 0
	}
	return 1
}

func (l *walk) readThreads(s *sighting) {
	threads, err := fetch(l, procFile{pid: s.proc.PID, file: "task"}, func() (procfs.Procs, error) {
		return l.proc.AllThreads(s.proc.PID)
	})
	if err != nil {
		return
	}
	for _, t := range threads {
		if t.PID != s.proc.PID {
			l.readThread(s, t.PID)
		}
	}
}

// readThread makes a thread's state the process's if it is worse, and reports
// whether the thread is stuck. A process that sleeps while its threads work is
// well, but one whose first thread has ended is in the state of the others.
func (l *walk) readThread(s *sighting, thread int) (stuck bool) {
	text, err := l.text(procFile{pid: s.proc.PID, file: "stat"}, threadFolder(s.proc.PID, thread), "stat")
	if err != nil {
		return false
	}
	state := stateIn(text)
	if (state.Stuck() || s.now.state == evidence.Zombie) && badness(state) > badness(s.now.state) {
		s.now.state, s.now.thread = state, thread
	}
	return state.Stuck()
}

// folder returns the folder below /proc of the thread that the state is about.
func (s sighting) folder() string {
	if s.now.thread == 0 {
		return strconv.Itoa(s.proc.PID)
	}
	return threadFolder(s.proc.PID, s.now.thread)
}

func threadFolder(pid, thread int) string {
	return strconv.Itoa(pid) + "/task/" + strconv.Itoa(thread)
}

// runs returns how often the thread has been run. If that cannot be read, it
// has not been since the look before.
func (l *walk) runs(s sighting) uint64 {
	text, err := l.text(procFile{pid: s.proc.PID, file: "schedstat"}, s.folder(), "schedstat")
	fields := strings.Fields(text)
	if err != nil || len(fields) < 3 {
		return s.last.runs
	}
	n, err := strconv.ParseUint(fields[2], 10, 64)
	if err != nil {
		return s.last.runs
	}
	return n
}

// sleep returns where in the kernel a thread sleeps, as far as we may know.
func (l *walk) sleep(s sighting) (wchan string, stack []string) {
	wchan, err := l.text(procFile{s.proc.PID, "wchan", true}, s.folder(), "wchan")
	if wchan = strings.TrimSpace(wchan); err != nil || wchan == "0" {
		wchan = ""
	}
	text, err := l.text(procFile{s.proc.PID, "stack", true}, s.folder(), "stack")
	if err != nil {
		return wchan, nil
	}
	return wchan, stackOf(text)
}

// frozenGroups returns the control groups of containers that are frozen. The
// state of a frozen process does not tell: it is D with v1 and S with v2, and
// with a new kernel the function that it sleeps in is any.
func (l *walk) frozenGroups() map[group]bool {
	frozen := map[group]bool{}
	for _, s := range l.seen {
		g := s.member.group
		if _, asked := frozen[g]; asked || len(s.member.ids) == 0 || stateOf(s.stat) == evidence.Running {
			continue
		}
		frozen[g] = l.isFrozen(s.proc.PID, g)
	}
	return frozen
}

func (l *walk) isFrozen(pid int, g group) bool {
	mount := filepath.Join(l.root, "sys/fs/cgroup")
	var state, events string
	if g.freezer != "" {
		state = l.groupFile(pid, filepath.Join(mount, "freezer", g.freezer, "freezer.state"))
	}
	if g.isHybrid {
		mount = filepath.Join(mount, "unified")
	}
	if g.unified != "" {
		events = l.groupFile(pid, filepath.Join(mount, g.unified, "cgroup.events"))
	}
	return strings.TrimSpace(state) == "FROZEN" || slices.Contains(strings.Split(events, "\n"), "frozen 1")
}

// groupFile returns a control group's file, or "" if it cannot be read.
func (l *walk) groupFile(pid int, path string) string {
	text, err := l.textAt(procFile{pid, filepath.Base(path), true}, path)
	if err != nil {
		return ""
	}
	return text
}
