package host

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
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
			writeProcess(t, root, fakeShim(100, longID("1"), tt.socket))
			shims := newWalker(root, tt.endpoint, time.Hour).look(t.Context(), firstLook).Processes.Shims
			if got := len(shims) == 1 && shims[0].Own; got != tt.want {
				t.Errorf("a shim at %q is of %q = %v, want %v", tt.socket, tt.endpoint, got, tt.want)
			}
		})
	}
}

// Docker's shims say nothing about the runtime that the kubelet was configured to use. No more is read than
// needed.
func TestSocketsOfTheKubeletComeFirst(t *testing.T) {
	root := t.TempDir()
	for pid := range 3 {
		writeProcess(t, root, fakeShim(100+pid, longID(strconv.Itoa(pid)), "/run/containerd/containerd.sock"))
	}
	writeProcess(t, root, fakeProcess{PID: 10, Comm: "kubelet", Args: []string{"kubelet", "--container-runtime-endpoint=unix:///run/crio/crio.sock"}})
	writeProcess(t, root, fakeProcess{PID: 20, Comm: "containerd", Args: []string{"containerd"}})
	limits := filepath.Join(root, "proc/20/limits")
	if err := unix.Mkfifo(limits, 0o600); err != nil {
		t.Fatal(err)
	}
	kubelets, shims := Sockets(t.Context(), root)
	if _, err := os.OpenFile(limits, os.O_WRONLY|unix.O_NONBLOCK, 0); !errors.Is(err, unix.ENXIO) {
		t.Error("the limits are read: ", err)
	}
	want := [][]string{{"unix:///run/crio/crio.sock"}, {"/run/containerd/containerd.sock"}}
	if diff := cmp.Diff(want, [][]string{kubelets, shims}); diff != "" {
		t.Errorf("sockets (-want +got):\n%s", diff)
	}
}

// k3s has its own runtime, and nothing names the runtime's socket. Only a process of k3s shows that the node
// has it. A kubelet's file that was there before does not.
func TestSocketsOfAKubeletWithARuntimeWithin(t *testing.T) {
	const within = "/run/k3s/containerd/containerd.sock"
	server := fakeProcess{PID: 10, Comm: "k3s-server", Args: []string{"/usr/local/bin/k3s server"}}
	root := t.TempDir()
	writeProcess(t, root, server)
	if kubelets, _ := Sockets(t.Context(), root); kubelets != nil {
		t.Errorf("with another runtime: sockets %q, want none", kubelets)
	}
	writeFile(t, filepath.Join(root, within), "")
	if kubelets, _ := Sockets(t.Context(), root); !slices.Equal(kubelets, []string{within}) {
		t.Errorf("sockets %q, want %q", kubelets, within)
	}
}
