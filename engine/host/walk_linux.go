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
	"sync/atomic"
	"time"

	"github.com/prometheus/procfs"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/host/reads"
)

const (
	// ticks is how many of the units in /proc/PID/stat are a second, on every
	// platform that Go knows.
	ticks = 100

	// kernelThread is the flag of a thread of the kernel's own (PF_KTHREAD).
	kernelThread = 0x00200000

	// bystanderLooks is for how many looks a number is taken for a bystander's without
	// reading it again: half a minute.
	bystanderLooks = 6
)

// A walker reads the processes of a node, and remembers them from one look to
// the next. It must not be used from two goroutines at once.
type walker struct {
	root, endpoint string
	reads          reads.Set[procFile]
	clocks         reads.Set[int]              // by the processor
	clock          func(cpu int) time.Duration // of a processor; 0 if it cannot be known
	timeout        time.Duration               // for one file
	usage          usageMeter                  // of the daemons
	quotas         map[int]quota               // of the daemons, by process number
	kills          map[string]uint64           // for want of memory in their control groups, by the folder: a daemon that was killed comes back
	frozen         map[group]freeze            // as of the last look
	known          map[int]*tracked            // by process number
	bystanders     map[int]bystander           // likewise
	node           []string                    // the containers that the whole node is in
	looks          uint64
	budget         int // threads that are read in one look
	nextPID        int // the process whose threads have their turn next

	walked  chan struct{}                // closed after the first look
	bundles atomic.Pointer[bundleFolder] // of our runtime, by its shims; nil if none told
}

// newWalker prepares for looks at the processes below root. Of the shims only
// those count that may serve the runtime at the endpoint, or all if that is empty.
// Nothing is read yet.
func newWalker(root, endpoint string) *walker {
	root = filepath.Join("/", root)
	return &walker{
		root: root, endpoint: endpoint, clock: processorClock,
		timeout: fileTimeout, known: map[int]*tracked{}, kills: map[string]uint64{}, budget: threadsPerLook,
		walked: make(chan struct{}),
	}
}

// A walk is one look under way.
type walk struct {
	*walker
	ctx      context.Context
	at       time.Time
	proc     procfs.FS
	dir      string        // the folder of proc
	uptime   time.Duration // of the node; 0 if it could not be read
	seen     []sighting    // of interest, by process number
	children []child       // others, which may be errands of theirs
	waits    int           // how many have been found out
	waited   int           // errands of which that was
	gaps     gaps
	ours     map[string]bool // the sockets of shims that were compared with the runtime's
}

// A sighting is one process of interest in one look.
type sighting struct {
	*tracked
	proc procfs.Proc
	stat procfs.ProcStat
	read time.Time // when stat was
	now  threadState
}

// look returns the processes as they are at the given time, which is what
// durations are measured from, what the daemons use and may use, and the folder
// that the shims work in. It ends when ctx does, with what it has by then.
func (w *walker) look(ctx context.Context, at time.Time) evidence.Report {
	if w.looks++; w.looks == 1 {
		defer close(w.walked)
	}
	began := time.Now()
	l := &walk{walker: w, ctx: ctx, at: at, ours: map[string]bool{}}
	procs, err := l.list()
	if err != nil {
		return evidence.Report{Processes: evidence.Processes{Missing: err.Error()}, State: evidence.Disk{Missing: err.Error()}}
	}
	l.uptime = l.readUptime()
	l.forget(procs)
	procs = l.skipBystanders(procs)
	for i, a := range l.stats(procs) {
		l.visit(procs[i], a) // returns at once when ctx has ended
	}
	l.findErrands()
	l.findStates()
	found := l.report()
	r := evidence.Report{State: l.stateFolder(found.Shims), Limits: l.limits(found.Daemons), Usage: w.usage.usage(l.samples(found.Daemons))}
	if ctx.Err() != nil {
		l.gaps.cut = fmt.Sprintf("cut off after %v", time.Since(began).Round(100*time.Millisecond))
	}
	l.gaps.hanging = w.hanging()
	found.Partial = l.gaps.String()
	r.Processes = found
	return r
}

// list returns all processes in the order of their numbers.
func (l *walk) list() (procfs.Procs, error) {
	dir := filepath.Join(l.root, "proc")
	l.dir = dir
	proc, err := fetch(l, procFile{file: "the folder"}, func() (procfs.FS, error) { return procfs.NewFS(dir) })
	if err != nil {
		return nil, l.unlisted(dir, err)
	}
	l.proc = proc
	procs, err := fetch(l, procFile{file: "the list"}, proc.AllProcs)
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
	text, _ := l.text(procFile{file: "uptime"}, "", "uptime")
	return uptimeIn(text)
}

// uptimeIn returns what /proc/uptime says; 0 if it says nothing.
func uptimeIn(text string) time.Duration {
	first, _, _ := strings.Cut(text, " ")
	up, err := strconv.ParseFloat(first, 64)
	if err != nil {
		return 0
	}
	return seconds(up)
}

// A bystander is a thread of the kernel's own, or a process that has settled, is plain, in
// no container, and called by nobody of interest.
type bystander struct {
	*tracked        // nil for the kernel's
	read     uint64 // the look that read it last
}

