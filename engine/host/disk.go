package host

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"syscall"

	"github.com/plegtop/plegtop/engine/evidence"
)

// runtimeRoots are the folders where runtimes are known to keep their data, with
// the mark that their endpoints have in them. They are in the order of preference
// between those that exist, for an endpoint that matches none: a distribution's own
// first, since its node may well have a leftover of another runtime.
var runtimeRoots = []struct{ mark, path string }{
	{"k3s", "/var/lib/rancher/k3s/agent/containerd"},
	{"k3s", "/var/lib/rancher/rke2/agent/containerd"}, // rke2 has the socket of k3s
	{"microk8s", "/var/snap/microk8s/common/var/lib/containerd"},
	{"containerd", "/var/lib/containerd"},
	{"crio", "/var/lib/containers"},
	{"docker", "/var/lib/docker"},
}

// disk is the part that tells what is left of the file system that holds path, or
// the root of the endpoint's runtime if that is empty.
func disk(root, path, endpoint string) part {
	return part{
		name: "disk",
		read: func(context.Context) fill {
			d := readDisk(root, path, endpoint) // hangs on a file system that has gone away
			return func(r *evidence.Report) { r.Disk = d }
		},
		missing: func(r *evidence.Report, err error) { r.Disk = missingDisk(path, err) },
	}
}

// noDisk stands for the disk of a picture of a node.
func noDisk() part {
	none := func(r *evidence.Report) { r.Disk.Missing = "a made-up node has no disk" }
	return part{
		name:    "disk",
		read:    func(context.Context) fill { return none },
		missing: func(r *evidence.Report, _ error) { none(r) },
	}
}

func readDisk(root, path, endpoint string) evidence.Disk {
	if path != "" {
		d, err := statDisk(root, path)
		if err != nil {
			return missingDisk(path, err)
		}
		return d
	}
	for _, known := range likelyRoots(endpoint) {
		d, err := statDisk(root, known)
		if err == nil {
			return d
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return missingDisk(known, err)
		}
	}
	return evidence.Disk{Missing: "none of the known folders of a runtime is there"}
}

// missingDisk says why there is no telling how the file system of a folder is.
func missingDisk(path string, err error) evidence.Disk {
	_, broken := errors.AsType[stuckError](err)
	for _, answer := range []error{
		fs.ErrNotExist, syscall.EIO, syscall.ENXIO, syscall.ESTALE, syscall.ENOTCONN, syscall.EUCLEAN, syscall.ESHUTDOWN, syscall.ETIMEDOUT, syscall.EHOSTDOWN,
	} {
		broken = broken || errors.Is(err, answer)
	}
	return evidence.Disk{Path: path, Missing: reason(err), Broken: broken}
}

// likelyRoots returns all known roots, those of the endpoint's runtime first.
func likelyRoots(endpoint string) (all []string) {
	var others []string
	for _, r := range runtimeRoots {
		if strings.Contains(endpoint, r.mark) {
			all = append(all, r.path)
		} else {
			others = append(others, r.path)
		}
	}
	return append(all, others...)
}
