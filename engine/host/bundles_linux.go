package host

import (
	"cmp"
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
	"sync"
	"time"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/host/proc"
	"github.com/plegtop/plegtop/engine/host/reads"
	"github.com/plegtop/plegtop/engine/pleg"
)

const (
	// bundlesMost bounds the folders that are read: ten times what a kubelet has.
	bundlesMost = 4000
	// bundlesAtOnce is how many are read at a time, and how many reads that do not come
	// back are left behind before no other is begun.
	bundlesAtOnce = 4
	// listTimeout is how long the processes are waited for, and then a list of all folders.
	listTimeout = 750 * time.Millisecond
)

// A bundleFolder is where a runtime has a folder for each sandbox and container, with its
// config.json below it.
type bundleFolder struct {
	dir   string // on the host
	below string // of each the folder that has config.json; empty if that is itself
}

// bundleFolders returns where the folders of the runtime at an endpoint may be: where that
// was told to keep them, or else as runtimes are shipped, which is beside the socket or in
// a folder that is named as that is, but for CRI-O, or the runtime's default. It may hang.
// (containerd 1.5 to 2.4, k3s, k0s, microk8s; CRI-O 1.25 to 1.37.)
func bundleFolders(root, endpoint string, picture bool) (all []bundleFolder) {
	s := serving(root, endpoint, picture)
	below := func(state string) {
		switch {
		case state == "":
		case s.comm == "crio":
			all = append(all, bundleFolder{filepath.Join(state, "overlay-containers"), "userdata"})
		default:
			all = append(all, bundleFolder{dir: filepath.Join("/", state, "io.containerd.runtime.v2.task", proc.CRINamespace)})
		}
	}
	below(s.given(s.state))
	if at := proc.OnHost(root, endpoint); all == nil && s.comm != "crio" && at != "" {
		below(filepath.Dir(at))
		below(strings.TrimSuffix(at, ".sock"))
	}
	below(s.setting(s.state))
	return all
}

// bundles is the part that tells which sandboxes and containers the runtime has a folder
// of. The walker tells where.
func bundles(root, endpoint string, picture bool, w *walker) part {
	b := &bundleReader{root: root, endpoint: endpoint, picture: picture, walker: w, known: map[string]evidence.Object{}}
	at := func(r *evidence.Report) *evidence.Objects { return &r.Deep.Objects }
	return partOf("bundles", at, func(ctx context.Context) evidence.Objects {
		ctx, cancel := context.WithTimeout(ctx, readTime)
		defer cancel()
		return b.read(ctx)
	}, func(o *evidence.Objects, err error) { o.Missing = err.Error() })
}

// A bundleReader reads the folders again and again. What it has read of one stays true.
// It must not be used from two goroutines at once.
type bundleReader struct {
	root, endpoint string
	picture        bool // the node is one
	walker         *walker
	files          reads.Set[string] // by the path; by "" what is configured
	known          map[string]evidence.Object
}

// A bundle is what reading one of them returns.
type bundle struct {
	object evidence.Object
	size   int64
}

func (b *bundleReader) read(ctx context.Context) evidence.Objects {
	began := time.Now()
	folder, ids, err := b.find(ctx)
	all := evidence.Objects{Source: evidence.Source{From: folder.dir}}
	if err != nil {
		all.Took, all.Missing = time.Since(began), reason(err)
		if errors.Is(err, fs.ErrPermission) {
			all.Missing += ": try sudo"
		}
		return all
	}
	var partial []string
	if n := len(ids); n > bundlesMost {
		partial, ids = append(partial, fmt.Sprintf("the first %d of %d", bundlesMost, n)), ids[:bundlesMost]
	}
	maps.DeleteFunc(b.known, func(id string, _ evidence.Object) bool { _, there := slices.BinarySearch(ids, id); return !there })
	all.Bytes, err = b.readNew(ctx, folder, ids)
	if err != nil {
		partial = append(partial, err.Error())
	}
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
	all.Took, all.Partial = time.Since(began), strings.Join(partial, "; ")
	return all
}

