package proc

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/host/reads"
)

const (
	// threadsPerLook bounds the threads that a look reads: a thousand take 10 ms. With more,
	// their processes take turns. The first look reads all, since a check may have no other.
	threadsPerLook = 1000

	// While nothing hangs, and if all processes together have more than quietThreads threads, each process has
	// its turn in every third look. So a thread that stands still is seen after 15 s at most, and the kernel
	// says since when. To read a hundred threads costs nothing.
	quietTurns   = 3
	quietThreads = 100
)

// A threadState is the state that a thread is in, and since when.
type threadState struct {
	state  evidence.State
	thread int    // 0 for the first one
	cpu    int    // the processor on which it ran last
	runs   uint64 // how often it has run; only set for a stuck thread
	since  time.Time
	sure   bool // since is from the kernel; otherwise it is the time of the first look that saw this state
}

// isStill reports whether a thread has done nothing since it was in a state.
func (s threadState) isStill(was threadState) bool {
	return was.state == s.state && was.thread == s.thread && was.runs == s.runs
}

// badness orders states: the higher, the less can be expected of a thread. A thread that has ended is not in
// it, because its process may live in the other threads.
var badness = map[evidence.State]int{
	evidence.Uninterrupted: 5, evidence.Frozen: 4, evidence.Stopped: 3, evidence.Traced: 3, evidence.Running: 2, evidence.Sleeping: 1,
}

// findStates sets the state of each process: frozen, or the state of its first thread, or that of another
// thread that is worse off.
func (l *Look) findStates() {
	l.findFrozen()
	var open []*process
	for _, p := range l.seen {
		switch {
		case l.w.frozen[p.member.group].by != "" && p.now.state != evidence.Zombie:
			p.now.state = evidence.Frozen
		case !p.now.state.Stuck() && p.stat.NumThreads > 1 && StateOf(p.stat) != evidence.Zombie: // if its first thread has ended, begin has read the others
			open = append(open, p)
		}
	}
	threads := 0
	for _, p := range open {
		threads += p.stat.NumThreads
	}
	turns := 1 + threads/l.w.budget
	if !l.w.Deep && threads > quietThreads {
		turns = max(turns, quietTurns)
	}
	l.readThreads(slices.DeleteFunc(open, func(p *process) bool {
		return l.w.looks > 1 && p.last.thread == 0 && (p.of+l.w.looks)%turns != 0 // a thread that was stuck is read each time
	}))
	for _, p := range l.seen {
		l.findSince(p)
	}
}

// A threadOf is a thread of a process, but not the first one.
type threadOf struct {
	*process
	number int
}

// readThreads reads the threads of processes. A thread that was stuck in the last look stands
// for its process as long as it is stuck: the others are not read.
func (l *Look) readThreads(open []*process) {
	var last, all []threadOf
	for _, p := range open {
		if p.last.thread != 0 {
			last = append(last, threadOf{p, p.last.thread})
		}
	}
	l.takeStates(last)
	open = slices.DeleteFunc(open, func(p *process) bool { return p.now.thread != 0 && p.now.state.Stuck() })
	folders := make([]fileAt, len(open))
	for i, p := range open {
		folders[i] = l.tasksOf(p)
	}
	for i, a := range fetchAll(l, folders, readNumbers) {
		for _, number := range a.Value {
			if number != open[i].of {
				all = append(all, threadOf{open[i], number})
			}
		}
	}
	l.takeStates(all)
}

// takeStates reads the states of threads. If a thread is stuck and worse off than its process, the process gets
// the state of the thread. A process that sleeps while its threads work is well. If the first thread has ended,
// the others count in any state.
func (l *Look) takeStates(threads []threadOf) {
	files := make([]fileAt, len(threads))
	for i, t := range threads {
		files[i] = fileAt{File{PID: t.of, Name: "stat"}, t.dir + "/task/" + strconv.Itoa(t.number) + "/stat"}
	}
	for i, a := range fetchAll(l, files, readStat) {
		t, state := threads[i], StateOf(a.Value.ProcStat)
		if counts := state.Stuck() || StateOf(t.stat) == evidence.Zombie; a.Err == nil && counts && badness[state] > badness[t.now.state] {
			t.now.state, t.now.thread, t.now.cpu = state, t.number, int(a.Value.Processor)
		}
	}
}

// findSince sets since when a process is in its state. A thread that was in the kernel in two looks but ran in
// between is busy, not stuck: waiting for a disk looks like that. If the last look saw the same state, its time
// counts, unless the kernel's time is later by more than a second. For a frozen process the kernel is not
// asked, since it may have slept long before it was frozen.
func (l *Look) findSince(p *process) {
	if p.now.state.Stuck() && p.now.state != evidence.Frozen {
		t := l.thread(p.task, p.now.thread)
		p.now.runs = p.last.runs // if it cannot be read
		if fields := strings.Fields(l.text(t, "schedstat")); len(fields) > 2 {
			p.now.runs, _ = strconv.ParseUint(fields[2], 10, 64)
		}
		if !l.w.frozen[p.member.group].unread {
			idle := l.idle(t, p.now.cpu)
			p.now.since, p.now.sure = l.at.Add(-idle), idle > 0
		}
	}
	if was := p.last; p.now.isStill(was) && !was.since.IsZero() && was.since.Add(-time.Second).Before(p.now.since) {
		p.now.since, p.now.sure = was.since, was.sure
	}
	p.last = p.now
}

