package host

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/plegtop/plegtop/engine/evidence"
)

// stateFolder tells of the file system that the shims work in: each has its own
// folder below the runtime's state folder. Without shims there is nothing to tell.
func (l *walk) stateFolder(shims []evidence.Process) evidence.Disk {
	for _, s := range shims {
		path := l.stateOf(s)
		if path == "" {
			continue
		}
		d, err := fetch(l, procFile{file: path, risky: true}, func() (evidence.Disk, error) { return statDisk(l.root, path) })
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
func (l *walk) stateOf(s evidence.Process) string {
	if !strings.HasPrefix(s.Command, "conmon") {
		cwd, _ := fetch(l, procFile{s.PID, "cwd", true}, func() (string, error) {
			return os.Readlink(filepath.Join(l.root, "proc", strconv.Itoa(s.PID), "cwd"))
		})
		path, rest, found := strings.Cut(cwd, "/io.containerd.runtime.")
		if strings.Contains(rest, "/"+criNamespace+"/") {
			l.bundles.Store(&bundleFolder{dir: filepath.Dir(cwd)})
		}
		if !found {
			return ""
		}
		return path
	}
	args, _ := fetch(l, procFile{s.PID, "cmdline", true}, func() ([]string, error) {
		p, err := l.proc.Proc(s.PID)
		if err != nil {
			return nil, err
		}
		return p.CmdLine()
	})
	if bundle := flagValue(args, "b", "bundle"); filepath.Base(bundle) == "userdata" {
		l.bundles.Store(&bundleFolder{dir: filepath.Join(bundle, "../.."), below: "userdata"})
		return filepath.Join(bundle, "../../..")
	}
	return ""
}
