package cri

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
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
// the same slice. Another slice may have the same rows: where an entry stands twice, and
// where something had to be left out or changed.
func (c *Client) ListPodSandbox(ctx context.Context, uid pleg.UID) ([]pleg.ListedSandbox, error) {
	k := c.sandboxes
	if uid != "" {
		k = newKnown(readSandbox)
	}
	return list(ctx, c, runtimev1.RuntimeService_ListPodSandbox_FullMethodName, &runtimev1.ListPodSandboxRequest{Filter: sandboxFilter(uid)}, k)
}

// ListContainers lists containers as [Client.ListPodSandbox] lists sandboxes. Here,
// too, the caller must not change the rows of all pods: where nothing has changed since the
// last list, whatever the order in which the runtime listed it, they are those returned last.
func (c *Client) ListContainers(ctx context.Context, uid pleg.UID) ([]pleg.ListedContainer, error) {
	k := c.containers
	if uid != "" {
		k = newKnown(readContainer)
	}
	return list(ctx, c, runtimev1.RuntimeService_ListContainers_FullMethodName, &runtimev1.ListContainersRequest{Filter: containerFilter(uid)}, k)
}

// list returns nothing but the error of a call that fails: half a list would make the rest of
// the node look removed.
func list[T any](ctx context.Context, c *Client, method string, request proto.Message, k *known[T]) ([]T, error) {
	answer := listed[T]{known: k}
	if err := c.conn.Invoke(ctx, method, request, &answer, grpc.StaticMethod()); err != nil {
		return nil, err
	}
	note(ctx, answer.found)
	return answer.rows, nil
}

// A listed is the answer to a list.
type listed[T any] struct {
	known *known[T]
	rows  []T
	found pleg.Anomalies
}

func (l *listed[T]) decode(wire []byte) (err error) {
	l.rows, l.found, err = l.known.list(wire)
	return err
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

func readSandbox(m *sanitizer, entry []byte) (row pleg.ListedSandbox, ok bool, err error) {
	var s runtimev1.PodSandbox
	if err := proto.Unmarshal(entry, &s); err != nil {
		return row, false, err
	}
	row, ok = m.listedSandbox(&s)
	return row, ok, nil
}

// listedSandbox returns the row of a sandbox. One that the kubelet can't use is left out, and
// counted in NoMetadata, NoID or NoPodUID.
func (m *sanitizer) listedSandbox(s *runtimev1.PodSandbox) (row pleg.ListedSandbox, ok bool) {
	switch {
	case s.GetMetadata() == nil:
		m.NoMetadata++
		return row, false
	case s.Id == "":
		m.NoID++
		return row, false
	case s.Metadata.Uid == "":
		m.NoPodUID++
		return row, false
	}
	return pleg.ListedSandbox{
		Pod: m.pod(s.Metadata),
		Sandbox: pleg.Sandbox{
			ID:        m.text(s.Id),
			State:     m.sandboxState(s.State),
			Attempt:   s.Metadata.Attempt,
			CreatedAt: m.time(s.CreatedAt),
		},
	}, true
}

func readContainer(m *sanitizer, entry []byte) (row pleg.ListedContainer, ok bool, err error) {
	var c runtimev1.Container
	if err := proto.Unmarshal(entry, &c); err != nil {
		return row, false, err
	}
	row, ok = m.listedContainer(&c)
	return row, ok, nil
}

// listedContainer does for a container what [sanitizer.listedSandbox] does for a sandbox. What
// it leaves out is counted in NoMetadata, NoID, NoImage or NoPodUID.
func (m *sanitizer) listedContainer(c *runtimev1.Container) (row pleg.ListedContainer, ok bool) {
	switch {
	case c.GetMetadata() == nil:
		m.NoMetadata++
		return row, false
	case c.Id == "":
		m.NoID++
		return row, false
	case c.Image == nil:
		m.NoImage++
		return row, false
	case c.Labels[uidLabel] == "":
		m.NoPodUID++
		return row, false
	}
	return pleg.ListedContainer{
		Pod: pleg.PodRef{
			UID:       pleg.UID(m.text(c.Labels[uidLabel])),
			Namespace: m.text(c.Labels[namespaceLabel]),
			Name:      m.text(c.Labels[nameLabel]),
		},
		Container: pleg.Container{
			ID:        m.text(c.Id),
			Name:      m.text(containerName(c.Labels, c.Metadata)),
			State:     m.containerState(c.State),
			Attempt:   c.Metadata.Attempt,
			CreatedAt: m.time(c.CreatedAt),
			Image:     m.image(c.Image),
			SandboxID: m.text(c.PodSandboxId),
		},
	}, true
}

// containerName returns the name that the pod gives its container. A container
// that the kubelet did not make may lack the label.
func containerName(labels map[string]string, m *runtimev1.ContainerMetadata) string {
	if name := labels[containerLabel]; name != "" {
		return name
	}
	return m.GetName()
}
