// Package proc looks at the processes of a node: which of them belong to the runtime and
// the kubelet, in which containers the others are, in which state they are, and what they
// wait for. A file of /proc that is not read in time is left behind, so that a read that
// hangs hides little else.
package proc

import (
	"slices"
	"strings"

	"github.com/plegtop/plegtop/engine/knowledge"
	"github.com/plegtop/plegtop/engine/pleg"
)

// A role is what a process does for the containers of the node.
type role uint8

const (
	plain  role = iota // a process of a container, or one that has nothing to do with containers
	shim               // stays with a sandbox or a container until that ends
	helper             // was called for one job: to start, end or inspect a container
	daemon             // the runtime or the kubelet
)

// An identity is what a process does, and for whom.
type identity struct {
	role      role
	container string // of a conmon or a helper
	sandbox   string // of a shim, or of the shim that called a helper
	ours      bool   // of a helper: our runtime may have called it
	socket    string // the runtime's socket in the arguments of a shim or the configuration of a daemon

	verb    string      // what a helper does, such as "delete" or "CNI ADD"; empty if not known
	pod     pleg.PodRef // of a network plugin, and of the programs that it calls
	program string      // the whole name of a helper's program, since comm keeps only 15 bytes; empty if comm has all of it
}

// CRINamespace is the namespace of containerd with the containers that came over CRI. The containers of Docker
// and ctr are in other namespaces.
const CRINamespace = "k8s.io"

var (
	// ociRuntimes are the names of programs that make containers.
	ociRuntimes = []string{"runc", "crun", "runsc", "youki", "kata-runtime"}

	// ociVerbs are the commands of OCI runtimes; the last three are runsc's.
	ociVerbs = []string{
		"create", "start", "run", "exec", "init", "state", "kill", "delete", "update", "pause", "resume", "ps", "events", "checkpoint", "restore", "list", "features",
		"boot", "gofer", "wait",
	}

	// daemons are the names of runtimes and kubelets, cut to the length of comm.
	daemons = slices.Concat(knowledge.Programs, knowledge.Kubelets)
)

// roleOf returns the role that a process with this comm may have. Only for a daemon the comm is enough. For the
// others the arguments decide.
func roleOf(comm string) role {
	switch {
	case strings.HasPrefix(comm, "containerd-shim"), comm == "conmon", comm == "conmonrs":
		return shim
	case slices.Contains(ociRuntimes, comm), strings.HasPrefix(comm, "runc:["), strings.HasPrefix(comm, "youki:["):
		return helper
	case slices.Contains(daemons, comm):
		return daemon
	}
	return plain
}

// identityOf returns the identity of a process by its comm and its arguments. A process that serves another
// client than CRI has no identity.
func identityOf(comm string, args []string) identity {
	switch r := roleOf(comm); {
	case strings.HasPrefix(comm, "containerd-shim"):
		return shimOf(args)
	case r == shim:
		return conmonOf(args)
	case r == helper:
		return identity{role: helper, container: idAmong(args), verb: verbAmong(args)}
	default:
		return identity{role: r}
	}
}

// shimOf returns the identity of a containerd shim by its arguments. A shim with a verb as its last argument is
// a short helper: it starts a shim, or clears up after one.
func shimOf(args []string) identity {
	if FlagValue(args, "namespace") != CRINamespace {
		return identity{}
	}
	id := FlagValue(args, "id")
	if verb := args[len(args)-1]; verb == "start" || verb == "delete" {
		return identity{role: helper, container: id, verb: verb}
	}
	return identity{role: shim, sandbox: id, socket: FlagValue(args, "address")}
}

// conmonOf returns the identity of CRI-O's conmon (one for each container) or conmonrs (one for each pod) by
// its arguments. Podman's conmons have none: they name folders with "libpod".
func conmonOf(args []string) identity {
	if slices.ContainsFunc(args, func(a string) bool { return strings.Contains(a, "libpod") }) {
		return identity{}
	}
	id := FlagValue(args, "c", "cid")
	switch {
	case id == "":
		return identity{role: shim, sandbox: idAmong(args)}
	case slices.Contains(args, "-e"), slices.Contains(args, "--exec"):
		return identity{role: helper, container: id, verb: "exec"}
	}
	return identity{role: shim, container: id}
}

// FlagValue returns the value of the first of some flags among the arguments, with one dash
// or two, as the next argument or after an equals sign; empty if there is none.
func FlagValue(args []string, flags ...string) string {
	for i, arg := range args {
		name, value, joined := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		switch {
		case !strings.HasPrefix(arg, "-") || !slices.Contains(flags, name):
		case joined:
			return value
		case i+1 < len(args):
			return args[i+1]
		}
	}
	return ""
}

// idAmong returns the last argument that is an id, else the last id in a path, such as the
// bundle's.
func idAmong(args []string) (inPath string) {
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

// verbAmong returns the first argument that is a command of an OCI runtime.
func verbAmong(args []string) string {
	if i := slices.IndexFunc(args, func(a string) bool { return slices.Contains(ociVerbs, a) }); i > 0 {
		return args[i]
	}
	return ""
}

// roleIn returns the role of a process that is in the containers with these ids. In a container it is plain,
// also for a containerd. Only a shim keeps its role, in the group of its own pod or container.
func (i identity) roleIn(ids []string) role {
	if len(ids) == 0 || i.role == shim && slices.Contains([]string{i.sandbox, i.container}, ids[len(ids)-1]) {
		return i.role
	}
	return plain
}

// mayServe reports whether a shim without a known owner may belong to the runtime at the
// endpoint: shims of CRI-O have no socket in their arguments, and without an endpoint any
// runtime may be meant.
func (i identity) mayServe(endpoint string) bool {
	return endpoint == "" || i.socket == "" && knowledge.CRIO.MayBeAt(endpoint)
}

// StatusField returns the words of a field in a file such as /proc/PID/status; nil if it is
// not there.
func StatusField(text, name string) []string {
	for line := range strings.Lines(text) {
		if value, is := strings.CutPrefix(line, name+":"); is {
			return strings.Fields(value)
		}
	}
	return nil
}
