package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/host/proc"
	"github.com/plegtop/plegtop/engine/host/reads"
	"github.com/plegtop/plegtop/engine/knowledge"
	"github.com/plegtop/plegtop/engine/pleg"
)

const (
	// mostBundles is how many bundles are read at most: ten times those of a kubelet.
	mostBundles = 4000
	// mostHanging is how many reads may hang before no further one is begun.
	mostHanging = 4
	// listTimeout is how long a look waits for the processes, and then again for the list of all bundles.
	listTimeout = 750 * time.Millisecond
)

// A bundleFolder is a folder in which a runtime has a folder for each sandbox and container.
type bundleFolder struct {
	dir   string // on the host
	below string // in which folder of each one config.json is; "" for the folder itself
}

// bundleFolders returns the folders in which the runtime's bundles may be. They are in the state folder that
// the runtime was given. Without one, as runtimes are shipped, they are beside the socket, or in a folder with
// the name of the socket, but not with CRI-O. The last place is the usual state folder. (containerd 1.5 to 2.4,
// k3s, k0s, microk8s; CRI-O 1.25 to 1.37.)
func bundleFolders(root, endpoint string, s *static) (all []bundleFolder) {
	program := s.program
	if program.Bundles == "" { // of an unknown runtime
		program = knowledge.ProgramNamed(knowledge.Containerd.Program)
	}
	states := []string{s.given("state")}
	if at := proc.OnHost(root, endpoint); states[0] == "" && program.Bundle == "" && at != "" {
		states = append(states, filepath.Dir(at), strings.TrimSuffix(at, ".sock"))
	}
	for _, state := range append(states, s.setting("state")) {
		if state != "" {
			all = append(all, bundleFolder{filepath.Join("/", state, program.Bundles), program.Bundle})
		}
	}
	return all
}

// A bundleReader reads the bundles in each deep look. It reads each config.json only once, because it does not
// change. It must not be used by two goroutines at once.
type bundleReader struct {
	walker *walker           // its shims know best where the folder is
	files  reads.Set[string] // by the id
	known  map[string]evidence.Object
}

// read returns the sandboxes and containers for which the runtime has a folder, for Report.Deep.Objects.
func (b *bundleReader) read(ctx context.Context, l *Look) (fill, error) {
	ctx, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	all := b.look(ctx, l)
	all.Took = time.Since(l.Began)
	return func(r *evidence.Report) { r.Deep.Objects = all }, nil
}

func (b *bundleReader) look(ctx context.Context, l *Look) (all evidence.Objects) {
	folder, ids, err := b.find(ctx, l)
	all.From = folder.dir
	if err != nil {
		if all.Missing = reason(err); errors.Is(err, fs.ErrPermission) {
			all.Missing += ": try sudo"
		}
		return all
	}
	var partial []string
	if n := len(ids); n > mostBundles {
		partial, ids = append(partial, fmt.Sprintf("the first %d of %d", mostBundles, n)), ids[:mostBundles]
	}
	maps.DeleteFunc(b.known, func(id string, _ evidence.Object) bool { _, there := slices.BinarySearch(ids, id); return !there })
	all.Bytes = b.readNew(ctx, l.Root, folder, ids)
	unread := 0
	for _, id := range ids {
		o, known := b.known[id]
		if !known {
			o, unread = evidence.Object{ObjectRef: pleg.ObjectRef{ID: id}}, unread+1
		}
		o.From = filepath.Join(folder.dir, id)
		all.All = append(all.All, o)
	}
	if unread > 0 {
		partial = append(partial, fmt.Sprintf("no names of %d, which cannot be read, or not in time", unread))
	}
	all.Partial = strings.Join(partial, "; ")
	return all
}

// find returns the folder of the bundles and the ids in it, in order. It is the folder that the shims show, or
// else the first of the likely folders that exists.
func (b *bundleReader) find(ctx context.Context, l *Look) (folder bundleFolder, ids []string, err error) {
	shims := b.walker.bundles.Load()
	if shims == nil {
		select {
		case <-l.walked:
		case <-time.After(listTimeout):
		case <-ctx.Done():
		}
		shims = b.walker.bundles.Load()
	}
	var folders []bundleFolder
	if shims != nil {
		folders = []bundleFolder{*shims}
	} else if folders = bundleFolders(l.Root, l.Endpoint, l.static(ctx, listTimeout)); len(folders) == 0 {
		return folder, nil, errors.New("no shim tells where it is, and it is not known which runtime listens")
	}
	for _, folder = range folders {
		list := reads.Start(&l.reads, "bundles in "+folder.dir, func() ([]string, error) { return namesIn(l.Root, folder.dir, proc.IsID) })
		if ids, err = list.Wait(ctx, listTimeout); !errors.Is(err, fs.ErrNotExist) {
			return folder, ids, err
		}
	}
	err = fmt.Errorf("no shim tells where it is, and there is no %s", folders[0].dir)
	if os.Geteuid() != 0 { // only root may read the working folder of a shim
		err = advise(err, "try sudo")
	}
	return folders[0], nil, err
}

