package host

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/host/proc"
)

// A walker looks at the processes of a node, and at what is known by them. It must not be
// used from two goroutines at once.
type walker struct {
	root      string
	processes *proc.Walker
	deep      func() bool     // whether a look that begins now is; nil if none is
	missed    func() []string // containers of which is told who holds their root file systems; nil if none are
	roots     rootWatch
	usage     usageMeter        // of the daemons
	kills     map[string]uint64 // for want of memory in their control groups, by the folder: a daemon that was killed comes back

	first   sync.Once                    // look
	walked  chan struct{}                // closed after it
	bundles atomic.Pointer[bundleFolder] // of our runtime, by its shims; nil if none told
}

// newWalker prepares for looks at the processes below root. Of the shims only
// those count that may serve the runtime at the endpoint, or all if that is empty.
// One file may take as long as the timeout. Nothing is read yet.
func newWalker(root, endpoint string, timeout time.Duration) *walker {
	w := &walker{root: root, kills: map[string]uint64{}, walked: make(chan struct{})}
	w.processes = proc.New(proc.Config{
		Root: root, Endpoint: endpoint, Timeout: timeout,
		Socket: func(comm string, args []string) string {
			p, known := programOf(comm)
			if !known {
				return ""
			}
			return p.told(root, args, p.socket)
		},
		SameFile: func(a, b string) bool { return sameFile(root, a, b) },
		Deep:     func() bool { return w.deep != nil && w.deep() },
	})
	return w
}

// look returns the processes as they are at the given time, what the daemons use and may
// use, and the folder that the shims work in. It ends when ctx does, with what it has by then.
func (w *walker) look(ctx context.Context, at time.Time) evidence.Report {
	defer w.first.Do(func() { close(w.walked) })
	l, err := w.processes.Look(ctx, at)
	if err != nil {
		return evidence.Report{Processes: evidence.Processes{Missing: err.Error()}, State: evidence.Disk{Missing: err.Error()}}
	}
	found := l.Processes()
	r := evidence.Report{State: w.stateFolder(l, found.Shims), Limits: w.limits(l, found.Daemons), Usage: w.usage.usage(samples(l, found.Daemons))}
	holders := w.holders(l)
	r.Processes = l.Processes() // with what could not be read since
	r.Processes.Roots = holders
	return r
}

// samples returns what the daemons had used when they were read.
func samples(l *proc.Look, daemons []evidence.Process) (all []sample) {
	for _, d := range sortDaemons(daemons) {
		_, stat, at := l.Seen(d.PID)
		all = append(all, sample{d.Command, stat, at})
	}
	return all
}
