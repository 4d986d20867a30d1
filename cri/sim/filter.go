package sim

import (
	"slices"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

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
