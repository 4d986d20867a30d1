package proc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/prometheus/procfs"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/host/reads"
)

// threadsPerLook bounds how many threads are read in a look but the first, for
// the first must tell all it can. What is left has its turn in the next one.
const threadsPerLook = 1000

// findStates finds the state of everything seen: the first thread's, unless
// the process is frozen or another thread is worse off.
func (l *Look) findStates() {
	l.findFrozen()
	var open []*sighting
	for i := range l.seen {
		s := &l.seen[i]
		s.now = threadState{state: StateOf(s.stat), since: l.at, cpu: int(s.stat.Processor)}
		switch {
		case l.frozen[s.member.group].by != "" && s.now.state != evidence.Zombie:
			s.now.state = evidence.Frozen
		case !s.now.state.Stuck() && s.stat.NumThreads > 1:
			open = append(open, s)
		}
	}
	l.findThreadStates(open)
	for i := range l.seen {
		s := &l.seen[i]
		if s.now.state.Stuck() && s.now.state != evidence.Frozen { // which may have slept long before
			s.now.runs = l.runs(*s)
			if !l.frozen[s.member.group].unread {
				idle := l.idle(*s)
				s.now.since, s.now.told = l.at.Add(-idle), idle > 0
			}
		}
		s.now = s.now.from(s.last)
		s.last = s.now
	}
}

// StateOf returns the state of a process by its stat file; 0 if that has none.
func StateOf(stat procfs.ProcStat) evidence.State {
	if stat.State == "" {
		return 0
	}
	return evidence.State(stat.State[0])
}

// findThreadStates looks at the threads of the processes. One that was stuck in the
// look before is all that counts of its process as long as it stays so; the
// others take turns.
func (l *Look) findThreadStates(open []*sighting) {
	turn := func(s *sighting) int { // from where the last look left off
		if s.proc.PID >= l.nextPID {
			return 0
		}
		return 1
	}
	open = slices.DeleteFunc(open, func(s *sighting) bool { return s.last.thread != 0 && l.readThread(s, s.last.thread) })
	slices.SortStableFunc(open, func(a, b *sighting) int { return cmp.Compare(turn(a), turn(b)) })
	left := l.budget
	for i, s := range open {
		if l.looks > 1 && left <= 0 { // not before the first, which may have more than its share
			l.nextPID = s.proc.PID
			open = open[:i]
			break
		}
		left -= s.stat.NumThreads
	}
	l.readThreads(open)
}

// readThreads reads the threads of the processes, but for the first ones.
func (l *Look) readThreads(open []*sighting) {
	folders := make([]fileAt, len(open))
	for i, s := range open {
		folders[i] = l.fileOf(s.proc.PID, "task")
	}
	var of []*sighting // whose the threads are
	var threads []int
	var files []fileAt
	for i, a := range fetchAll(l, folders, readNumbers) {
		for _, thread := range a.Value {
			if s := open[i]; thread != s.proc.PID {
				of, threads = append(of, s), append(threads, thread)
				files = append(files, fileAt{File{PID: s.proc.PID, Name: "stat"}, folders[i].path + "/" + strconv.Itoa(thread) + "/stat"})
			}
		}
	}
	for i, a := range fetchAll(l, files, readStat) {
		if a.Err == nil {
			of[i].takeThread(threads[i], a.Value.ProcStat)
		}
	}
}

// readThread reads one thread, and reports whether it is stuck.
func (l *Look) readThread(s *sighting, thread int) bool {
	a := fetchAll(l, []fileAt{l.fileOf(s.proc.PID, "task/"+strconv.Itoa(thread)+"/stat")}, readStat)[0]
	return a.Err == nil && s.takeThread(thread, a.Value.ProcStat)
}

// takeThread makes a thread's state the process's if it is worse, and reports
// whether the thread is stuck. A process that sleeps while its threads work is
// well, but one whose first thread has ended is in the state of the others.
func (s *sighting) takeThread(thread int, stat procfs.ProcStat) (stuck bool) {
	state := StateOf(stat)
	if (state.Stuck() || s.now.state == evidence.Zombie) && badness[state] > badness[s.now.state] {
		s.now.state, s.now.thread, s.now.cpu = state, thread, int(stat.Processor)
	}
	return state.Stuck()
}

// threadFolder returns the folder below /proc of a thread, 0 for the first one.
func (s sighting) threadFolder(thread int) string {
	if thread == 0 {
		return strconv.Itoa(s.proc.PID)
	}
	return fmt.Sprintf("%d/task/%d", s.proc.PID, thread)
}

// runs returns how often the thread has been run. If that cannot be read, it
// has not been since the look before.
func (l *Look) runs(s sighting) uint64 {
	text, err := l.text(File{PID: s.proc.PID, Name: "schedstat"}, s.threadFolder(s.now.thread), "schedstat")
	if fields := strings.Fields(text); err == nil && len(fields) > 2 {
		if n, err := strconv.ParseUint(fields[2], 10, 64); err == nil {
			return n
		}
	}
	return s.last.runs
}

// sleep returns where in the kernel a thread sleeps, as far as we may know.
func (l *Look) sleep(s sighting) (wchan string, stack []string) {
	wchan, err := l.text(File{s.proc.PID, "wchan", true}, s.threadFolder(s.now.thread), "wchan")
	if wchan = strings.TrimSpace(wchan); err != nil || wchan == "0" {
		wchan = ""
	}
	text, _ := l.text(File{s.proc.PID, "stack", true}, s.threadFolder(s.now.thread), "stack")
	return wchan, stackOf(text)
}

