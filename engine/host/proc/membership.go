package proc

import (
	"cmp"
	"slices"
	"strings"

	"github.com/prometheus/procfs"
)

// A group is a control group in both hierarchies that can freeze it.
type group struct {
	freezer  string // its path in the v1 freezer hierarchy; empty if there is none, or if it cannot be followed
	unified  string // its path in the v2 hierarchy, likewise
	isHybrid bool   // v1 hierarchies are there too, so that v2's is mounted beside them
}

// A membership is what a process's control groups say of it.
type membership struct {
	group
	ids  []string // of the containers it is in, the outermost first; none for the node's own
	uids []string // of the pods of ids, one for each; empty where the path tells none
	unit string   // the service of the init system that it runs in; empty if in none
}

// memberOf reads the lines of /proc/PID/cgroup. All hierarchies name the same
// container, apart from those that the runtime leaves alone, so the first that
// names one will do.
func memberOf(lines []procfs.Cgroup) membership {
	var m membership
	for _, line := range lines {
		if m.ids == nil {
			m.ids, m.uids = ContainersIn(line.Path)
		}
		m.unit = cmp.Or(m.unit, unitOf(line))
		switch {
		case line.HierarchyID == 0:
			m.unified = Followable(line.Path)
		case slices.Contains(line.Controllers, "freezer"):
			m.freezer, m.isHybrid = Followable(line.Path), true
		default:
			m.isHybrid = true
		}
	}
	return m
}

// unitOf returns the service that a control group belongs to, such as
// "containerd.service", or "containerd" of OpenRC. The innermost counts: a node
// may itself be a container in a service of another machine. What a person
// started runs in none that the node knows.
func unitOf(line procfs.Cgroup) string {
	parts := strings.Split(line.Path, "/")
	if slices.Contains(line.Controllers, "name=openrc") {
		return parts[len(parts)-1]
	}
	if line.HierarchyID != 0 && !slices.Contains(line.Controllers, "name=systemd") {
		return "" // of a controller: its groups may be anything
	}
	if slices.ContainsFunc(parts, func(part string) bool { return strings.HasPrefix(part, "user@") }) {
		return ""
	}
	for _, part := range slices.Backward(parts) {
		service, isOpenRC := strings.CutPrefix(part, "openrc.")
		switch {
		case isOpenRC, strings.HasSuffix(part, ".service"):
			return service
		case strings.HasSuffix(part, ".scope"), IDIn(part) != "":
			return ""
		}
	}
	return ""
}

// Followable returns a path that can be looked up below the hierarchy's mount
// point. One that leads out of our own control group namespace cannot.
func Followable(path string) string {
	if path == "/" || slices.Contains(strings.Split(path, "/"), "..") {
		return ""
	}
	return path
}
