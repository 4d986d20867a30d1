package host

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"strings"
	"sync/atomic"

	"github.com/plegtop/plegtop/engine/evidence"
)

// runtimeRoots are the folders where runtimes are known to keep their data, with
// what the paths of their sockets have in them: for a runtime that does not say. A
// folder alone says nothing, it may be left over from another one.
var runtimeRoots = []struct{ socket, path string }{
	{"/run/k3s/", "/var/lib/rancher/k3s/agent/containerd"},
	{"/run/k3s/", "/var/lib/rancher/rke2/agent/containerd"}, // rke2 has the socket of k3s
	{"/var/snap/microk8s/", "/var/snap/microk8s/common/var/lib/containerd"},
	{"/run/containerd/", "/var/lib/containerd"},
	{"/run/crio/", "/var/lib/containers"},
	{"/run/cri-dockerd", "/var/lib/docker"},
}

// disk is the part that tells what is left of the file system that holds path, or
// if that is empty the root of the runtime at the endpoint.
func disk(root, path, endpoint string) part {
	own := ownRoot{root: root, endpoint: endpoint}
	var looked atomic.Value // string: the folder of the last look, which may hang
	looked.Store(path)
	return part{
		name: "disk",
		read: func(context.Context) fill {
			at := cmp.Or(path, own.find())
			looked.Store(at)
			d := readDisk(root, at, endpoint) // hangs on a file system that has gone away
			return func(r *evidence.Report) { r.Disk = d }
		},
		missing: func(r *evidence.Report, err error) { r.Disk = missingDisk(looked.Load().(string), err) },
	}
}

// noDisk stands for the disk of a picture of a node.
func noDisk() part {
	return noPart("disk", func(r *evidence.Report) { r.Disk.Missing = "a made-up node has no disk" })
}

func readDisk(root, path, endpoint string) evidence.Disk {
	if path != "" {
		d, err := statDisk(root, path)
		if err != nil {
			return missingDisk(path, err)
		}
		return d
	}
	for _, known := range runtimeRoots {
		if !strings.Contains(endpoint, known.socket) {
			continue
		}
		d, err := statDisk(root, known.path)
		if err == nil {
			return d
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return missingDisk(known.path, err)
		}
	}
	return evidence.Disk{Missing: "it is not known where the runtime keeps its data"}
}
