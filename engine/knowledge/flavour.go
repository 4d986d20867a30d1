package knowledge

import (
	"slices"
	"strings"
)

// A Flavour is one way in which a container runtime comes to a node: by itself, or within a distribution of Kubernetes.
// The node's own configuration files count more than a row.
type Flavour struct {
	Name    string // as its makers write it
	Source  string
	OS      []string // the ID in the node's os-release, if that identifies the flavour
	Program string   // the name of the process that listens on the socket
	Socket  string   // the path of that socket; empty if another row has it
	Mark    string   // a part of the socket's path that is the same if the host's root is mounted elsewhere; empty for a flavour that is recognised in another way

	Data, State string   // folders: Data outlives a reboot of the node, State does not
	Config      string   // the configuration file; empty for none
	DropIns     string   `yaml:"dropIns"` // the folder of the files that are read after Config; empty for none
	Shared      []string // files that it shares with other programs: the first one that exists has the settings that Config does not have
	Leaves      []string // files and folders that show that its CRI service has run here; State and Data if empty

	CNI []string // the folders of the network's configuration and plugins

	// Variables are the variables that the flags of its kubelet may contain, with their values.
	Variables map[string]string

	// Units are the services that it may run in, and KubeletUnits those of its kubelet, with their names in systemd. If
	// KubeletUnits is empty, the kubelet runs in the same unit.
	Units        []string
	KubeletUnits []string `yaml:"kubeletUnits"`
	// Manager is the name, in services.yaml, of what manages its services, whatever the init system is; empty for the
	// node's own init system.
	Manager string
	// Restarts completes "a restart also restarts": the other programs in the unit; empty for none.
	Restarts string
	// KubeletRestarts completes the same words for the kubelet's own units.
	KubeletRestarts string `yaml:"kubeletRestarts"`

	// Log and KubeletLog are the files to which the runtime and its kubelet write their logs; empty if the logs are
	// those of the units.
	Log        string
	KubeletLog string `yaml:"kubeletLog"`

	Behind      []string // programs that do the work for Program
	Kubelets    []string // programs that contain a kubelet
	Supervisors []string // programs that start the runtime and the kubelet

	Crictl      []string // its own configuration files for crictl
	KubeletArgs []string `yaml:"kubeletArgs"` // files that hold the flags of its kubelet
}

// Flavours are all flavours. Those that share a socket are next to each other.
var Flavours = rows[Flavour]("flavours.yaml")

var (
	// Containerd is used for a runtime about which nothing is known. It is the one for which crictl looks first.
	Containerd = flavourNamed("containerd")
	// CRIO is CRI-O.
	CRIO = flavourNamed("CRI-O")
)

// The names of programs, in the length that the kernel keeps: 15 bytes.
var (
	// Runtimes are the daemons that are a runtime, or do its work.
	Runtimes = collect(func(f Flavour) []string { return append([]string{f.Program}, f.Behind...) })
	// Kubelets are the programs that are a kubelet, or contain one.
	Kubelets = slices.Concat([]string{"kubelet"}, withKubelet, []string{"hyperkube"})
	// Supervisors start the runtime and the kubelet as separate processes.
	Supervisors = collect(func(f Flavour) []string { return f.Supervisors })
	// Programs are all programs in which, or under which, a runtime runs.
	Programs = slices.Concat(Runtimes, Supervisors, collect(func(f Flavour) []string {
		if f.Socket == "" {
			return nil // the runtime is a separate process
		}
		return f.Kubelets
	}))

	withKubelet = collect(func(f Flavour) []string { return f.Kubelets })
)

// Files of distributions.
var (
	// Crictl are the distributions' own configuration files for crictl.
	Crictl = collect(func(f Flavour) []string { return f.Crictl })
	// KubeletArgs are the files with the flags of the distributions' kubelets.
	KubeletArgs = collect(func(f Flavour) []string { return f.KubeletArgs })
)

// SharedUnits are the units in which both a runtime and its kubelet run.
var SharedUnits = collect(func(f Flavour) []string {
	if f.KubeletUnits != nil {
		return nil
	}
	return f.Units
})

// Variable returns the value of a variable in the flags of a distribution's kubelet. If the value is not known, it
// returns the variable itself, as ${name}.
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

// collect returns what of returns for all flavours, each name once.
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

// At returns the flavours whose socket may be at an endpoint; nil if none is known.
func At(endpoint string) (all []Flavour) {
	for _, f := range Flavours {
		if f.MayBeAt(endpoint) && (len(all) == 0 || all[0].Mark == f.Mark) {
			all = append(all, f)
		}
	}
	return all
}

// On returns the flavour that the ID in a node's os-release identifies; ok is false if it identifies none.
func On(os string) (f Flavour, ok bool) {
	if i := slices.IndexFunc(Flavours, func(f Flavour) bool { return slices.Contains(f.OS, os) }); i >= 0 {
		return Flavours[i], true
	}
	return f, false
}

// InUnit returns the flavour whose runtime or kubelet runs in a unit, given without its suffix. ok is false if no
// flavour does, or several do.
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

// Likely returns the flavours that a runtime at an endpoint may be. If none is known, it returns Containerd.
func Likely(endpoint string) []Flavour {
	if at := At(endpoint); len(at) > 0 {
		return at
	}
	return []Flavour{Containerd}
}

// Within returns the socket of the runtime that a program with a kubelet inside starts for that kubelet, unless it is
// configured to use another one. It is empty if the program is not one of these.
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

// Traces returns files and folders that show that its CRI service has run here.
func (f *Flavour) Traces() []string {
	if f.Leaves != nil {
		return f.Leaves
	}
	return []string{f.State, f.Data}
}
