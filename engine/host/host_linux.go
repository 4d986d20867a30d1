package host

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/host/cgroup"
	"github.com/plegtop/plegtop/engine/host/proc"
	"github.com/plegtop/plegtop/engine/host/reads"
)

const (
	// limit is how long a part may take. A busy node needs some of it, and a look begins every 5 s.
	limit = 2 * time.Second

	// readTime is how long processes and bundles are read. The rest of the limit is for work on what was read.
	readTime = limit - 250*time.Millisecond

	// grace is added to the limit, for a part that ends exactly then.
	grace = 100 * time.Millisecond

	// fileTimeout is how long a small file may take. The slow files of /proc take some milliseconds on a busy
	// node. A read that takes longer sleeps in the kernel.
	fileTimeout = 250 * time.Millisecond

	// tableTime is how long a look waits for the mount table. A dense node needs a part of it. The rest of the
	// limit is for the file systems.
	tableTime = limit / 2

	// tableAge is for how long the mount table is kept while nothing hangs. Only two folders are looked up in
	// it, and on a dense node it takes 30 ms to read.
	tableAge = 30 * time.Second
)

// A Node is the node that is looked at again and again. All methods are safe for concurrent use. Only one look
// is made at a time.
type Node struct {
	Config
	*cgroup.Source // events from the kernel

	parts   []part
	looking sync.Mutex        // held during a look
	kept    mountTable        // guarded by looking
	keptAt  time.Time         // guarded by looking
	reads   reads.Set[string] // by the name of the part
	last    *static           // only the read in static uses it
	daemons daemonWatch
}

// A Look is one look at the node, as its parts see it. It does not change.
type Look struct {
	*Node
	Deep   bool     // something hangs
	Missed []string // the containers for whose root file systems the look finds the holders
	Began  time.Time

	walked <-chan struct{} // closed when the processes have been read; nil for the part that reads them
	table  mountTable
}

// A mountTable is the read of the node's mounts. On a dense node they have some MB.
type mountTable struct {
	*reads.Read[[]*proc.Mount]
}

// rows waits for the mounts and returns them; none if they do not come in time.
func (t mountTable) rows(ctx context.Context) []*proc.Mount {
	if t.Read == nil { // nobody has asked for it
		return nil
	}
	all, _ := t.Wait(ctx, tableTime)
	return all
}

// mounts begins to read the mounts, or joins the read that is under way, and returns that read. Unless the look
// is deep, it returns an older table that is complete and not older than tableAge.
func (n *Node) mounts(isDeep bool) mountTable {
	if n.kept.Read != nil && !isDeep && time.Since(n.keptAt) < tableAge {
		if _, err := n.kept.Wait(context.Background(), 0); err == nil {
			return n.kept
		}
	}
	n.kept = mountTable{reads.Start(&n.reads, "mounts", func() ([]*proc.Mount, error) { return proc.Mounts(n.Root) })}
	n.keptAt = time.Now()
	return n.kept
}

// A part is one kind of evidence.
type part struct {
	name string
	when when

	// read looks at the node and returns how to fill the report. It may hang, so it runs in a goroutine of its
	// own, and never twice at once. Its context ends at the limit.
	read func(context.Context, *Look) (fill, error)

	// missing writes into a report why read has failed or has not come back. If it is nil, the part is left
	// out.
	missing func(*evidence.Report, error)
}

// A fill puts the result of a part into a report. Several callers may use the same fill, so it changes nothing
// else.
type fill = func(*evidence.Report)

// A when says in which looks a part is read.
type when int

const (
	always    when = iota
	deep           // while something hangs
	deepOrNew      // deep, or while the runtime's process is new
)

// table returns the parts of a node. In a picture of a node, it returns only those that a picture has. To add a
// part, write its function and a row here.
func (n *Node) table(k *kubelet) []part {
	w, kernel, store := newWalker(n.Root, n.Endpoint, fileTimeout), &kernelWatch{path: filepath.Join("/", n.Root, kmsgPath)}, new(diskWatch)
	runtime := new(runtimeWatch)
	parts := []part{
		{"processes", always, w.read, func(r *evidence.Report, err error) { r.Processes.Missing, r.State.Missing = err.Error(), err.Error() }},
		{"system", always, systemReader(n.Root), nil},
		{"pressure", always, pressure, func(r *evidence.Report, err error) { r.Pressure.Missing = err.Error() }},
		{"devices", always, new(deviceMeter).read, nil},
		{"clock", always, newStepWatch().read, nil},
		{"kernel", always, kernel.read, kernel.missing},
		{"disk", always, store.read, store.missing},
		{"socket", always, (&socketWatch{root: n.Root, path: ownPath(n.Endpoint), picture: n.Offline}).read, func(r *evidence.Report, err error) { r.Socket.Missing = err.Error() }},
		{"runtime", deep, runtime.read, func(r *evidence.Report, err error) {
			r.Deep.Stacks.Missing, r.Deep.Calls.Missing = err.Error(), err.Error()
		}},
		{"units", deepOrNew, units, func(r *evidence.Report, err error) {
			putUnits(r, evidence.Units{Source: evidence.Source{Missing: err.Error()}})
		}},
		{"bundles", deep, (&bundleReader{walker: w, known: map[string]evidence.Object{}}).read, func(r *evidence.Report, err error) { r.Deep.Objects.Missing = err.Error() }},
	}
	if n.Offline {
		return parts
	}
	parts = append(parts, part{"own usage", always, new(usageMeter).readOwn, nil}, part{"unserved", deep, (&unservedWatch{statfs: statfsOf}).read, nil})
	return append(parts, k.parts()...)
}

