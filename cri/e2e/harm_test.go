//go:build linux

package e2e

import (
	"bytes"
	"slices"
	"syscall"
	"testing"

	"google.golang.org/protobuf/proto"
	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/pleg"
)

// readOnly are the methods that plegtop may ever call on a real runtime without being
// asked to.
var readOnly = []string{
	criv1.RuntimeService_Version_FullMethodName,
	criv1.RuntimeService_Status_FullMethodName,
	criv1.RuntimeService_ListPodSandbox_FullMethodName,
	criv1.RuntimeService_ListContainers_FullMethodName,
	criv1.RuntimeService_PodSandboxStatus_FullMethodName,
	criv1.RuntimeService_ContainerStatus_FullMethodName,
}

// Whatever happens on the node and whatever is asked of the engine, the runtime
// is only ever read, and never asked for its verbose answer.
func TestNodeIsOnlyRead(t *testing.T) {
	node := containerd(t)
	between := record(t, node.socket)
	w := watch(t, between.socket)
	pod, id := node.running(w, "watched", "stubborn")
	w.RelistNow()
	w.Reinspect(pleg.UID(pod.UID))
	w.expect("PodSync watched/pod absent>absent")
	w.Sweep()
	w.wait("the sweep has asked for sandbox and container", func(s *engine.Snapshot) bool {
		return s.Sweep != nil && !s.Sweep.Ended.IsZero() && s.Sweep.Done == 2
	})
	if raw, err := w.Raw(t.Context(), pleg.UID(pod.UID)); err != nil || !bytes.Contains(raw, []byte(id)) {
		t.Errorf("raw answers: %v, %s", err, raw)
	}
	node.signal(node.process(id), "workload", syscall.SIGKILL)
	w.expect("ContainerDied watched/main running>exited exit 137")
	checkReadOnly(t, between.requests())
}

// checkReadOnly fails the test if there was a call that only reads neither by itself nor
// for being asked for.
func checkReadOnly(t *testing.T, requests []request, asked ...string) {
	t.Helper()
	if len(requests) == 0 {
		t.Error("no call was recorded")
	}
	for _, r := range requests {
		if !slices.Contains(readOnly, r.method) && !slices.Contains(asked, r.method) {
			t.Errorf("called %s", r.method)
		}
		if verbose(t, r) {
			t.Errorf("%s asked for the verbose answer", r.method)
		}
	}
}

func verbose(t *testing.T, r request) bool {
	t.Helper()
	var message interface {
		proto.Message
		GetVerbose() bool
	}
	switch r.method {
	case criv1.RuntimeService_Status_FullMethodName:
		message = new(criv1.StatusRequest)
	case criv1.RuntimeService_PodSandboxStatus_FullMethodName:
		message = new(criv1.PodSandboxStatusRequest)
	case criv1.RuntimeService_ContainerStatus_FullMethodName:
		message = new(criv1.ContainerStatusRequest)
	default:
		return false
	}
	must(t, proto.Unmarshal(r.message, message))
	return message.GetVerbose()
}
