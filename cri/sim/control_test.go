package sim

import (
	"context"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// pair is a node with one pod of two containers.
func pair(t *testing.T) (*Server, cri.RuntimeServiceClient, Pod) {
	t.Helper()
	s, c := start(t, "empty")
	return s, c, addPair(s)
}

// addPair adds a pod whose container a runs and whose container b was created.
func addPair(s *Server) Pod {
	p := s.AddPod(PodSpec{Namespace: "ns", Name: "p", Containers: []string{"a"}})
	s.edit(func() {
		p.Containers["b"] = s.scene.newContainer(s.scene.pod(p.UID), &containerSpec{name: "b", image: imageApp}, s.scene.clock).status.Id
	})
	return p
}

func statusOf(ctx context.Context, c cri.RuntimeServiceClient, id string) (*cri.ContainerStatus, error) {
	answer, err := c.ContainerStatus(ctx, &cri.ContainerStatusRequest{ContainerId: id})
	return answer.GetStatus(), err
}

func TestHangHoldsACallUntilReleased(t *testing.T) {
	s, c, p := pair(t)
	m := Match{Method: "ContainerStatus", Pod: "ns/p", Container: "a"}
	release := s.Hang(m)
	done := make(chan error, 1)
	go func() {
		_, err := statusOf(t.Context(), c, p.Containers["a"])
		done <- err
	}()
	if err := s.AwaitHeld(t.Context(), m, 1); err != nil {
		t.Fatal(err)
	}
	if _, err := statusOf(t.Context(), c, p.Containers["b"]); err != nil {
		t.Errorf("the other container: %v", err)
	}
	select {
	case err := <-done:
		t.Fatalf("held call returned %v", err)
	default:
	}
	release()
	release()
	if err := <-done; err != nil {
		t.Errorf("released call: %v", err)
	}
	if _, err := statusOf(t.Context(), c, p.Containers["a"]); err != nil {
		t.Errorf("call after the release: %v", err)
	}
}

func TestHeldCallEndsWithItsClient(t *testing.T) {
	s, c, _ := pair(t)
	s.Hang(Match{Method: "ListContainers"})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := c.ListContainers(ctx, &cri.ListContainersRequest{})
		done <- err
	}()
	if err := s.AwaitHeld(t.Context(), Match{}, 1); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-done; status.Code(err) != codes.Canceled {
		t.Errorf("call ended with %v, want Canceled", err)
	}
	if err := s.AwaitHeld(t.Context(), Match{}, 0); err != nil {
		t.Errorf("on the server: %v", err)
	}
}

// heldVersion asks for the version and returns, when the server holds the call, what has its
// end.
func heldVersion(t *testing.T, s *Server, c cri.RuntimeServiceClient) <-chan error {
	t.Helper()
	done := make(chan error, 1)
	go func() {
		_, err := c.Version(t.Context(), &cri.VersionRequest{})
		done <- err
	}()
	if err := s.AwaitHeld(t.Context(), Match{Method: "Version"}, 1); err != nil {
		t.Fatal(err)
	}
	return done
}

func TestCloseEndsHeldCalls(t *testing.T) {
	s, c, _ := pair(t)
	s.Hang(Match{})
	done := heldVersion(t, s, c)
	if err := s.Close(); err != nil { // waits for the call's end on this side
		t.Fatal(err)
	}
	if err := <-done; status.Code(err) != codes.Unavailable {
		t.Errorf("call ended with %v, want Unavailable", err)
	}
}

