package proc

import (
	"cmp"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/prometheus/procfs"

	"github.com/plegtop/plegtop/engine/host/reads"
)

// bystanderLooks is for how many looks a number is taken for a bystander's without
// reading it again: half a minute.
const bystanderLooks = 6

// A Config says whose processes are looked for, and asks whoever knows the files of the
// host for what is told there. What it asks may hang.
type Config struct {
	Root     string        // of the host; "" is /
	Endpoint string        // of our runtime: of the shims only those count that may serve it, or all if it is empty
	Timeout  time.Duration // for one file

	Socket   func(comm string, args []string) string // of the runtime, as a daemon with these arguments was told; "" if it was not
	SameFile func(a, b string) bool                  // whether two paths on the host lead to one file
	Deep     func() bool                             // whether a look that begins now is deep, since something hangs; nil if none is
}

// A Walker reads the processes of a node, and remembers them from one look to
// the next. It must not be used from two goroutines at once.
type Walker struct{ memory }

// A memory is what is kept from one look to the next.
type memory struct {
	root, endpoint string
	socket         func(comm string, args []string) string
	sameFile       func(a, b string) bool
	deep           func() bool
	reads          reads.Set[File]
	clocks         reads.Set[int]              // by the processor
	clock          func(cpu int) time.Duration // of a processor; 0 if it cannot be known
	timeout        time.Duration               // for one file
	frozen         map[group]freeze            // as of the last look
	known          map[int]*tracked            // by process number
	bystanders     map[int]uint64              // likewise: the look that read it last
	node           []string                    // the containers that the whole node is in
	looks          uint64
	budget         int // threads that are read in one look
	nextPID        int // the process whose threads have their turn next
}

// New prepares for looks. Nothing is read yet.
func New(c Config) *Walker {
	return &Walker{memory{
		root: filepath.Join("/", c.Root), endpoint: c.Endpoint, socket: c.Socket, sameFile: c.SameFile,
		deep: c.Deep, clock: processorClock, timeout: c.Timeout, known: map[int]*tracked{}, budget: threadsPerLook,
	}}
}

// skipBystanders leaves out those that need not be read in each look: the threads of the kernel's
// own, and what has settled, is plain, in no container, and called by nobody of interest. A number
// that was a bystander's in every look is read again now and then, should another process have
// got it between two of them, or the program be another.
func (l *Look) skipBystanders(procs procfs.Procs) procfs.Procs {
	was := l.bystanders
	l.bystanders = make(map[int]uint64, len(was))
	return slices.DeleteFunc(procs, func(p procfs.Proc) bool {
		read, is := was[p.PID]
		if !is || l.looks-read >= bystanderLooks {
			return false
		}
		l.bystanders[p.PID] = read
		return true
	})
}

// remember returns what is known of a process. One that has become another
// program is begun anew, and so is another process with its number.
func (l *Look) remember(pid int, stat procfs.ProcStat) *tracked {
	t := l.known[pid]
	if t == nil || t.start != stat.Starttime || t.comm != stat.Comm {
		t = &tracked{start: stat.Starttime, comm: stat.Comm, first: l.at}
		l.known[pid] = t
	}
	return t
}

// forget drops the processes that are not listed any more. The list is whole in each
// look, also in one that is cut off before it has come to all of them.
func (l *Look) forget(procs procfs.Procs) {
	maps.DeleteFunc(l.known, func(pid int, _ *tracked) bool {
		_, listed := slices.BinarySearchFunc(procs, pid, func(p procfs.Proc, pid int) int { return cmp.Compare(p.PID, pid) })
		return !listed
	})
}