// idle returns for how long a thread has not run; 0 where the kernel does not say. For a stuck thread that is
// how long it has been stuck. Each processor has a clock of its own, which stands still while a hypervisor runs
// another guest: the clocks may be hours apart.
func (l *Look) idle(t task, cpu int) time.Duration {
	ran := ranAt(l.text(t, "sched"))
	if ran <= 0 {
		return 0
	}
	now, err := reads.Start(&l.w.clocks, cpu, func() (time.Duration, error) { return l.w.clock(cpu), nil }).Wait(l.ctx, l.w.Timeout)
	if err != nil {
		return 0
	}
	return max(now-ran, 0)
}

// ranAt returns when a thread was last seen running, by the clock of its processor's run
// queue: se.exec_start in its sched file, in milliseconds. It is 0 if that is not there.
func ranAt(sched string) time.Duration {
	_, after, _ := strings.Cut(sched, "\nse.exec_start")
	line, _, _ := strings.Cut(after, "\n")
	ms, _ := strconv.ParseFloat(strings.Trim(line, " \t:"), 64)
	return time.Duration(ms * float64(time.Millisecond))
}

// processorClock returns the time of a processor's clock; 0 if we must not run on that processor. It moves a
// thread of our own there and reads its sched file, so it waits until the processor runs us.
func processorClock(cpu int) time.Duration {
	runtime.LockOSThread()
	var before, only unix.CPUSet
	only.Set(cpu)
	if unix.SchedGetaffinity(0, &before) != nil || unix.SchedSetaffinity(0, &only) != nil {
		runtime.UnlockOSThread()
		return 0
	}
	text, err := os.ReadFile("/proc/thread-self/sched")
	if errors.Join(err, unix.SchedSetaffinity(0, &before)) == nil {
		runtime.UnlockOSThread() // otherwise the thread ends with its goroutine
	}
	return ranAt(string(text))
}

// sleep returns the function of the kernel in which a thread sleeps, and its stack. They are empty if we may
// not know them: without the right, the kernel shows "0" as wchan.
func (l *Look) sleep(t task) (wchan string, stack []string) {
	if wchan = strings.TrimSpace(l.text(t, "wchan")); wchan == "0" {
		wchan = ""
	}
	return wchan, stackOf(l.text(t, "stack"))
}

// A freeze is what is known of the freezer of a control group.
type freeze struct {
	by     string // the node's path of the file that froze it, in the group itself or one above; empty if it is not frozen
	unread bool   // it has never been read
}

// findFrozen finds the control groups that are frozen. The states of their processes do not show it: they are D
// with v1 and S with v2, and in newer kernels they sleep in any function. A group that cannot be read on a busy
// node keeps its last state. A group with a running process is not frozen.
func (l *Look) findFrozen() {
	was := l.w.frozen
	l.w.frozen = map[group]freeze{}
	for _, p := range l.seen {
		g := p.member.group
		if _, known := l.w.frozen[g]; known || StateOf(p.stat) == evidence.Running {
			continue
		}
		f := l.freezer(p.of, g)
		if before, seen := was[g]; f.unread && seen {
			f = before
		}
		l.w.frozen[g] = f
	}
}

// freezer returns the state of a group's freezer, as one of the group's processes sees it.
func (l *Look) freezer(pid int, g group) (f freeze) {
	v2 := "/sys/fs/cgroup"
	if g.isHybrid {
		v2 += "/unified"
	}
	for _, in := range []struct{ mount, path, state, frozen, own, thaw string }{
		{"/sys/fs/cgroup/freezer", g.freezer, "freezer.state", "FROZEN\n", "freezer.self_freezing", "freezer.state"},
		{v2, g.unified, "cgroup.events", "frozen 1\n", "cgroup.freeze", "cgroup.freeze"},
	} {
		if in.path == "" {
			continue
		}
		read := func(path, name string) (string, error) {
			return l.Text(File{pid, name, true}, filepath.Join(in.mount, path, name))
		}
		text, err := read(in.path, in.state)
		f.unread = f.unread || err != nil && !errors.Is(err, fs.ErrNotExist)
		if !strings.Contains(text, in.frozen) {
			continue
		}
		f = freeze{by: filepath.Join(in.mount, in.path, in.thaw)}
		for at := in.path; len(at) > 1; at = filepath.Dir(at) { // the group that was frozen itself may be above
			if own, _ := read(at, in.own); strings.TrimSpace(own) == "1" {
				return freeze{by: filepath.Join(in.mount, at, in.thaw)}
			}
		}
		return f
	}
	return f
}
