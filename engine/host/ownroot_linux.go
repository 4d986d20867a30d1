package host

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/prometheus/procfs"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/host/proc"
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
	switch s := serving(o.root, o.endpoint, false); {
	case s.process.pid != 0 && s.data.preset != "":
		path := s.setting(s.data)
		if s.given(s.data) == "" {
			_, err := statDisk(o.root, path)
			if errors.Is(err, fs.ErrNotExist) || err != nil && s.err != nil {
				return "" // nobody named it, and it is not where it is mostly
			}
		}
		o.of, o.path = s.process, path
	case s.process.pid == 0 && o.path == "":
		return s.files.text(s.data)
	}
	return o.path
}

// stateFolder tells of the file system that the shims work in: each has its own
// folder below the runtime's state folder. Without shims there is nothing to tell.
func (w *walker) stateFolder(l *proc.Look, shims []evidence.Process) evidence.Disk {
	for _, s := range shims {
		path := w.stateOf(l, s)
		if path == "" {
			continue
		}
		d, err := proc.Fetch(l, proc.File{Name: path, Risky: true}, func() (evidence.Disk, error) { return statDisk(w.root, path) })
		if err != nil {
			return missingDisk(path, err)
		}
		return d
	}
	return evidence.Disk{Missing: "no shim tells where it is"}
}

// stateOf returns the state folder by one shim: that of containerd works below it, and a
// conmon is told its own folder, RUNROOT/overlay-containers/ID/userdata. It is empty if
// this one does not tell.
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
	if bundle := proc.FlagValue(args, "b", "bundle"); filepath.Base(bundle) == "userdata" {
		w.bundles.Store(&bundleFolder{dir: filepath.Join(bundle, "../.."), below: "userdata"})
		return filepath.Join(bundle, "../../..")
	}
	return ""
}
