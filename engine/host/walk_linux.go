package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/prometheus/procfs"

	"github.com/plegtop/plegtop/engine/evidence"
)

const (
	// ticks is how many of the units in /proc/PID/stat are a second, on every
	// platform that Go knows.
	ticks = 100

	// kernelThread is the flag of a thread of the kernel's own (PF_KTHREAD).
	kernelThread = 0x00200000
)

// A walker reads the processes of a node, and remembers them from one look to
// the next. It must not be used from two goroutines at once.
type walker struct {
	root, endpoint string
	reader         *reader
	known          map[pidStart]*tracked
	node           []string // the containers that the whole node is in
	looks          uint64
	budget         int // threads that are read in one look
	onward         int // the process whose threads have their turn next
}

// newWalker prepares for looks at the processes below root. Of the shims only
// those count that serve the runtime at the endpoint, or all if that is empty.
// Nothing is read yet.
func newWalker(root, endpoint string) *walker {
	root = filepath.Join("/", root)
	return &walker{
		root: root, endpoint: onHost(root, endpoint),
		reader: newReader(), known: map[pidStart]*tracked{}, budget: threadsPerLook,
	}
}

// A walk is one look under way.
type walk struct {
	*walker
	ctx    context.Context
	at     time.Time
	proc   procfs.FS
	uptime time.Duration // of the node; 0 if it could not be read
	seen   []sighting    // of interest, by process number
	gaps   gaps
}

// A sighting is one process of interest in one look.
type sighting struct {
	*tracked
	proc procfs.Proc
	stat procfs.ProcStat
	now  standing
}

// look returns the processes as they are at the given time, which is what
// durations are measured from. It ends when ctx does, with what it has by then.
func (w *walker) look(ctx context.Context, at time.Time) evidence.Processes {
	defer w.reader.rest()
	w.looks++
	began := time.Now()
	l := &walk{walker: w, ctx: ctx, at: at}
	procs, err := l.list()
	if err != nil {
		return evidence.Processes{Missing: err.Error()}
	}
	l.uptime = l.readUptime()
	for _, p := range procs {
		l.visit(p) // returns at once when ctx has ended
	}
	if ctx.Err() == nil {
		l.forget()
	}
	l.judgeStates()
	found := l.report()
	if ctx.Err() != nil {
		l.gaps.cut = fmt.Sprintf("cut off after %v", time.Since(began).Round(100*time.Millisecond))
	}
	l.gaps.hanging = w.reader.hanging()
	found.Partial = l.gaps.String()
	return found
}

// list returns all processes in the order of their numbers.
func (l *walk) list() (procfs.Procs, error) {
	dir := filepath.Join(l.root, "proc")
	proc, err := fetch(l.ctx, l.reader, procFile{file: "the folder"}, func() (procfs.FS, error) { return procfs.NewFS(dir) })
	if err != nil {
		return nil, l.unlisted(dir, err)
	}
	l.proc = proc
	procs, err := fetch(l.ctx, l.reader, procFile{file: "the list"}, proc.AllProcs)
	if err != nil {
		return nil, l.unlisted(dir, err)
	}
	if len(procs) == 0 {
		return nil, fmt.Errorf("no process in %s%s", dir, l.mountHint())
	}
	slices.SortFunc(procs, func(a, b procfs.Proc) int { return cmp.Compare(a.PID, b.PID) })
	l.gaps.hidden = l.root == "/" && os.Geteuid() != 0 && procs[0].PID != 1
	return procs, nil
}

func (l *walk) unlisted(dir string, err error) error {
	if l.ctx.Err() != nil {
		return fmt.Errorf("no time to read %s", dir)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no %s%s", dir, l.mountHint())
	}
	return fmt.Errorf("cannot read %s: %s", dir, reason(err))
}

// mountHint says what to do about a /proc without processes.
func (l *walk) mountHint() string {
	if l.root == "/" {
		return ": mount it"
	}
	return ": --host-root names the folder where the host's / is mounted, with its /proc in it"
}

func (l *walk) readUptime() time.Duration {
	text, err := l.text(procFile{file: "uptime"}, "", "uptime")
	if err != nil {
		return 0
	}
	first, _, _ := strings.Cut(text, " ")
	seconds, err := strconv.ParseFloat(first, 64)
	if err != nil {
		return 0
	}
	return time.Duration(seconds * float64(time.Second))
}