// skipBystanders leaves out those that need not be read in each look. A number that was
// a bystander's in every look is read again now and then, should another process have
// got it between two of them, or the program be another.
func (l *walk) skipBystanders(procs procfs.Procs) procfs.Procs {
	was := l.bystanders
	l.bystanders = make(map[int]bystander, len(was))
	return slices.DeleteFunc(procs, func(p procfs.Proc) bool {
		b, is := was[p.PID]
		if !is || l.looks-b.read >= bystanderLooks {
			return false
		}
		l.bystanders[p.PID] = b
		return true
	})
}

// visit takes in one process. That it has ended meanwhile is normal.
func (l *walk) visit(p procfs.Proc, a reads.Answer[statRead]) {
	if l.miss(a.Err) {
		return
	}
	stat := a.Value.ProcStat
	if stat.Flags&kernelThread != 0 {
		l.bystanders[p.PID] = bystander{read: l.looks}
		return
	}
	t, known := l.remember(p.PID, stat), true
	switch {
	case !t.settled:
		known = l.readIdentity(p, t)
		t.settled = known && max(l.age(stat), l.at.Sub(t.first)) >= settleAge
	case stateOf(stat) == evidence.Uninterrupted: // or moved into a group of v1 that is frozen
		if groups, err := fetch(l, procFile{p.PID, "cgroup", true}, p.Cgroups); err == nil {
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
		l.bystanders[p.PID] = bystander{t, l.looks}
	}
}

// remember returns what is known of a process. One that has become another
// program is begun anew, and so is another process with its number.
func (l *walk) remember(pid int, stat procfs.ProcStat) *tracked {
	t := l.known[pid]
	if t == nil || t.start != stat.Starttime || t.comm != stat.Comm {
		t = &tracked{start: stat.Starttime, comm: stat.Comm, first: l.at}
		l.known[pid] = t
	}
	return t
}

// forget drops the processes that are not listed any more. The list is whole in each
// look, also in one that is cut off before it has come to all of them.
func (l *walk) forget(procs procfs.Procs) {
	maps.DeleteFunc(l.known, func(pid int, _ *tracked) bool {
		_, listed := slices.BinarySearchFunc(procs, pid, func(p procfs.Proc, pid int) int { return cmp.Compare(p.PID, pid) })
		return !listed
	})
}

// readIdentity reads whose the process is, and what it does there. It reports
// whether it could.
func (l *walk) readIdentity(p procfs.Proc, t *tracked) bool {
	groups, err := fetch(l, procFile{p.PID, "cgroup", true}, p.Cgroups)
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
	args, err := fetch(l, procFile{p.PID, "cmdline", true}, p.CmdLine)
	if l.miss(err) {
		return false
	}
	if len(args) > 0 { // a process that has ended has none left
		t.identity = identityOf(t.comm, args)
		if i := slices.IndexFunc(programs, func(p program) bool { return p.comm == t.comm }); i >= 0 {
			t.identity.socket, err = fetch(l, procFile{p.PID, "configuration", true}, func() (string, error) {
				return programs[i].told(l.root, args, programs[i].socket), nil
			})
			return !l.miss(err)
		}
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
		if s.identity.role != plain && s.now.state == evidence.Zombie {
			continue
		}
		l.add(&found, s)
	}
	inheritContainers(found.Errands)
	named := map[string]bool{} // whether one of that name is our runtime's
	for _, d := range found.Daemons {
		named[d.Command] = named[d.Command] || d.Own
	}
	found.Daemons = slices.DeleteFunc(found.Daemons, func(d evidence.Process) bool { return named[d.Command] && !d.Own })
	if _, runs := found.Kubelet(); runs {
		found.OtherKubelet = evidence.Process{}
	}
	found.KubeletRoot = l.kubeletRoot(found)
	found.Objects = l.groupObjects(found.Shims)
	l.gaps.confined = len(found.Daemons)+len(found.Shims) == 0 && l.isConfined()
	return found
}

// add puts a process where it belongs in found. Where the whole node is a
// container, what all its processes are in does not count.
func (l *walk) add(found *evidence.Processes, s sighting) {
	p, ids := l.process(s), without(s.member.ids, l.node)
	is, isKubelet := s.identity.roleIn(ids), slices.Contains(kubelets, s.comm)
	if (is == daemon || isKubelet) && l.ownerOf(s) == another {
		if isKubelet {
			found.OtherKubelet, found.OtherKubelet.Socket = p, s.identity.socket
		}
		if is == daemon {
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
		found.Errands = append(found.Errands, l.addErrand(p, s))
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

func (l *walk) process(s sighting) evidence.Process {
	p := evidence.Process{
		PID: s.proc.PID, Parent: s.stat.PPID, Command: s.comm,
		State: s.now.state, Thread: s.now.thread, For: l.at.Sub(s.now.since), Age: l.age(s.stat),
	}
	if p.State.Stuck() {
		p.Wchan, p.Stack = l.sleep(s)
		p.Mount = l.waitsFor(s)
	}
	if p.State == evidence.Frozen {
		p.Freezer = l.frozen[s.member.group].by
	}
	return p
}

// samples returns what the daemons had used when they were read.
func (l *walk) samples(daemons []evidence.Process) (all []sample) {
	for _, d := range sortDaemons(daemons) {
		s := l.sightingOf(d)
		all = append(all, sample{d.Command, s.stat, s.read})
	}
	return all
}

// sightingOf returns what was seen of a process that is reported.
func (l *walk) sightingOf(p evidence.Process) sighting {
	i, _ := slices.BinarySearchFunc(l.seen, p.PID, func(s sighting, pid int) int { return cmp.Compare(s.proc.PID, pid) })
	return l.seen[i]
}
