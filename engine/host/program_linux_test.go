package host

import (
	"strings"
	"testing"
)

// given returns a setting of a program with these arguments, on a host with these files.
func given(t *testing.T, files map[string]string, setting, comm string, args ...string) string {
	t.Helper()
	return readConfiguration(tree(t, files), flavourAt("", "", comm), comm, args).given(setting)
}

func TestContainerdIsTold(t *testing.T) {
	const old = "[debug]\n  address = '/run/old.sock' # ours\n[metrics]\naddress = \"127.0.0.1:1338\"\n[grpc]\naddress=\"/run/c.sock\"\n"
	const v4 = "version = 4\n[plugins.\"io.containerd.server.v1.debug\"]\naddress = \"/run/new.sock\"\n[plugins.'io.containerd.server.v1.metrics']\naddress = '[::1]:9'\n"
	for _, tt := range []struct {
		name, main string
		what       string
		args, want string
	}{
		{"version 1", "root = '/data/c'\n" + old, "debug", "", "/run/old.sock"},
		{"version 2", "version = 2\n" + old, "metrics", "", "127.0.0.1:1338"},
		{"version 3", "version = 3\nstate = \"/run/s\"\n" + old, "state", "", "/run/s"},
		{"version 4", v4, "debug", "", "/run/new.sock"},
		{"version 4, metrics", v4, "metrics", "", "[::1]:9"},
		{"the new place counts", v4 + old, "debug", "", "/run/new.sock"},
		{"dotted keys", "debug.address = '/run/dotted.sock'\n", "debug", "", "/run/dotted.sock"},
		{"another table's", "[plugins]\nroot = '/other'\n", "data", "", ""},
		{"a comment", "# root = '/old'\nroot = '/data/c'\n", "data", "", "/data/c"},
		{"its arguments count more", "state = '/run/s'\n", "state", "containerd --state=/run/own", "/run/own"},
		{"another file", old, "debug", "containerd -c /etc/own.toml", "/run/own.sock"},
		{"a file of a folder that is not known", old, "debug", "containerd --config own.toml", ""},
		{"a file that is gone", old, "debug", "containerd --config /gone.toml", ""},
		{"imports, the last counts", "imports = ['/etc/containerd/conf.d/*.toml', 'more.toml']\n" + old, "debug", "", "/run/more.sock"},
		{"imports by a pattern", "imports = ['conf.d/*.toml']\n" + old, "debug", "", "/run/b.sock"},
		{"imports by a class of names", "imports = ['conf.d/[a-b].toml']\n" + old, "debug", "", "/run/b.sock"},
		{"imports in a ring", "imports = ['ring.toml']\nroot = '/data/c'\n", "data", "", "/data/ring"},
		{"imports that are none", "imports = [7, '', '/gone']\nroot = '/data/c'\n", "data", "", "/data/c"},
		{"broken", "root = broken\n", "data", "", ""},
		{"cut off", "root = \"", "data", "", ""},
		{"no text", "root = 7\n", "data", "", ""},
		{"no table", "debug = 7\n", "debug", "", ""},
		{"too large", "root = '/data/c'\n#" + strings.Repeat("x", 1<<20), "data", "", ""},
		{"nested without end", "root = '/data/c'\nx = " + strings.Repeat("[", 1<<19), "data", "", ""},
		{"empty", "", "data", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := given(t, map[string]string{
				"etc/containerd/config.toml":   tt.main,
				"etc/own.toml":                 "debug.address = '/run/own.sock'",
				"etc/containerd/conf.d/a.toml": "debug.address = '/run/a.sock'",
				"etc/containerd/conf.d/b.toml": "debug.address = '/run/b.sock'",
				"etc/containerd/conf.d/c.txt":  "debug.address = '/run/no.sock'",
				"etc/containerd/more.toml":     "debug.address = '/run/more.sock'",
				"etc/containerd/ring.toml":     "imports = ['config.toml', 'ring.toml']\nroot = '/data/ring'",
			}, tt.what, "containerd", strings.Fields(tt.args)...)
			if got != tt.want {
				t.Errorf("told %q, want %q", got, tt.want)
			}
		})
	}
}

