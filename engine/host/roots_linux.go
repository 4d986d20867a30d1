package host

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"time"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/host/proc"
)

// rootsEvery is how often it is looked for who holds the root file systems of containers: a container
// that runs elsewhere may be missed for ever.
const rootsEvery = 30 * time.Second

// A rootWatch remembers who holds the root file systems of containers, by id.
type rootWatch struct {
	at    time.Time // of the last search
	known map[string][]evidence.Holder
}

// holders returns who holds the root file systems of the containers that a look is asked about, by id.
func (w *walker) holders(l *proc.Look) map[string][]evidence.Holder {
	var ids []string
	if w.missed != nil {
		ids = w.missed()
	}
	if len(ids) == 0 {
		w.roots = rootWatch{}
		return nil
	}
	open := map[string]string{} // paths by id
	again := time.Since(w.roots.at) >= rootsEvery
	found := map[string][]evidence.Holder{}
	for _, id := range ids {
		was, known := w.roots.known[id]
		if known && !again {
			found[id] = l.StillHold(was)
		} else if root := w.rootOf(l, id); root != "" {
			open[id] = root
		}
	}
	if len(open) > 0 {
		w.roots.at = time.Now()
		maps.Copy(found, l.HoldersOf(open))
	}
	w.roots.known = found
	return found
}

// rootOf returns where the root file system of a container is mounted, as the runtime's own folder of it
// says; empty if that is not known.
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
	if err := json.Unmarshal(text, &spec); err != nil || spec.Root.Path == "" {
		if folder.below != "" {
			return "" // CRI-O has it below its storage
		}
		spec.Root.Path = "rootfs" // as containerd names it, whose folder may be half removed
	}
	if filepath.IsAbs(spec.Root.Path) {
		return filepath.Clean(spec.Root.Path)
	}
	return filepath.Join(bundle, spec.Root.Path)
}
