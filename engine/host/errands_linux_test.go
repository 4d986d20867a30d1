package host

import (
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine/evidence"
)

// Of the runtime's children only network plugins are errands, and only those that have
// been there for a while.
func TestLookFindsNetworkPlugins(t *testing.T) {
	root, id := t.TempDir(), fixtureID("7")
	writeProc(t, root, proc{pid: 300, comm: "containerd"})
	writeProc(t, root, proc{pid: 60, comm: "kubelet"})
	plugin := "CNI_COMMAND=ADD\x00CNI_CONTAINERID=" + id + "\x00CNI_ARGS=IgnoreUnknown=1;K8S_POD_NAMESPACE=pay;K8S_POD_NAME=api-0\x00CNI_PATH=/opt/cni/bin\x00"
	for _, p := range []struct {
		pid, parent int
		age         time.Duration
		environ     string
	}{
		{100, 300, time.Minute, plugin},
		{101, 300, 5 * time.Second, plugin},
		{102, 300, time.Hour, "PATH=/bin\x00"}, // a plugin of NRI
		{103, 60, time.Hour, plugin},
		{104, 1, time.Hour, plugin},
	} {
		writeProc(t, root, proc{pid: p.pid, parent: p.parent, comm: "calico", started: fixtureUptime - p.age})
		writeFile(t, filepath.Join(root, "proc", strconv.Itoa(p.pid), "environ"), p.environ)
	}
	found := newFixtureWalker(root).lookAt(t.Context(), fixtureLook)
	want := evidence.Process{
		PID: 100, Parent: 300, Command: "calico", State: evidence.Sleeping, Age: time.Minute,
		Container: id, Verb: "CNI ADD", Namespace: "pay", Pod: "api-0", Own: true,
	}
	if diff := cmp.Diff([]evidence.Process{want}, found.Errands); diff != "" {
		t.Errorf("errands (-want +got):\n%s", diff)
	}
	if len(found.Daemons) != 2 {
		t.Errorf("daemons %+v, want two", found.Daemons)
	}
}