func TestOthersAreTold(t *testing.T) {
	const kubelet = "kubelet --config=/var/k.yaml"
	for _, tt := range []struct {
		name, args, file, text string
		what                   string
		want                   string
	}{
		{"CRI-O", "crio", "etc/crio/crio.conf", "[crio.api]\nlisten='/run/x.sock'\n[crio]\n# root='/old'\nroot='/data/o'\n", "data", "/data/o"},
		{"CRI-O's socket", "crio", "etc/crio/crio.conf", "[crio]\n[crio.api]\nlisten='/run/x.sock'\n", "socket", "/run/x.sock"},
		{"CRI-O's drop-in", "crio", "etc/crio/crio.conf.d/10-x.conf", "[crio]\nrunroot='/run/o'\n", "state", "/run/o"},
		{"CRI-O's drop-in elsewhere", "crio -d /etc/own.d", "etc/own.d/x", "crio.root = '/data/o'\n", "data", "/data/o"},
		{"CRI-O's drop-in where it does not look", "crio --config-dir=/etc/own.d", "etc/crio/crio.conf.d/x", "crio.root = '/data/o'\n", "data", ""},
		{"cri-dockerd's flag", "cri-dockerd --container-runtime-endpoint unix:///run/x.sock", "x", "", "socket", "unix:///run/x.sock"},
		{"a kubelet's drop-in", "kubelet --config /gone.yaml --config-dir /etc/kubelet.d", "etc/kubelet.d/20-x.conf", "containerRuntimeEndpoint: unix:///run/x.sock\n", "socket", "unix:///run/x.sock"},
		{"a kubelet's drop-in without a file", "kubelet --config-dir=/etc/kubelet.d", "etc/kubelet.d/20-x.conf", "containerRuntimeEndpoint: unix:///run/x.sock\n", "socket", "unix:///run/x.sock"},
		{"what a kubelet takes for none", "kubelet --config /gone.yaml --config-dir /etc/kubelet.d", "etc/kubelet.d/20-x.yaml", "containerRuntimeEndpoint: unix:///run/x.sock\n", "socket", ""},
		{"a kubelet", kubelet, "var/k.yaml", "kind: KubeletConfiguration\ncontainerRuntimeEndpoint: unix:///run/x.sock # ours\n", "socket", "unix:///run/x.sock"},
		{"a kubelet in JSON", kubelet, "var/k.yaml", "{\n  \"containerRuntimeEndpoint\": \"unix:///run/x.sock\"\n}\n", "socket", "unix:///run/x.sock"},
		{"a kubelet that was told nothing", kubelet, "var/k.yaml", "containerRuntimeEndpoint:\n", "socket", ""},
	} {
		args := strings.Fields(tt.args)
		if got := given(t, map[string]string{tt.file: tt.text}, tt.what, args[0], args...); got != tt.want {
			t.Errorf("%s was told %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestFlavourAt(t *testing.T) {
	const rke2 = "var/lib/rancher/rke2/agent/etc/containerd/config.toml"
	for _, tt := range []struct{ endpoint, there, want string }{
		{"unix:///run/containerd/containerd.sock", "", "/etc/containerd/config.toml"},
		{"unix:///run/k3s/containerd/containerd.sock", "", "/var/lib/rancher/k3s/agent/etc/containerd/config.toml"},
		{"unix:///run/k3s/containerd/containerd.sock", rke2, "/" + rke2},
		{"unix:///var/snap/microk8s/common/run/containerd.sock", "", "/var/snap/microk8s/current/args/containerd.toml"},
		{"unix:///run/k0s/containerd.sock", "", "/etc/k0s/containerd.toml"},
		{"unix:///run/crio/crio.sock", "", "/etc/crio/crio.conf"},
		{"unix:///run/other.sock", "", ""},
	} {
		files := map[string]string{"x": ""}
		if tt.there != "" {
			files[tt.there] = ""
		}
		if f := flavourAt(tree(t, files), tt.endpoint, ""); f.Config != tt.want {
			t.Errorf("at %s, with %q: %q, want %q", tt.endpoint, tt.there, f.Config, tt.want)
		}
	}
}
