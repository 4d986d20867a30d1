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
		cwd, err := fetch(l, procFile{s.PID, "cwd", true}, func() (string, error) {
			return os.Readlink(filepath.Join(l.root, "proc", strconv.Itoa(s.PID), "cwd"))
		})
		path, _, found := strings.Cut(cwd, "/io.containerd.runtime.")
		if err != nil || !found {
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
