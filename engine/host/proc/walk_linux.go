package proc

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
	"time"

	"github.com/prometheus/procfs"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/host/reads"
)

const (
	// bystanderLooks is the number of looks after which a bystander is read again: half a minute.
	bystanderLooks = 6

	// settleAge is the age after which a process stays what it is. The first process of a container begins as
	// the runtime's, is moved into its control group later, and only then becomes what the container runs.
	settleAge = 10 * time.Second
)

// A Config says which processes are searched for. Its functions read files of the host, and may hang.
type Config struct {
	Root     string        // of the host; "" is /
	Endpoint string        // of our runtime: only shims that may serve it count; "" for any runtime
	Timeout  time.Duration // of one read

	Socket   func(comm string, args []string) string // the runtime's socket that a daemon with these arguments is configured with; "" for none
	SameFile func(a, b string) bool                  // whether two paths on the host lead to the same file
	Mounts   func(context.Context) []*Mount          // of the node; none if they do not come in time
	Deep     bool                                    // something hangs; set between two looks
}

// A Walker reads the processes of a node, and remembers them from one look to the next. It
// must not be used from two goroutines at once.
type Walker struct {
	Config
	clock      func(cpu int) time.Duration // of a processor; 0 if it cannot be read
	reads      reads.Set[File]
	clocks     reads.Set[int] // by processor
	known      map[int]*process
	bystanders map[int]int      // by pid: the look that read it last
	frozen     map[group]freeze // as of the last look
	node       []string         // the containers that the whole node is in
	looks      int
	budget     int           // threads that one look reads
	search     time.Duration // for what all processes have open, and then for what they have mounted
}

// New prepares for looks. It reads nothing.
func New(c Config) *Walker {
	c.Root = filepath.Join("/", c.Root)
	return &Walker{Config: c, clock: processorClock, known: map[int]*process{}, budget: threadsPerLook, search: searchTime}
}

// A process is what is known of a process that is not a bystander.
type process struct {
	task
	start    uint64 // in ticks since the boot: together with the pid it is unique
	comm     string
	first    time.Time // the look that saw it first
	settled  bool      // member and identity need not be read again
	asked    bool      // whether it is a helper is known for good
	member   membership
	identity identity
	owner    owner  // of a daemon
	space    string // its pid namespace; empty if not read
	last     threadState
	wait     wait

	// In this look:
	stat      procfs.ProcStat
	read      time.Time // when stat was
	now       threadState
	ownerless bool // it cannot be known whose daemon it is
}

// A Look is one look at the processes. It is valid until the walker's next one, and must
// not be used from two goroutines at once.
type Look struct {
	w        *Walker
	ctx      context.Context
	at       time.Time
	began    time.Time
	fs       procfs.FS
	dir      string // /proc of the host
	procs    procfs.Procs
	uptime   time.Duration // of the node; 0 if it could not be read
	seen     []*process    // of interest, by pid
	children []*process    // others, which may be helpers
	gaps     gaps
	waits    int                 // processes whose wait was found out
	helpers  int                 // helpers whose wait was found out
	open     []*openFiles        // of all processes; nil until somebody asks
	ours     map[string]bool     // sockets: whether they are our runtime's
	mounts   map[view][]*Mount   // of waiting tasks
	pods     map[string][]string // with a mount of a server, by its device; nil until somebody asks
	found    evidence.Processes
}

// Look looks at the processes. Durations count up to the given time. When ctx ends, the look ends with what it
// has by then, and later reads of the look fail. The error says in words for the user why there are no
// processes.
func (w *Walker) Look(ctx context.Context, at time.Time) (*Look, error) {
	w.looks++
	l := &Look{w: w, ctx: ctx, at: at, began: time.Now(), dir: filepath.Join(w.Root, "proc"), ours: map[string]bool{}, mounts: map[view][]*Mount{}}
	if err := l.list(); err != nil {
		return nil, err
	}
	text, _ := l.Text(File{Name: "uptime"}, "proc/uptime")
	l.uptime = Uptime(text)
	procs := l.withoutBystanders()
	files := make([]fileAt, len(procs))
	for i, p := range procs {
		files[i] = statOf(l.first(p))
	}
	for i, a := range fetchAll(l, files, readStat) {
		l.visit(procs[i], a)
	}
	l.findHelpers()
	l.findStates()
	l.found = l.report()
	return l, nil
}

