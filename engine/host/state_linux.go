package host

import (
	"path/filepath"
	"strings"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/host/proc"
)

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