// readNew reads the bundles that are not known yet, and returns how many bytes they had. It leaves out a bundle
// that cannot be read. A read that hangs is left behind.
func (b *bundleReader) readNew(ctx context.Context, root string, folder bundleFolder, ids []string) (bytes int64) {
	hanging := b.files.Keys()
	ids = slices.DeleteFunc(slices.Clone(ids), func(id string) bool {
		_, known := b.known[id]
		return known || slices.Contains(hanging, id)
	})
	for len(ids) > 0 && ctx.Err() == nil && len(b.files.Keys()) < mostHanging {
		row := ids // a read that is left behind must not see that ids changes
		answers, _ := reads.Row(ctx, &b.files, row, fileTimeout, func(i int) (bundle, error) {
			return readBundle(root, filepath.Join(folder.dir, row[i], folder.below, "config.json"), row[i])
		})
		for i, a := range answers {
			bytes += a.Value.size
			if a.Err == nil {
				b.known[ids[i]] = a.Value.Object
			}
		}
		ids = ids[min(len(answers)+1, len(ids)):] // without the one that hangs
	}
	return bytes
}

// A bundle is what is kept of a config.json. The whole file may have a MiB.
type bundle struct {
	evidence.Object
	size int64 // of the file
}

func readBundle(root, path, id string) (b bundle, err error) {
	text, err := readOnHost(root, path)
	if b.size = int64(len(text)); err == nil {
		b.Object, err = objectOf(id, text)
	}
	return b, err
}

// objectOf returns the object of a config.json, by the annotations that a runtime gives to the sandboxes and
// containers of a kubelet.
func objectOf(id string, config []byte) (o evidence.Object, err error) {
	var spec struct {
		Annotations map[string]string `json:"annotations"`
	}
	if err := json.Unmarshal(config, &spec); err != nil {
		return o, err
	}
	of := func(what string) string {
		for _, p := range knowledge.DaemonPrograms() {
			if value := spec.Annotations[p.Annotations[what]]; value != "" {
				return value
			}
		}
		return ""
	}
	o.ObjectRef = pleg.ObjectRef{ID: id, Sandbox: of("kind") == "sandbox"}
	o.Pod = pleg.PodRef{UID: pleg.UID(of("uid")), Namespace: of("namespace"), Name: of("name")}
	if !o.Sandbox {
		o.SandboxID, o.Container = of("sandbox"), of("container")
	}
	return o, nil
}

const (
	// mostUnserved is how many mounts are asked at most: each one that hangs keeps a thread.
	mostUnserved = 64
	// unservedTime is how long a look waits for the answers of all mounts together.
	unservedTime = 500 * time.Millisecond
)

// kubeletMounts are parts of the paths where a kubelet mounts volumes.
var kubeletMounts = []string{"/volumes/kubernetes.io~", "/volume-subpaths/", "/plugins/kubernetes.io/"}

// An unservedWatch asks FUSE file systems whether their program is still there.
type unservedWatch struct {
	statfs func(path string) error
	out    reads.Set[string] // by the path of the mount
}

func statfsOf(path string) error { return unix.Statfs(path, new(unix.Statfs_t)) }

// read returns the file systems of pods or of the runtime whose program has ended, for Report.Deep.Unserved. A
// read is left behind if the program is there but does not answer.
func (u *unservedWatch) read(ctx context.Context, l *Look) (fill, error) {
	asked := map[string]*reads.Task{}
	var mounts []evidence.Mount
	for _, row := range l.table.rows(ctx) {
		if l.concerns(row.Mount) {
			mounts = append(mounts, row.Mount)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, unservedTime)
	defer cancel()
	for _, m := range mounts[:min(len(mounts), mostUnserved)] {
		path := filepath.Join("/", l.Root, m.Point)
		asked[m.Point] = reads.Start(&u.out, path, func() (struct{}, error) { return struct{}{}, u.statfs(path) })
	}
	var all []evidence.Mount
	for _, m := range mounts {
		if ask := asked[m.Point]; ask != nil {
			if _, err := ask.Wait(ctx, unservedTime); errors.Is(err, unix.ENOTCONN) {
				all = append(all, m)
			}
			delete(asked, m.Point) // there may be several mounts at one point
		}
	}
	return func(r *evidence.Report) { r.Deep.Unserved = all }, nil
}

// concerns reports whether a mount is one that a program serves to the runtime or its pods.
func (c *Config) concerns(m evidence.Mount) bool {
	within := func(mark string) bool { return strings.Contains(m.Point, mark) }
	ofRuntime := func(f knowledge.Flavour) bool {
		below := func(dir string) bool { return dir != "" && strings.HasPrefix(m.Point, dir+"/") }
		return below(f.Data) || below(f.State)
	}
	return strings.HasPrefix(m.Type, "fuse") && m.Served() &&
		(slices.ContainsFunc(kubeletMounts, within) || slices.ContainsFunc(knowledge.At(c.Endpoint), ofRuntime))
}
