package host

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"time"

	"github.com/prometheus/procfs"

	"github.com/plegtop/plegtop/engine/host/proc"
)

// A server is the runtime at an endpoint: its program and, where the process is known,
// what that was told.
type server struct {
	program          // with no comm if it is not known
	process pidStart // zero if it is not known
	args    []string
	files   configuration
	err     error // why the files do not say all
}

// serving returns the runtime that listens at the endpoint, on the host with that root;
// where that cannot be seen, the one whose socket it is. In a picture of a node nobody
// listens: there it is the first runtime of its processes. It may hang.
func serving(root, endpoint string, picture bool) (s server) {
	processes, err := procfs.NewFS(filepath.Join("/", root, "proc"))
	if err != nil || endpoint == "" && !picture {
		return server{}
	}
	var pid int
	if picture {
		pid = firstRuntime(processes)
	} else {
		pid, _ = listener(proc.SocketPath(endpoint))
	}
	p, process := started(processes, pid)
	if process.pid != 0 {
		comm, _ := p.Comm() // of none that is known
		var known bool
		if s.program, known = programAt(root, endpoint, comm); !known {
			s.program, _ = programOf(comm)
		}
		s.comm, s.process = comm, process
		s.args, _ = p.CmdLine() // without them it was told nothing that we know
	} else if !picture {
		s.program, _ = programAt(root, endpoint, "")
	}
	s.files, s.err = s.configured(root, s.args)
	return s
}

// firstRuntime returns the process of a runtime whose configuration is known; 0 if there
// is none.
func firstRuntime(processes procfs.FS) int {
	all, _ := processes.AllProcs() // nothing if it cannot be read
	for _, p := range all {
		comm, _ := p.Comm() // of none that is known
		if known, _ := programOf(comm); known.data.preset != "" {
			return p.PID
		}
	}
	return 0
}

// given returns what the runtime was told; "" if nothing, or if it cannot be known.
func (s server) given(what setting) string {
	return cmp.Or(proc.FlagValue(s.args, what.flags...), s.files.text(what))
}

// setting returns what the runtime was told, or what holds without.
func (s server) setting(what setting) string { return cmp.Or(s.given(what), what.preset) }

// started returns a process with its identity, which is zero if there is none.
func started(processes procfs.FS, pid int) (procfs.Proc, pidStart) {
	p, err := processes.Proc(pid)
	if err != nil {
		return procfs.Proc{}, pidStart{}
	}
	stat, err := p.Stat()
	if err != nil {
		return procfs.Proc{}, pidStart{}
	}
	return p, pidStart{pid, stat.Starttime}
}

// since returns when a process was started; the zero time if that is not known.
func (p pidStart) since(root string, now time.Time) time.Time {
	text, _ := readOnHost(root, "/proc/uptime")
	up := proc.Uptime(string(text))
	if up == 0 {
		return time.Time{}
	}
	return now.Add(time.Duration(p.start)*(time.Second/proc.Ticks) - up)
}

// configuredMetrics returns where the runtime has its metrics, by its configuration.
func configuredMetrics(c Config) (*url.URL, error) {
	of := serving(c.Root, c.Endpoint, c.Offline)
	address := of.setting(of.metrics)
	switch {
	case of.comm == "crio":
		return nil, errors.New("CRI-O's metrics do not tell which calls have begun")
	case address != "":
		return metricsURL(address)
	case of.err != nil:
		return nil, fmt.Errorf("containerd's configuration cannot be read: %w; name its metrics with --runtime-metrics %s", of.err, exampleMetrics)
	case of.comm != "containerd":
		return nil, fmt.Errorf("it is not known where the runtime has metrics; name them with --runtime-metrics %s", exampleMetrics)
	}
	return nil, errors.New("containerd's configuration names no metrics: set address under [metrics] there, such as 127.0.0.1:1338")
}
