package knowledge

import (
	"slices"
	"strings"
)

// A Flavour is one way in which a container runtime comes to a node: by itself, or within a
// distribution of Kubernetes. What a configuration file of the node says counts more than a row.
type Flavour struct {
	Name    string // as its makers write it
	Source  string
	OS      []string // the ID of the node's os-release, where that tells the flavour
	Program string   // the name of the process that listens on the socket
	Socket  string   // the path of that socket; empty where it is that of another row
	Mark    string   // a part of the socket's path, which is there even where the host's root is mounted elsewhere; empty for a flavour that is known by other marks

	Data, State string   // folders: what outlives a reboot of the node, and what does not
	Config      string   // the configuration file; empty for none
	DropIns     string   `yaml:"dropIns"` // the folder of the files that are read after Config; empty for none
	Shared      []string // files that it shares with other programs: the first that is there says what Config does not
	Leaves      []string // files and folders that show that its CRI service has run here; State and Data if empty

	CNI []string // the folders of the network's configuration and plugins

	// Variables are those that may stand in the flags of its kubelet.
	Variables map[string]string

	// Units are the services that it may run in, and KubeletUnits those of its kubelet, as systemd
	// names them. Without KubeletUnits the kubelet runs in the same unit.
	Units        []string
	KubeletUnits []string `yaml:"kubeletUnits"`
	// Manager is what manages its services, as services.yaml calls it, whatever the init system is;
	// empty for the node's own init system.
	Manager string
	// Restarts completes "a restart also restarts": what else lives in the unit; empty for nothing.
	Restarts string
	// KubeletRestarts completes the same of the kubelet's own units.
	KubeletRestarts string `yaml:"kubeletRestarts"`

	// Log and KubeletLog are the files that the runtime and its kubelet write their logs to; empty
	// where the log is the unit's.
	Log        string
	KubeletLog string `yaml:"kubeletLog"`

	Behind      []string // programs that do the work for Program
	Kubelets    []string // programs that have a kubelet within
	Supervisors []string // programs that begin the runtime and the kubelet

	Crictl      []string // its own configurations of crictl
	KubeletArgs []string `yaml:"kubeletArgs"` // files that hold the flags of its kubelet
}

// Flavours are all flavours. Those that share a socket stand side by side.
var Flavours = rows[Flavour]("flavours.yaml")

var (
	// Containerd stands for a runtime of which nothing is known. crictl looks for it first.
	Containerd = flavourNamed("containerd")
	// CRIO is CRI-O.
	CRIO = flavourNamed("CRI-O")
)

// The names of programs, as far as the kernel keeps them: 15 bytes.
var (
	// Runtimes are the daemons that are a runtime, or do its work.
	Runtimes = collect(func(f Flavour) []string { return append([]string{f.Program}, f.Behind...) })
	// Kubelets are the programs that are a kubelet, or have one within.
	Kubelets = slices.Concat([]string{"kubelet"}, withKubelet, []string{"hyperkube"})
	// Supervisors begin the runtime and the kubelet as processes of their own.
	Supervisors = collect(func(f Flavour) []string { return f.Supervisors })
	// Programs are all that a runtime runs in or under.
	Programs = slices.Concat(Runtimes, Supervisors, collect(func(f Flavour) []string {
		if f.Socket == "" {
			return nil // the runtime is a process of its own beside it
		}
		return f.Kubelets
	}))

	withKubelet = collect(func(f Flavour) []string { return f.Kubelets })
)

// Files of distributions.
var (
	// Crictl are their own configurations of crictl.
	Crictl = collect(func(f Flavour) []string { return f.Crictl })
	// KubeletArgs hold the flags of their kubelets.
	KubeletArgs = collect(func(f Flavour) []string { return f.KubeletArgs })
)

// SharedUnits are the units in which both a runtime and its kubelet run.
var SharedUnits = collect(func(f Flavour) []string {
	if f.KubeletUnits != nil {
		return nil
	}
	return f.Units
})

// Variable returns what a variable in the flags of a distribution's kubelet stands for, and the
// variable itself if that is not known.
func Variable(name string) string {
	for _, f := range Flavours {
		if value, known := f.Variables[name]; known {
			return value
		}
	}
	return "${" + name + "}"
}

func flavourNamed(name string) Flavour {
	return Flavours[slices.IndexFunc(Flavours, func(f Flavour) bool { return f.Name == name })]
}

// collect returns what all flavours name, each name once.
func collect(of func(Flavour) []string) (all []string) {
	for _, f := range Flavours {
		for _, name := range of(f) {
			if !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	}
	return all
}

// At returns the flavours whose socket may be at an endpoint; none if none is known to be.
func At(endpoint string) (all []Flavour) {
	for _, f := range Flavours {
		if f.MayBeAt(endpoint) && (len(all) == 0 || all[0].Mark == f.Mark) {
			all = append(all, f)
		}
	}
	return all
}

// On returns the flavour that the ID of a node's os-release tells; ok is false if it tells none.
func On(os string) (f Flavour, ok bool) {
	if i := slices.IndexFunc(Flavours, func(f Flavour) bool { return slices.Contains(f.OS, os) }); i >= 0 {
		return Flavours[i], true
	}
	return f, false
}

// InUnit returns the flavour whose runtime or kubelet runs in a unit, which is named without its
// suffix; ok is false if none does, or several do.
func InUnit(unit string) (f Flavour, ok bool) {
	for _, one := range Flavours {
		if slices.Contains(one.Units, unit) || slices.Contains(one.KubeletUnits, unit) {
			if ok {
				return Flavour{}, false
			}
			f, ok = one, true
		}
	}
	return f, ok
}

// Likely returns what a runtime at an endpoint mostly is.
func Likely(endpoint string) []Flavour {
	if at := At(endpoint); len(at) > 0 {
		return at
	}
	return []Flavour{Containerd}
}

// Within returns the socket of the runtime that a program with a kubelet within begins
// for it, unless it is given another one; empty if it is no such program.
func Within(program string) string {
	i := slices.IndexFunc(Flavours, func(f Flavour) bool { return f.Socket != "" && slices.Contains(f.Kubelets, program) })
	if i < 0 {
		return ""
	}
	return Flavours[i].Socket
}

// MayBeAt reports whether the flavour's socket may be at an endpoint.
func (f *Flavour) MayBeAt(endpoint string) bool {
	return f.Mark != "" && strings.Contains(endpoint, f.Mark)
}

// Traces are files and folders that show that its CRI service has run here.
func (f *Flavour) Traces() []string {
	if f.Leaves != nil {
		return f.Leaves
	}
	return []string{f.State, f.Data}
}
