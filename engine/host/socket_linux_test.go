package host

import (
	"os"
	"path/filepath"
	"testing"
)

func TestIsOurs(t *testing.T) {
	root := mkdirs(t, "/run/containerd", "/run/k3s/containerd", "/run/other", "/data")
	writeFile(t, filepath.Join(root, "run/containerd/containerd.sock"), "")
	writeFile(t, filepath.Join(root, "run/k3s/containerd/containerd.sock"), "")
	writeLink(t, root, "var/run", "/run")
	writeLink(t, root, "var/lib/containerd", "/run/containerd")
	writeLink(t, root, "run/other/cri.sock", "/run/containerd/containerd.sock")
	if err := os.Link(filepath.Join(root, "run/containerd/containerd.sock"), filepath.Join(root, "data/mounted.sock")); err != nil {
		t.Fatal(err)
	}
	const socket = "/run/containerd/containerd.sock"
	tests := []struct {
		name, socket, endpoint string
		want                   bool
	}{
		{"the same", socket, "unix://" + socket, true},
		{"without scheme", socket, socket, true},
		{"one slash", socket, "unix:" + socket, true},
		{"shim by URL", "unix://" + socket, socket, true},
		{"endpoint in /var/run", socket, "unix:///var" + socket, true},
		{"shim in /var/run", "/var" + socket, "unix://" + socket, true},
		{"endpoint below the host's root", socket, "unix://" + root + socket, true},
		{"endpoint in /var/run below the host's root", "/var" + socket, "unix://" + root + "/var" + socket, true},
		{"another folder that is the same", "/var/lib/containerd/containerd.sock", "unix://" + socket, true},
		{"a link to it", "/run/other/cri.sock", "unix://" + socket, true},
		{"the same inode", socket, "unix:///data/mounted.sock", true},
		{"neither is there, but their folders are", "/var/lib/containerd/old.sock", "unix:///run/containerd/old.sock", true},
		{"neither is there, nor are their folders", "/nowhere/a.sock", "unix:///elsewhere/a.sock", false},
		{"another", socket, "unix:///run/k3s/containerd/containerd.sock", false},
		{"another in the same folder", "/run/containerd/debug.sock", "unix://" + socket, false},
		{"CRI-O's is not told", "", "unix:///var/run/crio/crio.sock", false},
		{"no endpoint", socket, "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWalker(root, tt.endpoint)
			l := &walk{walker: w, ctx: t.Context(), ours: map[string]bool{}}
			for range 2 { // the second time it is remembered
				if got := l.isOurs(tt.socket); got != tt.want {
					t.Errorf("a shim at %q is of %q = %v, want %v", tt.socket, tt.endpoint, got, tt.want)
				}
			}
		})
	}
}

func TestMayServe(t *testing.T) {
	tests := []struct {
		name, socket, endpoint string
		want                   bool
	}{
		{"any", "/run/containerd/containerd.sock", "", true},
		{"CRI-O's is not told", "", "unix:///var/run/crio/crio.sock", true},
		{"containerd's always is", "", "unix:///run/containerd/containerd.sock", false},
		{"told another", "/run/x.sock", "unix:///var/run/crio/crio.sock", false},
	}
	for _, tt := range tests {
		if got := (identity{role: shim, socket: tt.socket}).mayServe(tt.endpoint); got != tt.want {
			t.Errorf("%s: a shim at %q may serve %q = %v, want %v", tt.name, tt.socket, tt.endpoint, got, tt.want)
		}
	}
}

func TestOnHost(t *testing.T) {
	tests := []struct{ root, endpoint, want string }{
		{"/host", "unix:///host/run/crio/crio.sock", "/run/crio/crio.sock"},
		{"/host", "unix:///host/var/run/crio/crio.sock", "/run/crio/crio.sock"},
		{"/host", "unix:///run/crio/crio.sock", "/run/crio/crio.sock"},
		{"/host", "unix:///hostile/crio.sock", "/hostile/crio.sock"},
		{"/", "/run/crio/crio.sock", "/run/crio/crio.sock"},
		{"/host", "", ""},
	}
	for _, tt := range tests {
		if got := onHost(tt.root, tt.endpoint); got != tt.want {
			t.Errorf("onHost(%q, %q) = %q, want %q", tt.root, tt.endpoint, got, tt.want)
		}
	}
}
