package proc

import (
	"cmp"
	"slices"
	"strings"

	"github.com/prometheus/procfs"
)

// A group is a control group in both hierarchies that can freeze it. A path is empty if there is none, or if it
// cannot be followed.
type group struct {
	freezer  string // in the v1 freezer hierarchy
	unified  string // in the v2 hierarchy
	isHybrid bool   // both v1 hierarchies and v2's are mounted
}

// A membership is what the control groups of a process show.
type membership struct {
	group
	ids  []string // of the containers it is in, the outermost first
	uids []string // of the pods of ids, one for each; empty where the path has none
	unit string   // the service of the init system that it runs in, if any
}

// memberOf returns what the lines of /proc/PID/cgroup show. All hierarchies name the same container, except
// those that the runtime leaves alone. So the first hierarchy that names a container counts.
func memberOf(lines []procfs.Cgroup) (m membership) {
	for _, line := range lines {
		if m.ids == nil {
			m.ids, m.uids = ContainersIn(line.Path)
		}
		m.unit = cmp.Or(m.unit, unitOf(line))
		m.isHybrid = m.isHybrid || line.HierarchyID != 0
		if line.HierarchyID == 0 {
			m.unified = Followable(line.Path)
		} else if slices.Contains(line.Controllers, "freezer") {
			m.freezer = Followable(line.Path)
		}
	}
	return m
}

// without returns ids except those of the node itself. If the node is a container of another machine, every
// process has the id of that container.
func without(ids, node []string) []string {
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return slices.Contains(node, id) })
}

// unitOf returns the service of a control group, such as "containerd.service", or with OpenRC its bare name.
// The innermost service counts, because the node may be a container in a service of another machine. A user's
// session is no service.
func unitOf(line procfs.Cgroup) string {
	parts := strings.Split(line.Path, "/")
	switch {
	case slices.Contains(line.Controllers, "name=openrc"):
		return parts[len(parts)-1]
	case line.HierarchyID != 0 && !slices.Contains(line.Controllers, "name=systemd"):
		return "" // the groups of a controller may have any name
	case slices.ContainsFunc(parts, func(part string) bool { return strings.HasPrefix(part, "user@") }):
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

// Followable returns a group's path if it can be looked up below the mount point of its hierarchy, else "". A
// path that leads out of our own control group namespace cannot be looked up.
func Followable(path string) string {
	if path == "/" || slices.Contains(strings.Split(path, "/"), "..") {
		return ""
	}
	return path
}

// ContainersIn returns the ids in the path of a control group, the outermost first (a
// container may run containers), and for each the UID of its pod or "". Drivers write
// the same in different ways:
//
//	/kubepods/burstable/podUID/ID                                        cgroupfs
//	/kubepods.slice/kubepods-burstable-podUID.slice/cri-containerd-ID.scope systemd
//	/system.slice/containerd.service/kubepods-podUID.slice:cri-containerd:ID a systemd name, given to cgroupfs
//
// Groups that a container makes below its own have no id.
func ContainersIn(path string) (ids, uids []string) {
	uid := ""
	for part := range strings.SplitSeq(path, "/") {
		uid = cmp.Or(podIn(part), uid)
		if id := IDIn(part); id != "" && !slices.Contains(ids, id) {
			ids, uids = append(ids, id), append(uids, uid)
			uid = "" // a container within is of another pod
		}
	}
	return ids, uids
}

// podIn returns the UID of a pod in one part of a path, or "". systemd's names have
// an underscore for each dash of it.
func podIn(part string) string {
	name, _, _ := strings.Cut(part, ":")
	name = "-" + strings.TrimSuffix(name, ".slice")
	at := strings.LastIndex(name, "pod")
	if at < 0 || name[at-1] != '-' {
		return ""
	}
	uid := strings.ReplaceAll(name[at+len("pod"):], "_", "-")
	if strings.Trim(uid, "0123456789abcdef-") != "" {
		return ""
	}
	return uid
}

// idLength is the length of the ids that containerd, CRI-O and Docker make, in hexadecimal digits.
const idLength = 64

// IDIn returns the id at the end of one part of a path, or "". The group of a monitor
// ends in the id of its container, but the container is not in it.
func IDIn(part string) string {
	name := strings.TrimSuffix(part, ".scope")
	cut := len(name) - idLength
	if cut < 0 || !IsID(name[cut:]) {
		return ""
	}
	prefix := name[:cut]
	if strings.HasSuffix(prefix, "conmon-") || strings.Trim(prefix[max(cut-1, 0):], "-:_") != "" {
		return ""
	}
	return name[cut:]
}

// IsID reports whether s looks like an id that a runtime made.
func IsID(s string) bool {
	return len(s) == idLength && strings.Trim(s, "0123456789abcdef") == ""
}
