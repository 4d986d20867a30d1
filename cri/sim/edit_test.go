package sim

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// states returns what the lists show: containers by name, sandboxes by attempt.
func states(t *testing.T, c cri.RuntimeServiceClient) []string {
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
	if err := s.ExitContainer(p.Containers["a"], 137, "OOMKilled", ""); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"SANDBOX_READY", "a CONTAINER_EXITED", "b CONTAINER_CREATED"}, states(t, c)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	got, err := statusOf(t.Context(), c, p.Containers["a"])
	if err != nil || got.ExitCode != 137 || got.Reason != "OOMKilled" || got.FinishedAt < got.StartedAt {
		t.Errorf("status %v, %v", got, err)
	}
	for _, id := range []string{p.Containers["b"], "none"} {
		if err := s.ExitContainer(id, 0, "", ""); err == nil {
			t.Errorf("%q, which does not run, was ended", id)
		}
	}
}

func TestAddedPodsAreLeftAlone(t *testing.T) {
	s, err := Start(t.Context(), Config{Scenario: "empty", Clock: 100000})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	before := s.Now()
	p := s.AddPod(PodSpec{Namespace: "ns", Name: "p", Age: time.Hour, Containers: []string{"a"}})
	after := s.Now()
	if err := s.ExitContainer(p.Containers["a"], 1, "", ""); err != nil {
		t.Fatal(err)
	}
	s.edit(func() {
		if n := len(s.scene.queue); n != 0 {
			t.Errorf("%d tasks are queued, want none", n)
		}
		if at := made(s.scene.sandboxes[0].status).Add(time.Hour); at.Before(before) || at.After(after) {
			t.Errorf("an hour after its sandbox was created it is %v, want between %v and %v", at, before, after)
		}
	})
}
