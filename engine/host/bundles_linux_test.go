package host

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/host/reads"
	"github.com/plegtop/plegtop/engine/pleg"
)

const fixtureTasks = "/run/containerd/io.containerd.runtime.v2.task/k8s.io"

// fixtureBundle writes the configuration of a container with these annotations, in pairs.
func fixtureBundle(t testing.TB, dir string, annotations ...string) {
	t.Helper()
	var all []string
	for i := 0; i < len(annotations); i += 2 {
		all = append(all, fmt.Sprintf("%q: %q", annotations[i], annotations[i+1]))
	}
	writeFile(t, filepath.Join(dir, "config.json"), `{"ociVersion": "1.2.0", "process": {"args": ["x"]}, "annotations": {`+strings.Join(all, ", ")+`}}`)
}

// If the processes do not show them, a runtime's folders are where the runtime was configured to keep them, or
// else where they are as it is shipped.
func TestBundleFolders(t *testing.T) {
	const tasks = "/io.containerd.runtime.v2.task/k8s.io"
	root := tree(t, map[string]string{"etc/own.toml": "state = '/run/own'\n", "etc/crio/crio.conf": "x = 1\n"})
	socket := filepath.Join(root, "run/containerd/containerd.sock")
	listenUnix(t, socket, says(""))
	for _, tt := range []struct {
		args, endpoint string
		picture        bool
		want           []string
	}{
		{"containerd", socket, false, []string{"/run/containerd" + tasks, "/run/containerd/containerd" + tasks, "/run/containerd" + tasks}},
		{"containerd -c /etc/own.toml", socket, false, []string{"/run/own" + tasks, "/run/own" + tasks}},
		{"containerd --state /run/s", socket, false, []string{"/run/s" + tasks, "/run/s" + tasks}},
		{"containerd -c /etc/own.toml", "unix:///x/cri.sock", true, []string{"/run/own" + tasks, "/run/own" + tasks}},
		{"containerd", "unix:///x/cri.sock", true, []string{"/x" + tasks, "/x/cri" + tasks, "/run/containerd" + tasks}},
		{"crio --runroot /run/o", socket, false, []string{"/run/o/overlay-containers", "/run/o/overlay-containers"}},
		{"crio", socket, false, []string{"/run/containers/storage/overlay-containers"}},
		{"", "unix:///var/run/crio/crio.sock", false, []string{"/run/containers/storage/overlay-containers"}},
		{"", "unix:///run/k3s/containerd/containerd.sock", false, []string{"/run/k3s/containerd" + tasks, "/run/k3s/containerd/containerd" + tasks, "/run/k3s/containerd" + tasks}},
		{"", "unix:///var/snap/microk8s/common/run/containerd.sock", false, []string{"/var/snap/microk8s/common/run" + tasks, "/var/snap/microk8s/common/run/containerd" + tasks, "/var/snap/microk8s/common/run/containerd" + tasks}},
		{"", "", false, nil},
	} {
		_ = os.RemoveAll(filepath.Join(root, "proc"))
		args := strings.Fields(tt.args)
		writeFile(t, filepath.Join(root, "proc/uptime"), "1 1\n")
		if len(args) > 0 {
			writeProcess(t, root, fakeProcess{PID: os.Getpid(), Comm: args[0], Args: args})
			writeFile(t, filepath.Join(root, "proc", strconv.Itoa(os.Getpid()), "comm"), args[0]+"\n")
		}
		var got []string
		c := Config{Root: root, Endpoint: tt.endpoint, Offline: tt.picture}
		for _, f := range bundleFolders(root, tt.endpoint, c.readStatic(c.runtimeAt())) {
			got = append(got, f.dir)
			if isCRIO := strings.Contains(f.dir, "overlay"); isCRIO != (f.below == "userdata") {
				t.Errorf("%+v", f)
			}
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s at %s (-want +got):\n%s", tt.args, tt.endpoint, diff)
		}
	}
}

// newBundles returns a reader for the folders below root, and a deep look. shown is the folder that the shims
// show.
func newBundles(root, endpoint string, shown *bundleFolder) (*bundleReader, *Look) {
	walked := make(chan struct{})
	close(walked)
	w := newWalker(root, endpoint, time.Hour)
	w.bundles.Store(shown)
	l := &Look{Node: &Node{Config: Config{Root: root, Endpoint: endpoint}}, walked: walked}
	return &bundleReader{walker: w, known: map[string]evidence.Object{}}, l
}