func TestFail(t *testing.T) {
	s, c, p := pair(t)
	s.Fail(Match{ID: p.Containers["a"]}, codes.Internal, "ttrpc: closed", 2)
	for i, want := range []codes.Code{codes.Internal, codes.Internal, codes.OK} {
		_, err := statusOf(t.Context(), c, p.Containers["a"])
		if status.Code(err) != want {
			t.Errorf("call %d: %v, want %v", i+1, err, want)
		}
	}
	undo := s.Fail(Match{Method: "ListContainers"}, codes.Unimplemented, "unknown method", 0)
	for range 3 {
		_, err := c.ListContainers(t.Context(), &cri.ListContainersRequest{})
		if status.Code(err) != codes.Unimplemented || status.Convert(err).Message() != "unknown method" {
			t.Errorf("list: %v, want Unimplemented", err)
		}
	}
	if _, err := c.ListPodSandbox(t.Context(), &cri.ListPodSandboxRequest{}); err != nil {
		t.Errorf("the other list: %v", err)
	}
	undo()
	if n := len(containersOf(t, c, nil)); n != 2 {
		t.Errorf("%d containers after undo, want 2", n)
	}
}

func TestDelayIsOnTheServersClock(t *testing.T) {
	s, err := Start(t.Context(), Config{Scenario: "empty", Clock: 1000})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	undo := s.Delay(Match{Method: "Version"}, 20*time.Second)
	before := s.Now()
	if _, err := dial(t, s).Version(t.Context(), &cri.VersionRequest{}); err != nil {
		t.Fatal(err)
	}
	if took := s.Now().Sub(before); took < 20*time.Second {
		t.Errorf("call took %v of the server's time, want 20s", took)
	}
	undo()
	s.Delay(Match{Method: "Version"}, 1000*time.Hour)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := dial(t, s).Version(ctx, &cri.VersionRequest{}); status.Code(err) != codes.Canceled {
		t.Errorf("delayed call: %v, want Canceled", err)
	}
}

func TestRewriteChangesOnlyTheCopy(t *testing.T) {
	s, c, _ := pair(t)
	evil := "\x1b[2J"
	undo := s.Rewrite(Match{Method: "ListContainers"}, func(answer proto.Message) {
		answer.(*cri.ListContainersResponse).Containers[0].Metadata.Name = evil
	})
	if got := containersOf(t, c, nil)[0].Metadata.Name; got != evil {
		t.Errorf("rewritten name %q", got)
	}
	undo()
	if got := containersOf(t, c, nil)[0].Metadata.Name; got != "a" {
		t.Errorf("name after undo %q", got)
	}
}

func TestCallsAreRecorded(t *testing.T) {
	s, c, p := pair(t)
	_, _ = statusOf(t.Context(), c, p.Containers["a"][:12])
	_, _ = c.PodSandboxStatus(t.Context(), &cri.PodSandboxStatusRequest{PodSandboxId: p.Sandbox, Verbose: true})
	_, _ = c.ListContainers(t.Context(), &cri.ListContainersRequest{
		Filter: &cri.ContainerFilter{LabelSelector: map[string]string{labelPodUID: p.UID}},
	})
	_, _ = statusOf(t.Context(), c, "nothing")
	_, _ = c.ListPodSandbox(t.Context(), &cri.ListPodSandboxRequest{})
	got := s.Calls()
	for i := range got {
		got[i].At = time.Time{}
	}
	want := []Call{
		{Method: "ContainerStatus", ID: p.Containers["a"], Pod: "ns/p", Container: "a"},
		{Method: "PodSandboxStatus", ID: p.Sandbox, Pod: "ns/p", Verbose: true},
		{Method: "ListContainers", Pod: "ns/p"},
		{Method: "ContainerStatus", ID: "nothing"},
		{Method: "ListPodSandbox"},
	}
	if len(got) != len(want) {
		t.Fatalf("calls %+v, want %+v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("call %d: %+v, want %+v", i, got[i], want[i])
		}
	}
}

func TestRecordKeepsTheLastCalls(t *testing.T) {
	s := Server{begun: map[string]int{}}
	for i := range 2*recordLength + 5 {
		s.record(Call{At: time.Unix(int64(i), 0)})
	}
	all := s.Calls()
	if len(all) != recordLength || all[0].At.Unix() != recordLength+5 || all[recordLength-1].At.Unix() != 2*recordLength+4 {
		t.Errorf("%d calls from %v to %v", len(all), all[0].At.Unix(), all[len(all)-1].At.Unix())
	}
}
