package cri

import (
	"context"
	"slices"

	runtimev1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/plegtop/plegtop/engine/pleg"
)

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

func (l *sandboxList) add(sandboxes []*runtimev1.PodSandbox) {
	l.rows = slices.Grow(l.rows, len(sandboxes))
	for _, s := range sandboxes {
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

func (l *containerList) add(containers []*runtimev1.Container) {
	l.rows = slices.Grow(l.rows, len(containers))
	for _, c := range containers {
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
