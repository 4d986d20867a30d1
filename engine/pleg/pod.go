package pleg

import (
	"slices"
	"time"
)

// A UID names a pod for its whole life. A pod that is deleted and made again
// under the same name has another UID.
type UID string

// A PodRef says which pod something belongs to: by UID for the program, by
// namespace and name for people.
type PodRef struct {
	UID       UID
	Namespace string
	Name      string
}

// String returns namespace/name, or the UID where the runtime gave no name.
func (r PodRef) String() string {
	if r.Name == "" {
		return string(r.UID)
	}
	return r.Namespace + "/" + r.Name
}

// A Sandbox is a pod sandbox as one list call showed it.
type Sandbox struct {
	ID        string
	State     State
	Attempt   uint32    // how many sandboxes of this pod came before
	CreatedAt time.Time // by the runtime's clock; zero if it did not say
}

// A Container is a container as one list call showed it.
type Container struct {
	ID        string
	Name      string
	State     State
	Attempt   uint32    // how many containers of this name came before: its restarts
	CreatedAt time.Time // by the runtime's clock; zero if it did not say
	Image     string
	SandboxID string // of the sandbox that it was made in; empty if the runtime did not say
}

// A Pod is a pod as one relist saw it. Containers and sandboxes keep the order
// of the runtime's lists, because the order of a pod's events follows it.
// Once handed to a [Core] a Pod is never changed again, by anyone.
type Pod struct {
	PodRef
	Sandboxes  []Sandbox
	Containers []Container
	ListedAt   time.Time // taken before the list calls that returned the pod
}

// size returns how many ids a pod lists; 0 for nil.
func (p *Pod) size() int {
	if p == nil {
		return 0
	}
	return len(p.Containers) + len(p.Sandboxes)
}

// clone returns a copy that shares no list with p. All pods of one list lie in
// a few common arrays; a record that kept a part of them for as long as its pod
// stays quiet would keep the whole list. A pod with one sandbox, as nearly all
// have, takes two allocations.
func (p *Pod) clone() *Pod {
	q := &struct {
		Pod
		one [1]Sandbox
	}{Pod: *p}
	q.Sandboxes = append(q.one[:0], p.Sandboxes...)
	q.Containers = slices.Clone(p.Containers)
	return &q.Pod
}

// A ListedSandbox is one line of the runtime's sandbox list.
type ListedSandbox struct {
	Pod PodRef
	Sandbox
}

// A ListedContainer is one line of the runtime's container list.
type ListedContainer struct {
	Pod PodRef
	Container
}
