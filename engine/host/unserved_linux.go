package host

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/host/proc"
	"github.com/plegtop/plegtop/engine/host/reads"
	"github.com/plegtop/plegtop/engine/knowledge"
)

const (
	// unservedMost is how many mounts are asked: each that hangs keeps a thread.
	unservedMost = 64
	// unservedTime is for how long their answers are waited for, all together.
	unservedTime = 500 * time.Millisecond
)

// kubeletMounts are what the paths have in them at which a kubelet mounts volumes.
var kubeletMounts = []string{"/volumes/kubernetes.io~", "/volume-subpaths/", "/plugins/kubernetes.io/"}

// unserved is the part that finds file systems of pods or the runtime whose program has ended.
// One whose program is there and silent is left behind until it answers. Of a picture of a
// node none is asked.
func unserved(root, endpoint string, picture bool) part {
	asks := unservedAsks{root: root, endpoint: endpoint, statfs: func(path string) error { return unix.Statfs(path, new(unix.Statfs_t)) }}
	at := func(r *evidence.Report) *[]evidence.Mount { return &r.Deep.Unserved }
	return partOf("unserved", at, func(ctx context.Context) (all []evidence.Mount) {
		if !picture {
			all = asks.look(ctx)
		}
		return all
	}, nil) // then there are none that are known
}

type unservedAsks struct {
	root, endpoint string
	statfs         func(path string) error
	out            reads.Set[string] // by the path of the mount
}

func (u *unservedAsks) look(ctx context.Context) (all []evidence.Mount) {
	ctx, cancel := context.WithTimeout(ctx, unservedTime)
	defer cancel()
	asked := make(map[string]*reads.Task)
	mounts := slices.DeleteFunc(proc.Mounts(u.root), func(m evidence.Mount) bool { return !u.concerns(m) })
	for _, m := range mounts {
		path := filepath.Join("/", u.root, m.Point)
		if asked[m.Point] == nil && len(asked) < unservedMost {
			asked[m.Point] = reads.Start(&u.out, path, func() (struct{}, error) { return struct{}{}, u.statfs(path) })
		}
	}
	for _, m := range mounts {
		if ask := asked[m.Point]; ask != nil {
			if _, err := ask.Wait(ctx, unservedTime); errors.Is(err, unix.ENOTCONN) {
				all = append(all, m)
			}
			delete(asked, m.Point)
		}
	}
	return all
}

// concerns reports whether a program serves a mount to the runtime's pods or to itself.
func (u *unservedAsks) concerns(m evidence.Mount) bool {
	ofRuntime := func(f knowledge.Flavour) bool {
		return strings.HasPrefix(m.Point, f.Data+"/") || strings.HasPrefix(m.Point, f.State+"/")
	}
	return strings.HasPrefix(m.Type, "fuse") && m.Served() &&
		(slices.ContainsFunc(kubeletMounts, func(mark string) bool { return strings.Contains(m.Point, mark) }) || slices.ContainsFunc(knowledge.At(u.endpoint), ofRuntime))
}
