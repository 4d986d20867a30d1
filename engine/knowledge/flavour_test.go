package knowledge

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

// The rows fit together: each is found by its own socket, says where its files are, and has names that the kernel does
// not cut.
func TestKnown(t *testing.T) {
	for _, f := range Flavours {
		if f.Socket == "" { // it has that of another row
			continue
		}
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

// The names of kubelets are shown to people, and the names of a runtime decide what a process is.
func TestNames(t *testing.T) {
	for _, tt := range []struct{ got, want []string }{
		{Runtimes, []string{"containerd", "crio", "cri-dockerd", "dockerd"}},
		{Kubelets, []string{"kubelet", "k3s", "k3s-server", "k3s-agent", "kubelite", "edgecore", "microshift", "hyperkube"}},
		{Supervisors, []string{"rke2", "rke2-server", "rke2-agent", "k0s"}},
		{SharedUnits, []string{"k3s", "k3s-agent", "rke2-server", "rke2-agent", "k0scontroller", "k0sworker"}},
	} {
		if diff := cmp.Diff(tt.want, tt.got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// A node is recognised by its operating system, or by the unit of its runtime or kubelet.
func TestOtherMarks(t *testing.T) {
	if f, ok := On("talos"); !ok || f.Name != "Talos" || f.Manager != "talos" {
		t.Errorf("talos is %+v", f)
	}
	if f, ok := InUnit("snap.k8s.kubelet"); !ok || f.Name != "k8s snap" {
		t.Errorf("the kubelet of the k8s snap is of %q", f.Name)
	}
	if f, ok := InUnit("kubelet"); ok {
		t.Errorf("kubelet is the unit of %q alone", f.Name)
	}
}

func TestRunsElsewhere(t *testing.T) {
	for _, tt := range []struct {
		handler, program string
		want             bool
	}{
		{"", "pause", false}, {"runc", "", false}, {"crun", "", false}, {"kata-qemu", "", true}, {"nvidia", "", true},
		{"", "qemu-system-x86", true}, {"", "runsc-sandbox", true}, {"", "firecracker", true},
	} {
		if got := RunsElsewhere(tt.handler, tt.program); got != tt.want {
			t.Errorf("handler %q, program %q: %v", tt.handler, tt.program, got)
		}
	}
}

func TestMeans(t *testing.T) {
	for text, want := range map[string]string{
		"failed to create fsnotify watcher: too many open files": NoInotify,
		"accept: too many open files":                            UsedUp,
		"write x: No space left on device":                       NoSpace,
		"stat /data: transport endpoint is not connected":        Disconnected,
		"read /x: input/output error":                            StoreFails,
		"context deadline exceeded":                              "",
	} {
		if got := Means(text); got != want {
			t.Errorf("%q means %q, want %q", text, got, want)
		}
	}
}

func TestMatchKernel(t *testing.T) {
	for text, want := range map[string]KernelMatch{
		"watchdog: BUG: soft lockup - CPU#34 stuck for 22s! [runc:[1:CHILD]:812]":                   {PID: "812", Command: "runc:[1:CHILD]"},
		"INFO: task containerd:812 is blocked on a mutex likely owned by task runc:9.":              {PID: "812", Command: "containerd", Owner: "9"},
		"rcu: INFO: rcu_preempt self-detected stall on CPU":                                         {},
		"WARNING: Pool 'tank' has encountered an uncorrectable I/O failure and has been suspended.": {Device: "tank"},
		"XFS: containerd(812) possible memory allocation deadlock size 65552 in kmem_alloc":         {PID: "812", Command: "containerd"},
		"sd 2:0:0:0: [sdb] tag#0 timing out command, waited 180s":                                   {Device: "sdb"},
		"nvme nvme0: I/O 128 QID 3 timeout, aborting":                                               {Device: "nvme0"},
		"mmc0: Timeout waiting for hardware interrupt.":                                             {Device: "mmc0"},
		" session1: session recovery timed out after 120 secs":                                      {Device: "session1"},
		"device-mapper: multipath: 253:3: Failing path 8:32.":                                       {Device: "253:3"},
		"BTRFS: error (device sdb1) in btrfs_commit_transaction:2264: errno=-5 IO failure":          {Device: "sdb1"},
		"NVRM: Xid (PCI:0000:3b:00): 79, pid=812, name=python, GPU has fallen off the bus.":         {Device: "PCI:0000:3b:00", PID: "812"},
		"cgroup: fork rejected by pids controller in /system.slice/containerd.service":              {Group: "/system.slice/containerd.service"},
		"libceph: mon0 (1)10.0.0.1:6789 session lost, hunting for new mon":                          {Device: "10.0.0.1:6789"},
		"ceph: mds0 hung":                          {Device: "mds0"},
		"rbd: rbd0: encountered watch error: -107": {Device: "rbd0"},
	} {
		got, counts := MatchKernel(text)
		got.KernelLine = nil
		if !counts || got != want {
			t.Errorf("%q: %+v, want %+v", text, got, want)
		}
	}
	if m, counts := MatchKernel("sd 0:0:0:0: rejecting I/O to offline device"); !counts || m.Kind != "device offline" {
		t.Errorf("an offline device is %+v", m)
	}
	if _, counts := MatchKernel("audit: type=1400 something else"); counts {
		t.Error("a line of no kind counts")
	}
}
