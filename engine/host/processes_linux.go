package host

import (
	"cmp"
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"github.com/prometheus/procfs"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/host/proc"
	"github.com/plegtop/plegtop/engine/knowledge"
)

// A walker looks at the processes of a node, and at what can only be found by them. It must not be used
// by two goroutines at once.
type walker struct {
	root      string
	processes *proc.Walker
	deep      bool // the look under way
	usage     usageMeter
	kills     map[string]uint64 // for want of memory, by the folder of a daemon's control group: a killed daemon comes back there
	roots     rootWatch
	bundles   atomic.Pointer[bundleFolder] // of the runtime, as its shims show; nil if they do not
	state     diskAsk
}

// newWalker returns a walker for the processes below root. If endpoint is not empty, only the shims that
// may serve the runtime there count. A read of one file may take as long as the timeout.
func newWalker(root, endpoint string, timeout time.Duration) *walker {
	w := &walker{root: root, kills: map[string]uint64{}}
	w.processes = proc.New(proc.Config{
		Root: root, Endpoint: endpoint, Timeout: timeout,
		Socket:   func(comm string, args []string) string { return socketOf(root, comm, args) },
		SameFile: func(a, b string) bool { return sameFile(root, a, b) },
		Deep:     func() bool { return w.deep },
	})
	return w
}

// read is the part of the processes, of what the daemons use and may use, and of the shims' folder.
func (w *walker) read(ctx context.Context, l *Look) (fill, error) {
	ctx, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	w.deep = l.Deep
	found := w.look(ctx, time.Now(), l.Missed...)
	l.daemons.look(found.Processes.Daemons)
	return func(r *evidence.Report) {
		r.Processes, r.Limits, r.State = found.Processes, found.Limits, found.State
		r.Usage = append(r.Usage, found.Usage...)
	}, nil
}

// look returns the processes at the given time, and who holds the root file systems of the missed
// containers. When ctx ends it returns what it has by then.
func (w *walker) look(ctx context.Context, at time.Time, missed ...string) evidence.Report {
	l, err := w.processes.Look(ctx, at)
	if err != nil {
		return evidence.Report{Processes: evidence.Processes{Missing: err.Error()}, State: evidence.Disk{Missing: err.Error()}}
	}
	found := l.Processes()
	r := evidence.Report{State: w.stateFolder(l, found.Shims), Limits: w.limits(l, found.Daemons)}
	for _, d := range byName(found.Daemons) {
		_, stat, at := l.Seen(d.PID)
		r.Usage = w.usage.add(r.Usage, sample{d.Command, stat, at})
	}
	w.usage.next()
	holders := w.roots.look(w, l, missed)
	r.Processes = l.Processes() // again, for Partial: what could not be read by now
	r.Processes.Roots = holders
	return r
}

// byName returns the daemons of the runtime, then those of the kubelet. It leaves out programs that only
// start both.
func byName(daemons []evidence.Process) (all []evidence.Process) {
	for _, kubelets := range []bool{false, true} {
		for _, d := range daemons {
			if is := slices.Contains(knowledge.Kubelets, d.Command); is == kubelets && (is || !slices.Contains(knowledge.Supervisors, d.Command)) {
				all = append(all, d)
			}
		}
	}
	return all
}

// Sockets returns the sockets of runtimes that processes of the node were started with: of its kubelets,
// by flag, configuration, or because they start the runtime themselves as k3s does; and those of
// containerd's shims, the most frequent first. It returns what it has when ctx ends, after 2 s at most.
func Sockets(ctx context.Context, root string) (kubelets, shims []string) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	found := newWalker(root, "", fileTimeout).look(ctx, time.Now()).Processes
	count := map[string]int{}
	for _, p := range found.Shims {
		count[p.Socket]++
	}
	delete(count, "")
	for _, p := range found.Daemons { // only a kubelet has a socket here
		socket := p.Socket
		if within := knowledge.Within(p.Command); socket == "" && within != "" {
			if _, err := os.Stat(filepath.Join("/", root, within)); err == nil { // else it may use another runtime
				socket = within
			}
		}
		if socket != "" && !slices.Contains(kubelets, socket) {
			kubelets = append(kubelets, socket)
		}
	}
	most := func(a, b string) int { return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b)) }
	return kubelets, slices.SortedFunc(maps.Keys(count), most)
}

// A sample is what a process had used when its stat file was read.
type sample struct {
	name string
	stat procfs.ProcStat
	at   time.Time
}

// A usageMeter compares what processes have used with the look before.
type usageMeter struct{ before, now map[pidStart]sample }

// readOwn is the part of what plegtop itself uses. What cannot be read is left out.
func (m *usageMeter) readOwn(context.Context, *Look) (fill, error) {
	p := processOf("", os.Getpid())
	if p.PID == 0 {
		return func(*evidence.Report) {}, nil
	}
	own := m.add(nil, sample{"plegtop", p.stat, time.Now()})
	m.next()
	return func(r *evidence.Report) { r.Usage = append(r.Usage, own...) }, nil
}

// add adds what a process uses to the usages of programs: those of one name together.
func (m *usageMeter) add(all []evidence.Usage, s sample) []evidence.Usage {
	if m.now == nil {
		m.now = map[pidStart]sample{}
	}
	key := pidStart{s.stat.PID, s.stat.Starttime}
	m.now[key] = s
	u := evidence.Usage{Name: s.name, PID: s.stat.PID, CPU: -1, Memory: uint64(max(s.stat.ResidentMemory(), 0)), Threads: s.stat.NumThreads}
	if before, known := m.before[key]; known && s.at.After(before.at) {
		u.CPU = evidence.Cores(max(s.stat.CPUTime()-before.stat.CPUTime(), 0) / s.at.Sub(before.at).Seconds())
	}
	i := slices.IndexFunc(all, func(o evidence.Usage) bool { return o.Name == u.Name })
	if i < 0 {
		return append(all, u)
	}
	sum := &all[i]
	sum.PID, sum.Memory, sum.Threads = 0, sum.Memory+u.Memory, sum.Threads+u.Threads
	if sum.CPU < 0 || u.CPU < 0 {
		sum.CPU = max(sum.CPU, u.CPU)
	} else {
		sum.CPU += u.CPU
	}
	return all
}

// next ends a look.
func (m *usageMeter) next() { m.before, m.now = m.now, nil }
