// Package flavour is the one table of the ways in which a container runtime comes to a
// node: by itself or within a distribution of Kubernetes. All that is known by heart of
// where one listens, keeps its files and runs stands here.
package flavour

import (
	"slices"
	"strings"
)

// A Flavour is one such way. What a runtime was told counts more than any of it.
type Flavour struct {
	Name    string // as its makers write it
	Program string // the name of the process that listens
	Socket  string // where that listens
	mark    string // what the path of its socket has in it, also where the host's root is elsewhere

	Data, State     string // folders: what outlives a restart of the node, and what does not
	Config, DropIns string // a file, and the folder of those that are read after it; empty for none
	traces          []string

	// Units are the systemd units that it may run in, KubeletUnits those of its kubelet;
	// without these the kubelet runs in the same.
	Units, KubeletUnits []string

	// behind are the programs that do the work for Program, kubelets those that have a
	// kubelet within, supervisors those that begin the runtime and the kubelet.
	behind, kubelets, supervisors []string

	crictl, kubeletArgs []string // see [Crictl] and [KubeletArgs]
}

// The folders of the snap of MicroK8s that are in the variables of these names.
const (
	SnapCommon = "/var/snap/microk8s/common"
	SnapData   = "/var/snap/microk8s/current"
)

// ownKubelet is the unit of a kubelet that comes in none of the flavours.
var ownKubelet = []string{"kubelet"}

// Containerd is what a runtime is of which nothing is known, and where crictl looks first.
var Containerd = Flavour{
	Name: "containerd", Program: "containerd", Socket: "/run/containerd/containerd.sock", mark: "/run/containerd/",
	Data: "/var/lib/containerd", State: "/run/containerd", Config: "/etc/containerd/config.toml",
	traces: []string{ // of its CRI service: Docker has a containerd, too
		"/run/containerd/io.containerd.runtime.v2.task/k8s.io", "/run/containerd/io.containerd.grpc.v1.cri", "/var/lib/containerd/io.containerd.grpc.v1.cri",
	},
	Units: []string{"containerd"}, KubeletUnits: ownKubelet,
}

// CRIO is CRI-O.
var CRIO = Flavour{
	Name: "CRI-O", Program: "crio", Socket: "/run/crio/crio.sock", mark: "crio",
	Data: "/var/lib/containers/storage", State: "/run/containers/storage", Config: "/etc/crio/crio.conf", DropIns: "/etc/crio/crio.conf.d",
	traces: []string{"/run/crio", "/var/lib/crio"}, // its folders are Podman's, too
	Units:  []string{"crio"}, KubeletUnits: ownKubelet,
}

// Known are all flavours, those that share a socket side by side. They must not be
// changed. (containerd 1.6 to 2.4, CRI-O 1.25 to 1.37.)
var Known = []Flavour{
	Containerd,
	CRIO,
	{
		Name: "cri-dockerd", Program: "cri-dockerd", Socket: "/run/cri-dockerd.sock", mark: "cri-dockerd",
		Data: "/var/lib/docker", traces: []string{"/var/lib/cri-dockerd"},
		Units: []string{"cri-docker"}, KubeletUnits: ownKubelet, behind: []string{"dockerd"},
	},
	{
		Name: "k3s", Program: "containerd", Socket: "/run/k3s/containerd/containerd.sock", mark: "/run/k3s/",
		Data: "/var/lib/rancher/k3s/agent/containerd", State: "/run/k3s/containerd", Config: "/var/lib/rancher/k3s/agent/etc/containerd/config.toml",
		Units: []string{"k3s", "k3s-agent"}, kubelets: []string{"k3s", "k3s-server", "k3s-agent"},
		crictl: []string{"/var/lib/rancher/k3s/agent/etc/crictl.yaml"},
	},
	{
		Name: "RKE2", Program: "containerd", Socket: "/run/k3s/containerd/containerd.sock", mark: "/run/k3s/",
		Data: "/var/lib/rancher/rke2/agent/containerd", State: "/run/k3s/containerd", Config: "/var/lib/rancher/rke2/agent/etc/containerd/config.toml",
		Units: []string{"rke2-server", "rke2-agent"}, supervisors: []string{"rke2", "rke2-server", "rke2-agent"},
		crictl: []string{"/var/lib/rancher/rke2/agent/etc/crictl.yaml"},
	},
	{
		Name: "k0s", Program: "containerd", Socket: "/run/k0s/containerd.sock", mark: "/run/k0s/",
		Data: "/var/lib/k0s/containerd", State: "/run/k0s/containerd", Config: "/etc/k0s/containerd.toml", // which imports /etc/k0s/containerd.d
		Units: []string{"k0scontroller", "k0sworker"}, supervisors: []string{"k0s"},
	},
	{
		Name: "MicroK8s", Program: "containerd", Socket: SnapCommon + "/run/containerd.sock", mark: "/var/snap/microk8s/",
		Data: SnapCommon + "/var/lib/containerd", State: SnapCommon + "/run/containerd", Config: SnapData + "/args/containerd.toml",
		Units: []string{"snap.microk8s.daemon-containerd"}, KubeletUnits: []string{"snap.microk8s.daemon-kubelite"}, kubelets: []string{"kubelite"},
		kubeletArgs: []string{SnapData + "/args/kubelet"},
	},
}

