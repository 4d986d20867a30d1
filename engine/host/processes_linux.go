package host

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/host/proc"
	"github.com/plegtop/plegtop/engine/knowledge"
)

// A walker looks at the processes of a node, and at what can only be found through them. It must not be used by
// two goroutines at once.
type walker struct {
	root      string
	processes *proc.Walker
	usage     usageMeter
	kills     map[string]uint64 // processes killed for want of memory, by the folder of a daemon's control group: a killed daemon starts again in the same folder
	roots     rootWatch
	bundles   atomic.Pointer[bundleFolder] // of the runtime, as its shims show it; nil if they do not
	state     diskAsk
	table     mountTable // of the look under way
}

// newWalker returns a walker for the processes below root. If endpoint is not empty, only the shims that
// may serve the runtime there count. A read of one file may take as long as the timeout.
func newWalker(root, endpoint string, timeout time.Duration) *walker {
	w := &walker{root: root, kills: map[string]uint64{}}
	w.processes = proc.New(proc.Config{
		Root: root, Endpoint: endpoint, Timeout: timeout,
		Socket:   func(comm string, args []string) string { return socketOf(root, comm, args) },
		SameFile: func(a, b string) bool { return sameFile(root, a, b) },
		Mounts:   func(ctx context.Context) []*proc.Mount { return w.table.rows(ctx) },
	})
	return w
}

// read returns the processes, what the daemons use, their limits, and the file system of the shims' folder.
func (w *walker) read(ctx context.Context, l *Look) (fill, error) {
	ctx, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	w.processes.Deep, w.table = l.Deep, l.table
	found := w.look(ctx, time.Now(), l.Missed...)
	l.daemons.look(found.Processes.Daemons)
	return func(r *evidence.Report) {
		r.Processes, r.Limits, r.State = found.Processes, found.Limits, found.State
		r.Usage = append(r.Usage, found.Usage...)
	}, nil
}

// look returns the processes at the given time, and the holders of the root file systems of the missed
// containers. When ctx ends it returns what it has by then.
func (w *walker) look(ctx context.Context, at time.Time, missed ...string) evidence.Report {
	l, err := w.processes.Look(ctx, at)
	if err != nil {
		return evidence.Report{Processes: evidence.Processes{Missing: err.Error()}, State: evidence.Disk{Missing: err.Error()}}
	}
	found := l.Processes()
	r := evidence.Report{State: w.stateFolder(l, found.Shims, w.table.rows(ctx)), Limits: w.limits(l, found.Daemons)}
	for _, d := range byName(found.Daemons) {
		p, stat, at := l.Seen(d.PID)
		now := sample{name: d.Command, stat: stat, at: at}
		if slices.Contains(knowledge.Runtimes, d.Command) {
			now.quota = quotaOf(l, p)
		}
		r.Usage = w.usage.add(r.Usage, now)
	}
	w.usage.next()
	holders := w.roots.look(w, l, missed)
	r.Processes = l.Processes() // again, because Partial may have grown by now
	r.Processes.Roots = holders
	return r
}

// byName returns the daemons of the runtime, then those of the kubelet. It leaves out programs that only start
// the two.
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

// Sockets returns the sockets of runtimes with which processes of the node were started. The sockets of
// kubelets come from a flag or the configuration, or from a kubelet that starts the runtime itself, as k3s
// does. The sockets of containerd's shims come in the order of how many shims have them. It returns what it has
// when ctx ends, after 2 s at most.
func Sockets(ctx context.Context, root string) (kubelets, shims []string) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	l, err := newWalker(root, "", fileTimeout).processes.Look(ctx, time.Now())
	if err != nil {
		return nil, nil
	}
	found, count := l.Processes(), map[string]int{}
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

