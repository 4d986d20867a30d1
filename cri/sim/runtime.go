package sim

import (
	"context"
	"fmt"
	"slices"
	"strings"

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

// containerd keeps an index of ids in which every unambiguous prefix finds its
// object. ContainerStatus, PodSandboxStatus and the filters of ListContainers
// go through it. The filter of ListPodSandbox does not: there every sandbox
// whose id has the prefix is listed.

// find returns the one of all whose id is id, else the only one whose id begins
// with it. The errors are worded as containerd's.
func find[T any](all map[string]T, id string) (T, error) {
	var found, none T
	if id == "" {
		return none, status.Error(codes.Unknown, "Prefix can't be empty")
	}
	if one, ok := all[id]; ok {
		return one, nil
	}
	n := 0
	for full, one := range all {
		if strings.HasPrefix(full, id) {
			found, n = one, n+1
		}
	}
	switch n {
	case 0:
		return none, status.Error(codes.NotFound, "not found")
	case 1:
		return found, nil
	}
	return none, status.Error(codes.Unknown, "multiple IDs found with provided prefix: "+id)
}

// matchingSandboxes returns the sandboxes that pass f, which may be nil.
func (w *world) matchingSandboxes(f *cri.PodSandboxFilter) []*sandbox {
	return slices.DeleteFunc(slices.Clone(w.sandboxes), func(s *sandbox) bool {
		return !strings.HasPrefix(s.status.Id, f.GetId()) ||
			f.GetState() != nil && f.GetState().GetState() != s.status.State ||
			!selects(f.GetLabelSelector(), s.status.Labels)
	})
}

// matchingContainers returns the containers that pass f, which may be nil.
func (w *world) matchingContainers(f *cri.ContainerFilter) []*container {
	id, in := f.GetId(), f.GetPodSandboxId()
	if c, err := find(w.containerOf, id); err == nil {
		id = c.status.Id
	}
	if s, err := find(w.sandboxOf, in); err == nil {
		in = s.status.Id
	}
	return slices.DeleteFunc(slices.Clone(w.containers), func(c *container) bool {
		return id != "" && c.status.Id != id || in != "" && c.sandbox.status.Id != in ||
			f.GetState() != nil && f.GetState().GetState() != c.status.State ||
			!selects(f.GetLabelSelector(), c.status.Labels)
	})
}

// selects reports whether labels has all that selector asks for.
func selects(selector, labels map[string]string) bool {
	for k, want := range selector {
		if got, ok := labels[k]; !ok || got != want {
			return false
		}
	}
	return true
}

func (sn *scene) conditions() []*cri.RuntimeCondition {
	ready := func(what string, bad bool, reason, message string) *cri.RuntimeCondition {
		if bad {
			return &cri.RuntimeCondition{Type: what, Reason: reason, Message: message}
		}
		return &cri.RuntimeCondition{Type: what, Status: true}
	}
	return []*cri.RuntimeCondition{
		ready("RuntimeReady", sn.runtimeBad, "ContainerdNotReady", "containerd is not done with loading its plugins"),
		ready("NetworkReady", sn.networkBad, "NetworkPluginNotReady", "Network plugin returns error: cni plugin not initialized"),
		{Type: "ContainerdHasNoDeprecationWarnings", Status: true},
	}
}

func (r runtimeService) Version(context.Context, *cri.VersionRequest) (*cri.VersionResponse, error) {
	return &cri.VersionResponse{
		Version: "0.1.0", RuntimeName: "containerd", RuntimeVersion: "v2.4.2", RuntimeApiVersion: "v1",
	}, nil
}

func (r runtimeService) Status(context.Context, *cri.StatusRequest) (*cri.StatusResponse, error) {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	return &cri.StatusResponse{Status: &cri.RuntimeStatus{Conditions: r.s.scene.conditions()}}, nil
}