// A freeze is what is known of a control group's freezer.
type freeze struct {
	by     string // the file that froze it, which may be a group's above, as the node's own processes see it; empty if it is not frozen
	unread bool   // it could not be read, now or ever
}

// findFrozen finds the control groups that are frozen. The state of a frozen
// process does not tell: it is D with v1 and S with v2, and with a new kernel the
// function that it sleeps in is any. What cannot be read on a busy node is as it was.
func (l *Look) findFrozen() {
	was := l.frozen
	l.frozen = map[group]freeze{}
	for _, s := range l.seen {
		g := s.member.group
		if _, asked := l.frozen[g]; asked || StateOf(s.stat) == evidence.Running {
			continue
		}
		by, known := l.freezer(s.proc.PID, g)
		if before, seen := was[g]; !known && seen {
			l.frozen[g] = before
		} else {
			l.frozen[g] = freeze{by, !known}
		}
	}
}

// freezer returns the file with which g was frozen, if it is, and whether it is known.
func (l *Look) freezer(pid int, g group) (by string, known bool) {
	const mount = "/sys/fs/cgroup"
	unified := mount
	if g.isHybrid { // v1 hierarchies are there too, so that v2's is mounted beside them
		unified += "/unified"
	}
	v1, err1 := l.groupFile(pid, g.freezer, mount+"/freezer", "freezer.state")
	v2, err2 := l.groupFile(pid, g.unified, unified, "cgroup.events")
	switch {
	case strings.TrimSpace(v1) == "FROZEN":
		return l.frozenAt(pid, g.freezer, mount+"/freezer", "freezer.self_freezing", "freezer.state"), true
	case slices.Contains(strings.Split(v2, "\n"), "frozen 1"):
		return l.frozenAt(pid, g.unified, unified, "cgroup.freeze", "cgroup.freeze"), true
	}
	return "", !isHeldUp(err1) && !isHeldUp(err2)
}

// isHeldUp reports whether a file was not read for want of time.
func isHeldUp(err error) bool {
	_, stuck := errors.AsType[reads.StuckError](err)
	return stuck || errors.Is(err, errRefused) || errors.Is(err, reads.ErrBrokenOff) || errors.Is(err, context.DeadlineExceeded)
}

// frozenAt returns the file to thaw with of the group whose own file says 1, at
// group or above.
func (l *Look) frozenAt(pid int, group, mount, own, file string) string {
	for at := group; len(at) > 1; at = filepath.Dir(at) {
		if text, _ := l.groupFile(pid, at, mount, own); strings.TrimSpace(text) == "1" {
			return filepath.Join(mount, at, file)
		}
	}
	return filepath.Join(mount, group, file)
}

// groupFile returns a control group's file; nothing for the group of no hierarchy.
func (l *Look) groupFile(pid int, group, mount, name string) (string, error) {
	if group == "" {
		return "", nil
	}
	return l.Text(File{pid, name, true}, filepath.Join(mount, group, name))
}

// mostStuck bounds the reads of risky files that are left behind. With so
// many out, no further one is begun.
const mostStuck = 2

var errRefused = errors.New("not read, since other reads do not come back")

// Fetch returns what read returns, or an error once that takes too long. Files
// are read one after the other. A read that does not come back is left behind,
// and nothing of the kind is read of that process until it has.
func Fetch[T any](l *Look, f File, read func() (T, error)) (value T, err error) {
	if err := l.mayRead(f); err != nil {
		return value, err
	}
	return reads.Start(&l.reads, f, read).Wait(l.ctx, l.timeout)
}

// mayRead says why a file must not be read now, if it must not: at most mostStuck reads of
// risky files are left behind, and one more that should not have been.
func (l *Look) mayRead(f File) error {
	if err := l.ctx.Err(); err != nil {
		return err
	}
	stuck := l.reads.Keys()
	if slices.ContainsFunc(stuck, func(s File) bool { return s.PID == f.PID && s.Risky == f.Risky }) {
		return reads.StuckError{}
	}
	if len(stuck) > mostStuck || (f.Risky && len(stuck) == mostStuck) {
		return errRefused
	}
	return nil
}

// hanging returns the reads that were left behind and have not come back, by
// process.
func (m *memory) hanging() []File {
	return slices.SortedFunc(slices.Values(m.reads.Keys()), func(a, b File) int { return a.PID - b.PID })
}

// text returns a file in a folder below /proc, for what package procfs does not
// know or takes long over.
func (l *Look) text(f File, folder, name string) (string, error) {
	return l.Text(f, filepath.Join("proc", folder, name))
}

// Text returns a small file of the host's /proc or /sys, whose path has no link in it.
func (l *Look) Text(f File, path string) (string, error) {
	return Fetch(l, f, func() (string, error) {
		data, err := os.ReadFile(filepath.Join(l.root, path))
		if err != nil {
			return "", err // not a part of it
		}
		return string(data), nil
	})
}

// miss reports whether a read failed, and counts it unless the process is gone.
func (l *Look) miss(err error) bool {
	_, stuck := errors.AsType[reads.StuckError](err)
	switch {
	case err == nil:
		return false
	case stuck, errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ESRCH), l.ctx.Err() != nil:
	case errors.Is(err, fs.ErrPermission):
		l.gaps.denied++
	default:
		l.gaps.unread++
	}
	return true
}