// stateFolder returns the file system in which the shims work: each has a folder of its own below the runtime's
// state folder.
func (w *walker) stateFolder(l *proc.Look, shims []evidence.Process, mounts []*proc.Mount) evidence.Disk {
	for _, s := range shims {
		path := w.stateOf(l, s)
		if path == "" {
			continue
		}
		d, err := proc.Fetch(l, proc.File{Name: path, Risky: true}, func() (evidence.Disk, error) {
			d, _ := w.state.stat(w.root, path, mounts) // Missing says why not
			return d, nil
		})
		if err != nil {
			d = w.state.without(err)
			d.Path = path
		}
		return d
	}
	return evidence.Disk{Missing: "no shim tells where it is"}
}

// stateOf returns the state folder that one shim shows, and remembers the folder of the bundles. A shim of
// containerd works below the state folder. A conmon has the flag -b RUNROOT/overlay-containers/ID/userdata. It
// returns "" if this shim does not show the folder.
func (w *walker) stateOf(l *proc.Look, s evidence.Process) string {
	shim, _, _ := l.Seen(s.PID)
	if !strings.HasPrefix(s.Command, "conmon") {
		cwd, _ := proc.Fetch(l, proc.File{PID: s.PID, Name: "cwd", Risky: true}, shim.Cwd)
		path, rest, found := strings.Cut(cwd, "/io.containerd.runtime.")
		if strings.Contains(rest, "/"+proc.CRINamespace+"/") {
			w.bundles.Store(&bundleFolder{dir: filepath.Dir(cwd)})
		}
		if !found {
			return ""
		}
		return path
	}
	args, _ := proc.Fetch(l, proc.File{PID: s.PID, Name: "cmdline", Risky: true}, shim.CmdLine)
	bundle := proc.FlagValue(args, "b", "bundle")
	if filepath.Base(bundle) != "userdata" {
		return ""
	}
	w.bundles.Store(&bundleFolder{dir: filepath.Join(bundle, "../.."), below: "userdata"})
	return filepath.Join(bundle, "../../..")
}

// rootsEvery is how often the holders of root file systems are searched for. A container that runs elsewhere
// may be missed for ever.
const rootsEvery = 30 * time.Second

// A rootWatch remembers the holders of root file systems, by the id of the container.
type rootWatch struct {
	at    time.Time // the last search
	known map[string][]evidence.Holder
}

// look returns the holders of the root file systems of the missed containers, by id.
func (r *rootWatch) look(w *walker, l *proc.Look, missed []string) map[string][]evidence.Holder {
	if len(missed) == 0 {
		*r = rootWatch{}
		return nil
	}
	paths, again := map[string]string{}, time.Since(r.at) >= rootsEvery
	found := map[string][]evidence.Holder{}
	for _, id := range missed {
		if was, known := r.known[id]; known && !again {
			found[id] = l.StillHold(was)
		} else if root := w.rootOf(l, id); root != "" {
			paths[id] = root
		}
	}
	if len(paths) > 0 {
		r.at = time.Now()
		maps.Copy(found, l.HoldersOf(paths))
	}
	r.known = found
	return found
}

// rootOf returns the path at which the root file system of a container is mounted, by its bundle; "" if that is
// not known.
func (w *walker) rootOf(l *proc.Look, id string) string {
	folder := w.bundles.Load()
	if folder == nil || !proc.IsID(id) {
		return ""
	}
	bundle := filepath.Join(folder.dir, id, folder.below)
	text, _ := proc.Fetch(l, proc.File{Name: "config.json of " + id, Risky: true}, func() ([]byte, error) {
		return readOnHost(w.root, filepath.Join(bundle, "config.json"))
	})
	var spec struct {
		Root struct {
			Path string `json:"path"`
		} `json:"root"`
	}
	switch err := json.Unmarshal(text, &spec); {
	case err == nil && filepath.IsAbs(spec.Root.Path):
		return filepath.Clean(spec.Root.Path)
	case err == nil && spec.Root.Path != "":
		return filepath.Join(bundle, spec.Root.Path)
	case folder.below != "": // CRI-O has it below its storage
		return ""
	}
	return filepath.Join(bundle, "rootfs") // as containerd names it: the folder may be half removed
}
