package proc

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// writeSockets writes the table of sockets that a process sees, and the socket that it has open.
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
		writeProcess(t, root, fakeProcess{PID: pid, Comm: comm})
	}
	daemons := func() (pids []int) {
		for _, d := range newFixtureWalker(root).lookAt(t.Context(), firstLook).Daemons {
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

func TestConfinedToAContainer(t *testing.T) {
	for namespace, want := range map[string]bool{firstNamespace: false, "pid:[4026532741]": true, "": false} {
		root := t.TempDir()
		writeProcess(t, root, fakeProcess{PID: 1, Comm: "plegtop"})
		if namespace != "" {
			writeLink(t, root, "proc/1/ns/pid", namespace)
		}
		w := newFixtureWalker(root)
		if found := w.lookAt(t.Context(), firstLook); strings.Contains(found.Partial, "hostPID: true") != want {
			t.Errorf("%q: %q", namespace, found.Partial)
		}
		writeProcess(t, root, fakeProcess{PID: 60, Comm: "containerd"}) // a node in a container
		if found := w.lookAt(t.Context(), firstLook); found.Partial != "" {
			t.Errorf("%q with a runtime: %q", namespace, found.Partial)
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
		if got := OnHost(tt.root, tt.endpoint); got != tt.want {
			t.Errorf("OnHost(%q, %q) = %q, want %q", tt.root, tt.endpoint, got, tt.want)
		}
	}
}

// A kubelet in a container that is a node of its own, as of kind, does not belong to this node, even if it was
// started with the same path. A kubelet in a container just for itself does.
func TestKubeletOfANodeWithin(t *testing.T) {
	const within = "pid:[4026532741]"
	outer := longID("7")
	args := []string{"/usr/bin/kubelet", "--container-runtime-endpoint=unix://" + testSocket}
	for _, tt := range []struct {
		name, runtime, kubelet, cgroup string
		want                           bool
	}{
		{"of the node", firstNamespace, firstNamespace, "/system.slice/kubelet.service", true},
		{"in a container of the node's", firstNamespace, firstNamespace, cgroupOf(outer), true},
		{"of a node within", firstNamespace, within, cgroupOf(outer), false},
		{"of a node within, by its namespace alone", firstNamespace, within, "/", false},
		{"of a node within that is looked at", within, within, cgroupOf(outer), true},
		{"not permitted", firstNamespace, "", cgroupOf(outer), true},
		{"no runtime is known", "", within, cgroupOf(outer), true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root := t.TempDir()
			writeLink(t, root, "proc/1/ns/pid", firstNamespace)
			writeProcess(t, root, fakeProcess{PID: 1, Comm: "systemd"})
			writeProcess(t, root, fakeProcess{PID: 10, Comm: "kubelet", Args: args, Cgroup: tt.cgroup})
			if tt.kubelet != "" {
				writeLink(t, root, "proc/10/ns/pid", tt.kubelet)
			}
			if tt.runtime != "" {
				writeProcess(t, root, fakeProcess{PID: 20, Comm: "containerd"})
				writeSockets(t, root, 20, 100)
				writeLink(t, root, "proc/20/ns/pid", tt.runtime)
			}
			w := newFixtureWalker(root)
			for look := range 2 {
				found := w.lookAt(t.Context(), firstLook.Add(time.Duration(look)*time.Minute))
				if _, runs := found.Kubelet(); runs != tt.want || found.OtherKubelet.PID != 0 {
					t.Errorf("look %d: a kubelet runs %t, want %t: %+v", look, runs, tt.want, found)
				}
			}
		})
	}
}
