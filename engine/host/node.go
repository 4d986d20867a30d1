package host

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/plegtop/plegtop/engine/evidence"
)

// period is from the end of one look to the next for the live screen: a walk
// over all processes of a node is not to be had for nothing.
const period = 5 * time.Second

// A Node is looked at again and again. All methods are safe for concurrent use;
// looks are made one after the other.
type Node struct {
	parts []part
	reads reads[string] // by the part's name

	looking  sync.Mutex // guards what follows, and is held during a look
	lastLook time.Time  // when the last look of Next ended
}

// New prepares for looking at a node and begins to compare its clocks. The error
// says which setting is wrong and what to do: a file that cannot be read, a URL
// that is none. Nothing is asked of the node yet.
func New(c Config) (*Node, error) {
	root, err := CheckRoot(c.Root)
	if err != nil {
		return nil, err
	}
	n := &Node{parts: []part{
		processes(newWalker(root, c.Endpoint)),
		pressure(root),
		devices(root),
		clock(realClocks()),
	}}
	if c.Offline {
		n.parts = append(n.parts, noDisk())
		return n, nil
	}
	kubelet, err := newKubelet(root, c.Kubelet)
	if err != nil {
		return nil, err
	}
	n.parts = append(n.parts, disk(root, c.RuntimeRoot, c.Endpoint), runtimeSocket(root, c.Endpoint), ownUsage())
	n.parts = append(n.parts, kubelet.parts()...)
	return n, nil
}

// Look looks at all parts of the node once, side by side. It returns when 2 s
// have passed at the latest, or as soon as ctx ends; what has not answered by
// then says so in its part. While another look is under way it waits for the
// end of that one first.
func (n *Node) Look(ctx context.Context) evidence.Report {
	n.looking.Lock()
	defer n.looking.Unlock()
	began := time.Now()
	out := make([]*read[fill], len(n.parts))
	for i, p := range n.parts {
		out[i] = n.start(ctx, p)
	}
	var r evidence.Report
	for i, p := range n.parts {
		if put, err := out[i].wait(ctx, limit+grace); err == nil {
			put(&r)
		} else {
			p.missing(&r, err)
		}
	}
	if other := r.Processes.OtherKubelet; other.PID != 0 {
		none := evidence.Answer{Err: fmt.Sprintf("pid %d (%s) is the kubelet of another runtime, at %s", other.PID, other.Command, other.Socket)}
		r.Kubelet = evidence.Kubelet{Ping: none, Metrics: none}
	}
	r.At = time.Now()
	r.Took = r.At.Sub(began)
	return r
}

// Next waits until 5 s have passed since it last returned, looks, and returns
// what it saw; the first time it looks at once. The error is the cause of ctx,
// and there is none while ctx lasts. It is for one reader.
func (n *Node) Next(ctx context.Context) (evidence.Report, error) {
	n.looking.Lock()
	due := n.lastLook.Add(period)
	n.looking.Unlock()
	sleep(ctx, time.Until(due))
	var r evidence.Report
	if ctx.Err() == nil {
		r = n.Look(ctx)
	}
	if ctx.Err() != nil {
		return evidence.Report{}, context.Cause(ctx)
	}
	n.looking.Lock()
	defer n.looking.Unlock()
	n.lastLook = r.At
	return r, nil
}

// sleep returns after d, or as soon as ctx ends.
func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
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
	if put, err := n.start(ctx, n.parts[i]).wait(ctx, limit+grace); err == nil {
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

// A fill puts what was read into a report. It may be called more than once, by
// whoever waited for the same read, and so changes nothing else.
type fill = func(*evidence.Report)

// start begins to read the part, or joins the read that is out. So it does not
// end with ctx, which is only that of the first who waits.
func (n *Node) start(ctx context.Context, p part) *read[fill] {
	ctx = context.WithoutCancel(ctx)
	return start(&n.reads, p.name, func() fill {
		ctx, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		return p.read(ctx)
	})
}

// walkTime leaves some of the limit for putting together what was found.
const walkTime = limit - 250*time.Millisecond

// processes is the part that tells what runs, and what the runtime and the
// kubelet use.
func processes(w *walker) part {
	return part{
		name: "processes",
		read: func(ctx context.Context) fill {
			ctx, cancel := context.WithTimeout(ctx, walkTime)
			defer cancel()
			found := w.look(ctx, time.Now())
			return func(r *evidence.Report) {
				r.Processes, r.Limits, r.State = found.Processes, found.Limits, found.State
				r.Usage = append(r.Usage, found.Usage...)
			}
		},
		missing: func(r *evidence.Report, err error) { r.Processes.Missing, r.State.Missing = err.Error(), err.Error() },
	}
}

// secondLook is how long after the first look a second one tells whether a process
// has moved.
const secondLook = time.Second

// LookClosely is [Node.Look] for who looks only once. Every process is in
// uninterruptible sleep for a moment now and then, and runc freezes a container
// to change its limits; where one is so at the first look, and the kernel does not
// say for how long, there is a second one after a second, so that the report does.
// A quota is measured between two looks, too, and a kubelet may be busy for once. It
// returns sooner if ctx ends.
func (n *Node) LookClosely(ctx context.Context) evidence.Report {
	r := n.Look(ctx)
	if !maybeStuck(r.Processes) && !r.Kubelet.Ping.TimedOut && !slices.ContainsFunc(r.Limits, func(l evidence.Limit) bool { return l.What == evidence.CPUPeriods }) {
		return r
	}
	if sleep(ctx, secondLook); ctx.Err() != nil {
		return r
	}
	if again := n.Look(ctx); again.Processes.Missing == "" {
		return again
	}
	return r
}

// maybeStuck reports whether a process may be stuck, or may just be at work.
func maybeStuck(p evidence.Processes) bool {
	busy := func(p evidence.Process) bool {
		return (p.State == evidence.Uninterrupted || p.State == evidence.Frozen) && p.For == 0
	}
	all := slices.AppendSeq([][]evidence.Process{p.Shims, p.Runcs, p.Daemons}, maps.Values(p.Containers))
	return slices.ContainsFunc(all, func(of []evidence.Process) bool { return slices.ContainsFunc(of, busy) })
}
