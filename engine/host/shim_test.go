package host

import (
	"strings"
	"testing"
)

func TestPartOf(t *testing.T) {
	id := fixtureID("1")
	const socket = "/run/containerd/containerd.sock"
	tests := []struct {
		name, comm, args string
		want             part
	}{
		{
			"shim", "containerd-shim", "/usr/bin/containerd-shim-runc-v2 -namespace k8s.io -id " + id + " -address " + socket,
			part{role: shim, sandbox: id, socket: socket},
		},
		{
			"shim, flags as GNU writes them", "containerd-shim", "/x --namespace=k8s.io --id=" + id + " --address=" + socket,
			part{role: shim, sandbox: id, socket: socket},
		},
		{
			"shim not told its socket", "containerd-shim", "/usr/bin/containerd-shim-kata-v2 -namespace k8s.io -id " + id,
			part{role: shim, sandbox: id},
		},
		{"Docker's shim", "containerd-shim", "/usr/bin/containerd-shim-runc-v2 -namespace moby -id " + id + " -address " + socket, part{}},
		{"shim without arguments", "containerd-shim", "", part{}},
		{"flag without its value", "containerd-shim", "/x -namespace k8s.io -id", part{role: shim}},
		{
			"starting a shim", "containerd-shim", "/x -namespace k8s.io -address " + socket + " -publish-binary /usr/bin/containerd -id " + id + " start",
			part{role: runc, container: id},
		},
		{
			"clearing up after a shim", "containerd-shim", "/x -namespace k8s.io -address " + socket + " -id " + id + " -bundle /run/b delete",
			part{role: runc, container: id},
		},
		{"conmon", "conmon", "/usr/bin/conmon -b /run/b -c " + id + " --exit-dir /var/run/crio/exits -u " + id, part{role: shim, container: id}},
		{"conmon, long flag", "conmon", "/usr/bin/conmon --cid " + id, part{role: shim, container: id}},
		{"conmon for an exec", "conmon", "/usr/bin/conmon -c " + id + " -e -n k8s_x", part{role: runc, container: id}},
		{"Podman's conmon", "conmon", "/usr/bin/conmon -c " + id + " --exit-dir /run/libpod/exits", part{}},
		{"conmonrs", "conmonrs", "/usr/bin/conmonrs --runtime-dir /run/containers/" + id + "/userdata", part{role: shim, sandbox: id}},
		{
			"runc", "runc", "runc --root /run/containerd/runc/k8s.io --log /run/x/log.json create --bundle /run/b/" + fixtureID("9") + " --pid-file /run/p " + id,
			part{role: runc, container: id},
		},
		{"runc kill", "runc", "runc --root /run/containerd/runc/k8s.io kill --all " + id + " 9", part{role: runc, container: id}},
		{"crun with the bundle alone", "crun", "crun --bundle /run/b/" + id + "/userdata features", part{role: runc, container: id}},
		{"runc init", "runc:[2:INIT]", "runc init", part{role: runc}},
		{"kubelet", "kubelet", "", part{role: daemon}},
		{"k3s", "k3s-server", "", part{role: daemon}},
		{"microk8s", "kubelite", "", part{role: daemon}},
		{"CRI-O", "crio", "", part{role: daemon}},
		{"not runc", "runcible", "", part{}},
		{"not containerd", "containerd-stres", "", part{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := partOf(tt.comm, strings.Fields(tt.args)); got != tt.want {
				t.Errorf("partOf(%q, %q) = %+v, want %+v", tt.comm, tt.args, got, tt.want)
			}
		})
	}
}

func TestServes(t *testing.T) {
	tests := []struct {
		name, socket, endpoint string
		want                   bool
	}{
		{"the same", "/run/containerd/containerd.sock", "unix:///run/containerd/containerd.sock", true},
		{"without scheme", "/run/containerd/containerd.sock", "/run/containerd/containerd.sock", true},
		{"one slash", "/run/containerd/containerd.sock", "unix:/run/containerd/containerd.sock", true},
		{"/var/run", "/run/containerd/containerd.sock", "unix:///var/run/containerd/containerd.sock", true},
		{"another", "/run/containerd/containerd.sock", "unix:///run/k3s/containerd/containerd.sock", false},
		{"any", "/run/containerd/containerd.sock", "", true},
		{"CRI-O's is not told", "", "unix:///var/run/crio/crio.sock", true},
		{"containerd's always is", "", "unix:///run/containerd/containerd.sock", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := (part{role: shim, socket: tt.socket}).serves(tt.endpoint); got != tt.want {
				t.Errorf("a shim at %q serves %q = %v, want %v", tt.socket, tt.endpoint, got, tt.want)
			}
		})
	}
}

func TestOnHost(t *testing.T) {
	tests := []struct{ root, endpoint, want string }{
		{"/host", "unix:///host/run/crio/crio.sock", "/run/crio/crio.sock"},
		{"/host", "unix:///run/crio/crio.sock", "unix:///run/crio/crio.sock"},
		{"/host", "unix:///hostile/crio.sock", "unix:///hostile/crio.sock"},
		{"/", "/run/crio/crio.sock", "/run/crio/crio.sock"},
		{"/host", "", ""},
	}
	for _, tt := range tests {
		if got := onHost(tt.root, tt.endpoint); got != tt.want {
			t.Errorf("onHost(%q, %q) = %q, want %q", tt.root, tt.endpoint, got, tt.want)
		}
	}
}

func FuzzPartOf(f *testing.F) {
	f.Add("containerd-shim", "/x\x00-namespace\x00k8s.io\x00-id")
	f.Add("conmon", "/x\x00-c")
	f.Add("conmonrs", "/x\x00="+fixtureID("1"))
	f.Add("runc:[2:INIT]", "")
	f.Fuzz(func(t *testing.T, comm, line string) {
		var args []string
		if line != "" {
			args = strings.Split(line, "\x00")
		}
		p := partOf(comm, args)
		for _, text := range []string{p.container, p.sandbox, p.socket} {
			if !strings.Contains(line, text) {
				t.Errorf("partOf(%q, %q) made up %q", comm, args, text)
			}
		}
		if p.role != plain && guess(comm) == plain {
			t.Errorf("partOf(%q, %q) has role %d, which the name does not promise", comm, args, p.role)
		}
	})
}
