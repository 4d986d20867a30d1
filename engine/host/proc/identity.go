// Package proc looks at the processes of a node: who they are to its runtime and its
// kubelet, in which containers they are, how they are and what they wait for. A file
// of /proc that is not read in time is left behind, so that what hangs hides little else.
package proc

import (
	"cmp"
	"slices"
	"strings"

	"github.com/plegtop/plegtop/engine/knowledge"
	"github.com/plegtop/plegtop/engine/pleg"
)

// A role is what a process does for the node's containers.
type role uint8

const (
	plain  role = iota // a container's own, or none of ours
	shim               // stays beside a sandbox or a container for all its life
	runc               // a helper of the runtime: begins, ends or asks a container
	daemon             // the runtime or the kubelet
)

// An identity is what one process does, and for whom.
type identity struct {
	role      role
	container string // of a shim of CRI-O's, or of a helper
	sandbox   string // of a shim, or of the shim that called a helper
	ours      bool   // of a helper: it was called by what may be our runtime's
	socket    string // the runtime's, as a shim or a daemon was told

	verb    string      // what a helper is to do, such as "delete" or "CNI ADD"; empty if that is not known
	pod     pleg.PodRef // of a network plugin's: for whom
	program string      // the whole name of a helper's program, of which the kernel keeps 15 bytes; empty if that is all of it
}

// CRINamespace is where containerd keeps what came over CRI. Docker's and ctr's
// containers are in others.
const CRINamespace = "k8s.io"

// ociRuntimes are the names of programs that make containers.
var ociRuntimes = []string{"runc", "crun", "runsc", "youki", "kata-runtime"}

// daemons are their names, as far as comm has room for them.
var daemons = slices.Concat(knowledge.Programs, knowledge.Kubelets)

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
// shim that stays but a short helper: to start one, or to clear up after it.
func containerdShim(args []string) identity {
	if FlagValue(args, "namespace") != CRINamespace {
		return identity{}
	}
	id := FlagValue(args, "id")
	if verb := args[len(args)-1]; verb == "start" || verb == "delete" {
		return identity{role: runc, container: id, verb: verb}
	}
	return identity{role: shim, sandbox: id, socket: FlagValue(args, "address")}
}

// monitor reads the arguments of CRI-O's conmon, one for each container, and of
// conmonrs, one for each pod. Podman's keep their files in folders named libpod.
func monitor(args []string) identity {
	if slices.ContainsFunc(args, func(a string) bool { return strings.Contains(a, "libpod") }) {
		return identity{}
	}
	id := FlagValue(args, "c", "cid")
	switch {
	case id == "":
		return identity{role: shim, sandbox: idAmong(args)}
	case slices.Contains(args, "-e"), slices.Contains(args, "--exec"):
		return identity{role: runc, container: id, verb: "exec"}
	}
	return identity{role: shim, container: id}
}

// FlagValue returns the value of the first of the flags that is given, with one
// dash or two, as the next argument or after an equals sign.
func FlagValue(args []string, flags ...string) string {
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
		if IsID(arg) {
			return arg
		}
		if ids, _ := ContainersIn(arg); inPath == "" && len(ids) > 0 {
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
	return endpoint == "" || i.socket == "" && knowledge.CRIO.MayBeAt(endpoint)
}

// idLength is how many hexadecimal digits containerd, CRI-O and Docker give to
// a container or a sandbox.
const idLength = 64

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
