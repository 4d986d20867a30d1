package pleg

import (
	"slices"
	"time"
)

// A SandboxStatus is the runtime's full answer about one sandbox.
type SandboxStatus struct {
	ID          string
	Pod         PodRef
	State       State // Running if ready, Exited if not
	Attempt     uint32
	CreatedAt   time.Time
	IPs         []string // primary first; empty for a pod on the host's network
	HostNetwork bool     // it has no network of its own, and so no address
	Handler     string   // the runtime handler, as a RuntimeClass names it; empty for the default
}

// A ContainerStatus is the runtime's full answer about one container. Times are by the runtime's
// clock, and zero where it gave none.
type ContainerStatus struct {
	ID         string
	Name       string
	State      State
	Attempt    uint32
	Image      string
	ExitCode   int32 // means something only when State is Exited
	Reason     string
	Message    string
	CreatedAt  time.Time
	StartedAt  time.Time
	FinishedAt time.Time
}

// A PodStatus is what one inspection of a pod found. Sandboxes and containers are sorted by
// creation, newest first, as the kubelet keeps them. It never changes once it is in the [Cache].
type PodStatus struct {
	PodRef
	IPs        []string // of the newest sandbox, if that is ready
	Sandboxes  []SandboxStatus
	Containers []ContainerStatus
}

// Compose makes a pod's status of the answers about its sandboxes and containers. It sorts both
// newest first; answers of one age keep their order. The pod's addresses are those of the newest
// sandbox, and only if that one is ready. Compose sorts the slices in place and keeps them.
func Compose(ref PodRef, sandboxes []SandboxStatus, containers []ContainerStatus) *PodStatus {
	slices.SortStableFunc(sandboxes, func(a, b SandboxStatus) int { return b.CreatedAt.Compare(a.CreatedAt) })
	slices.SortStableFunc(containers, func(a, b ContainerStatus) int { return b.CreatedAt.Compare(a.CreatedAt) })
	s := &PodStatus{PodRef: ref, Sandboxes: sandboxes, Containers: containers}
	if len(sandboxes) > 0 && sandboxes[0].State == Running {
		s.IPs = sandboxes[0].IPs
	}
	return s
}

// HasSandbox reports whether the status has a sandbox.
func (s *PodStatus) HasSandbox(id string) bool {
	return slices.ContainsFunc(s.Sandboxes, func(sb SandboxStatus) bool { return sb.ID == id })
}

// Weight returns how much memory s takes: 1 for each container and sandbox, and 1 for each whole
// KiB of all their texts together.
func (s *PodStatus) Weight() int {
	texts := 0
	for i := range s.Sandboxes {
		sb := &s.Sandboxes[i]
		texts += len(sb.ID) + len(sb.Handler) + len(sb.Pod.UID) + len(sb.Pod.Namespace) + len(sb.Pod.Name)
		for _, ip := range sb.IPs {
			texts += len(ip)
		}
	}
	for i := range s.Containers {
		c := &s.Containers[i]
		texts += len(c.ID) + len(c.Name) + len(c.Image) + len(c.Reason) + len(c.Message)
	}
	return len(s.Sandboxes) + len(s.Containers) + texts>>10
}

// A Lookup finds the containers of one status by their ids. If two ids are equal, the last one
// counts, as for the kubelet's exit codes. A Lookup has an index if there are many containers.
// It is safe for concurrent use, because a status never changes.
type Lookup struct {
	few  []ContainerStatus
	many map[string]*ContainerStatus // nil where there are few
}

// fewIDs is how many containers are searched one by one: an index of them costs more than it saves.
const fewIDs = 64

// Lookup returns a Lookup in s. If s is nil, it finds nothing.
func (s *PodStatus) Lookup() Lookup {
	if s == nil {
		return Lookup{}
	}
	if len(s.Containers) <= fewIDs {
		return Lookup{few: s.Containers}
	}
	many := make(map[string]*ContainerStatus, len(s.Containers))
	for i := range s.Containers {
		many[s.Containers[i].ID] = &s.Containers[i]
	}
	return Lookup{many: many}
}

// Container returns the status of the container with that id, nil if there is none. The caller
// must not change it.
func (l Lookup) Container(id string) *ContainerStatus {
	for i := len(l.few) - 1; i >= 0; i-- {
		if l.few[i].ID == id {
			return &l.few[i]
		}
	}
	return l.many[id]
}

// A Version is the runtime's answer to the call Version.
type Version struct {
	RuntimeName    string `line:"name,raw"` // "containerd", "cri-o"
	RuntimeVersion string `line:"version,raw"`
	APIVersion     string `line:"apiVersion,raw"` // of CRI: "v1"
}

// A Condition is the runtime's own verdict on itself, such as RuntimeReady or NetworkReady.
type Condition struct {
	Type    string `line:"type"`
	Status  bool   `line:"status"`
	Reason  string `line:"reason"`
	Message string `line:"message"`
}
