package flavour

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAt(t *testing.T) {
	for endpoint, want := range map[string][]string{
		"unix:///run/containerd/containerd.sock":               {"containerd"},
		"unix:///host/var/run/crio/crio.sock":                  {"CRI-O"},
		"/var/run/cri-dockerd.sock":                            {"cri-dockerd"},
		"unix:///run/k3s/containerd/containerd.sock":           {"k3s", "RKE2"},
		"unix:///run/k0s/containerd.sock":                      {"k0s"},
		"unix:///var/snap/microk8s/common/run/containerd.sock": {"MicroK8s"},
		"unix:///srv/own/containerd.sock":                      nil,
		"":                                                     nil,
	} {
		var got []string
		for _, f := range At(endpoint) {
			got = append(got, f.Name)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("at %q (-want +got):\n%s", endpoint, diff)
		}
		if likely := Likely(endpoint)[0].Name; want == nil && likely != "containerd" || want != nil && likely != want[0] {
			t.Errorf("at %q there is likely %s", endpoint, likely)
		}
	}
}

// The rows hold together: each is found by its own socket, says where its files are, and
// has names that the kernel does not cut.
func TestKnown(t *testing.T) {
	for _, f := range Known {
		if !slices.ContainsFunc(At(f.Socket), func(at Flavour) bool { return at.Name == f.Name }) {
			t.Errorf("%s is not found at its own socket %s", f.Name, f.Socket)
		}
		if len(f.Units) == 0 || len(f.Traces()) == 0 {
			t.Errorf("%s has no unit or no trace", f.Name)
		}
		for _, path := range append(f.Traces(), f.Socket, f.Data) {
			if !filepath.IsAbs(path) {
				t.Errorf("%s: %q is no whole path", f.Name, path)
			}
		}
	}
	for _, name := range slices.Concat(Programs, Kubelets) {
		if len(name) > 15 {
			t.Errorf("the kernel cuts %s", name)
		}
	}
}

// The kubelets' names are shown to people, and those of a runtime decide what a process is.
func TestNames(t *testing.T) {
	for _, tt := range []struct{ got, want []string }{
		{Runtimes, []string{"containerd", "crio", "cri-dockerd", "dockerd"}},
		{Kubelets, []string{"kubelet", "k3s", "k3s-server", "k3s-agent", "kubelite", "hyperkube"}},
		{Supervisors, []string{"rke2", "rke2-server", "rke2-agent", "k0s"}},
		{SharedUnits, []string{"k3s", "k3s-agent", "rke2-server", "rke2-agent", "k0scontroller", "k0sworker"}},
	} {
		if diff := cmp.Diff(tt.want, tt.got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}
