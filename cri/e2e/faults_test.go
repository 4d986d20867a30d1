//go:build linux

package e2e

import (
	"errors"
	"fmt"
	"slices"
	"syscall"
	"testing"
	"time"

	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/call"
)

func stoodStill(s *engine.Snapshot) bool { return s.Phase.Step == engine.Stopped }

// waitForExit waits until the runtime itself says that a container has exited.
func (p *private) waitForExit(id string) {
	p.t.Helper()
	eventually(p.t, "container "+id+" has exited", func() bool {
		r, err := p.rt.ContainerStatus(p.t.Context(), &criv1.ContainerStatusRequest{ContainerId: id})
		must(p.t, err)
		return r.Status.State == criv1.ContainerState_CONTAINER_EXITED
	})
}

// containerd dies and comes back. Pods live on without it: what happened to
// them meanwhile is seen afterwards, once, and nothing else is.
func TestContainerdKilledAndRestarted(t *testing.T) {
	node := containerd(t)
	w := watch(t, node.socket)
	_, id := node.running(w, "ends", "stubborn")
	node.running(w, "lives", "sleep")
	workload := node.process(id)

	node.kill()
	down := w.wait("the list fails", func(s *engine.Snapshot) bool { return s.Failure != nil })
	if !errors.Is(down.Failure.Err, call.ErrUnavailable) {
		t.Errorf("list error = %v, want one that says unavailable", down.Failure.Err)
	}
	node.signal(workload, "workload", syscall.SIGKILL)
	w.wait("the list age grows", func(s *engine.Snapshot) bool {
		return s.Failure != nil && s.Failure.InRow >= 3 && s.Health.ListedAt.Equal(down.Health.ListedAt)
	})

	node.restart()
	w.wait("lists succeed again", func(s *engine.Snapshot) bool {
		return s.Failure == nil && s.Health.ListedAt.After(down.Health.ListedAt)
	})
	w.expect(fmt.Sprintf("ContainerDied ends/main running>exited exit %d", node.exitCode(id)))
	w.expectNothing()
}

// exitCode returns what the runtime itself says of a container's end. Of one
// that ended without containerd it may not know better than 255.
func (p *private) exitCode(id string) int32 {
	p.t.Helper()
	r, err := p.rt.ContainerStatus(p.t.Context(), &criv1.ContainerStatusRequest{ContainerId: id})
	must(p.t, err)
	if code := r.Status.ExitCode; code == 137 || code == 255 {
		return code
	}
	p.t.Fatalf("status of the killed container = %+v, want exit code 137 or 255", r.Status)
	return 0
}

// A containerd that stands still is not a failure yet, but the call that waits
// for it is named at once, by a snapshot that comes while it waits.
func TestContainerdStandsStill(t *testing.T) {
	node := containerd(t)
	w := watch(t, node.socket)
	_, id := node.running(w, "patient", "stubborn")
	workload := node.process(id)
	node.freeze(node.pid(), "containerd")
	hung := w.wait("a list is out for a second", func(s *engine.Snapshot) bool {
		return slices.ContainsFunc(s.InFlight, func(f call.Flight) bool {
			return (f.Op == call.ListPodSandbox || f.Op == call.ListContainers) && f.Elapsed(s.At) > time.Second
		})
	})
	if hung.Failure != nil {
		t.Errorf("failure = %v although no call has returned", hung.Failure)
	}
	node.signal(workload, "workload", syscall.SIGKILL)
	node.signal(node.pid(), "containerd", syscall.SIGCONT)
	w.expect("ContainerDied patient/main running>exited exit 137")
	w.expectNothing()
}

// With its shim stopped a container can die unseen. Lists and statuses answer
// all the same, and the death is seen as soon as the shim goes on.
func TestShimStopped(t *testing.T) {
	node := containerd(t)
	w := watch(t, node.socket)
	_, id := node.running(w, "ghost", "stubborn")
	workload := node.process(id)
	shim := parent(workload)

	node.freeze(shim, "containerd-shim")
	node.signal(workload, "workload", syscall.SIGKILL)
	w.expectNothing()
	node.running(w, "other", "sleep")

	node.signal(shim, "containerd-shim", syscall.SIGCONT)
	w.expect("ContainerDied ghost/main running>exited exit 137")
	w.expectNothing()
}

// A shim that is killed takes its containers with it.
func TestShimKilled(t *testing.T) {
	node := containerd(t)
	w := watch(t, node.socket)
	pod, id := node.running(w, "orphan", "sleep")
	node.signal(parent(node.process(id)), "containerd-shim", syscall.SIGKILL)
	w.wait("sandbox and container have died", func(*engine.Snapshot) bool {
		_, events := w.seen()
		return len(events) >= w.told+2
	})
	_, events := w.seen()
	died := map[string]bool{}
	for _, e := range events[w.told:] {
		died[line(e)] = true
	}
	w.told = len(events)
	for _, want := range []string{
		"ContainerDied orphan/sandbox running>exited", "ContainerDied orphan/main running>exited exit 255",
	} {
		if !died[want] {
			t.Errorf("missing %q among %v", want, died)
		}
	}
	must(t, node.StopPod(t.Context(), pod))
	must(t, node.RemovePod(t.Context(), pod))
	w.expect("ContainerRemoved orphan/main exited>absent", "ContainerRemoved orphan/sandbox exited>absent")
	w.expectNothing()
}