// text returns a file in a folder below /proc, for what package procfs does not
// know or takes long over.
func (l *walk) text(f procFile, folder, name string) (string, error) {
	return fetch(l.ctx, l.reader, f, func() (string, error) {
		data, err := os.ReadFile(filepath.Join(l.root, "proc", folder, name))
		return string(data), err
	})
}

// visit reads one process. That it has ended meanwhile is normal.
func (l *walk) visit(p procfs.Proc) {
	stat, err := fetch(l.ctx, l.reader, procFile{pid: p.PID, file: "stat"}, p.Stat)
	if l.miss(err) || stat.Flags&kernelThread != 0 {
		return
	}
	t := l.remember(p.PID, stat)
	if !t.settled {
		t.settled = l.identify(p, t) && max(l.age(stat), l.at.Sub(t.first)) >= settleAge
	}
	if p.PID == 1 {
		l.node = t.member.ids
	}
	if t.part.role != plain || len(t.member.ids) > len(l.node) {
		l.seen = append(l.seen, sighting{tracked: t, proc: p, stat: stat})
	}
}

// miss reports whether a read failed, and counts it unless the process is gone.
func (l *walk) miss(err error) bool {
	switch {
	case err == nil:
		return false
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ESRCH), errors.Is(err, errHangs), l.ctx.Err() != nil:
	case errors.Is(err, fs.ErrPermission):
		l.gaps.denied++
	default:
		l.gaps.unread++
	}
	return true
}

// remember returns what is known of a process. One that has become another
// program is begun anew.
func (l *walk) remember(pid int, stat procfs.ProcStat) *tracked {
	key := pidStart{pid, stat.Starttime}
	t := l.known[key]
	if t == nil || t.comm != stat.Comm {
		t = &tracked{comm: stat.Comm, first: l.at}
		l.known[key] = t
	}
	t.visit = l.looks
	return t
}

// forget drops what was not seen. A look that was cut off must not: it has not
// come to all processes.
func (l *walk) forget() {
	maps.DeleteFunc(l.known, func(_ pidStart, t *tracked) bool { return t.visit != l.looks })
}

// identify reads whose the process is, and what it does there. It reports
// whether it could.
func (l *walk) identify(p procfs.Proc, t *tracked) bool {
	groups, err := fetch(l.ctx, l.reader, procFile{p.PID, "cgroup", true}, p.Cgroups)
	if l.miss(err) {
		return false
	}
	t.member = memberOf(groups)
	if r := guess(t.comm); r == plain || r == daemon {
		t.part = part{role: r}
		return true
	}
	args, err := fetch(l.ctx, l.reader, procFile{p.PID, "cmdline", true}, p.CmdLine)
	if l.miss(err) {
		return false
	}
	if len(args) > 0 { // a process that has ended has none left
		t.part = partOf(t.comm, args)
	}
	return true
}

// age returns how long ago the process was started, or 0.
func (l *walk) age(stat procfs.ProcStat) time.Duration {
	started := time.Duration(stat.Starttime) * (time.Second / ticks)
	return max(l.uptime-started, 0)
}

// report puts together what was seen. Helpers that have ended and only wait for
// their parent to notice help nobody any more.
func (l *walk) report() evidence.Processes {
	found := evidence.Processes{Containers: map[string][]evidence.Process{}}
	for _, s := range l.seen {
		if s.part.role != plain && s.now.state == evidence.Zombie {
			continue
		}
		bucket(&found, l.process(s), s.member, s.part, l.node, l.endpoint)
	}
	heirs(found.Runcs)
	found.Daemons = l.atEndpoint(found.Daemons)
	l.gaps.confined = len(found.Daemons)+len(found.Shims) == 0 && l.isConfined()
	return found
}

func (l *walk) process(s sighting) evidence.Process {
	p := evidence.Process{
		PID: s.proc.PID, Parent: s.stat.PPID, Command: s.comm,
		State: s.now.state, For: l.at.Sub(s.now.since), Age: l.age(s.stat),
	}
	if p.State.Stuck() {
		p.Wchan, p.Stack = l.sleep(s)
	}
	return p
}
