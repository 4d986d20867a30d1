package sim

import (
	"context"
	"fmt"
	"slices"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
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

// lists are the answers to the list calls without a filter, as of one state of
// the world. They are never changed, only replaced.
type lists struct {
	changes          uint64 // of the world
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
		s.lists = newLists(s.scene.world)
		s.codec.keep(s.lists.answers()...)
	}
	return s.lists
}

func newLists(w *world) *lists {
	l := &lists{
		changes:    w.changes,
		sandboxes:  &cri.ListPodSandboxResponse{Items: sandboxLines(w.sandboxes)},
		containers: &cri.ListContainersResponse{Containers: containerLines(w.containers)},
	}
	l.sandboxBatches = sandboxBatches(l.sandboxes.Items)
	l.containerBatches = containerBatches(l.containers.Containers)
	return l
}

func (l *lists) answers() []any {
	all := []any{l.sandboxes, l.containers}
	for _, b := range l.sandboxBatches {
		all = append(all, b)
	}
	for _, b := range l.containerBatches {
		all = append(all, b)
	}
	return all
}

func sandboxLines(all []*sandbox) []*cri.PodSandbox {
	lines := make([]*cri.PodSandbox, len(all))
	for i, s := range all {
		lines[i] = s.listed
	}
	return lines
}

func containerLines(all []*container) []*cri.Container {
	lines := make([]*cri.Container, len(all))
	for i, c := range all {
		lines[i] = c.listed
	}
	return lines
}

func sandboxBatches(all []*cri.PodSandbox) []*cri.StreamPodSandboxesResponse {
	var batches []*cri.StreamPodSandboxesResponse
	for part := range slices.Chunk(all, batchLength) {
		batches = append(batches, &cri.StreamPodSandboxesResponse{PodSandboxes: part})
	}
	return batches
}

func containerBatches(all []*cri.Container) []*cri.StreamContainersResponse {
	var batches []*cri.StreamContainersResponse
	for part := range slices.Chunk(all, batchLength) {
		batches = append(batches, &cri.StreamContainersResponse{Containers: part})
	}
	return batches
}

// sandboxesFor returns the lines that pass a filter.
func (s *Server) sandboxesFor(f *cri.PodSandboxFilter) []*cri.PodSandbox {
	s.mu.Lock()
	defer s.mu.Unlock()
	return sandboxLines(s.scene.matchingSandboxes(f))
}

// containersFor returns the lines that pass a filter.
func (s *Server) containersFor(f *cri.ContainerFilter) []*cri.Container {
	s.mu.Lock()
	defer s.mu.Unlock()
	return containerLines(s.scene.matchingContainers(f))
}

// isOpen reports whether a filter lets everything pass.
func isOpen(filter proto.Message) bool { return proto.Size(filter) == 0 }

func (r runtimeService) ListPodSandbox(_ context.Context, q *cri.ListPodSandboxRequest) (*cri.ListPodSandboxResponse, error) {
	if isOpen(q.GetFilter()) {
		return r.s.list().sandboxes, nil
	}
	return &cri.ListPodSandboxResponse{Items: r.s.sandboxesFor(q.GetFilter())}, nil
}

func (r runtimeService) ListContainers(_ context.Context, q *cri.ListContainersRequest) (*cri.ListContainersResponse, error) {
	if isOpen(q.GetFilter()) {
		return r.s.list().containers, nil
	}
	return &cri.ListContainersResponse{Containers: r.s.containersFor(q.GetFilter())}, nil
}

func (r runtimeService) StreamPodSandboxes(q *cri.StreamPodSandboxesRequest, to grpc.ServerStreamingServer[cri.StreamPodSandboxesResponse]) error {
	if isOpen(q.GetFilter()) {
		return sendAll(to, r.s.list().sandboxBatches)
	}
	return sendAll(to, sandboxBatches(r.s.sandboxesFor(q.GetFilter())))
}

func (r runtimeService) StreamContainers(q *cri.StreamContainersRequest, to grpc.ServerStreamingServer[cri.StreamContainersResponse]) error {
	if isOpen(q.GetFilter()) {
		return sendAll(to, r.s.list().containerBatches)
	}
	return sendAll(to, containerBatches(r.s.containersFor(q.GetFilter())))
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
	sn := status.Convert(err)
	if sn.Code() == codes.OK {
		return nil
	}
	return status.Error(sn.Code(), text+": "+sn.Message())
}
