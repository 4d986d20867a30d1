package host

import (
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// The folder is that of the process that listens at the socket, and not a folder that another runtime left in
// the usual place.
func TestOwnRootIsTheListeners(t *testing.T) {
	root := mkdirs(t, "/var/lib/containerd")
	socket := filepath.Join(t.TempDir(), "containerd.sock")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	args := []string{"containerd", "-c", "/etc/own.toml"}
	writeProcess(t, root, fakeProcess{PID: os.Getpid(), Comm: "containerd", Args: args})
	writeFile(t, filepath.Join(root, "proc", strconv.Itoa(os.Getpid()), "comm"), "containerd\n")
	newLook := func(endpoint string) *Look {
		return &Look{Node: &Node{Config: Config{Root: root, Endpoint: endpoint}}}
	}
	find := func(w *diskWatch, l *Look) string {
		t.Helper()
		if _, err := w.read(t.Context(), l); err != nil {
			t.Error(err)
		}
		return w.path
	}
	endpoint := "unix://" + socket
	kept, look := new(diskWatch), newLook(endpoint)
	if got := find(kept, look); got != "/var/lib/containerd" {
		t.Errorf("without a configuration: %q, want the default", got)
	}
	usual := filepath.Join(root, "var/lib/containerd")
	if err := os.Rename(usual, usual+".away"); err != nil {
		t.Fatal(err)
	}
	if got := find(new(diskWatch), newLook(endpoint)); got != "" {
		t.Errorf("neither a configuration nor the usual folder: %q", got)
	}
	if got := find(kept, look); got != "/var/lib/containerd" {
		t.Errorf("a folder that goes while it is used: %q", got)
	}
	writeFile(t, filepath.Join(root, "etc/own.toml"), "root = \"/data/own\"\n")
	if got := find(kept, look); got != "/var/lib/containerd" {
		t.Errorf("of one process it is read again: %q", got)
	}
	writeProcess(t, root, fakeProcess{PID: os.Getpid(), Comm: "containerd", Args: args, Started: 2 * time.Hour})
	if got := find(kept, look); got != "/data/own" {
		t.Errorf("by the configuration of a new process: %q", got)
	}
	if l.Close(); find(kept, look) != "/data/own" {
		t.Error("it is forgotten when nobody listens any more")
	}
	if got := find(new(diskWatch), newLook(endpoint)); got != "" {
		t.Errorf("a socket at which nobody listens: %q", got)
	}
	if err := os.MkdirAll(filepath.Join(root, "etc/containerd/config.toml"), 0o700); err != nil {
		t.Fatal(err)
	}
	if got := find(new(diskWatch), newLook("unix:///run/containerd/containerd.sock.gone")); got != "" {
		t.Errorf("a configuration that is a folder: %q", got)
	}
}

// A containerd that is part of a distribution keeps its data where the distribution has it. That also holds if
// its configuration cannot be read, and if Docker's containerd has the usual folder. A file that its own
// configuration imports counts more.
func TestOwnRootOfADistribution(t *testing.T) {
	for endpoint, want := range map[string]string{
		"run/k3s/containerd/containerd.sock":           "/var/lib/rancher/k3s/agent/containerd",
		"run/k0s/containerd.sock":                      "/var/lib/k0s/containerd",
		"var/snap/microk8s/common/run/containerd.sock": "/var/snap/microk8s/common/var/lib/containerd",
	} {
		root := mkdirs(t, "/var/lib/containerd", want)
		socket := filepath.Join(root, endpoint)
		listenUnix(t, socket, says(""))
		writeProcess(t, root, fakeProcess{PID: os.Getpid(), Comm: "containerd", Args: []string{"containerd"}})
		writeFile(t, filepath.Join(root, "proc", strconv.Itoa(os.Getpid()), "comm"), "containerd\n")
		find := func() string {
			l := &Look{Node: &Node{Config: Config{Root: root, Endpoint: "unix://" + socket}}}
			w := new(diskWatch)
			_, _ = w.read(t.Context(), l)
			return w.path
		}
		if got := find(); got != want {
			t.Errorf("at %s: %q, want %q", endpoint, got, want)
		}
		writeFile(t, filepath.Join(root, flavourAt(root, "unix://"+socket, "containerd").Config), "imports = ['/etc/drop.d/*.toml']\n")
		writeFile(t, filepath.Join(root, "etc/drop.d/data.toml"), "root = '/data/own'\n")
		if got := find(); got != "/data/own" {
			t.Errorf("at %s, by an import: %q", endpoint, got)
		}
	}
}

// While the old process of a runtime lives on, another process may listen: a deep look sees that. If nobody
// listens, the last process counts as long as it lives.
func TestStaticOfTheProcessThatListens(t *testing.T) {
	root, socket := t.TempDir(), filepath.Join(t.TempDir(), "containerd.sock")
	l := &Look{Node: &Node{Config: Config{Root: root, Endpoint: "unix://" + socket}}}
	const old = 10
	for _, pid := range []int{old, os.Getpid()} {
		writeProcess(t, root, fakeProcess{PID: pid, Comm: "containerd", Args: []string{"containerd", "--root", "/data/" + strconv.Itoa(pid)}})
	}
	l.last = l.readStatic(old)
	want := func(when string, pid int) {
		t.Helper()
		if s := l.static(t.Context(), time.Hour); s.process.pid != pid || l.static(t.Context(), time.Hour) != s {
			t.Errorf("%s: process %d, want %d and that it is read once", when, s.process.pid, pid)
		}
	}
	l.Deep = true
	want("nobody listens", old)
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	l.Deep = false
	want("a look that is not deep", old)
	l.Deep = true
	want("another one listens", os.Getpid())
	_ = listener.Close()
	want("nobody listens any more", os.Getpid())
	if err := os.RemoveAll(filepath.Join(root, "proc", strconv.Itoa(os.Getpid()))); err != nil {
		t.Fatal(err)
	}
	if s := l.static(t.Context(), time.Hour); s.process != (pidStart{}) || s.given("data") != "/data/"+strconv.Itoa(os.Getpid()) {
		t.Errorf("it has ended: %v %q", s.process, s.args)
	}
}
