package cri

import (
	"context"
	"fmt"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	runtimev1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

// kubeletAPIVersion is what the kubelet sends with its Version call.
const kubeletAPIVersion = "0.1.0"

// Version returns the runtime's name and versions.
func (c *Client) Version(ctx context.Context) (pleg.Version, error) {
	return ask(ctx, c, call.Version, &runtimev1.VersionRequest{Version: kubeletAPIVersion}, (*converter).version)
}

// Status returns the runtime's conditions, in its order.
func (c *Client) Status(ctx context.Context) ([]pleg.Condition, error) {
	return ask(ctx, c, call.Status, &runtimev1.StatusRequest{}, (*converter).conditions)
}

// ListPodSandbox lists the sandboxes of all pods, or of the pod uid if it is not empty. It is the
// kubelet's call: one answer of 16 MiB at most. The streaming form (KEP-5825) has no such limit and
// is never called: no kubelet up to 1.37 calls it unless its alpha gate CRIListStreaming is on, and
// one form may hang or fail while the other works.
//
// The caller must not change what it gets. A sandbox with the bytes that it had in the last list of
// all pods is the same pointer. A list with exactly the entries of the last list of all pods is the
// same slice, and has the order of that list. Any other list has the runtime's order.
func (c *Client) ListPodSandbox(ctx context.Context, uid pleg.UID) ([]*pleg.ListedSandbox, error) {
	request := &runtimev1.ListPodSandboxRequest{} // the kubelet sends no filter for all
	if uid != "" {
		request.Filter = &runtimev1.PodSandboxFilter{LabelSelector: map[string]string{uidLabel: string(uid)}}
	}
	return ask(ctx, c, call.ListPodSandbox, request, c.sandboxes.reader(uid == ""))
}

// ListContainers lists containers as [Client.ListPodSandbox] lists sandboxes.
func (c *Client) ListContainers(ctx context.Context, uid pleg.UID) ([]*pleg.ListedContainer, error) {
	filter := &runtimev1.ContainerFilter{} // the kubelet sends an empty one for all
	if uid != "" {
		filter.LabelSelector = map[string]string{uidLabel: string(uid)}
	}
	return ask(ctx, c, call.ListContainers, &runtimev1.ListContainersRequest{Filter: filter}, c.containers.reader(uid == ""))
}

// PodSandboxStatus returns the runtime's full answer about the sandbox id. An answer that the
// kubelet refuses, since something is missing, is an error here too.
func (c *Client) PodSandboxStatus(ctx context.Context, id string) (pleg.SandboxStatus, error) {
	return ask(ctx, c, call.PodSandboxStatus, &runtimev1.PodSandboxStatusRequest{PodSandboxId: id}, (*converter).sandboxStatus)
}

// ContainerStatus returns the runtime's full answer about the container id, as
// [Client.PodSandboxStatus] does.
func (c *Client) ContainerStatus(ctx context.Context, id string) (pleg.ContainerStatus, error) {
	return ask(ctx, c, call.ContainerStatus, &runtimev1.ContainerStatusRequest{ContainerId: id}, (*converter).containerStatus)
}

// rawLimit is a size in bytes. Raw leaves the fields out that are not set if an answer is larger. A
// status has some KiB. Each empty part of it takes 2 bytes, and up to 200 as JSON.
const rawLimit = 64 << 10

// Raw returns the runtime's answer to PodSandboxStatus or ContainerStatus as JSON, with CRI's names
// and with fields that are not set, unless it is very large. Its texts are as the runtime wrote
// them, so it must not go to a terminal as it is. Raw returns an error for any other operation.
func (c *Client) Raw(ctx context.Context, op call.Operation, id string) ([]byte, error) {
	var request, answer proto.Message
	switch op {
	case call.PodSandboxStatus:
		request, answer = &runtimev1.PodSandboxStatusRequest{PodSandboxId: id}, &runtimev1.PodSandboxStatusResponse{}
	case call.ContainerStatus:
		request, answer = &runtimev1.ContainerStatusRequest{ContainerId: id}, &runtimev1.ContainerStatusResponse{}
	default:
		return nil, fmt.Errorf("raw answer of %v: only PodSandboxStatus and ContainerStatus have one", op)
	}
	asJSON := func(_ *converter, wire []byte) ([]byte, error) {
		if err := decode(wire, answer); err != nil {
			return nil, err
		}
		return protojson.MarshalOptions{EmitDefaultValues: len(wire) <= rawLimit}.Marshal(answer)
	}
	return ask(ctx, c, op, request, asJSON)
}
