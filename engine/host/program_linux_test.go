package host

import (
	"strings"
	"testing"
)

// settingsOf returns what tells what a program was told on a host with these files.
func settingsOf(t *testing.T, comm string, files map[string]string, args ...string) func(func(program) setting) string {
	t.Helper()
	root := tree(t, files)
	p, ok := programOf(comm)
	if !ok {
		t.Fatalf("%s is not known", comm)
	}
	return func(what func(program) setting) string { return p.told(root, args, what(p)) }
}

func debugSetting(p program) setting   { return p.debug }
func metricsSetting(p program) setting { return p.metrics }
func stateSetting(p program) setting   { return p.state }
func socketSetting(p program) setting  { return p.socket }
func dataSetting(p program) setting    { return p.data }

func TestContainerdIsTold(t *testing.T) {
	const old = "[debug]\n  address = '/run/old.sock' # ours\n[metrics]\naddress = \"127.0.0.1:1338\"\n[grpc]\naddress=\"/run/c.sock\"\n"
	const v4 = "version = 4\n[plugins.\"io.containerd.server.v1.debug\"]\naddress = \"/run/new.sock\"\n[plugins.'io.containerd.server.v1.metrics']\naddress = '[::1]:9'\n"
	for _, tt := range []struct {
		name, main string
		what       func(program) setting
		args, want string
	}{
		{"version 1", "root = '/data/c'\n" + old, debugSetting, "", "/run/old.sock"},
		{"version 2", "version = 2\n" + old, metricsSetting, "", "127.0.0.1:1338"},
		{"version 3", "version = 3\nstate = \"/run/s\"\n" + old, stateSetting, "", "/run/s"},
		{"version 4", v4, debugSetting, "", "/run/new.sock"},
		{"version 4, metrics", v4, metricsSetting, "", "[::1]:9"},
		{"the new place counts", v4 + old, debugSetting, "", "/run/new.sock"},
		{"dotted keys", "debug.address = '/run/dotted.sock'\n", debugSetting, "", "/run/dotted.sock"},
		{"another table's", "[plugins]\nroot = '/other'\n", dataSetting, "", ""},
		{"a comment", "# root = '/old'\nroot = '/data/c'\n", dataSetting, "", "/data/c"},
		{"its arguments count more", "state = '/run/s'\n", stateSetting, "containerd --state=/run/own", "/run/own"},
		{"another file", old, debugSetting, "containerd -c /etc/own.toml", "/run/own.sock"},
		{"a file of a folder that is not known", old, debugSetting, "containerd --config own.toml", ""},
		{"a file that is gone", old, debugSetting, "containerd --config /gone.toml", ""},
		{"imports, the last counts", "imports = ['/etc/containerd/conf.d/*.toml', 'more.toml']\n" + old, debugSetting, "", "/run/more.sock"},
		{"imports by a pattern", "imports = ['conf.d/*.toml']\n" + old, debugSetting, "", "/run/b.sock"},
		{"imports by a class of names", "imports = ['conf.d/[a-b].toml']\n" + old, debugSetting, "", "/run/b.sock"},
		{"imports in a ring", "imports = ['ring.toml']\nroot = '/data/c'\n", dataSetting, "", "/data/ring"},
		{"imports that are none", "imports = [7, '', '/gone']\nroot = '/data/c'\n", dataSetting, "", "/data/c"},
		{"broken", "root = broken\n", dataSetting, "", ""},
		{"cut off", "root = \"", dataSetting, "", ""},
		{"no text", "root = 7\n", dataSetting, "", ""},
		{"no table", "debug = 7\n", debugSetting, "", ""},
		{"too large", "root = '/data/c'\n#" + strings.Repeat("x", 1<<20), dataSetting, "", ""},
		{"nested without end", "root = '/data/c'\nx = " + strings.Repeat("[", 1<<19), dataSetting, "", ""},
		{"empty", "", dataSetting, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			told := settingsOf(t, "containerd", map[string]string{
				"etc/containerd/config.toml":   tt.main,
				"etc/own.toml":                 "debug.address = '/run/own.sock'",
				"etc/containerd/conf.d/a.toml": "debug.address = '/run/a.sock'",
				"etc/containerd/conf.d/b.toml": "debug.address = '/run/b.sock'",
				"etc/containerd/conf.d/c.txt":  "debug.address = '/run/no.sock'",
				"etc/containerd/more.toml":     "debug.address = '/run/more.sock'",
				"etc/containerd/ring.toml":     "imports = ['config.toml', 'ring.toml']\nroot = '/data/ring'",
			}, strings.Fields(tt.args)...)
			if got := told(tt.what); got != tt.want {
				t.Errorf("told %q, want %q", got, tt.want)
			}
		})
	}
}

