package host

import (
	"context"
	"errors"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/plegtop/plegtop/engine/evidence"
)

const (
	// period is from the end of one look to the next for the live screen: a
	// walk over all processes of a node is not to be had for nothing.
	period = 5 * time.Second

	// walkTime leaves the rest of the limit for the usage of what was found.
	walkTime = limit - 250*time.Millisecond
)

var errNotLinux = errors.New("not Linux")

// A Node is looked at again and again. All methods are safe for concurrent use;
// looks are made one after the other.
type Node struct {
	config  Config
	walker  *walker
	kubelet *kubelet    // nil for a picture of a node
	daemons *usageMeter // of the host
	self    *usageMeter // of plegtop; nil for a picture of a node

	processes lane[walked]
	own       lane[[]evidence.Usage]
	pressure  lane[evidence.Pressure]
	disk      lane[evidence.Disk]

	looking sync.Mutex // guards what follows, and is held during a look
	steps   *stepWatch
	lastly  time.Time // when the last look of Next ended
}

// walked is what came of a walk over the processes.
type walked struct {
	processes evidence.Processes
	usage     []evidence.Usage
}

// New prepares for looking at a node and begins to compare its clocks. The error
// says which setting is wrong and what to do: a file that cannot be read, a URL
// that is none. Nothing is asked of the node yet.
func New(c Config) (*Node, error) {
	var err error
	if c.Root, err = checkRoot(c.Root); err != nil {
		return nil, err
	}
	clocks := realClocks()
	n := &Node{
		config: c, walker: newWalker(c.Root, c.Endpoint), steps: newStepWatch(clocks),
		daemons: newUsageMeter(c.Root, clocks.mono),
	}
	if c.Offline {
		return n, nil
	}
	n.self = newUsageMeter("", clocks.mono)
	if n.kubelet, err = newKubelet(c.Kubelet); err != nil {
		return nil, err
	}
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
	var r evidence.Report
	out := n.begin(ctx)
	n.collect(ctx, out, &r)
	r.Clock = n.steps.look()
	r.At = time.Now()
	r.Took = r.At.Sub(began)
	return r
}

// A look is all parts while they are out.
type look struct {
	processes *reading[walked]
	own       *reading[[]evidence.Usage]
	pressure  *reading[evidence.Pressure]
	disk      *reading[evidence.Disk]
	kubelet   asked
}

func (n *Node) begin(ctx context.Context) look {
	out := look{
		processes: n.processes.start(ctx, n.walk),
		own:       n.own.start(ctx, n.readOwn),
		pressure:  n.pressure.start(ctx, n.readPressure),
		disk:      n.disk.start(ctx, n.readDisk),
	}
	if n.kubelet != nil {
		out.kubelet = n.kubelet.ask(ctx)
	}
	return out
}

// collect waits for all parts, so that the whole takes as long as the longest.
func (n *Node) collect(ctx context.Context, out look, r *evidence.Report) {
	walked, err := out.processes.wait(ctx)
	if err != nil {
		walked.processes.Missing = because(err)
	}
	r.Processes, r.Usage = walked.processes, walked.usage
	if own, err := out.own.wait(ctx); err == nil {
		r.Usage = append(r.Usage, own...)
	}
	if r.Pressure, err = out.pressure.wait(ctx); err != nil {
		r.Pressure.Missing = because(err)
	}
	if r.Disk, err = out.disk.wait(ctx); err != nil {
		r.Disk.Missing = because(err)
	}
	if n.kubelet != nil {
		r.Kubelet = n.kubelet.answers(ctx, out.kubelet)
	}
}

func (n *Node) walk(ctx context.Context) walked {
	if n.elsewhere() {
		return walked{processes: evidence.Processes{Missing: errNotLinux.Error()}}
	}
	ctx, cancel := context.WithTimeout(ctx, walkTime)
	defer cancel()
	found := n.walker.look(ctx, time.Now())
	return walked{found, n.daemons.look(byName(found.Daemons))}
}

func (n *Node) readOwn(context.Context) []evidence.Usage {
	if n.self == nil {
		return nil
	}
	return n.self.look([]named{{"plegtop", os.Getpid()}})
}

func (n *Node) readPressure(context.Context) evidence.Pressure {
	if n.elsewhere() {
		return evidence.Pressure{Missing: errNotLinux.Error()}
	}
	return readPressure(n.config.Root)
}

func (n *Node) readDisk(context.Context) evidence.Disk {
	if n.config.Offline {
		return evidence.Disk{Missing: "a made-up node has no disk"}
	}
	return readDisk(n.config.Root, n.config.RuntimeRoot, n.config.Endpoint)
}

// elsewhere reports whether the node to look at is this machine, and that is no
// Linux. A picture of a node can be read anywhere.
func (n *Node) elsewhere() bool { return runtime.GOOS != "linux" && n.config.Root == "" }

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
	n.lastly = r.At
	return r, nil
}

func (n *Node) pause(ctx context.Context) error {
	n.looking.Lock()
	var left time.Duration
	if !n.lastly.IsZero() {
		left = period - time.Since(n.lastly)
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
	if n.kubelet == nil {
		return "", false
	}
	told, err := n.kubelet.askMetrics(ctx).wait(ctx)
	return told.metrics.version, err == nil && told.answer.OK && told.metrics.version != ""
}
