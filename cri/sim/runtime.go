package sim

import (
	"context"
	"fmt"
	"slices"

	"google.golang.org/grpc"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// A runtimeService answers the calls of CRI's RuntimeService that a relist makes.
// All others are Unimplemented, and whoever asks for a verbose answer gets the plain one.
type runtimeService struct {
	cri.UnimplementedRuntimeServiceServer
	s *Server
}

// lists are the answers to the list calls, as of one state of the world. They are
// never changed, only replaced.
type lists struct {
	changes          uint64 // of the world
	all              []any  // answers that are in the rest
	sandboxes        *cri.ListPodSandboxResponse
	containers       *cri.ListContainersResponse
	sandboxBatches   []*cri.StreamPodSandboxesResponse
	containerBatches []*cri.StreamContainersResponse
}

// batchLength is how many lines one part of a streamed list has.
const batchLength = 500

// list returns the present lists.
func (s *Server) list() *lists {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lists == nil || s.lists.changes != s.scene.changes {
		s.lists = newLists(s.scene.sandboxes, s.scene.containers)
		s.lists.changes = s.scene.changes
		s.codec.keep(s.lists.all...)
	}
	return s.lists
}

func newLists(sandboxes []*sandbox, containers []*container) *lists {
	l := &lists{sandboxes: &cri.ListPodSandboxResponse{}, containers: &cri.ListContainersResponse{}}
	l.all = []any{l.sandboxes, l.containers}
	for _, s := range sandboxes {
		l.sandboxes.Items = append(l.sandboxes.Items, s.listed)
	}
	for _, c := range containers {
		l.containers.Containers = append(l.containers.Containers, c.listed)
	}
	for part := range slices.Chunk(l.sandboxes.Items, batchLength) {
		batch := &cri.StreamPodSandboxesResponse{PodSandboxes: part}
		l.sandboxBatches, l.all = append(l.sandboxBatches, batch), append(l.all, batch)
	}
	for part := range slices.Chunk(l.containers.Containers, batchLength) {
		batch := &cri.StreamContainersResponse{Containers: part}
		l.containerBatches, l.all = append(l.containerBatches, batch), append(l.all, batch)
	}
	return l
}

// sandboxes returns the lists with the sandboxes that pass a filter.
func (r runtimeService) sandboxes(f *cri.PodSandboxFilter) *lists {
	if proto.Size(f) == 0 {
		return r.s.list()
	}
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	return newLists(r.s.scene.matchingSandboxes(f), nil)
}

// containers returns the lists with the containers that pass a filter.
func (r runtimeService) containers(f *cri.ContainerFilter) *lists {
	if proto.Size(f) == 0 {
		return r.s.list()
	}
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	return newLists(nil, r.s.scene.matchingContainers(f))
}

func (r runtimeService) ListPodSandbox(_ context.Context, q *cri.ListPodSandboxRequest) (*cri.ListPodSandboxResponse, error) {
	return r.sandboxes(q.GetFilter()).sandboxes, nil
}

func (r runtimeService) ListContainers(_ context.Context, q *cri.ListContainersRequest) (*cri.ListContainersResponse, error) {
	return r.containers(q.GetFilter()).containers, nil
}

func (r runtimeService) StreamPodSandboxes(q *cri.StreamPodSandboxesRequest, to grpc.ServerStreamingServer[cri.StreamPodSandboxesResponse]) error {
	return sendAll(to, r.sandboxes(q.GetFilter()).sandboxBatches)
}

func (r runtimeService) StreamContainers(q *cri.StreamContainersRequest, to grpc.ServerStreamingServer[cri.StreamContainersResponse]) error {
	return sendAll(to, r.containers(q.GetFilter()).containerBatches)
}

func sendAll[T any](to grpc.ServerStreamingServer[T], parts []*T) error {
	for _, part := range parts {
		if err := to.Send(part); err != nil {
			return err
		}
	}
	return nil
}

func (r runtimeService) PodSandboxStatus(_ context.Context, q *cri.PodSandboxStatusRequest) (*cri.PodSandboxStatusResponse, error) {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	sb, err := find(r.s.scene.sandboxOf, q.GetPodSandboxId())
	if err != nil {
		return nil, because(err, "an error occurred when try to find sandbox")
	}
	return &cri.PodSandboxStatusResponse{Status: sb.status()}, nil
}

func (r runtimeService) ContainerStatus(_ context.Context, q *cri.ContainerStatusRequest) (*cri.ContainerStatusResponse, error) {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	c, err := find(r.s.scene.containerOf, q.GetContainerId())
	if err != nil {
		return nil, because(err, fmt.Sprintf("an error occurred when try to find container %q", q.GetContainerId()))
	}
	return &cri.ContainerStatusResponse{Status: c.status()}, nil
}

// because puts a text before that of err and keeps its code.
func because(err error, text string) error {
	return status.Error(status.Code(err), text+": "+status.Convert(err).Message())
}