func TestOthersAreTold(t *testing.T) {
	const kubelet = "kubelet --config=/var/k.yaml"
	for _, tt := range []struct {
		name, args, file, text string
		what                   func(program) setting
		want                   string
	}{
		{"CRI-O", "crio", "etc/crio/crio.conf", "[crio.api]\nlisten='/run/x.sock'\n[crio]\n# root='/old'\nroot='/data/o'\n", dataSetting, "/data/o"},
		{"CRI-O's socket", "crio", "etc/crio/crio.conf", "[crio]\n[crio.api]\nlisten='/run/x.sock'\n", socketSetting, "/run/x.sock"},
		{"CRI-O's drop-in", "crio", "etc/crio/crio.conf.d/10-x.conf", "[crio]\nrunroot='/run/o'\n", stateSetting, "/run/o"},
		{"CRI-O's drop-in elsewhere", "crio -d /etc/own.d", "etc/own.d/x", "crio.root = '/data/o'\n", dataSetting, "/data/o"},
		{"CRI-O's drop-in where it does not look", "crio --config-dir=/etc/own.d", "etc/crio/crio.conf.d/x", "crio.root = '/data/o'\n", dataSetting, ""},
		{"cri-dockerd's flag", "cri-dockerd --container-runtime-endpoint unix:///run/x.sock", "x", "", socketSetting, "unix:///run/x.sock"},
		{"a kubelet's drop-in", "kubelet --config /gone.yaml --config-dir /etc/kubelet.d", "etc/kubelet.d/20-x.conf", "containerRuntimeEndpoint: unix:///run/x.sock\n", socketSetting, "unix:///run/x.sock"},
		{"a kubelet's drop-in without a file", "kubelet --config-dir=/etc/kubelet.d", "etc/kubelet.d/20-x.conf", "containerRuntimeEndpoint: unix:///run/x.sock\n", socketSetting, "unix:///run/x.sock"},
		{"what a kubelet takes for none", "kubelet --config /gone.yaml --config-dir /etc/kubelet.d", "etc/kubelet.d/20-x.yaml", "containerRuntimeEndpoint: unix:///run/x.sock\n", socketSetting, ""},
		{"a kubelet", kubelet, "var/k.yaml", "kind: KubeletConfiguration\ncontainerRuntimeEndpoint: unix:///run/x.sock # ours\n", socketSetting, "unix:///run/x.sock"},
		{"a kubelet in JSON", kubelet, "var/k.yaml", "{\n  \"containerRuntimeEndpoint\": \"unix:///run/x.sock\"\n}\n", socketSetting, "unix:///run/x.sock"},
		{"a kubelet that was told nothing", kubelet, "var/k.yaml", "containerRuntimeEndpoint:\n", socketSetting, ""},
	} {
		args := strings.Fields(tt.args)
		if got := settingsOf(t, args[0], map[string]string{tt.file: tt.text}, args...)(tt.what); got != tt.want {
			t.Errorf("%s was told %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestProgramAt(t *testing.T) {
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
		if p, ok := programAt(tree(t, files), tt.endpoint, ""); p.Config != tt.want || ok != (tt.want != "") {
			t.Errorf("at %s, with %q: %q, want %q", tt.endpoint, tt.there, p.Config, tt.want)
		}
	}
}
