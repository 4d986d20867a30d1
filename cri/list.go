package cri

import (
	"context"
	"slices"

	"google.golang.org/grpc"
	runtimev1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/plegtop/plegtop/engine/pleg"
)

// uidLabel is the label by which the kubelet asks for one pod's sandboxes and
// containers.
const uidLabel = "io.kubernetes.pod.uid"

// ListPodSandbox lists the sandboxes of all pods, or of the pod uid if it is
// not empty, in the runtime's order. It is the kubelet's call: one answer, of
// 16 MiB at most. The streaming form (KEP-5825), which has no such limit, is
// never called: no kubelet calls it unless its gate CRIListStreaming is switched
// on, which is alpha and off up to 1.37, and where one of the two forms hangs
// or fails the other may not.
//
// The caller must not change the rows of all pods: where nothing has changed since the last
// list, whatever the order in which the runtime listed it, the rows are those returned last,
// the same slice. Another slice may have the same rows: after a list that failed, beside
// one made at the same time, and where something had to be left out or changed.
func (c *Client) ListPodSandbox(ctx context.Context, uid pleg.UID) (rows []pleg.ListedSandbox, err error) {
	var l sandboxList
	if uid == "" {
		l.known = c.knownSandboxes.take()
		defer func() { c.knownSandboxes.give(l.known, rows) }()
	}
	err = c.conn.Invoke(ctx, runtimev1.RuntimeService_ListPodSandbox_FullMethodName,
		&runtimev1.ListPodSandboxRequest{Filter: sandboxFilter(uid)}, &l, grpc.StaticMethod())
	return l.result(ctx, err)
}

// ListContainers lists containers as [Client.ListPodSandbox] lists sandboxes. Here,
// too, the caller must not change the rows of all pods: where nothing has changed since the
// last list, whatever the order in which the runtime listed it, they are those returned last.
func (c *Client) ListContainers(ctx context.Context, uid pleg.UID) (rows []pleg.ListedContainer, err error) {
	var l containerList
	if uid == "" {
		l.known = c.knownContainers.take()
		defer func() { c.knownContainers.give(l.known, rows) }()
	}
	err = c.conn.Invoke(ctx, runtimev1.RuntimeService_ListContainers_FullMethodName,
		&runtimev1.ListContainersRequest{Filter: containerFilter(uid)}, &l, grpc.StaticMethod())
	return l.result(ctx, err)
}

// The filters are the kubelet's to the letter: none for all sandboxes, an empty
// one for all containers.

func sandboxFilter(uid pleg.UID) *runtimev1.PodSandboxFilter {
	if uid == "" {
		return nil
	}
	return &runtimev1.PodSandboxFilter{LabelSelector: map[string]string{uidLabel: string(uid)}}
}

func containerFilter(uid pleg.UID) *runtimev1.ContainerFilter {
	if uid == "" {
		return &runtimev1.ContainerFilter{}
	}
	return &runtimev1.ContainerFilter{LabelSelector: map[string]string{uidLabel: string(uid)}}
}

// The labels by which the kubelet knows its containers again. No other label
// is ever looked at or kept.
const (
	nameLabel      = "io.kubernetes.pod.name"
	namespaceLabel = "io.kubernetes.pod.namespace"
	containerLabel = "io.kubernetes.container.name"
)

// A list is what was gathered of a list.
type list[T any] struct {
	sanitizer
	rows  []T
	room  int       // how many rows there may be
	known *known[T] // nil for a list of one pod
}

// result returns what was gathered, or nothing but err if that is not nil: half
// a list would make the rest of the node look removed.
func (l *list[T]) result(ctx context.Context, err error) ([]T, error) {
	if err != nil {
		return nil, err
	}
	note(ctx, l.Anomalies)
	return slices.Clip(l.rows), nil // so that an append writes nothing behind rows that are shared
}

// A sandboxList gathers the lines of a sandbox list. A line is kept, or counted in NoMetadata, NoID or NoPodUID.
type sandboxList struct{ list[pleg.ListedSandbox] }

func (l *sandboxList) add(s *runtimev1.PodSandbox) {
	switch {
	case s.GetMetadata() == nil:
		l.NoMetadata++
	case s.Id == "":
		l.NoID++
	case s.Metadata.Uid == "":
		l.NoPodUID++
	default:
		l.rows = append(l.rows, l.sandbox(s))
	}
}

func (l *sandboxList) sandbox(s *runtimev1.PodSandbox) pleg.ListedSandbox {
	return pleg.ListedSandbox{
		Pod: l.pod(s.Metadata),
		Sandbox: pleg.Sandbox{
			ID:        l.text(s.Id),
			State:     l.sandboxState(s.State),
			Attempt:   s.Metadata.Attempt,
			CreatedAt: l.time(s.CreatedAt),
		},
	}
}

// A containerList does for containers what a [sandboxList] does for sandboxes.
// What it leaves out is counted in NoMetadata, NoID, NoImage or NoPodUID.
type containerList struct{ list[pleg.ListedContainer] }

func (l *containerList) add(c *runtimev1.Container) {
	switch {
	case c.GetMetadata() == nil:
		l.NoMetadata++
	case c.Id == "":
		l.NoID++
	case c.Image == nil:
		l.NoImage++
	case c.Labels[uidLabel] == "":
		l.NoPodUID++
	default:
		l.rows = append(l.rows, l.container(c))
	}
}

func (l *containerList) container(c *runtimev1.Container) pleg.ListedContainer {
	return pleg.ListedContainer{
		Pod: pleg.PodRef{
			UID:       pleg.UID(l.text(c.Labels[uidLabel])),
			Namespace: l.text(c.Labels[namespaceLabel]),
			Name:      l.text(c.Labels[nameLabel]),
		},
		Container: pleg.Container{
			ID:        l.text(c.Id),
			Name:      l.text(containerName(c.Labels, c.Metadata)),
			State:     l.containerState(c.State),
			Attempt:   c.Metadata.Attempt,
			CreatedAt: l.time(c.CreatedAt),
			Image:     l.image(c.Image),
			SandboxID: l.text(c.PodSandboxId),
		},
	}
}

// containerName returns the name that the pod gives its container. A container
// that the kubelet did not make may lack the label.
func containerName(labels map[string]string, m *runtimev1.ContainerMetadata) string {
	if name := labels[containerLabel]; name != "" {
		return name
	}
	return m.GetName()
}
