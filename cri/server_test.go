package cri

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	runtimev1 "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// A stub is a CRI server with the answers of a test. Every other call is
// Unimplemented. It records what it is asked.
type stub struct {
	runtimev1.UnimplementedRuntimeServiceServer
	answers map[string]answer
	streams map[string]streamAnswer

	mu       sync.Mutex
	methods  []string
	requests []proto.Message
}

type answer func(ctx context.Context, req any) (proto.Message, error)
type streamAnswer func(s grpc.ServerStream) error

// reply is an answer that is always m.
func reply(m proto.Message) answer {
	return func(context.Context, any) (proto.Message, error) { return m, nil }
}

// refuse is an answer that is always err.
func refuse(err error) answer {
	return func(context.Context, any) (proto.Message, error) { return nil, err }
}

// chunks is a streaming answer of these messages.
func chunks(messages ...proto.Message) streamAnswer {
	return func(s grpc.ServerStream) error {
		for _, m := range messages {
			if err := s.SendMsg(m); err != nil {
				return err
			}
		}
		return nil
	}
}

func (s *stub) unary(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
	s.record(info.FullMethod, req.(proto.Message))
	if f := s.answers[info.FullMethod]; f != nil {
		return f(ctx, req)
	}
	return next(ctx, req)
}

func (s *stub) stream(_ any, ss grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) error {
	f := s.streams[info.FullMethod]
	if f == nil {
		s.record(info.FullMethod, nil)
		return next(s, ss)
	}
	req := new(runtimev1.GetEventsRequest)
	if err := ss.RecvMsg(req); err != nil {
		return err
	}
	s.record(info.FullMethod, req)
	return f(ss)
}

func (s *stub) record(method string, req proto.Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.methods = append(s.methods, method)
	s.requests = append(s.requests, req)
}

// seen returns the methods called and their requests, in order.
func (s *stub) seen() ([]string, []proto.Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.methods), slices.Clone(s.requests)
}

// serve starts the stub on path and returns what ends it.
func (s *stub) serve(t testing.TB, path string) (stop func()) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer(grpc.UnaryInterceptor(s.unary), grpc.StreamInterceptor(s.stream))
	runtimev1.RegisterRuntimeServiceServer(server, s)
	var done sync.WaitGroup
	done.Go(func() { _ = server.Serve(listener) })
	stop = sync.OnceFunc(func() { server.Stop(); done.Wait() })
	t.Cleanup(stop)
	return stop
}

// shortDir is t.TempDir without the test's name, which would make the path of a
// socket too long.
func shortDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "cri")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// start serves s on a new socket and returns a client of it.
func start(t testing.TB, s *stub) *Client {
	t.Helper()
	path := filepath.Join(shortDir(t), "cri.sock")
	s.serve(t, path)
	return dialed(t, path)
}

