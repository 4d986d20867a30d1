package cri

import (
	"context"

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
