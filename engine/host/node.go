package host

import (
	"context"
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
	root, err := checkRoot(c.Root)
	if err != nil {
		return nil, err
	}
	n := &Node{parts: []part{
		processes(newWalker(root, c.Endpoint)),
		pressure(root),
		clock(realClocks()),
	}}
	if c.Offline {
		n.parts = append(n.parts, noDisk())
		return n, nil
	}
	kubelet, err := newKubelet(c.Kubelet)
	if err != nil {
		return nil, err
	}
	n.parts = append(n.parts, disk(root, c.RuntimeRoot, c.Endpoint), ownUsage(), kubelet.healthzPart(), kubelet.metricsPart())
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
	r.At = time.Now()
	r.Took = r.At.Sub(began)
	return r
}

// Next waits until 5 s have passed since it last returned, looks, and returns
// what it saw; the first time it looks at once. The error is the cause of ctx,
// and there is none while ctx lasts. It is for one reader.
func (n *Node) Next(ctx context.Context) (evidence.Report, error) {
	if err := n.pause(ctx); err != nil {
		return evidence.Report{}, err
	}
	r := n.Look(ctx)
	if ctx.Err() != nil {
		return evidence.Report{}, context.Cause(ctx)
	}
	n.looking.Lock()
	defer n.looking.Unlock()
	n.lastLook = r.At
	return r, nil
}

func (n *Node) pause(ctx context.Context) error {
	n.looking.Lock()
	var left time.Duration
	if !n.lastLook.IsZero() {
		left = period - time.Since(n.lastLook)
	}
	n.looking.Unlock()
	timer := time.NewTimer(left)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
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
