// Package host looks at the node itself, beside the container runtime: its
// processes, its pressure, its disk, its clock and its kubelet. What it finds is
// an [evidence.Report].
//
// A look never fails and never waits longer than 2 s: each part says for itself
// why it is not there, and a read that the kernel or the kubelet does not answer
// is left behind. It is not started a second time while it is stuck, so that
// what hangs costs one goroutine for each part, up to three more for the
// processes, each of which may hang by itself, and two for what the runtime is
// asked beside CRI, however long it hangs.
//
// Nothing is changed on the node, and nothing outside it is asked unless a flag
// names it. What is read only in a deep look, where something hangs, is left alone
// else: of the runtime that is one dump of its goroutines now and then, from a
// socket that is its own or a file that is there, and its metrics.
//
// The processes have a room of their own, package proc, and so has what the kernel tells
// while it happens, package cgroup. Package reads has the one way to begin a read.
package host

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/host/cgroup"
	"github.com/plegtop/plegtop/engine/host/reads"
)

const (
	// limit is how long any part of a look may take: long enough for a busy
	// node, and short enough to look every 5 s.
	limit = 2 * time.Second

	// readTime leaves some of the limit for putting together what was found.
	readTime = limit - 250*time.Millisecond

	// grace is for handing over what ended exactly at the limit.
	grace = 100 * time.Millisecond

	// fileTimeout is how long one small file may take. On a busy node the slow ones of
	// /proc take some milliseconds: whoever takes longer sleeps in the kernel.
	fileTimeout = 250 * time.Millisecond
)

// A Node is looked at again and again. All methods are safe for concurrent use;
// looks are made one after the other.
type Node struct {
	parts []part
	deep  []part            // those that are looked at in each look where something hangs, most of them only then; they fill in the report's Deep
	calm  []part            // what is looked at of them otherwise
	reads reads.Set[string] // by the part's name

	looking sync.Mutex  // held during a look
	isDeep  atomic.Bool // whether that is deep
	missed  atomic.Pointer[[]string]

	*cgroup.Source // what the kernel tells while it happens
}

// New prepares for looking at a node and begins to compare its clocks. The error
// says which setting is wrong and what to do: a file that cannot be read, a URL
// that is none. Nothing is asked of the node yet.
func New(c Config) (*Node, error) {
	root, err := CheckRoot(c.Root)
	if err != nil {
		return nil, err
	}
	c.Root = root
	daemons, w := new(daemonWatch), newWalker(root, c.Endpoint, fileTimeout)
	n := &Node{Source: cgroup.New(root), parts: []part{
		processes(w, daemons),
		system(root),
		pressure(root),
		devices(root),
		clock(realClocks()),
	}}
	w.deep = n.isDeep.Load
	w.missed = func() []string {
		if ids := n.missed.Load(); ids != nil {
			return *ids
		}
		return nil
	}
	words, err := runtimeWords(c)
	if err != nil {
		return nil, err
	}
	kernel := kernelWords(root, c.Offline, daemons)
	n.calm = append(n.calm, kernel(kernelRest))
	n.deep = append(n.deep, words, kernel(0), units(root, c.Endpoint, c.Offline, daemons), bundles(root, c.Endpoint, c.Offline, w), unserved(root, c.Endpoint, c.Offline))
	if c.Offline {
		n.parts = append(n.parts, drawnDisk(root), runtimeSocket(root, c.Endpoint, true))
		return n, nil
	}
	kubelet, err := newKubelet(c.Kubelet)
	if err != nil {
		return nil, err
	}
	n.parts = append(n.parts, disk(root, c.RuntimeRoot, c.Endpoint), runtimeSocket(root, c.Endpoint, false), ownUsage())
	n.parts = append(n.parts, kubelet.parts()...)
	return n, nil
}

