package sim

import (
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

func TestEventsReachEveryReader(t *testing.T) {
	s, c, p := pair(t)
	first, err := c.GetContainerEvents(t.Context(), &cri.GetEventsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	// What was made before anybody read: two of the sandbox, two of a, one of b.
	for i, want := range []struct {
		id   string
		kind cri.ContainerEventType
	}{
		{p.Sandbox, cri.ContainerEventType_CONTAINER_CREATED_EVENT},
		{p.Sandbox, cri.ContainerEventType_CONTAINER_STARTED_EVENT},
		{p.Containers["a"], cri.ContainerEventType_CONTAINER_CREATED_EVENT},
		{p.Containers["a"], cri.ContainerEventType_CONTAINER_STARTED_EVENT},
		{p.Containers["b"], cri.ContainerEventType_CONTAINER_CREATED_EVENT},
	} {
		got, err := first.Recv()
		if err != nil {
			t.Fatal(err)
		}
		if got.ContainerId != want.id || got.ContainerEventType != want.kind || got.PodSandboxStatus.GetId() != p.Sandbox {
			t.Errorf("event %d: %v of %s, want %v of %s", i, got.ContainerEventType, got.ContainerId, want.kind, want.id)
		}
	}
	second, err := c.GetContainerEvents(t.Context(), &cri.GetEventsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	awaitReaders(t, s, 2)
	if err := s.ExitContainer(p.Containers["a"], 9, "", ""); err != nil {
		t.Fatal(err)
	}
	for _, stream := range []interface {
		Recv() (*cri.ContainerEventResponse, error)
	}{first, second} {
		got, err := stream.Recv()
		if err != nil {
			t.Fatal(err)
		}
		if got.ContainerEventType != cri.ContainerEventType_CONTAINER_STOPPED_EVENT || got.ContainersStatuses[0].ExitCode != 9 || len(got.ContainersStatuses) != 2 {
			t.Errorf("event %v, want the end of a with the status of both", got)
		}
	}
}

// awaitReaders waits until so many streams have been joined.
func awaitReaders(t *testing.T, s *Server, n int) {
	t.Helper()
	ticks := time.NewTicker(time.Millisecond)
	defer ticks.Stop()
	for range ticks.C {
		s.mu.Lock()
		have := len(s.events.readers)
		s.mu.Unlock()
		if have == n {
			return
		}
		if t.Context().Err() != nil {
			t.Fatalf("%d readers, want %d", have, n)
		}
	}
}

// add takes a transition in.
func (e *events) add(t transition) { e.send(t.event()) }

func TestSlowReaderIsCutOff(t *testing.T) {
	w := shelf()
	var e events
	w.onChange = e.add
	slow := e.join()
	for range eventRoom + 1 {
		w.run(w.containers[0], w.clock)
	}
	n := 0
	for range slow {
		n++
	}
	if n != eventRoom || len(e.readers) != 0 {
		t.Errorf("reader got %d events and %d readers are left, want %d and 0", n, len(e.readers), eventRoom)
	}
}

func TestBacklogIsBounded(t *testing.T) {
	w := shelf()
	var e events
	w.onChange = e.add
	for range 2 * backlogRoom {
		w.run(w.containers[0], w.clock)
	}
	if len(e.backlog) != backlogRoom {
		t.Errorf("backlog holds %d events, want %d", len(e.backlog), backlogRoom)
	}
	w.clock = w.clock.Add(backlogLife + 1)
	w.run(w.containers[0], w.clock)
	if len(e.backlog) != 1 {
		t.Errorf("after %v the backlog holds %d events, want the new one only", backlogLife, len(e.backlog))
	}
}

func TestEventStreamEndsWithItsClient(t *testing.T) {
	s, c, _ := pair(t)
	stream, err := c.GetContainerEvents(t.Context(), &cri.GetEventsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Recv(); err != nil {
		t.Fatal(err)
	}
	if err := s.setFault("runtime-down", true); err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = stream.Recv()
	}
	if status.Code(err) != codes.Unavailable {
		t.Errorf("stream ended with %v, want Unavailable", err)
	}
	awaitReaders(t, s, 0)
}
