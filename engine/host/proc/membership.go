package proc

import (
	"cmp"
	"slices"
	"strings"

	"github.com/prometheus/procfs"
)

// idLength is how many hexadecimal digits containerd, CRI-O and Docker give to
// a container or a sandbox.
const idLength = 64

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

// ContainersIn returns the ids in a control group's path, the outermost first:
// there are several where a container runs containers; and for each the UID of its pod,
// if the path tells that. The drivers write the same in different ways:
//
//	/kubepods/burstable/podUID/ID                                        cgroupfs
//	/kubepods.slice/kubepods-burstable-podUID.slice/cri-containerd-ID.scope systemd
//	/system.slice/containerd.service/kubepods-podUID.slice:cri-containerd:ID a systemd name, given to cgroupfs
//
// What a container makes below its own group comes after it and has no id.
func ContainersIn(path string) (ids, uids []string) {
	uid := ""
	for part := range strings.SplitSeq(path, "/") {
		uid = cmp.Or(podIn(part), uid)
		if id := IDIn(part); id != "" && !slices.Contains(ids, id) {
			ids, uids = append(ids, id), append(uids, uid)
			uid = "" // what is within is of another pod
		}
	}
	return ids, uids
}

// podIn returns the UID of the pod that one part of a path is of, or "". systemd's
// names have an underscore for each dash in it.
func podIn(part string) string {
	name, _, _ := strings.Cut(part, ":")
	name = strings.TrimSuffix(name, ".slice")
	at := strings.LastIndex(name, "pod")
	if at < 0 || at > 0 && name[at-1] != '-' {
		return ""
	}
	uid := strings.ReplaceAll(name[at+len("pod"):], "_", "-")
	if strings.Trim(uid, "0123456789abcdef-") != "" {
		return ""
	}
	return uid
}

// IDIn returns the id at the end of one part of a path, or "". A monitor's own
// group bears the id of its container, but holds nothing of it.
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

// IsID reports whether s has the shape of an id that a runtime made up.
func IsID(s string) bool {
	return len(s) == idLength && strings.Trim(s, "0123456789abcdef") == ""
}

// without returns ids less those of the node itself: where the whole node is a
// container of another, every process has that one's id.
func without(ids, node []string) []string {
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return slices.Contains(node, id) })
}
