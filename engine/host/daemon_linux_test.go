package host

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/plegtop/plegtop/engine/evidence"
)

// writeLink makes a symbolic link below root, as those in /proc that lead nowhere.
func writeLink(t *testing.T, root, path, target string) {
	t.Helper()
	path = filepath.Join(root, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, path); err != nil {
		t.Fatal(err)
	}
}

// writeSockets writes the table of sockets that a process sees and the one that
// it has open.
func writeSockets(t *testing.T, root string, pid, open int) {
	t.Helper()
	dir := fmt.Sprintf("proc/%d", pid)
	writeFile(t, filepath.Join(root, dir, "net/unix"), `Num       RefCount Protocol Flags    Type St Inode Path
0000000000000001: 00000002 00000000 00010000 0001 01 100 /var/run/containerd/containerd.sock
0000000000000002: 00000003 00000000 00000000 0001 03 200 /run/containerd/containerd.sock
0000000000000003: 00000002 00000000 00010000 0001 01 300 /run/docker/containerd/containerd.sock
`)
	writeLink(t, root, dir+"/fd/0", "/dev/null")
	writeLink(t, root, dir+"/fd/9", fmt.Sprintf("socket:[%d]", open))
}

func TestDaemonsAtTheEndpoint(t *testing.T) {
	root := t.TempDir()
	for pid, comm := range map[int]string{10: "containerd", 20: "containerd", 30: "containerd", 40: "kubelet", 50: "dockerd"} {
		writeProc(t, root, proc{pid: pid, comm: comm})
	}
	daemons := func() (pids []int) {
		for _, d := range newFixtureWalker(root).lookAt(t.Context(), fixtureLook).Daemons {
			pids = append(pids, d.PID)
		}
		return pids
	}
	writeSockets(t, root, 20, 200) // a connection to it
	writeSockets(t, root, 30, 300)
	if got := daemons(); !slices.Equal(got, []int{10, 20, 40, 50}) {
		t.Errorf("without a known listener: %v, want all but Docker's", got)
	}
	writeSockets(t, root, 10, 100)
	if got := daemons(); !slices.Equal(got, []int{10, 40, 50}) {
		t.Errorf("daemons = %v, want but one containerd", got)
	}
}

// Whose a daemon is, by what it was told alone.
func TestToldAnotherEndpoint(t *testing.T) {
	root := t.TempDir()
	writeFile(t, filepath.Join(root, "etc/docker.toml"), "[grpc]\n  address = \"/run/docker/containerd/containerd.sock\"\n")
	writeFile(t, filepath.Join(root, "etc/ours.toml"), "version = 3\n[grpc]\n  address = '/var/run/containerd/containerd.sock'\n")
	writeFile(t, filepath.Join(root, "etc/kubelet.yaml"), "kind: KubeletConfiguration\ncontainerRuntimeEndpoint: unix:///run/crio/crio.sock\n")
	for _, tt := range []struct {
		name, comm  string
		args        []string
		want, other bool
	}{
		{"nothing", "containerd", nil, true, false},
		{"by a flag", "containerd", []string{"--address", "/run/k3s/containerd/containerd.sock"}, false, false},
		{"ours by a flag", "containerd", []string{"-a=/run/containerd/containerd.sock"}, true, false},
		{"by its configuration", "containerd", []string{"--config", "/etc/docker.toml"}, false, false},
		{"ours by its configuration", "containerd", []string{"-c", "/etc/ours.toml"}, true, false},
		{"a configuration that is not there", "containerd", []string{"-c", "/etc/gone.toml"}, true, false},
		{"one in a folder that is not known", "containerd", []string{"-c", "docker.toml"}, true, false},
		{"CRI-O", "crio", []string{"--listen", "/run/crio/crio.sock"}, false, false},
		{"a kubelet", "kubelet", nil, true, false},
		{"ours", "kubelet", []string{"--container-runtime-endpoint=unix:///run/containerd/containerd.sock"}, true, false},
		{"another's", "kubelet", []string{"--container-runtime-endpoint=unix:///run/crio/crio.sock"}, false, true},
		{"another's by its configuration", "kubelet", []string{"--config=/etc/kubelet.yaml"}, false, true},
	} {
		writeProc(t, root, proc{pid: 10, comm: tt.comm, args: append([]string{tt.comm}, tt.args...)})
		w := newFixtureWalker(root)
		for range 2 { // the second time it is remembered
			found := w.lookAt(t.Context(), fixtureLook)
			if got := len(found.Daemons) == 1; got != tt.want || (found.OtherKubelet.PID != 0) != tt.other {
				t.Errorf("%s, told %s: daemons %v, another's %v", tt.comm, tt.name, found.Daemons, found.OtherKubelet)
			}
		}
	}
	args := []string{"kubelet", "--container-runtime-endpoint=unix:///run/crio/crio.sock"}
	writeProc(t, root, proc{pid: 10, comm: "kubelet", args: args, cgroup: "/kubepods/" + strings.Repeat("5f1a", 16)})
	if found := newFixtureWalker(root).lookAt(t.Context(), fixtureLook); found.OtherKubelet.PID != 10 || len(found.Containers) != 1 {
		t.Errorf("another's in a container: %+v", found)
	}
	writeProc(t, root, proc{pid: 11, comm: "kubelet"})
	if found := newFixtureWalker(root).lookAt(t.Context(), fixtureLook); found.OtherKubelet.PID != 0 || len(found.Daemons) != 1 {
		t.Errorf("beside one that may be ours: %+v", found)
	}
}

