package host

import (
	"cmp"
	"slices"
	"strings"

	"github.com/prometheus/procfs"

	"github.com/plegtop/plegtop/engine/flavour"
)

// A role is what a process does for the node's containers.
type role uint8

const (
	plain  role = iota // a container's own, or none of ours
	shim               // stays beside a sandbox or a container for all its life
	runc               // an errand of the runtime: begins, ends or asks a container
	daemon             // the runtime or the kubelet
)

// An identity is what one process does, and for whom.
type identity struct {
	role      role
	container string // of a shim of CRI-O's, or of an errand
	sandbox   string // of a shim, or of the shim that called an errand
	ours      bool   // of an errand: it was called by what may be our runtime's
	socket    string // the runtime's, as a shim or a daemon was told

	verb           string // what an errand is to do, such as "delete" or "CNI ADD"; empty if that is not known
	namespace, pod string // of a network plugin's: for whom
}

// criNamespace is where containerd keeps what came over CRI. Docker's and ctr's
// containers are in others.
const criNamespace = "k8s.io"

// ociRuntimes are the names of programs that make containers.
var ociRuntimes = []string{"runc", "crun", "runsc", "youki", "kata-runtime"}

// The names of the daemons, as far as comm has room for them.
var (
	runtimes, kubelets, supervisors = flavour.Runtimes, flavour.Kubelets, flavour.Supervisors

	daemons = slices.Concat(runtimes, kubelets, supervisors)
)

// roleOf returns the role that a name of at most 15 bytes stands for. Only
// daemons are sure of theirs: the others' arguments have the last word.
func roleOf(comm string) role {
	switch {
	case strings.HasPrefix(comm, "containerd-shim"), comm == "conmon", comm == "conmonrs":
		return shim
	case slices.Contains(ociRuntimes, comm), strings.HasPrefix(comm, "runc:["), strings.HasPrefix(comm, "youki:["):
		return runc
	case slices.Contains(daemons, comm):
		return daemon
	}
	return plain
}

// identityOf reads the arguments of a process whose name promises a role. What
// serves another client than CRI has none.
func identityOf(comm string, args []string) identity {
	switch r := roleOf(comm); {
	case strings.HasPrefix(comm, "containerd-shim"):
		return containerdShim(args)
	case r == shim:
		return monitor(args)
	case r == runc:
		return identity{role: runc, container: idAmong(args), verb: verbAmong(args)}
	default:
		return identity{role: r}
	}
}

// containerdShim reads a shim's arguments. One that ends in a verb is not the
// shim that stays but a short errand: to start one, or to clear up after it.
func containerdShim(args []string) identity {
	if flagValue(args, "namespace") != criNamespace {
		return identity{}
	}
	id := flagValue(args, "id")
	if verb := args[len(args)-1]; verb == "start" || verb == "delete" {
		return identity{role: runc, container: id, verb: verb}
	}
	return identity{role: shim, sandbox: id, socket: flagValue(args, "address")}
}

// monitor reads the arguments of CRI-O's conmon, one for each container, and of
// conmonrs, one for each pod. Podman's keep their files in folders named libpod.
func monitor(args []string) identity {
	if slices.ContainsFunc(args, func(a string) bool { return strings.Contains(a, "libpod") }) {
		return identity{}
	}
	id := flagValue(args, "c", "cid")
	switch {
	case id == "":
		return identity{role: shim, sandbox: idAmong(args)}
	case slices.Contains(args, "-e"), slices.Contains(args, "--exec"):
		return identity{role: runc, container: id, verb: "exec"}
	}
	return identity{role: shim, container: id}
}

// flagValue returns the value of the first of the flags that is given, with one
// dash or two, as the next argument or after an equals sign.
func flagValue(args []string, flags ...string) string {
	for i, arg := range args {
		name, given, joined := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		if !strings.HasPrefix(arg, "-") || !slices.Contains(flags, name) {
			continue
		}
		if joined {
			return given
		}
		if i+1 < len(args) {
			return args[i+1]
		}
	}
	return ""
}