// New returns a node to look at, and begins to compare its clocks. The error says which setting is wrong and
// what to do: a file that cannot be read, or a wrong URL. The kubelet and the runtime are not asked yet.
func New(c Config) (*Node, error) {
	root, err := CheckRoot(c.Root)
	if err != nil {
		return nil, err
	}
	c.Root = root
	if named := c.Runtime.DebugSocket; named != "" && !filepath.IsAbs(ownPath(named)) {
		return nil, fmt.Errorf("--debug-socket %s: want its whole path, such as /run/containerd/debug.sock", named)
	}
	if c.Runtime.Metrics != "" {
		if _, err := parseURL("--runtime-metrics", c.Runtime.Metrics, exampleMetrics); err != nil {
			return nil, err
		}
	}
	var k *kubelet
	if !c.Offline {
		if k, err = newKubelet(c.Kubelet); err != nil {
			return nil, err
		}
	}
	n := &Node{Config: c, Source: cgroup.New(root)}
	n.parts = n.table(k)
	return n, nil
}

// ownPath returns the path of an endpoint, as plegtop itself sees it.
func ownPath(endpoint string) string { return strings.TrimPrefix(endpoint, "unix://") }

// Look reads all parts of the node side by side. It fills the report's Deep only if isDeep. The report also has
// the holders of the root file systems of the containers in missed.
//
// It returns after 2 s at the latest, or as soon as ctx ends. A part that has not answered by then says so in
// the report, and its result is there in the next look. A second look waits until the first has ended.
func (n *Node) Look(ctx context.Context, isDeep bool, missed ...string) evidence.Report {
	n.looking.Lock()
	defer n.looking.Unlock()
	l := &Look{Node: n, Deep: isDeep, Missed: missed, Began: time.Now(), table: n.mounts(isDeep)}
	var r evidence.Report
	first := []when{always}
	if isDeep {
		r.Deep, first = new(evidence.Deep), []when{always, deep, deepOrNew}
	}
	n.gather(ctx, l, &r, first...)
	isNew := func(p evidence.Process) bool { return p.Age > 0 && p.Age <= evidence.FreshRuntime }
	switch {
	case !slices.ContainsFunc(r.Processes.Runtimes(), isNew):
		r.Services = nil
	case !isDeep:
		n.gather(ctx, l, &r, deepOrNew)
	}
	if other := r.Processes.OtherKubelet; other.PID != 0 {
		none := evidence.Answer{Err: fmt.Sprintf("pid %d (%s) is the kubelet of another runtime, at %s", other.PID, other.Command, other.Socket)}
		r.Kubelet = evidence.Kubelet{Ping: none, Metrics: none}
	}
	r.At = time.Now()
	r.Took = r.At.Sub(l.Began)
	return r
}

// gather reads some parts and puts them into a report.
func (n *Node) gather(ctx context.Context, l *Look, r *evidence.Report, whens ...when) {
	within := limit + grace - time.Since(l.Began)
	parts := slices.DeleteFunc(slices.Clone(n.parts), func(p part) bool { return !slices.Contains(whens, p.when) })
	out := make([]*reads.Read[fill], len(parts))
	for i, p := range parts {
		if out[i] = n.start(ctx, l, p); p.name == "processes" {
			with := *l // the parts that follow may wait for the processes
			with.walked, l = out[i].Done(), &with
		}
	}
	for i, p := range parts {
		put, err := out[i].Wait(ctx, within)
		switch {
		case err == nil:
			put(r)
		case p.missing != nil:
			p.missing(r, err)
		}
	}
}

// start begins to read a part, or joins the read that is under way. Several waiters may share the read, so it
// does not end with ctx, the context of the first one.
func (n *Node) start(ctx context.Context, l *Look, p part) *reads.Read[fill] {
	ctx = context.WithoutCancel(ctx)
	return reads.Start(&n.reads, p.name, func() (fill, error) {
		ctx, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		return p.read(ctx, l)
	})
}

// KubeletVersion returns the kubelet's version from its metrics, such as "v1.33.4". It returns false if the
// metrics do not come within 2 s, or if ctx ends.
func (n *Node) KubeletVersion(ctx context.Context) (string, bool) {
	var r evidence.Report
	for _, p := range n.parts {
		if p.name != kubeletMetrics {
			continue
		}
		if put, err := n.start(ctx, &Look{Node: n}, p).Wait(ctx, limit+grace); err == nil {
			put(&r)
		}
	}
	return r.Kubelet.Version, r.Kubelet.Version != ""
}