// The names of programs, as far as the kernel keeps them. They must not be changed.
var (
	// Runtimes are the daemons that are a runtime, or do its work.
	Runtimes = names(func(f Flavour) []string { return append([]string{f.Program}, f.behind...) })
	// Kubelets are those that are a kubelet, or have one in them, as k3s, MicroK8s and the
	// old hyperkube do.
	Kubelets = slices.Concat([]string{"kubelet"}, withKubelet, []string{"hyperkube"})
	// Supervisors begin the runtime and the kubelet as processes of their own.
	Supervisors = names(func(f Flavour) []string { return f.supervisors })
	// Programs are all that a runtime runs in or under.
	Programs = slices.Concat(Runtimes, Supervisors, withKubelet)

	withKubelet = names(func(f Flavour) []string { return f.kubelets })
)

// Files of distributions. They must not be changed.
var (
	// Crictl are their own configurations of crictl.
	Crictl = names(func(f Flavour) []string { return f.crictl })
	// KubeletArgs have the flags of their kubelets.
	KubeletArgs = names(func(f Flavour) []string { return f.kubeletArgs })
)

// SharedUnits are the systemd units in which both a runtime and its kubelet run.
var SharedUnits = names(func(f Flavour) []string {
	if f.KubeletUnits != nil {
		return nil
	}
	return f.Units
})

// names returns what flavours name, each name once.
func names(of func(Flavour) []string) (all []string) {
	for _, f := range Known {
		for _, name := range of(f) {
			if !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	}
	return all
}

// At returns the flavours whose socket may be at an endpoint; none if none is known to be.
func At(endpoint string) []Flavour {
	begin := 0
	for begin < len(Known) && !Known[begin].MayBeAt(endpoint) {
		begin++
	}
	end := begin
	for end < len(Known) && Known[end].mark == Known[begin].mark {
		end++
	}
	return Known[begin:end:end]
}

// Likely returns what a runtime at an endpoint mostly is.
func Likely(endpoint string) []Flavour {
	if at := At(endpoint); len(at) > 0 {
		return at
	}
	return Known[:1]
}

// Within returns the socket of the runtime that a program with a kubelet within begins
// for it, unless it is told another one; empty if it is none such.
func Within(program string) string {
	i := slices.IndexFunc(Known, func(f Flavour) bool { return slices.Contains(f.kubelets, program) })
	if i < 0 {
		return ""
	}
	return Known[i].Socket
}

// MayBeAt reports whether the flavour's socket may be at an endpoint.
func (f *Flavour) MayBeAt(endpoint string) bool {
	return f.mark != "" && strings.Contains(endpoint, f.mark)
}

// Traces are files and folders that show that its CRI service has run here.
func (f *Flavour) Traces() []string {
	if f.traces != nil {
		return f.traces
	}
	return []string{f.State, f.Data}
}
