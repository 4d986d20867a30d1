package proc

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/procfs"
)

func TestContainerIDs(t *testing.T) {
	a, b := longID("1"), longID("2")
	tests := []struct {
		name, path string
		want       []string
	}{
		{"systemd, containerd", cgroupOf(a), []string{a}},
		{"systemd, CRI-O", "/kubepods.slice/kubepods-pod5f1a.slice/crio-" + a + ".scope", []string{a}},
		{"systemd, CRI-O, its own child", "/kubepods.slice/kubepods-pod5f1a.slice/crio-" + a + ".scope/container", []string{a}},
		{"systemd, Docker", "/kubepods.slice/kubepods-besteffort-pod5f1a.slice/docker-" + a + ".scope", []string{a}},
		{"systemd's name given to cgroupfs", "/system.slice/containerd.service/kubepods-burstable-pod5f1a.slice:cri-containerd:" + a, []string{a}},
		{"cgroupfs", "/kubepods/burstable/pod5f1a2e1c-1111-4222-8333-abcdefabcdef/" + a, []string{a}},
		{"cgroupfs, no kubelet", "/k8s.io/" + a, []string{a}},
		{"cgroupfs, a parent of one's own", "/plegtop-e2e/pod18e9f208-5f43-4000-8000-c0bc00000001/" + a, []string{a}},
		{"seen from another container", "/../../../kubepods.slice/kubepods-pod5f1a.slice/cri-containerd-" + a + ".scope", []string{a}},
		{"systemd within the container", cgroupOf(a) + "/init.scope", []string{a}},
		{"a unit within the container", "/kubepods/pod5f1a/" + a + "/system.slice/cron.service", []string{a}},
		{"a node in a container", "/system.slice/docker-" + a + ".scope/kubelet.slice/kubelet-kubepods.slice/cri-containerd-" + b + ".scope", []string{a, b}},
		{"the same id twice", "/kubepods/" + a + "/" + a, []string{a}},
		{"Kata's sandbox", "/kubepods/burstable/pod5f1a/kata_" + a, []string{a}},
		{"CRI-O's monitor", "/kubepods.slice/kubepods-pod5f1a.slice/crio-conmon-" + a + ".scope", nil},
		{"Podman's monitor", "/machine.slice/libpod-conmon-" + a + ".scope", nil},
		{"root", "/", nil},
		{"nothing", "", nil},
		{"out of our namespace", "/../..", nil},
		{"the pod alone", "/kubepods/burstable/pod5f1a2e1c-1111-4222-8333-abcdefabcdef", nil},
		{"a service", "/system.slice/containerd.service", nil},
		{"another's short id", "/process_api/5aa226498eced5558eb54b8478639590", nil},
		{"one digit too many", "/k8s.io/f" + a, nil},
		{"capitals", "/k8s.io/" + strings.ToUpper(a), nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, first(ContainersIn(tt.path))); diff != "" {
				t.Errorf("ContainersIn(%q) (-want +got):\n%s", tt.path, diff)
			}
		})
	}
}

func TestUnitOf(t *testing.T) {
	v2 := func(path string) []procfs.Cgroup { return []procfs.Cgroup{{Path: path}} }
	v1 := func(path string) []procfs.Cgroup {
		return []procfs.Cgroup{
			{HierarchyID: 9, Controllers: []string{"cpu", "cpuacct"}, Path: "/system.slice"},
			{HierarchyID: 4, Controllers: []string{"pids"}, Path: "/old.service"},
			{HierarchyID: 1, Controllers: []string{"name=systemd"}, Path: path},
		}
	}
	tests := []struct {
		name  string
		lines []procfs.Cgroup
		want  string
	}{
		{"v2", v2("/system.slice/containerd.service"), "containerd.service"},
		{"v1", v1("/system.slice/crio.service"), "crio.service"},
		{"hybrid, with v2 left alone", append(v1("/system.slice/kubelet.service"), v2("/")...), "kubelet.service"},
		{"k3s", v2("/system.slice/k3s.service"), "k3s.service"},
		{"k3s agent", v1("/system.slice/k3s-agent.service"), "k3s-agent.service"},
		{"rke2", v2("/system.slice/rke2-server.service"), "rke2-server.service"},
		{"k0s, a group of its own below", v2("/system.slice/k0scontroller.service/supervisor"), "k0scontroller.service"},
		{"microk8s", v2("/system.slice/snap.microk8s.daemon-containerd.service"), "snap.microk8s.daemon-containerd.service"},
		{"seen from another container", v2("/../../system.slice/containerd.service"), "containerd.service"},
		{"in a slice of its own", v2("/podruntime.slice/kubelet.service"), "kubelet.service"},
		{"a node in a container", v2("/system.slice/docker-" + longID("1") + ".scope/kubelet.slice/kubelet.service"), "kubelet.service"},
		{"a node in a container, without systemd", v2("/system.slice/docker-" + longID("1") + ".scope/init"), ""},
		{"a node in a container of cgroupfs", v2("/system.slice/docker.service/" + longID("1")), ""},
		{"by hand", v2("/user.slice/user-0.slice/session-3.scope"), ""},
		{"by hand, in v1", v1("/user.slice"), ""},
		{"rootless", v2("/user.slice/user-1000.slice/user@1000.service/app.slice/k3s.service"), ""},
		{"OpenRC, v1", []procfs.Cgroup{{HierarchyID: 1, Controllers: []string{"name=openrc"}, Path: "/k3s"}}, "k3s"},
		{"OpenRC, v2", v2("/openrc.k3s"), "k3s"},
		{"root", v2("/"), ""},
		{"none", nil, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := memberOf(tt.lines).unit; got != tt.want {
				t.Errorf("unit = %q, want %q", got, tt.want)
			}
		})
	}
}

func FuzzContainerIDs(f *testing.F) {
	f.Add(cgroupOf(longID("1")))
	f.Add("/../../" + longID("2") + "/init.scope")
	f.Add("/k8s.io/" + longID("3") + ".scope.scope")
	f.Add("-:_" + longID("4"))
	f.Fuzz(func(t *testing.T, path string) {
		for _, id := range first(ContainersIn(path)) {
			if !IsID(id) || !strings.Contains(path, id) {
				t.Errorf("ContainersIn(%q) has %q", path, id)
			}
		}
		for kept := range strings.SplitSeq(Followable(path), "/") {
			if kept == ".." {
				t.Errorf("Followable(%q) leads out of the mount", path)
			}
		}
	})
}

func first[A, B any](a A, _ B) A { return a }