func dialed(t testing.TB, endpoint string) *Client {
	t.Helper()
	c, err := Dial(endpoint)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

const testLimit = 5 * time.Minute // ends a test whose runtime does not do what it should

func within(t testing.TB, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

func onWire(t testing.TB, m proto.Message) []byte {
	t.Helper()
	wire, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return wire
}

// wired is a message that is these bytes on the wire, whatever they are.
func wired[M proto.Message](m M, wire []byte) M {
	m.ProtoReflect().SetUnknown(wire)
	return m
}

const (
	version         = runtimev1.RuntimeService_Version_FullMethodName
	runtimeStatus   = runtimev1.RuntimeService_Status_FullMethodName
	listSandboxes   = runtimev1.RuntimeService_ListPodSandbox_FullMethodName
	listContainers  = runtimev1.RuntimeService_ListContainers_FullMethodName
	sandboxStatus   = runtimev1.RuntimeService_PodSandboxStatus_FullMethodName
	containerStatus = runtimev1.RuntimeService_ContainerStatus_FullMethodName
	getEvents       = runtimev1.RuntimeService_GetContainerEvents_FullMethodName
)

// healthy returns a stub that has an answer for every call a client makes,
// the streaming ones excepted.
func healthy() *stub {
	return &stub{answers: map[string]answer{
		runtimev1.RuntimeService_Version_FullMethodName: reply(&runtimev1.VersionResponse{
			Version: "0.1.0", RuntimeName: "stub", RuntimeVersion: "1.2.3", RuntimeApiVersion: "v1",
		}),
		runtimev1.RuntimeService_Status_FullMethodName: reply(&runtimev1.StatusResponse{Status: &runtimev1.RuntimeStatus{
			Conditions: []*runtimev1.RuntimeCondition{{Type: "RuntimeReady", Status: true}, {Type: "NetworkReady", Reason: "NoCNI", Message: "no network config"}},
		}}),
		runtimev1.RuntimeService_ListPodSandbox_FullMethodName:   reply(&runtimev1.ListPodSandboxResponse{Items: []*runtimev1.PodSandbox{goodSandbox()}}),
		runtimev1.RuntimeService_ListContainers_FullMethodName:   reply(&runtimev1.ListContainersResponse{Containers: []*runtimev1.Container{goodContainer()}}),
		runtimev1.RuntimeService_PodSandboxStatus_FullMethodName: reply(&runtimev1.PodSandboxStatusResponse{Status: goodSandboxStatus()}),
		runtimev1.RuntimeService_ContainerStatus_FullMethodName:  reply(&runtimev1.ContainerStatusResponse{Status: goodContainerStatus()}),
	}}
}

func goodSandbox() *runtimev1.PodSandbox {
	return &runtimev1.PodSandbox{
		Id:        "sandbox-1",
		Metadata:  &runtimev1.PodSandboxMetadata{Name: "web", Namespace: "shop", Uid: "uid-1", Attempt: 2},
		State:     runtimev1.PodSandboxState_SANDBOX_READY,
		CreatedAt: 1_700_000_000_000_000_001,
	}
}

func goodContainer() *runtimev1.Container {
	return &runtimev1.Container{
		Id:           "container-1",
		PodSandboxId: "sandbox-1",
		Metadata:     &runtimev1.ContainerMetadata{Name: "nginx", Attempt: 3},
		Image:        &runtimev1.ImageSpec{Image: "sha256:abc", UserSpecifiedImage: "nginx:1.27"},
		State:        runtimev1.ContainerState_CONTAINER_RUNNING,
		CreatedAt:    1_700_000_001_000_000_000,
		Labels: map[string]string{
			uidLabel: "uid-1", nameLabel: "web", namespaceLabel: "shop", containerLabel: "nginx", "app": "web",
		},
	}
}

func goodSandboxStatus() *runtimev1.PodSandboxStatus {
	return &runtimev1.PodSandboxStatus{
		Id:        "sandbox-1",
		Metadata:  &runtimev1.PodSandboxMetadata{Name: "web", Namespace: "shop", Uid: "uid-1", Attempt: 2},
		State:     runtimev1.PodSandboxState_SANDBOX_NOTREADY,
		CreatedAt: 1_700_000_000_000_000_001,
		Network:   &runtimev1.PodSandboxNetworkStatus{Ip: "10.0.0.7", AdditionalIps: []*runtimev1.PodIP{{Ip: "fd00::7"}}},
	}
}

func goodContainerStatus() *runtimev1.ContainerStatus {
	return &runtimev1.ContainerStatus{
		Id:         "container-1",
		Metadata:   &runtimev1.ContainerMetadata{Name: "nginx", Attempt: 3},
		State:      runtimev1.ContainerState_CONTAINER_EXITED,
		CreatedAt:  1_700_000_001_000_000_000,
		StartedAt:  1_700_000_002_000_000_000,
		FinishedAt: 1_700_000_003_000_000_000,
		ExitCode:   137,
		Image:      &runtimev1.ImageSpec{Image: "nginx:1.27"},
		ImageRef:   "sha256:abc",
		Reason:     "OOMKilled",
		Message:    "killed",
		Labels:     map[string]string{containerLabel: "nginx"},
	}
}