// idAmong returns the last argument that is an id, or failing that the last id
// in a path, such as the bundle's.
func idAmong(args []string) string {
	var inPath string
	for _, arg := range slices.Backward(args) {
		if isID(arg) {
			return arg
		}
		if ids, _ := containersIn(arg); inPath == "" && len(ids) > 0 {
			inPath = ids[len(ids)-1]
		}
	}
	return inPath
}

// roleIn returns a process's role, given the containers that it is in: what
// runs inside a container is that container's, though it be another containerd.
// Only a shim may be put into the group of its own pod.
func (i identity) roleIn(ids []string) role {
	if len(ids) == 0 || (i.role == shim && slices.Contains([]string{i.sandbox, i.container}, ids[len(ids)-1])) {
		return i.role
	}
	return plain
}

// mayServe reports whether a shim may belong to the runtime at the endpoint for
// all that can be known: it was not told its socket, as CRI-O's are not, or it is
// not known which runtime is meant.
func (i identity) mayServe(endpoint string) bool {
	return endpoint == "" || i.socket == "" && flavour.CRIO.MayBeAt(endpoint)
}

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
			m.ids, m.uids = containersIn(line.Path)
		}
		m.unit = cmp.Or(m.unit, unitOf(line))
		switch {
		case line.HierarchyID == 0:
			m.unified = followable(line.Path)
		case slices.Contains(line.Controllers, "freezer"):
			m.freezer, m.isHybrid = followable(line.Path), true
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
		case strings.HasSuffix(part, ".scope"), idIn(part) != "":
			return ""
		}
	}
	return ""
}

// followable returns a path that can be looked up below the hierarchy's mount
// point. One that leads out of our own control group namespace cannot.
func followable(path string) string {
	if path == "/" || slices.Contains(strings.Split(path, "/"), "..") {
		return ""
	}
	return path
}

// containersIn returns the ids in a control group's path, the outermost first:
// there are several where a container runs containers; and for each the UID of its pod,
// if the path tells that. The drivers write the same in different ways:
//
//	/kubepods/burstable/podUID/ID                                        cgroupfs
//	/kubepods.slice/kubepods-burstable-podUID.slice/cri-containerd-ID.scope systemd
//	/system.slice/containerd.service/kubepods-podUID.slice:cri-containerd:ID a systemd name, given to cgroupfs
//
// What a container makes below its own group comes after it and has no id.
func containersIn(path string) (ids, uids []string) {
	uid := ""
	for part := range strings.SplitSeq(path, "/") {
		uid = cmp.Or(podIn(part), uid)
		if id := idIn(part); id != "" && !slices.Contains(ids, id) {
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

// idIn returns the id at the end of one part of a path, or "". A monitor's own
// group bears the id of its container, but holds nothing of it.
func idIn(part string) string {
	name := strings.TrimSuffix(part, ".scope")
	cut := len(name) - idLength
	if cut < 0 || !isID(name[cut:]) {
		return ""
	}
	prefix := name[:cut]
	if strings.HasSuffix(prefix, "conmon-") || strings.Trim(prefix[max(cut-1, 0):], "-:_") != "" {
		return ""
	}
	return name[cut:]
}

// isID reports whether s has the shape of an id that a runtime made up.
func isID(s string) bool {
	return len(s) == idLength && strings.Trim(s, "0123456789abcdef") == ""
}

// without returns ids less those of the node itself: where the whole node is a
// container of another, every process has that one's id.
func without(ids, node []string) []string {
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return slices.Contains(node, id) })
}

// runcVerbs are what OCI runtimes are called for; the last three of runsc.
var runcVerbs = []string{
	"create", "start", "run", "exec", "init", "state", "kill", "delete", "update", "pause", "resume", "ps", "events", "checkpoint", "restore", "list", "features",
	"boot", "gofer", "wait",
}

// verbAmong returns what runc is to do: the first argument that is a verb.
func verbAmong(args []string) string {
	if i := slices.IndexFunc(args, func(a string) bool { return slices.Contains(runcVerbs, a) }); i > 0 {
		return args[i]
	}
	return ""
}
