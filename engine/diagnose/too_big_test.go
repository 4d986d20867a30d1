package diagnose

import (
	"strings"
	"testing"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

// Where hardly any container has exited, the steps and the owners are of those that run.
func TestListTooBigOfRunningContainers(t *testing.T) {
	n := checked(60)
	n.calls(call.ListContainers).LastResponseBytes = 15 << 20
	found := n.diagnose()
	if len(found) == 0 || found[0].ID != ListTooBig {
		t.Fatalf("found %s", gist(found))
	}
	said := strings.Join(found[0].Evidence, "\n")
	for _, s := range found[0].Next {
		said += "\n" + s.Text + s.Command
	}
	if !strings.Contains(said, "containers by namespace: ns-0 40, ns-1 40, ns-2 40") || strings.Contains(said, "xited containers") || strings.Contains(said, "crictl rm") {
		t.Error(said)
	}
}

// A list of sandboxes is made shorter by steps about sandboxes.
func TestListTooBigOfSandboxes(t *testing.T) {
	n := checked(60)
	n.calls(call.ListPodSandbox).LastResponseBytes = 15 << 20
	found := n.diagnose()
	if len(found) == 0 || found[0].ID != ListTooBig {
		t.Fatalf("found %s", gist(found))
	}
	for _, s := range found[0].Next {
		if strings.Contains(s.Command, "crictl") && !strings.Contains(s.Command, "pods") {
			t.Errorf("step %+v", s)
		}
	}
}

// From 1.36 on a kubelet may list by streams, for which there is no limit. plegtop does not
// see whether it does, and says so.
func TestListTooBigNamesTheGate(t *testing.T) {
	for release, want := range map[pleg.Release]bool{35: false, 36: true} {
		n := checked(60)
		n.Release = release
		n.calls(call.ListContainers).LastResponseBytes = 15 << 20
		if said := strings.Join(n.diagnose()[0].Evidence, "\n"); strings.Contains(said, "CRIListStreaming") != want {
			t.Errorf("%v: %s", release, said)
		}
	}
}
