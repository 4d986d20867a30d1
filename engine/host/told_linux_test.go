package host

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"github.com/plegtop/plegtop/engine/evidence"
)

// newFixtureWalker returns a walker for a tree in which nothing hangs, however slow the machine is.
func newFixtureWalker(root string) *walker {
	return newWalker(root, "unix://"+testSocket, time.Hour)
}

// To which runtime a daemon belongs, only by the settings that it was started with.
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
		writeProcess(t, root, fakeProcess{PID: 10, Comm: tt.comm, Args: append([]string{tt.comm}, tt.args...)})
		w := newFixtureWalker(root)
		for range 2 { // the second time it is remembered
			found := w.look(t.Context(), firstLook).Processes
			if got := len(found.Daemons) == 1; got != tt.want || (found.OtherKubelet.PID != 0) != tt.other {
				t.Errorf("%s, told %s: daemons %v, another's %v", tt.comm, tt.name, found.Daemons, found.OtherKubelet)
			}
		}
	}
	args := []string{"kubelet", "--container-runtime-endpoint=unix:///run/crio/crio.sock"}
	writeProcess(t, root, fakeProcess{PID: 10, Comm: "kubelet", Args: args, Cgroup: "/kubepods/" + strings.Repeat("5f1a", 16)})
	if found := newFixtureWalker(root).look(t.Context(), firstLook).Processes; found.OtherKubelet.PID != 10 || len(found.Containers) != 1 {
		t.Errorf("another's in a container: %+v", found)
	}
	writeProcess(t, root, fakeProcess{PID: 11, Comm: "kubelet"})
	if found := newFixtureWalker(root).look(t.Context(), firstLook).Processes; found.OtherKubelet.PID != 0 || len(found.Daemons) != 1 {
		t.Errorf("beside one that may be ours: %+v", found)
	}
}

// The answers of another runtime's kubelet are not used.
func TestOtherKubeletIsNotAsked(t *testing.T) {
	root := t.TempDir()
	writeProcess(t, root, fakeProcess{PID: 10, Comm: "kubelet", Args: []string{"kubelet", "--container-runtime-endpoint=unix:///run/crio/crio.sock"}})
	n := &Node{parts: []part{{name: "processes", read: newFixtureWalker(root).read}, {name: "kubelet", read: func(context.Context, *Look) (fill, error) {
		return func(r *evidence.Report) { r.Kubelet.Ping = evidence.Answer{Asked: true, OK: true} }, nil
	}}}}
	k := n.Look(t.Context(), false).Kubelet
	if k.Ping.Asked || !strings.Contains(k.Ping.Err, "pid 10 (kubelet) is the kubelet of another runtime, at unix:///run/crio/crio.sock") {
		t.Errorf("ping = %+v", k.Ping)
	}
}

// The processes are read with the mounts of the node, and a deep look reads more of them.
func TestLookGivesTheWalkerWhatItKnows(t *testing.T) {
	root := t.TempDir()
	writeProcess(t, root, fakeProcess{PID: 300, Comm: "containerd", State: evidence.Uninterrupted, Wchan: "rpc_wait_bit_killable"})
	for path, text := range map[string]string{
		"1/mountinfo":   "50 21 0:52 / /srv/nas rw - nfs4 nas:/export rw\n",
		"300/mountinfo": "99 21 0:52 / /mnt/nas rw - nfs4 nas:/export rw\n",
		"300/syscall":   fmt.Sprintf("%d 0x0 0x7ffc\n", unix.SYS_STATFS),
		"300/mem":       "/mnt/nas/x\x00",
	} {
		writeFile(t, filepath.Join(root, "proc", path), text)
	}
	want := evidence.Mount{Point: "/mnt/nas", Type: "nfs4", Source: "nas:/export", Device: "0:52", Node: "/srv/nas"}
	synctest.Test(t, func(t *testing.T) {
		n := &Node{Config: Config{Root: root}, parts: []part{{"processes", always, newFixtureWalker(root).read, nil}}}
		n.Look(t.Context(), false)
		time.Sleep(time.Minute)
		if p := n.Look(t.Context(), false).Processes.Daemons[0]; len(p.Among) != 1 || p.Among[0] != want || p.Mount != (evidence.Mount{}) {
			t.Errorf("waits for %+v or among %+v, want among %+v", p.Mount, p.Among, want)
		}
		if p := n.Look(t.Context(), true).Processes.Daemons[0]; p.Mount != want {
			t.Errorf("deep: waits for %+v, want %+v", p.Mount, want)
		}
	})
}
