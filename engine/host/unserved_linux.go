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
	// mostUnserved bounds the mounts that are asked: each one that hangs keeps a thread.
	mostUnserved = 64
	// unservedTime is how long the answers of all mounts are waited for.
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

// read is the part of the file systems of pods or of the runtime whose program has ended. One whose
// program is there but silent is left behind.
func (u *unservedWatch) read(ctx context.Context, l *Look) (fill, error) {
	ctx, cancel := context.WithTimeout(ctx, unservedTime)
	defer cancel()
	asked := map[string]*reads.Task{}
	mounts := slices.DeleteFunc(proc.Mounts(l.Root), func(m evidence.Mount) bool { return !l.concerns(m) })
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

// concerns reports whether a program serves a mount to the runtime or its pods.
func (c *Config) concerns(m evidence.Mount) bool {
	within := func(mark string) bool { return strings.Contains(m.Point, mark) }
	ofRuntime := func(f knowledge.Flavour) bool {
		return strings.HasPrefix(m.Point, f.Data+"/") || strings.HasPrefix(m.Point, f.State+"/")
	}
	return strings.HasPrefix(m.Type, "fuse") && m.Served() &&
		(slices.ContainsFunc(kubeletMounts, within) || slices.ContainsFunc(knowledge.At(c.Endpoint), ofRuntime))
}
