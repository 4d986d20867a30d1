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

// outerTimeout is how long the search for the containers that the node is in may take.
const outerTimeout = 250 * time.Millisecond

// Cgroups delivers the start and the end of each container and sandbox. With v2 a container starts when the
// first process is in its group, a little before its own program runs. It ends when no process is in the group.
// With v1 it starts when the group is made, and ends when the group is removed. The kernel gives no times.
// Containers that are there at the beginning are no events.
//
// It returns when ctx ends, with the cause of ctx. The error wraps [call.ErrUnimplemented] and says what to do
// if there is no tree of control groups, if the tree is too large, or if the kernel gives no watches. Only one
// call may be under way at a time. Deliver is called from one goroutine, and must return at once.
func (s *Source) Cgroups(ctx context.Context, deliver func(pleg.Upstream)) error {
	trees, err := treesOf(s.root)
	if err != nil {
		return err
	}
	outer := reads.Start(&s.outer, "", func() ([]string, error) { return proc.Outer(s.root) })
	w := &watch{trees: trees, deliver: deliver}
	w.outer, _ = outer.Wait(ctx, outerTimeout) // none if they come too late
	task := reads.Go(func() error { return w.run(ctx) })
	<-task.Done()
	return task.Err()
}

// A tree is one hierarchy of control groups.
type tree struct {
	dir  string // its root, as we see it
	isV2 bool   // a file of each group says whether a process is in it
}

// v1Trees are the hierarchies of v1 in which every runtime makes a group for each container, the cheapest
// first.
var v1Trees = []string{"pids", "memory", "cpu,cpuacct", "cpu", "systemd"}

// treesOf returns the trees that show the node's containers: that of v2, or one of v1, or both if v2 is mounted
// beside v1. In the last case every runtime makes its groups in v1, and most runtimes make them in v2 too. v2
// shows the end of a container even while the runtime hangs and removes no group.
func treesOf(root string) (all []tree, err error) {
	mount := filepath.Join("/", root, "sys/fs/cgroup")
	if isGroup(mount) {
		return []tree{{mount, true}}, nil
	}
	for _, name := range v1Trees {
		if dir := filepath.Join(mount, name); isGroup(dir) {
			all = append(all, tree{dir, false})
			break
		}
	}
	if dir := filepath.Join(mount, "unified"); isGroup(dir) {
		all = append(all, tree{dir, true})
	}
	if all == nil {
		hint := "mount it"
		if root != "" {
			hint = "--host-root names the folder where the host's / is mounted, with its /sys in it"
		}
		return nil, refusal("there is no tree of control groups in " + mount + ": " + hint)
	}
	return all, nil
}

// isGroup reports whether a folder is a control group. A link does not count, because it may lead out of the
// host's root.
func isGroup(dir string) bool {
	info, err := os.Lstat(dir)
	return err == nil && info.IsDir() && isThere(filepath.Join(dir, "cgroup.procs"))
}

func isThere(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// isPart reports whether the root of a tree is not the root of the node but that of a container. Only the root
// of v1 has release_agent, and all groups of v2 except the root have cgroup.events.
func (t tree) isPart() bool {
	if t.isV2 {
		return isThere(filepath.Join(t.dir, "cgroup.events"))
	}
	return !isThere(filepath.Join(t.dir, "release_agent"))
}

// isOthers reports whether Docker or Podman has made a container's group for itself, outside of a kubelet's
// pods. No CRI runtime knows that container.
func isOthers(path string) bool {
	dir, name := filepath.Split(path)
	parent := filepath.Base(dir)
	if _, uids := proc.ContainersIn(path); slices.ContainsFunc(uids, func(uid string) bool { return uid != "" }) {
		return false
	}
	return strings.HasPrefix(name, "docker-") || strings.HasPrefix(name, "libpod-") || parent == "docker" || parent == "libpod_parent"
}
