package host

import (
	"slices"
	"strings"
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
	sandbox   string // of a shim
	socket    string // of a shim: the runtime's
}

// criNamespace is where containerd keeps what came over CRI. Docker's and ctr's
// containers are in others.
const criNamespace = "k8s.io"

// The names of the daemons, as far as comm has room for them.
var (
	runtimes = []string{"containerd", "crio", "dockerd", "cri-dockerd"}

	// kubelets are the kubelet and what has it within: k3s and microk8s.
	kubelets = []string{"kubelet", "hyperkube", "k3s", "k3s-server", "k3s-agent", "kubelite"}

	// supervisors begin the runtime and the kubelet as processes of their own.
	supervisors = []string{"rke2", "rke2-server", "rke2-agent", "k0s"}

	daemons = slices.Concat(runtimes, kubelets, supervisors)
)

// roleOf returns the role that a name of at most 15 bytes stands for. Only
// daemons are sure of theirs: the others' arguments have the last word.
func roleOf(comm string) role {
	switch {
	case strings.HasPrefix(comm, "containerd-shim"), comm == "conmon", comm == "conmonrs":
		return shim
	case comm == "runc", comm == "crun", strings.HasPrefix(comm, "runc:["):
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
		return identity{role: runc, container: idAmong(args)}
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
		return identity{role: runc, container: id}
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
		return identity{role: runc, container: id}
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
		if ids := containerIDs(arg); inPath == "" && len(ids) > 0 {
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
	return endpoint == "" || i.socket == "" && strings.Contains(endpoint, "crio")
}
