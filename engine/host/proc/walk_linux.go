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
	"time"

	"github.com/prometheus/procfs"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/host/reads"
)

const (
	// Ticks is how many of the units in /proc/PID/stat are a second, on every
	// platform that Go knows.
	Ticks = 100

	// kernelThread is the flag of a thread of the kernel's own (PF_KTHREAD).
	kernelThread = 0x00200000
)

// A Look is one look at the processes. It belongs to who has the walker.
type Look struct {
	*memory
	ctx      context.Context
	at       time.Time
	began    time.Time
	proc     procfs.FS
	dir      string        // the folder of proc
	uptime   time.Duration // of the node; 0 if it could not be read
	seen     []sighting    // of interest, by process number
	children []child       // others, which may be helpers of theirs
	isDeep   bool
	waits    int // how many have been found out
	waited   int // helpers of which that was
	gaps     gaps
	fuse     *[]opener         // programs that serve FUSE; nil until somebody waits for one
	untold   map[*tracked]bool // daemons of which it cannot be known whose they are
	home     *string           // the pid namespace of our runtime; nil until somebody asks
	ours     map[string]bool   // the sockets of shims that were compared with the runtime's
	found    evidence.Processes
}

// A sighting is one process of interest in one look.
type sighting struct {
	*tracked
	proc procfs.Proc
	stat procfs.ProcStat
	read time.Time // when stat was
	now  threadState
}

// Look looks at the processes as they are at the given time, which is what durations are
// measured from. It ends when ctx does, with what it has by then; so does what is read in
// the look later. The error says why there are none, in words for people.
func (w *Walker) Look(ctx context.Context, at time.Time) (*Look, error) {
	w.looks++
	l := &Look{memory: &w.memory, ctx: ctx, at: at, began: time.Now(), ours: map[string]bool{}, untold: map[*tracked]bool{}}
	l.isDeep = w.deep != nil && w.deep()
	procs, err := l.list()
	if err != nil {
		return nil, err
	}
	l.uptime = l.readUptime()
	l.forget(procs)
	procs = l.skipBystanders(procs)
	for i, a := range l.stats(procs) {
		l.visit(procs[i], a) // returns at once when ctx has ended
	}
	l.findHelpers()
	l.findStates()
	l.found = l.report()
	return l, nil
}

// Processes returns what was found. Partial says what could not be read until now.
func (l *Look) Processes() evidence.Processes {
	if l.ctx.Err() != nil {
		l.gaps.cut = fmt.Sprintf("cut off after %v", time.Since(l.began).Round(100*time.Millisecond))
	}
	l.gaps.hanging = l.hanging()
	found := l.found
	found.Partial = l.gaps.String()
	return found
}

// list returns all processes in the order of their numbers.
func (l *Look) list() (procfs.Procs, error) {
	l.dir = filepath.Join(l.root, "proc")
	proc, err := Fetch(l, File{Name: "the folder"}, func() (procfs.FS, error) { return procfs.NewFS(l.dir) })
	if err != nil {
		return nil, l.unlisted(err)
	}
	l.proc = proc
	procs, err := Fetch(l, File{Name: "the list"}, proc.AllProcs)
	if err != nil {
		return nil, l.unlisted(err)
	}
	if len(procs) == 0 {
		return nil, fmt.Errorf("no process in %s%s", l.dir, l.mountHint())
	}
	slices.SortFunc(procs, func(a, b procfs.Proc) int { return cmp.Compare(a.PID, b.PID) })
	l.gaps.hidden = l.root == "/" && os.Geteuid() != 0 && procs[0].PID != 1
	return procs, nil
}

func (l *Look) unlisted(err error) error {
	if l.ctx.Err() != nil {
		return fmt.Errorf("no time to read %s", l.dir)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no %s%s", l.dir, l.mountHint())
	}
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		err = failed.Err // without the path, which is told
	}
	return fmt.Errorf("cannot read %s: %w", l.dir, err)
}

// mountHint says what to do about a /proc without processes.
func (l *Look) mountHint() string {
	if l.root == "/" {
		return ": mount it"
	}
	return ": --host-root names the folder where the host's / is mounted, with its /proc in it"
}

func (l *Look) readUptime() time.Duration {
	text, _ := l.text(File{Name: "uptime"}, "", "uptime")
	return Uptime(text)
}

// Uptime returns what /proc/uptime says; 0 if it says nothing.
func Uptime(text string) time.Duration {
	first, _, _ := strings.Cut(text, " ")
	up, err := strconv.ParseFloat(first, 64)
	if err != nil {
		return 0
	}
	return time.Duration(up * float64(time.Second))
}

// visit takes in one process. That it has ended meanwhile is normal.
func (l *Look) visit(p procfs.Proc, a reads.Answer[statRead]) {
	if l.miss(a.Err) {
		return
	}
	stat := a.Value.ProcStat
	if stat.Flags&kernelThread != 0 {
		l.bystanders[p.PID] = l.looks
		return
	}
	t, known := l.remember(p.PID, stat), true
	switch {
	case !t.settled:
		known = l.readIdentity(p, t)
		t.settled = known && max(l.age(stat), l.at.Sub(t.first)) >= settleAge
	case StateOf(stat) == evidence.Uninterrupted: // or moved into a group of v1 that is frozen
		if groups, err := Fetch(l, File{p.PID, "cgroup", true}, p.Cgroups); err == nil {
			t.member = memberOf(groups)
		}
	}
	if p.PID == 1 {
		l.node = t.member.ids
	}
	isRunc := t.identity.role == runc
	switch inContainer := len(t.member.ids) > len(l.node); {
	case inContainer, t.identity.role != plain && !isRunc:
		l.seen = append(l.seen, sighting{tracked: t, proc: p, stat: stat, read: a.Value.at})
	case isRunc, known && stat.PPID > 1: // those of 1 have lost their parent
		l.children = append(l.children, child{t, p, stat.PPID, l.age(stat)})
	case t.settled:
		l.bystanders[p.PID] = l.looks
	}
}

// readIdentity reads whose the process is, and what it does there. It reports
// whether it could.
func (l *Look) readIdentity(p procfs.Proc, t *tracked) bool {
	groups, err := Fetch(l, File{p.PID, "cgroup", true}, p.Cgroups)
	if l.miss(err) {
		return false
	}
	t.member = memberOf(groups)
	if r := roleOf(t.comm); r == plain || r == daemon {
		t.identity = identity{role: r}
		if r == plain {
			return true
		}
	}
	args, err := Fetch(l, File{p.PID, "cmdline", true}, p.CmdLine)
	if l.miss(err) {
		return false
	}
	if len(args) > 0 { // a process that has ended has none left
		t.identity = identityOf(t.comm, args)
		if t.identity.role == daemon {
			t.identity.socket, err = Fetch(l, File{p.PID, "configuration", true}, func() (string, error) { return l.socket(t.comm, args), nil })
			return !l.miss(err)
		}
	}
	return true
}

// age returns how long ago the process was started, or 0.
func (l *Look) age(stat procfs.ProcStat) time.Duration {
	started := time.Duration(stat.Starttime) * (time.Second / Ticks)
	return max(l.uptime-started, 0)
}

// Outer returns the containers that the whole node with that root is in. It may hang.
func Outer(root string) ([]string, error) {
	fs, err := procfs.NewFS(filepath.Join("/", root, "proc"))
	if err != nil {
		return nil, err
	}
	first, err := fs.Proc(1)
	if err != nil {
		return nil, err
	}
	lines, err := first.Cgroups()
	return memberOf(lines).ids, err
}
