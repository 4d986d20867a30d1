package host

import (
	"cmp"
	"path/filepath"

	"github.com/prometheus/procfs"
)

// An ownRoot finds the folder of the runtime that listens at an endpoint. It
// belongs to one goroutine at a time.
type ownRoot struct {
	root, endpoint string
	of             pidStart // whose folder it is
	path           string
}

// find returns the folder on the host, by the arguments of the process that
// listens, its configuration, or its default; where nobody listens, by the
// configuration of the runtime whose socket it is. It is "" where that cannot be
// known. Once known it is looked for again only when that process has ended.
func (o *ownRoot) find() string {
	proc, err := procfs.NewFS(filepath.Join("/", o.root, "proc"))
	if err != nil || o.endpoint == "" {
		return ""
	}
	if _, same := started(proc, o.of.pid); o.path != "" && same == o.of {
		return o.path
	}
	p, key := started(proc, listener(socketPath(o.endpoint)))
	comm, _ := p.Comm() // of none: it is no runtime
	args, err := p.CmdLine()
	if runs, ok := programOf(comm); ok && err == nil {
		o.of, o.path = key, cmp.Or(runs.told(o.root, args, runs.data), runs.data.preset)
	} else if runs, ok := programAt(o.root, o.endpoint); ok && err != nil && o.path == "" {
		return runs.told(o.root, nil, runs.data)
	}
	return o.path
}

// started returns a process with its identity, which is zero if there is none.
func started(proc procfs.FS, pid int) (procfs.Proc, pidStart) {
	p, err := proc.Proc(pid)
	if err != nil {
		return procfs.Proc{}, pidStart{}
	}
	stat, err := p.Stat()
	if err != nil {
		return procfs.Proc{}, pidStart{}
	}
	return p, pidStart{pid, stat.Starttime}
}