// What another runtime's kubelet says is not ours.
func TestOtherKubeletIsNotAsked(t *testing.T) {
	root := t.TempDir()
	writeProc(t, root, proc{pid: 10, comm: "kubelet", args: []string{"kubelet", "--container-runtime-endpoint=unix:///run/crio/crio.sock"}})
	n := &Node{parts: []part{processes(newFixtureWalker(root), new(daemonWatch)), {name: "kubelet", read: func(context.Context) fill {
		return func(r *evidence.Report) { r.Kubelet.Ping = evidence.Answer{Asked: true, OK: true} }
	}}}}
	k := n.Look(t.Context(), false).Kubelet
	if k.Ping.Asked || !strings.Contains(k.Ping.Err, "pid 10 (kubelet) is the kubelet of another runtime, at unix:///run/crio/crio.sock") {
		t.Errorf("ping = %+v", k.Ping)
	}
}

func TestConfinedToAContainer(t *testing.T) {
	for namespace, want := range map[string]bool{firstNamespace: false, "pid:[4026532741]": true, "": false} {
		root := t.TempDir()
		writeProc(t, root, proc{pid: 1, comm: "plegtop"})
		if namespace != "" {
			writeLink(t, root, "proc/1/ns/pid", namespace)
		}
		w := newFixtureWalker(root)
		if found := w.lookAt(t.Context(), fixtureLook); strings.Contains(found.Partial, "hostPID: true") != want {
			t.Errorf("%q: %q", namespace, found.Partial)
		}
		writeProc(t, root, proc{pid: 60, comm: "containerd"}) // a node in a container
		if found := w.lookAt(t.Context(), fixtureLook); found.Partial != "" {
			t.Errorf("%q with a runtime: %q", namespace, found.Partial)
		}
	}
}

func TestRootWithoutProc(t *testing.T) {
	root := t.TempDir()
	for range 2 { // it is not there, and it is empty
		found := newFixtureWalker(root).lookAt(t.Context(), fixtureLook)
		if !strings.Contains(found.Missing, root+"/proc") || !strings.Contains(found.Missing, "--host-root") {
			t.Errorf("missing = %q", found.Missing)
		}
		if err := os.MkdirAll(filepath.Join(root, "proc"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
}
