package cri

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	runtimev1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

const (
	listSandboxes  = runtimev1.RuntimeService_ListPodSandbox_FullMethodName
	listContainers = runtimev1.RuntimeService_ListContainers_FullMethodName
)

// modern returns a stub with the streaming lists, in chunks of one.
func modern() *stub {
	s := healthy()
	s.streams = map[string]streamAnswer{
		streamedSandboxes: chunks(
			&runtimev1.StreamPodSandboxesResponse{PodSandboxes: []*runtimev1.PodSandbox{namedSandbox("a")}},
			&runtimev1.StreamPodSandboxesResponse{PodSandboxes: []*runtimev1.PodSandbox{namedSandbox("b")}},
		),
		streamedContainers: chunks(&runtimev1.StreamContainersResponse{Containers: []*runtimev1.Container{goodContainer()}}),
	}
	return s
}

func namedSandbox(id string) *runtimev1.PodSandbox {
	s := goodSandbox()
	s.Id = id
	return s
}

// relist makes both list calls.
func relist(t *testing.T, c *Client, uid pleg.UID) ([]pleg.ListedSandbox, []pleg.ListedContainer) {
	t.Helper()
	ctx := within(t, testLimit)
	sandboxes, err := c.ListPodSandbox(ctx, uid)
	if err != nil {
		t.Fatal(err)
	}
	containers, err := c.ListContainers(ctx, uid)
	if err != nil {
		t.Fatal(err)
	}
	return sandboxes, containers
}

func wantCounts(t *testing.T, s *stub, want map[string]int) {
	t.Helper()
	for _, method := range []string{streamedSandboxes, streamedContainers, listSandboxes, listContainers} {
		if got := s.count(method); got != want[method] {
			t.Errorf("%s called %d times, want %d", method, got, want[method])
		}
	}
}

func TestStreamsWhereTheRuntimeCan(t *testing.T) {
	s := modern()
	c := start(t, s)
	sandboxes, containers := relist(t, c, "")
	if len(sandboxes) != 2 || sandboxes[0].ID != "a" || sandboxes[1].ID != "b" || len(containers) != 1 {
		t.Errorf("lists = %v, %v", sandboxes, containers)
	}
	relist(t, c, "")
	wantCounts(t, s, map[string]int{streamedSandboxes: 2, streamedContainers: 2})
	_, requests := s.seen()
	if want := (&runtimev1.StreamContainersRequest{Filter: &runtimev1.ContainerFilter{}}); !proto.Equal(requests[1], want) {
		t.Errorf("request = %v, want %v", requests[1], want)
	}
}

func TestOnePodIsListedPlainly(t *testing.T) {
	s := modern()
	relist(t, start(t, s), "uid-1")
	wantCounts(t, s, map[string]int{listSandboxes: 1, listContainers: 1})
}

func TestEmptyStream(t *testing.T) {
	s := modern()
	s.streams[streamedSandboxes] = chunks()
	sandboxes, _ := relist(t, start(t, s), "")
	if len(sandboxes) != 0 {
		t.Errorf("sandboxes = %v, want none", sandboxes)
	}
	wantCounts(t, s, map[string]int{streamedSandboxes: 1, streamedContainers: 1})
}

func TestFallsBackOncePerConnection(t *testing.T) {
	path := filepath.Join(shortDir(t), "cri.sock")
	old := healthy()
	stop := old.serve(t, path)
	c := dialed(t, path)
	for range 3 {
		if sandboxes, containers := relist(t, c, ""); len(sandboxes) != 1 || len(containers) != 1 {
			t.Errorf("lists = %v, %v", sandboxes, containers)
		}
	}
	wantCounts(t, old, map[string]int{streamedSandboxes: 1, streamedContainers: 1, listSandboxes: 3, listContainers: 3})

	stop()
	c.conn.WaitForStateChange(within(t, testLimit), connectivity.Ready)
	newer := modern()
	newer.serve(t, path)
	untilReady(t, c)
	if sandboxes, _ := relist(t, c, ""); len(sandboxes) != 2 {
		t.Errorf("sandboxes = %v, want the two of the stream", sandboxes)
	}
	wantCounts(t, newer, map[string]int{streamedSandboxes: 1, streamedContainers: 1})
}

// A stream that breaks must not pass for a shorter list, nor be asked again in
// the plain form.
func TestBrokenStream(t *testing.T) {
	s := modern()
	whole := s.streams[streamedSandboxes]
	s.streams[streamedSandboxes] = func(ss grpc.ServerStream) error {
		if err := whole(ss); err != nil {
			return err
		}
		return status.Error(codes.Internal, "broken")
	}
	var trace call.Trace
	rows, err := start(t, s).ListPodSandbox(call.WithTrace(within(t, testLimit), &trace), "")
	wantError(t, err, &call.Error{Op: call.ListPodSandbox, Kind: call.ErrOther, Code: "Internal", Text: "broken"})
	if rows != nil || trace.Streamed {
		t.Errorf("rows = %v, trace = %+v, want none and not streamed", rows, trace)
	}
	wantCounts(t, s, map[string]int{streamedSandboxes: 1})
}

func TestStreamHangs(t *testing.T) {
	s := modern()
	s.streams[streamedSandboxes] = func(ss grpc.ServerStream) error {
		<-ss.Context().Done()
		return ss.Context().Err()
	}
	_, err := start(t, s).ListPodSandbox(within(t, 20*time.Millisecond), "")
	if !errors.Is(err, call.ErrDeadline) {
		t.Errorf("error = %v, want %v", err, call.ErrDeadline)
	}
}

// A stream that is refused half way has left rows behind; they must not come
// twice.
func TestRefusedLate(t *testing.T) {
	s := modern()
	whole := s.streams[streamedSandboxes]
	s.streams[streamedSandboxes] = func(ss grpc.ServerStream) error {
		if err := whole(ss); err != nil {
			return err
		}
		return status.Error(codes.Unimplemented, "not yet")
	}
	sandboxes, _ := relist(t, start(t, s), "")
	if len(sandboxes) != 1 || sandboxes[0].ID != "sandbox-1" {
		t.Errorf("sandboxes = %v, want the one of the plain list", sandboxes)
	}
}
