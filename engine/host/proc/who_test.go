package proc

import (
	"strings"
	"testing"
)

func TestIdentityOf(t *testing.T) {
	id := longID("1")
	const socket = "/run/containerd/containerd.sock"
	tests := []struct {
		name, comm, args string
		want             identity
	}{
		{
			"shim", "containerd-shim", "/usr/bin/containerd-shim-runc-v2 -namespace k8s.io -id " + id + " -address " + socket,
			identity{role: shim, sandbox: id, socket: socket},
		},
		{
			"shim, flags as GNU writes them", "containerd-shim", "/x --namespace=k8s.io --id=" + id + " --address=" + socket,
			identity{role: shim, sandbox: id, socket: socket},
		},
		{
			"shim not told its socket", "containerd-shim", "/usr/bin/containerd-shim-kata-v2 -namespace k8s.io -id " + id,
			identity{role: shim, sandbox: id},
		},
		{"Docker's shim", "containerd-shim", "/usr/bin/containerd-shim-runc-v2 -namespace moby -id " + id + " -address " + socket, identity{}},
		{"shim without arguments", "containerd-shim", "", identity{}},
		{"flag without its value", "containerd-shim", "/x -namespace k8s.io -id", identity{role: shim}},
		{
			"starting a shim", "containerd-shim", "/x -namespace k8s.io -address " + socket + " -publish-binary /usr/bin/containerd -id " + id + " start",
			identity{role: helper, container: id, verb: "start"},
		},
		{
			"clearing up after a shim", "containerd-shim", "/x -namespace k8s.io -address " + socket + " -id " + id + " -bundle /run/b delete",
			identity{role: helper, container: id, verb: "delete"},
		},
		{"conmon", "conmon", "/usr/bin/conmon -b /run/b -c " + id + " --exit-dir /var/run/crio/exits -u " + id, identity{role: shim, container: id}},
		{"conmon, long flag", "conmon", "/usr/bin/conmon --cid " + id, identity{role: shim, container: id}},
		{"conmon for an exec", "conmon", "/usr/bin/conmon -c " + id + " -e -n k8s_x", identity{role: helper, container: id, verb: "exec"}},
		{"Podman's conmon", "conmon", "/usr/bin/conmon -c " + id + " --exit-dir /run/libpod/exits", identity{}},
		{"conmonrs", "conmonrs", "/usr/bin/conmonrs --runtime-dir /run/containers/" + id + "/userdata", identity{role: shim, sandbox: id}},
		{
			"runc", "runc", "runc --root /run/containerd/runc/k8s.io --log /run/x/log.json create --bundle /run/b/" + longID("9") + " --pid-file /run/p " + id,
			identity{role: helper, container: id, verb: "create"},
		},
		{"runc kill", "runc", "runc --root /run/containerd/runc/k8s.io kill --all " + id + " 9", identity{role: helper, container: id, verb: "kill"}},
		{"crun with the bundle alone", "crun", "crun --bundle /run/b/" + id + "/userdata features", identity{role: helper, container: id, verb: "features"}},
		{"runc init", "runc:[2:INIT]", "runc init", identity{role: helper, verb: "init"}},
		{"kubelet", "kubelet", "", identity{role: daemon}},
		{"k3s", "k3s-server", "", identity{role: daemon}},
		{"microk8s", "kubelite", "", identity{role: daemon}},
		{"CRI-O", "crio", "", identity{role: daemon}},
		{"not runc", "runcible", "", identity{}},
		{"not containerd", "containerd-stres", "", identity{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := identityOf(tt.comm, strings.Fields(tt.args)); got != tt.want {
				t.Errorf("identityOf(%q, %q) = %+v, want %+v", tt.comm, tt.args, got, tt.want)
			}
		})
	}
}

func FuzzIdentityOf(f *testing.F) {
	f.Add("containerd-shim", "/x\x00-namespace\x00k8s.io\x00-id")
	f.Add("conmon", "/x\x00-c")
	f.Add("conmonrs", "/x\x00="+longID("1"))
	f.Add("runc:[2:INIT]", "")
	f.Fuzz(func(t *testing.T, comm, line string) {
		var args []string
		if line != "" {
			args = strings.Split(line, "\x00")
		}
		p := identityOf(comm, args)
		for _, text := range []string{p.container, p.sandbox, p.socket} {
			if !strings.Contains(line, text) {
				t.Errorf("identityOf(%q, %q) made up %q", comm, args, text)
			}
		}
		if p.role != plain && roleOf(comm) == plain {
			t.Errorf("identityOf(%q, %q) has role %d, which the name does not promise", comm, args, p.role)
		}
	})
}