// list finds all processes, in the order of their pids, and forgets those that are gone: the
// list is whole even if the look is cut off later.
func (l *Look) list() (err error) {
	if l.fs, err = Fetch(l, File{Name: "the folder"}, func() (procfs.FS, error) { return procfs.NewFS(l.dir) }); err == nil {
		l.procs, err = Fetch(l, File{Name: "the list"}, l.fs.AllProcs)
	}
	hint := ": --host-root names the folder where the host's / is mounted, with its /proc in it"
	if l.w.Root == "/" {
		hint = ": mount it"
	}
	switch {
	case l.ctx.Err() != nil:
		return fmt.Errorf("no time to read %s", l.dir)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no %s%s", l.dir, hint)
	case err != nil:
		return fmt.Errorf("cannot list the processes: %w", err)
	case len(l.procs) == 0:
		return fmt.Errorf("no process in %s%s", l.dir, hint)
	}
	slices.SortFunc(l.procs, func(a, b procfs.Proc) int { return cmp.Compare(a.PID, b.PID) })
	l.gaps.hidden = l.w.Root == "/" && os.Geteuid() != 0 && l.procs[0].PID != 1
	maps.DeleteFunc(l.w.known, func(pid int, _ *process) bool {
		_, listed := slices.BinarySearchFunc(l.procs, pid, func(p procfs.Proc, pid int) int { return cmp.Compare(p.PID, pid) })
		return !listed
	})
	return nil
}

// withoutBystanders leaves out processes that need not be read in each look: threads of the
// kernel, and settled processes that are plain, in no container, and called by nobody of
// interest. They are read again now and then: another process may have got the pid between
// two looks.
func (l *Look) withoutBystanders() procfs.Procs {
	was := l.w.bystanders
	l.w.bystanders = make(map[int]int, len(was))
	return slices.DeleteFunc(slices.Clone(l.procs), func(p procfs.Proc) bool {
		read, is := was[p.PID]
		if !is || l.w.looks-read >= bystanderLooks {
			return false
		}
		l.w.bystanders[p.PID] = read
		return true
	})
}

// visit takes in one process. It may have ended meanwhile.
func (l *Look) visit(proc procfs.Proc, a reads.Answer[statRead]) {
	if l.miss(proc.PID, a.Err) {
		return
	}
	if a.Value.Flags&kernelThread != 0 {
		l.w.bystanders[proc.PID] = l.w.looks
		return
	}
	p, known := l.remember(proc, a.Value), true
	switch {
	case !p.settled:
		known = l.readIdentity(p)
		p.settled = known && max(l.age(p), l.at.Sub(p.first)) >= settleAge
	case p.now.state == evidence.Uninterrupted: // with v1 it may have been moved into a frozen group
		if groups, err := ask(l, p.task, "cgroup", p.Cgroups); err == nil {
			p.member = memberOf(groups)
		}
	}
	if proc.PID == 1 {
		l.w.node = p.member.ids
	}
	isHelper := p.identity.role == helper
	switch {
	case len(p.member.ids) > len(l.w.node), p.identity.role != plain && !isHelper:
		l.seen = append(l.seen, p)
	case isHelper, known && p.stat.PPID > 1: // the parent of an orphan is 1
		l.children = append(l.children, p)
	case p.settled:
		l.w.bystanders[proc.PID] = l.w.looks
	}
}

