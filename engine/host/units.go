package host

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/knowledge"
)

const (
	unitsPart = "units" // its name

	busPath = "/run/dbus/system_bus_socket"
	// busTimeout and busBytes bound what systemd is asked: it answers in milliseconds, with
	// some 200 bytes for each of the few properties.
	busTimeout = time.Second
	busBytes   = 1 << 20
	// unitsMost is how many services are asked for: a node has two or three that matter.
	unitsMost = 8
	// pidsMost is of how many daemons the number is remembered: the kernel's log of half an
	// hour may name one that has been followed by others.
	pidsMost = 100
)

// units is the part that tells of the services in which the runtime and the kubelet run:
// by systemd's word, or else by what looks have seen of their processes. Of a picture of a
// node nobody is asked.
func units(root, endpoint string, picture bool, seen *daemonWatch) part {
	path := filepath.Join("/", root, busPath)
	at := func(r *evidence.Report) *evidence.Units { return &r.Deep.Units }
	return partOf(unitsPart, at, func(ctx context.Context) evidence.Units {
		ctx, cancel := context.WithTimeout(ctx, busTimeout)
		defer cancel()
		began := time.Now()
		u := evidence.Units{Source: evidence.Source{From: "systemd at " + path}}
		var err error
		if !picture {
			u.All, u.Bytes, err = askSystemd(ctx, root, seen.services(endpoint))
		}
		if err != nil {
			u.Partial = "nothing from systemd: " + err.Error()
		}
		for _, one := range seen.units() {
			if !slices.ContainsFunc(u.All, func(known evidence.Unit) bool { return known.Name == one.Name }) {
				u.All = append(u.All, one)
			}
		}
		switch u.Took = time.Since(began); {
		case picture, err != nil && len(u.All) > 0:
			u.From = filepath.Join("/", root, "proc")
		case err != nil:
			u.Missing, u.Partial = u.Partial, ""
		}
		return u
	}, func(u *evidence.Units, err error) {
		u.Source = evidence.Source{From: "systemd at " + path, Missing: err.Error()}
	})
}

// A daemonWatch remembers the daemons that looks have seen. Safe for concurrent use.
type daemonWatch struct {
	mu   sync.Mutex
	seen []seenDaemon // one of each unit and program, the first unitsMost
	pids []int        // of all of them, the last pidsMost
}

// A seenDaemon is the last process of a daemon, and how often there was another one before.
type seenDaemon struct {
	evidence.Process
	restarts int
}

// look takes in the daemons that a look has found. One of which there are several processes
// has not been restarted while the last one is among them.
func (w *daemonWatch) look(daemons []evidence.Process) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, d := range daemons {
		if !slices.Contains(w.pids, d.PID) {
			w.pids = append(w.pids[max(0, len(w.pids)+1-pidsMost):], d.PID)
		}
		i := slices.IndexFunc(w.seen, func(s seenDaemon) bool { return s.Unit == d.Unit && s.Command == d.Command })
		switch {
		case i < 0 && len(w.seen) < unitsMost:
			w.seen = append(w.seen, seenDaemon{Process: d})
		case i < 0:
		case w.seen[i].PID == d.PID:
			w.seen[i].Process = d
		case !slices.ContainsFunc(daemons, func(o evidence.Process) bool { return o.PID == w.seen[i].PID }):
			w.seen[i] = seenDaemon{d, w.seen[i].restarts + 1}
		}
	}
}

// has reports whether a look has seen a daemon of that number.
func (w *daemonWatch) has(pid int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Contains(w.pids, pid)
}

// services returns the names by which systemd is to be asked: those that were seen, also
// of a daemon that is gone now, and the usual ones of those that were not.
func (w *daemonWatch) services(endpoint string) (names []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var runtime, kubelet bool
	add := func(units []string) {
		for _, unit := range units {
			if name := unit + ".service"; !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	for _, d := range w.seen {
		if !strings.HasSuffix(d.Unit, ".service") {
			continue // of another init system, or started by hand
		}
		runtime, kubelet = runtime || slices.Contains(knowledge.Runtimes, d.Command), kubelet || slices.Contains(knowledge.Kubelets, d.Command)
		if !slices.Contains(names, d.Unit) {
			names = append(names, d.Unit)
		}
	}
	for _, f := range knowledge.Likely(endpoint) {
		if !runtime {
			add(f.Units)
		}
		if !kubelet {
			add(f.KubeletUnits)
		}
	}
	return names
}

// units returns what was seen, without the init system's word.
func (w *daemonWatch) units() (all []evidence.Unit) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, d := range w.seen {
		all = append(all, evidence.Unit{Name: cmp.Or(d.Unit, d.Command), Restarts: d.restarts, Up: d.Age})
	}
	return all
}
