package host

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
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
	if got := daemons(); !slices.Equal(got, []int{10, 20, 30, 40, 50}) {
		t.Errorf("without a known listener: %v, want all", got)
	}
	writeSockets(t, root, 10, 100)
	if got := daemons(); !slices.Equal(got, []int{10, 40, 50}) {
		t.Errorf("daemons = %v, want but one containerd", got)
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