// Look looks at all parts of the node once, side by side; at those of the report's
// Deep only if deep, and at the kernel's log else once a minute. Of the containers in missed
// it also tells who holds their root file systems.
// It returns when 2 s have passed at the latest, or as soon as
// ctx ends; what has not answered by then says so in its part, and is there the
// next time. While another look is under way it waits for the end of that one first.
func (n *Node) Look(ctx context.Context, deep bool, missed ...string) evidence.Report {
	n.looking.Lock()
	defer n.looking.Unlock()
	began := time.Now()
	more := n.calm
	n.isDeep.Store(deep)
	n.missed.Store(&missed)
	var r evidence.Report
	if deep {
		more, r.Deep = n.deep, new(evidence.Deep)
	}
	parts := slices.Concat(n.parts, more)
	out := make([]*reads.Read[fill], len(parts))
	for i, p := range parts {
		out[i] = n.start(ctx, p)
	}
	for i, p := range parts {
		if put, err := out[i].Wait(ctx, limit+grace); err == nil {
			put(&r)
		} else {
			p.missing(&r, err)
		}
	}
	if other := r.Processes.OtherKubelet; other.PID != 0 {
		none := evidence.Answer{Err: fmt.Sprintf("pid %d (%s) is the kubelet of another runtime, at %s", other.PID, other.Command, other.Socket)}
		r.Kubelet = evidence.Kubelet{Ping: none, Metrics: none}
	}
	n.askServices(ctx, &r, limit+grace-time.Since(began))
	r.At = time.Now()
	r.Took = r.At.Sub(began)
	return r
}

// askServices has the init system asked of a runtime that was begun a moment ago, unless a
// deep look has done so.
func (n *Node) askServices(ctx context.Context, r *evidence.Report, within time.Duration) {
	isNew := func(p evidence.Process) bool { return p.Age > 0 && p.Age <= evidence.FreshRuntime }
	i := slices.IndexFunc(n.deep, func(p part) bool { return p.name == unitsPart })
	switch {
	case !slices.ContainsFunc(r.Processes.Runtimes(), isNew):
	case r.Deep != nil:
		r.Services = r.Deep.Units.All
	case within > 0:
		said := evidence.Report{Deep: new(evidence.Deep)}
		if put, err := n.start(ctx, n.deep[i]).Wait(ctx, within); err == nil {
			put(&said)
		}
		r.Services = said.Deep.Units.All
	}
}

// KubeletVersion asks the kubelet's metrics for its version, such as "v1.33.4".
// It returns false if they are not available within 2 s, or ctx ends.
func (n *Node) KubeletVersion(ctx context.Context) (string, bool) {
	i := slices.IndexFunc(n.parts, func(p part) bool { return p.name == kubeletMetrics })
	if i < 0 {
		return "", false
	}
	var r evidence.Report
	if put, err := n.start(ctx, n.parts[i]).Wait(ctx, limit+grace); err == nil {
		put(&r)
	}
	return r.Kubelet.Version, r.Kubelet.Version != ""
}

// A part is one kind of evidence. Whoever adds one writes a function that
// returns it, and adds that to the list in [New].
type part struct {
	name string

	// read looks at the node and returns what puts the outcome into a report. It
	// may hang, for it has a goroutine of its own; of one part it never runs
	// twice at once. Its context ends at the limit.
	read func(context.Context) fill

	// missing says in a report why read has not come back.
	missing func(*evidence.Report, error)
}

// partOf returns a part that reads one value of a report. Missing says in its place why read has
// not come back; nil where that is not told.
func partOf[T any](name string, at func(*evidence.Report) *T, read func(context.Context) T, missing func(*T, error)) part {
	return part{
		name: name,
		read: func(ctx context.Context) fill {
			v := read(ctx)
			return func(r *evidence.Report) { *at(r) = v }
		},
		missing: func(r *evidence.Report, err error) {
			if missing != nil {
				missing(at(r), err)
			}
		},
	}
}

// A fill puts what was read into a report. It may be called more than once, by
// whoever waited for the same read, and so changes nothing else.
type fill = func(*evidence.Report)

// start begins to read the part, or joins the read that is out. So it does not
// end with ctx, which is only that of the first who waits.
func (n *Node) start(ctx context.Context, p part) *reads.Read[fill] {
	ctx = context.WithoutCancel(ctx)
	return reads.Start(&n.reads, p.name, func() (fill, error) {
		ctx, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		return p.read(ctx), nil
	})
}

// processes is the part that tells what runs, and what the runtime and the
// kubelet use.
func processes(w *walker, daemons *daemonWatch) part {
	return part{
		name: "processes",
		read: func(ctx context.Context) fill {
			ctx, cancel := context.WithTimeout(ctx, readTime)
			defer cancel()
			found := w.look(ctx, time.Now())
			daemons.look(found.Processes.Daemons)
			return func(r *evidence.Report) {
				r.Processes, r.Limits, r.State = found.Processes, found.Limits, found.State
				r.Usage = append(r.Usage, found.Usage...)
			}
		},
		missing: func(r *evidence.Report, err error) { r.Processes.Missing, r.State.Missing = err.Error(), err.Error() },
	}
}
