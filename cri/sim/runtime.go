package sim

import (
	"context"
	"fmt"

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
	changes    uint64 // of the world
	sandboxes  *cri.ListPodSandboxResponse
	containers *cri.ListContainersResponse
}

// list returns the present lists.
func (s *Server) list() *lists {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lists == nil || s.lists.changes != s.scene.changes {
		s.lists = newLists(s.scene.sandboxes, s.scene.containers)
		s.lists.changes = s.scene.changes
		s.codec.keep(s.lists.sandboxes, s.lists.containers)
	}
	return s.lists
}

func newLists(sandboxes []*sandbox, containers []*container) *lists {
	l := &lists{sandboxes: &cri.ListPodSandboxResponse{}, containers: &cri.ListContainersResponse{}}
	for _, s := range sandboxes {
		l.sandboxes.Items = append(l.sandboxes.Items, s.listed)
	}
	for _, c := range containers {
		l.containers.Containers = append(l.containers.Containers, c.listed)
	}
	return l
}

func (r runtimeService) ListPodSandbox(_ context.Context, q *cri.ListPodSandboxRequest) (*cri.ListPodSandboxResponse, error) {
	f := q.GetFilter()
	if proto.Size(f) == 0 {
		return r.s.list().sandboxes, nil
	}
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	return newLists(r.s.scene.matchingSandboxes(f), nil).sandboxes, nil
}

func (r runtimeService) ListContainers(_ context.Context, q *cri.ListContainersRequest) (*cri.ListContainersResponse, error) {
	f := q.GetFilter()
	if proto.Size(f) == 0 {
		return r.s.list().containers, nil
	}
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	return newLists(nil, r.s.scene.matchingContainers(f)).containers, nil
}

func (r runtimeService) PodSandboxStatus(_ context.Context, q *cri.PodSandboxStatusRequest) (*cri.PodSandboxStatusResponse, error) {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	sb, err := find(r.s.scene.sandboxOf, q.GetPodSandboxId())
	if err != nil {
		return nil, because(err, "an error occurred when try to find sandbox")
	}
	return &cri.PodSandboxStatusResponse{Status: sb.status}, nil
}

func (r runtimeService) ContainerStatus(_ context.Context, q *cri.ContainerStatusRequest) (*cri.ContainerStatusResponse, error) {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	c, err := find(r.s.scene.containerOf, q.GetContainerId())
	if err != nil {
		return nil, because(err, fmt.Sprintf("an error occurred when try to find container %q", q.GetContainerId()))
	}
	return &cri.ContainerStatusResponse{Status: c.status}, nil
}

// because puts a text before that of err and keeps its code.
func because(err error, text string) error {
	return status.Error(status.Code(err), text+": "+status.Convert(err).Message())
}