func TestBundles(t *testing.T) {
	sandbox, container, plain, broken := longID("1"), longID("2"), longID("3"), longID("4")
	containerd := func(root, dir string) {
		const cri = "io.kubernetes.cri."
		fixtureBundle(t, filepath.Join(root, dir, sandbox), cri+"container-type", "sandbox", cri+"sandbox-id", sandbox, cri+"sandbox-name", "api-0", cri+"sandbox-namespace", "pay", cri+"sandbox-uid", "u1")
		fixtureBundle(t, filepath.Join(root, dir, container), cri+"container-type", "container", cri+"sandbox-id", sandbox, cri+"sandbox-name", "api-0", cri+"sandbox-namespace", "pay", cri+"sandbox-uid", "u1", cri+"container-name", "app")
		fixtureBundle(t, filepath.Join(root, dir, plain))
		writeFile(t, filepath.Join(root, dir, broken, "config.json"), "{")
		fixtureBundle(t, filepath.Join(root, dir, "not-an-id"))
	}
	want := func(dir string) []evidence.Object {
		return []evidence.Object{
			{ObjectRef: pleg.ObjectRef{ID: sandbox, Pod: pleg.PodRef{Namespace: "pay", Name: "api-0", UID: "u1"}, Sandbox: true}, From: filepath.Join(dir, sandbox)},
			{ObjectRef: pleg.ObjectRef{ID: container, Pod: pleg.PodRef{Namespace: "pay", Name: "api-0", UID: "u1"}, Container: "app"}, SandboxID: sandbox, From: filepath.Join(dir, container)},
			{ObjectRef: pleg.ObjectRef{ID: plain}, From: filepath.Join(dir, plain)},
			{ObjectRef: pleg.ObjectRef{ID: broken}, From: filepath.Join(dir, broken)},
		}
	}
	const partial = "no names of 1, which cannot be read, or not in time"
	hint := ""
	if os.Geteuid() != 0 {
		hint = ": try sudo"
	}
	const crio = "/run/containers/storage/overlay-containers"
	tests := []struct {
		name, endpoint string
		told           *bundleFolder
		make           func(root string)
		want           evidence.Objects
	}{
		{"beside the socket", "unix://" + testSocket, nil, func(root string) { containerd(root, fixtureTasks) }, evidence.Objects{Source: evidence.Source{From: fixtureTasks, Partial: partial}, All: want(fixtureTasks)}},
		{
			"k0s", "unix:///run/k0s/containerd.sock", nil, func(root string) { containerd(root, "/run/k0s/containerd/io.containerd.runtime.v2.task/k8s.io") },
			evidence.Objects{Source: evidence.Source{From: "/run/k0s/containerd/io.containerd.runtime.v2.task/k8s.io", Partial: partial}, All: want("/run/k0s/containerd/io.containerd.runtime.v2.task/k8s.io")},
		},
		{"where a shim works", "unix:///x.sock", &bundleFolder{dir: "/other/k8s.io"}, func(root string) { containerd(root, "/other/k8s.io") }, evidence.Objects{Source: evidence.Source{From: "/other/k8s.io", Partial: partial}, All: want("/other/k8s.io")}},
		{"behind a link of the host", "unix:///x.sock", &bundleFolder{dir: "/var/link/k8s.io"}, func(root string) {
			containerd(root, "/data/k8s.io")
			writeFile(t, filepath.Join(root, "var/x"), "")
			if err := os.Symlink("/data", filepath.Join(root, "var/link")); err != nil {
				t.Fatal(err)
			}
		}, evidence.Objects{Source: evidence.Source{From: "/var/link/k8s.io", Partial: partial}, All: want("/var/link/k8s.io")}},
		{"CRI-O", "unix:///var/run/crio/crio.sock", nil, func(root string) {
			const cri, kube = "io.kubernetes.cri-o.", "io.kubernetes."
			fixtureBundle(t, filepath.Join(root, crio, sandbox, "userdata"), cri+"ContainerType", "sandbox", cri+"SandboxID", sandbox, kube+"pod.name", "api-0", kube+"pod.namespace", "pay", kube+"pod.uid", "u1", kube+"container.name", "POD")
			fixtureBundle(t, filepath.Join(root, crio, container, "userdata"), cri+"ContainerType", "container", cri+"SandboxID", sandbox, kube+"pod.name", "api-0", kube+"pod.namespace", "pay", kube+"pod.uid", "u1", kube+"container.name", "app")
		}, evidence.Objects{Source: evidence.Source{From: crio}, All: want(crio)[:2]}},
		{"nowhere", "unix://" + testSocket, nil, func(string) {}, evidence.Objects{Source: evidence.Source{From: fixtureTasks, Missing: "no shim tells where it is, and there is no " + fixtureTasks + hint}}},
		{"no folder", "unix://" + testSocket, nil, func(root string) { writeFile(t, filepath.Join(root, fixtureTasks), "") }, evidence.Objects{Source: evidence.Source{From: fixtureTasks, Missing: "not a directory"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root := tree(t, map[string]string{"proc/uptime": "1 1\n"})
			tt.make(root)
			b, l := newBundles(root, tt.endpoint, tt.told)
			for look := range 2 {
				got := b.look(t.Context(), l)
				if diff := cmp.Diff(tt.want, got, cmpopts.IgnoreFields(evidence.Source{}, "Took", "Bytes")); diff != "" {
					t.Errorf("look %d (-want +got):\n%s", look+1, diff)
				}
			}
		})
	}
}

// Reads that do not come back are left behind, four at most. Then no other is begun, and the bundles that are
// left are reported only by their ids.
func TestBundlesThatHang(t *testing.T) {
	root := t.TempDir()
	for i := range 20 {
		fixtureBundle(t, filepath.Join(root, fixtureTasks, longID(fmt.Sprint(100+i))), "io.kubernetes.cri.sandbox-name", "api")
	}
	forever := make(chan struct{})
	defer close(forever)
	for hanging, want := range map[int]string{mostHanging: "no names of 20,", mostHanging - 1: "no names of 3,", 0: ""} {
		b, l := newBundles(root, "unix://"+testSocket, nil)
		for i := range hanging {
			reads.Start(&b.files, longID(fmt.Sprint(100+i)), func() ([]byte, error) { <-forever; return nil, nil })
		}
		got := b.look(t.Context(), l)
		if len(got.All) != 20 || !strings.HasPrefix(got.Partial, want) || (got.Partial == "") != (want == "") || len(b.files.Keys()) != hanging {
			t.Errorf("%d hang: %d objects, partial %q, %d reads left behind", hanging, len(got.All), got.Partial, len(b.files.Keys()))
		}
	}
}

// A file that is a pipe, or that hangs, hides none of the others.
func TestBundleAmongOthers(t *testing.T) {
	root := t.TempDir()
	for _, digit := range []string{"1", "3"} {
		fixtureBundle(t, filepath.Join(root, fixtureTasks, longID(digit)), "io.kubernetes.cri.sandbox-name", "api")
	}
	if err := errors.Join(os.Mkdir(filepath.Join(root, fixtureTasks, longID("2")), 0o700), syscall.Mkfifo(filepath.Join(root, fixtureTasks, longID("2"), "config.json"), 0o600)); err != nil {
		t.Fatal(err)
	}
	b, l := newBundles(root, "unix://"+testSocket, nil)
	got := b.look(t.Context(), l)
	if len(got.All) != 3 || got.All[0].Pod.Name != "api" || got.All[2].Pod.Name != "api" || !strings.HasPrefix(got.Partial, "no names of 1,") {
		t.Errorf("objects %+v, want the others with their names", got)
	}
}

// On a node full of bundles, only the most allowed are read at once.
func TestBundlesAreBounded(t *testing.T) {
	root := t.TempDir()
	for i := range mostBundles + 1 {
		if err := os.MkdirAll(filepath.Join(root, fixtureTasks, longID(fmt.Sprint(10_000+i))), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	b, l := newBundles(root, "unix://"+testSocket, nil)
	got := b.look(t.Context(), l)
	if len(got.All) != mostBundles || !strings.HasPrefix(got.Partial, fmt.Sprintf("the first %d of %d; ", mostBundles, mostBundles+1)) {
		t.Errorf("%d objects, partial %q", len(got.All), got.Partial)
	}
}