// find returns the folder and the ids in it, in order. The processes know best where it
// is; if they do not tell, it is the first that exists of those it may be.
func (b *bundleReader) find(ctx context.Context) (folder bundleFolder, ids []string, err error) {
	select {
	case <-b.walker.walked:
	case <-time.After(listTimeout):
	case <-ctx.Done():
	}
	folders, err := b.folders(ctx)
	if err != nil || len(folders) == 0 {
		return folder, nil, cmp.Or(err, errors.New("no shim tells where it is, and it is not known which runtime listens"))
	}
	for _, folder = range folders {
		if ids, err = b.list(ctx, folder.dir); !errors.Is(err, fs.ErrNotExist) {
			return folder, ids, err
		}
	}
	hint := ""
	if os.Geteuid() != 0 { // whose folder a process works in is told to root alone
		hint = ": try sudo"
	}
	return folders[0], nil, fmt.Errorf("no shim tells where it is, and there is no %s%s", folders[0].dir, hint)
}

func (b *bundleReader) folders(ctx context.Context) ([]bundleFolder, error) {
	if told := b.walker.bundles.Load(); told != nil {
		return []bundleFolder{*told}, nil
	}
	return reads.Start(&b.files, "", func() ([]bundleFolder, error) { return bundleFolders(b.root, b.endpoint, b.picture), nil }).Wait(ctx, listTimeout)
}

// list returns the ids in a folder, in order.
func (b *bundleReader) list(ctx context.Context, dir string) (ids []string, err error) {
	return reads.Start(&b.files, dir, func() ([]string, error) { return namesIn(b.root, dir, proc.IsID) }).Wait(ctx, listTimeout)
}

// readNew reads those of which nothing is known yet, a few at a time, and returns how many
// bytes these had. What cannot be read is no error.
func (b *bundleReader) readNew(ctx context.Context, folder bundleFolder, ids []string) (bytes int64, err error) {
	ids = slices.DeleteFunc(slices.Clone(ids), func(id string) bool { _, known := b.known[id]; return known })
	var (
		mu      sync.Mutex // guards what follows
		next    int
		workers []*reads.Task
	)
	take := func() (id string, more bool) {
		mu.Lock()
		defer mu.Unlock()
		if next == len(ids) || ctx.Err() != nil {
			return "", false
		}
		next++
		return ids[next-1], true
	}
	for range bundlesAtOnce - len(b.files.Keys()) { // each that is left behind has the place of one
		workers = append(workers, reads.Go(func() error {
			for id, more := take(); more; id, more = take() {
				a, err := b.readBundle(ctx, filepath.Join(folder.dir, id), folder.below, id)
				if _, stuck := errors.AsType[reads.StuckError](err); stuck {
					break
				}
				mu.Lock()
				if bytes += a.size; err == nil {
					b.known[id] = a.object
				}
				mu.Unlock()
			}
			return nil
		}))
	}
	for _, worker := range workers {
		err = errors.Join(err, worker.Err())
	}
	return bytes, err
}

// readBundle reads what config.json says of a container, and how large that is.
func (b *bundleReader) readBundle(ctx context.Context, dir, below, id string) (bundle, error) {
	return reads.Start(&b.files, dir, func() (a bundle, err error) {
		text, err := readOnHost(b.root, filepath.Join(dir, below, "config.json"))
		a.size = int64(len(text))
		if err == nil {
			a.object, err = objectOf(id, text)
		}
		return a, err
	}).Wait(ctx, fileTimeout)
}

// objectOf reads the annotations that containerd and CRI-O give to what they make for a
// kubelet.
func objectOf(id string, config []byte) (evidence.Object, error) {
	var spec struct {
		Annotations map[string]string `json:"annotations"`
	}
	if err := json.Unmarshal(config, &spec); err != nil {
		return evidence.Object{}, err
	}
	const containerd, crio, kubernetes = "io.kubernetes.cri.", "io.kubernetes.cri-o.", "io.kubernetes."
	either := func(ofContainerd, ofCRIO string) string {
		if value := spec.Annotations[containerd+ofContainerd]; value != "" {
			return value
		}
		return spec.Annotations[ofCRIO]
	}
	o := evidence.Object{ObjectRef: pleg.ObjectRef{ID: id, Sandbox: either("container-type", crio+"ContainerType") == "sandbox"}}
	o.Pod = pleg.PodRef{
		UID:       pleg.UID(either("sandbox-uid", kubernetes+"pod.uid")),
		Namespace: either("sandbox-namespace", kubernetes+"pod.namespace"), Name: either("sandbox-name", kubernetes+"pod.name"),
	}
	if !o.Sandbox {
		o.SandboxID, o.Container = either("sandbox-id", crio+"SandboxID"), either("container-name", kubernetes+"container.name")
	}
	return o, nil
}
