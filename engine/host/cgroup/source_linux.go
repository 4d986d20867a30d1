package cgroup

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine/host/proc"
	"github.com/plegtop/plegtop/engine/host/reads"
	"github.com/plegtop/plegtop/engine/pleg"
)

// outerTimeout is how long it may take to find the containers that the node is in.
const outerTimeout = 250 * time.Millisecond

// Cgroups hands the start and the end of each container and sandbox to deliver. With v2 a container starts
// when the first process is in its group, a little before its own program runs, and ends when none is; with
// v1 it starts when the group is made, and ends when it is removed. The kernel says no time. What is there
// at the begin is no event.
//
// It ends when ctx does, with its cause. The error wraps [call.ErrUnimplemented] and says what to do where
// there is no tree of control groups, or one that is too large, or the kernel gives no watches. At most one
// call may be under way. Deliver is called from one goroutine, and must return at once.
func (s *Source) Cgroups(ctx context.Context, deliver func(pleg.Upstream)) error {
	trees, err := treesOf(s.root)
	if err != nil {
		return err
	}
	outer := reads.Start(&s.outer, "", func() ([]string, error) { return proc.Outer(s.root) })
	w, lives := &watch{trees: trees}, map[string]*life{}
	w.outer, _ = outer.Wait(ctx, outerTimeout) // none are known
	w.changed = func(g *group) {
		l := lives[g.id]
		if l == nil {
			l = new(life)
			lives[g.id] = l
		}
		if l.take(g, w.isComplete) && w.isComplete {
			u := pleg.Upstream{Signal: pleg.SignalStarted, ID: g.id}
			if !l.isAlive {
				u.Signal, u.Ran = pleg.SignalStopped, time.Since(l.since)
			}
			deliver(u)
		}
		if l.groups == 0 {
			delete(lives, g.id)
		}
	}
	task := reads.Go(func() error { return w.run(ctx) })
	<-task.Done()
	return task.Err()
}

// A life is what the control groups of a container say, of which v1 and v2 may have one each.
type life struct {
	groups   int // that are there
	v1, v2   bool
	followV2 bool // v2 has shown a process. v1 does not count then: it tells when the group is removed, if ever
	isAlive  bool
	since    time.Time // of isAlive
}

// take takes in a group of the container, and reports whether the container has started or ended. Before
// all groups have been read, an empty group of v2 is that of a container that has ended; later, of one that
// is being made.
func (l *life) take(g *group, isComplete bool) (changed bool) {
	switch {
	case g.isGone:
		l.groups--
	case !g.isCounted:
		l.groups, g.isCounted = l.groups+1, true
	}
	of := &l.v1
	if g.tree.isV2 {
		of = &l.v2
		l.followV2 = l.followV2 || g.isAlive || !isComplete
	}
	*of = g.isAlive
	was := l.isAlive
	if l.isAlive = l.v1; l.followV2 {
		l.isAlive = l.v2
	}
	if l.isAlive && !was {
		l.since = time.Now()
	}
	return l.isAlive != was
}

// A hierarchy is one tree of control groups.
type hierarchy struct {
	dir  string // its root, as we see it
	isV2 bool   // a file of each group says whether a process is in it
}

// v1Trees are the hierarchies of v1 in which every runtime makes a group for each container, the cheapest
// first.
var v1Trees = []string{"pids", "memory", "cpu,cpuacct", "cpu", "systemd"}

// treesOf returns the trees that show the node's containers: that of v2, one of v1, or both where v2 is
// mounted beside v1. A runtime may use either then.
func treesOf(root string) (all []hierarchy, err error) {
	mount := filepath.Join("/", root, "sys/fs/cgroup")
	if isGroup(mount) {
		return []hierarchy{{mount, true}}, nil
	}
	if i := slices.IndexFunc(v1Trees, func(name string) bool { return isGroup(filepath.Join(mount, name)) }); i >= 0 {
		all = append(all, hierarchy{filepath.Join(mount, v1Trees[i]), false})
	}
	if dir := filepath.Join(mount, "unified"); isGroup(dir) {
		all = append(all, hierarchy{dir, true})
	}
	switch {
	case all != nil:
		return all, nil
	case root != "":
		return nil, refusal("there is no tree of control groups in " + mount + ": --host-root names the folder where the host's / is mounted, with its /sys in it")
	}
	return nil, refusal("there is no tree of control groups in " + mount + ": mount it")
}

// isGroup reports whether a folder is a control group. A link is none: it may lead out of the host's root.
func isGroup(dir string) bool {
	info, err := os.Lstat(dir)
	return err == nil && info.IsDir() && isThere(filepath.Join(dir, "cgroup.procs"))
}

func isThere(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// isPart reports whether the root of a tree is not the node's but a container's own: only the root of v1 has
// release_agent, and all groups of v2 but the root have cgroup.events.
func (t *hierarchy) isPart() bool {
	if t.isV2 {
		return isThere(filepath.Join(t.dir, "cgroup.events"))
	}
	return !isThere(filepath.Join(t.dir, "release_agent"))
}

// isOthers reports whether Docker or Podman has made the group of a container for itself, outside of a
// kubelet's pods. No CRI runtime knows such a container.
func isOthers(path string) bool {
	dir, name := filepath.Split(path)
	parent := filepath.Base(dir)
	if _, uids := proc.ContainersIn(path); slices.ContainsFunc(uids, func(uid string) bool { return uid != "" }) {
		return false
	}
	return strings.HasPrefix(name, "docker-") || strings.HasPrefix(name, "libpod-") || parent == "docker" || parent == "libpod_parent"
}