// remember returns what is known of a process. If its start or its comm is another one, it is another process.
func (l *Look) remember(proc procfs.Proc, stat statRead) *process {
	p := l.w.known[proc.PID]
	if p == nil || p.start != stat.Starttime || p.comm != stat.Comm {
		p = &process{start: stat.Starttime, comm: stat.Comm, first: l.at}
		l.w.known[proc.PID] = p
	}
	l.begin(p, proc, stat)
	return p
}

// begin takes in the stat file of a process. If its first thread has ended and others live, the worst of the
// others stands for it.
func (l *Look) begin(p *process, proc procfs.Proc, stat statRead) {
	p.task, p.stat, p.read, p.ownerless = l.first(proc), stat.ProcStat, stat.at, false
	p.now = threadState{state: StateOf(stat.ProcStat), since: l.at, cpu: int(stat.Processor)}
	if p.now.state == evidence.Zombie && stat.NumThreads > 1 {
		l.readThreads([]*process{p})
		p.task = l.thread(p.task, p.now.thread)
	}
}

// readIdentity reads what a process is, and reports whether it could. A process that has just ended, or that
// has not begun its program, has no arguments.
func (l *Look) readIdentity(p *process) bool {
	groups, err := ask(l, p.task, "cgroup", p.Cgroups)
	if l.miss(p.of, err) {
		return false
	}
	p.member = memberOf(groups)
	r := roleOf(p.comm)
	if r == plain || r == daemon {
		p.identity = identity{role: r}
	}
	if r == plain {
		return true
	}
	args, err := ask(l, p.task, "cmdline", p.CmdLine)
	if l.miss(p.of, err) || len(args) == 0 {
		return false
	}
	p.identity = identityOf(p.comm, args)
	if r == daemon {
		p.identity.socket, err = ask(l, p.task, "configuration", func() (string, error) { return l.w.Socket(p.comm, args), nil })
	}
	return !l.miss(p.of, err)
}

// age returns how long ago a process started; 0 if that is not known.
func (l *Look) age(p *process) time.Duration {
	return max(l.uptime-time.Duration(p.stat.Starttime)*(time.Second/Ticks), 0)
}

// Seen returns a process of the report, its stat file, and the time at which that was read; zero values if the
// look has not seen it. If the first thread of the process has ended, p is another thread, whose files can be
// read.
func (l *Look) Seen(pid int) (p procfs.Proc, stat procfs.ProcStat, at time.Time) {
	if i, is := slices.BinarySearchFunc(l.seen, pid, func(p *process, pid int) int { return cmp.Compare(p.of, pid) }); is {
		return l.seen[i].Proc, l.seen[i].stat, l.seen[i].read
	}
	return p, stat, at
}

// Processes returns what the look found. Partial says what could not be read until now, the moment of the call.
func (l *Look) Processes() evidence.Processes {
	if l.ctx.Err() != nil {
		l.gaps.cut = fmt.Sprintf("cut off after %v", time.Since(l.began).Round(100*time.Millisecond))
	}
	all := l.gaps
	all.hanging = l.w.hanging()
	for _, pid := range all.late { // its read may be back by now, too late for this look
		if !slices.ContainsFunc(all.hanging, func(f File) bool { return f.PID == pid }) {
			all.unread++
		}
	}
	found := l.found
	found.Partial = all.String()
	return found
}

// Outer returns the containers that the whole node is in. Root is where the node's root is mounted. It may
// hang.
func Outer(root string) ([]string, error) {
	first, err := firstOf(root)
	if err != nil {
		return nil, err
	}
	lines, err := first.Cgroups()
	return memberOf(lines).ids, err
}

// firstOf returns process 1 of the host with that root.
func firstOf(root string) (procfs.Proc, error) {
	proc, err := procfs.NewFS(filepath.Join("/", root, "proc"))
	if err != nil {
		return procfs.Proc{}, err
	}
	return proc.Proc(1)
}
