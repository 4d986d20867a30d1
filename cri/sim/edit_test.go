package sim

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// states returns what the lists show: containers by name, sandboxes by attempt.
func states(t *testing.T, c clients) []string {
	t.Helper()
	sandboxes, err := c.ListPodSandbox(t.Context(), &cri.ListPodSandboxRequest{})
	if err != nil {
		t.Fatal(err)
	}
	containers, err := c.ListContainers(t.Context(), &cri.ListContainersRequest{})
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, s := range sandboxes.Items {
		all = append(all, s.State.String())
	}
	for _, one := range containers.Containers {
		all = append(all, one.Metadata.Name+" "+one.State.String())
	}
	return all
}

func TestAWorldMadeByHand(t *testing.T) {
	s, c, p := pair(t)
	expect := func(step string, err error, want ...string) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", step, err)
		}
		if diff := cmp.Diff(want, states(t, c)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step, diff)
		}
	}
	const ready, notReady = "SANDBOX_READY", "SANDBOX_NOTREADY"
	expect("added", nil, ready, "a CONTAINER_RUNNING", "b CONTAINER_CREATED")
	expect("start", s.StartContainer(p.Containers["b"]), ready, "a CONTAINER_RUNNING", "b CONTAINER_RUNNING")
	expect("exit", s.ExitContainer(p.Containers["a"], 137, "OOMKilled"), ready, "a CONTAINER_EXITED", "b CONTAINER_RUNNING")
	got, err := statusOf(t.Context(), c, p.Containers["a"])
	if err != nil || got.ExitCode != 137 || got.Reason != "OOMKilled" || got.FinishedAt < got.StartedAt {
		t.Errorf("status %v, %v", got, err)
	}
	expect("remove", s.RemoveContainer(p.Containers["a"]), ready, "b CONTAINER_RUNNING")
	_, err = s.CreateContainer(p.UID, ContainerSpec{Name: "a", State: Exited, ExitCode: 3})
	expect("create", err, ready, "b CONTAINER_RUNNING", "a CONTAINER_EXITED")
	expect("stop the sandbox", s.StopSandbox(p.Sandbox), notReady, "b CONTAINER_RUNNING", "a CONTAINER_EXITED")
	second, err := s.AddSandbox(p.UID)
	expect("add a sandbox", err, notReady, ready, "b CONTAINER_RUNNING", "a CONTAINER_EXITED")
	if sn, err := c.PodSandboxStatus(t.Context(), &cri.PodSandboxStatusRequest{PodSandboxId: second}); err != nil || sn.Status.Metadata.Attempt != 1 {
		t.Errorf("second sandbox: %v, %v; want attempt 1", sn, err)
	}
	expect("remove the sandbox", s.RemoveSandbox(p.Sandbox), ready, "b CONTAINER_RUNNING", "a CONTAINER_EXITED")
	expect("remove the pod", s.RemovePod(p.UID))
	if _, err = statusOf(t.Context(), c, p.Containers["b"]); status.Code(err) != codes.NotFound {
		t.Errorf("status after all: %v, want NotFound", err)
	}
}

func TestEditsThatCannotBe(t *testing.T) {
	s, _, p := pair(t)
	if err := s.StartContainer(p.Containers["a"]); err == nil {
		t.Error("a running container was started")
	}
	if err := s.ExitContainer(p.Containers["b"], 0, ""); err == nil {
		t.Error("a created container was ended")
	}
	_, create := s.CreateContainer("none", ContainerSpec{Name: "a"})
	_, add := s.AddSandbox("none")
	for name, err := range map[string]error{
		"remove container": s.RemoveContainer("none"), "remove pod": s.RemovePod("none"), "stop sandbox": s.StopSandbox("none"),
		"create container": create, "add sandbox": add,
	} {
		if !errors.Is(err, errGone) {
			t.Errorf("%s: %v, want %v", name, err, errGone)
		}
	}
}

func TestAddedPodsAreLeftAlone(t *testing.T) {
	s, err := Start(t.Context(), Config{Scenario: "empty", Speed: 100000, Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	p := s.AddPod(PodSpec{Namespace: "ns", Name: "p", Age: time.Hour, Containers: []ContainerSpec{{Name: "a"}}})
	if err := s.ExitContainer(p.Containers["a"], 1, ""); err != nil {
		t.Fatal(err)
	}
	s.edit(func() {
		if n := len(s.scene.queue); n != 0 {
			t.Errorf("%d tasks are queued, want none", n)
		}
		if age := s.began.Sub(s.scene.sandboxes[0].created); age > time.Hour || age < 0 {
			t.Errorf("sandbox was created %v before the start, want about an hour before now", age)
		}
	})
}
