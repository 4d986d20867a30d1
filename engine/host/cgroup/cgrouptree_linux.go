package cgroup

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/host/proc"
)

// A refusal says in plain words why an event source cannot be. It wraps
// [call.ErrUnimplemented].
type refusal string

func (r refusal) Error() string { return string(r) }

// Unwrap returns the kind of failure that it is for whoever opens sources.
func (r refusal) Unwrap() error { return call.ErrUnimplemented }

// A hierarchy is one tree of control groups.
type hierarchy struct {
	dir  string // its root, as we see it
	isV2 bool   // its groups tell with a file whether there is a process in them
}

// v1Hierarchies are those of v1 in which every runtime makes a group for each container,
// the cheapest first.
var v1Hierarchies = []string{"pids", "memory", "cpu,cpuacct", "cpu", "systemd"}

// hierarchies returns the trees that show the node's containers: v2's, one of v1, or both
// where v2's is mounted beside those of v1. A runtime may have its groups in either then.
func hierarchies(root string) (all []hierarchy, err error) {
	mount := filepath.Join("/", root, "sys/fs/cgroup")
	if isGroup(mount) {
		return []hierarchy{{mount, true}}, nil
	}
	for _, name := range v1Hierarchies {
		if dir := filepath.Join(mount, name); isGroup(dir) {
			all = append(all, hierarchy{dir, false})
			break
		}
	}
	if dir := filepath.Join(mount, "unified"); isGroup(dir) {
		all = append(all, hierarchy{dir, true})
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

// isGroup reports whether a folder is a control group. A link is none: it may lead out
// of the host's root.
func isGroup(dir string) bool {
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() {
		return false
	}
	_, err = os.Lstat(filepath.Join(dir, "cgroup.procs"))
	return err == nil
}

// isPart reports whether the tree's root is not the node's, but some group of it, as a
// container sees its own.
func (h hierarchy) isPart() bool {
	of := "release_agent" // only the root of v1 has it
	if h.isV2 {
		of = "cgroup.events" // all but the root of v2 have it
	}
	_, err := os.Lstat(filepath.Join(h.dir, of))
	return (err == nil) == h.isV2
}

// isAnothers reports whether a container's group is one that Docker or Podman has made by
// itself, outside a kubelet's pods: no CRI runtime knows it.
func isAnothers(path string) bool {
	dir, name := filepath.Split(path)
	parent := filepath.Base(dir)
	if _, uids := proc.ContainersIn(path); slices.ContainsFunc(uids, func(uid string) bool { return uid != "" }) {
		return false
	}
	return strings.HasPrefix(name, "docker-") || strings.HasPrefix(name, "libpod-") || parent == "docker" || parent == "libpod_parent"
}

// Stat returns a figure of a control group's stat file; 0 if it has none.
func Stat(stat, name string) uint64 {
	for line := range strings.Lines(stat) {
		if value, found := strings.CutPrefix(line, name+" "); found {
			n, _ := strconv.ParseUint(strings.TrimSpace(value), 10, 64)
			return n
		}
	}
	return 0
}
