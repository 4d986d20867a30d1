package cri

import (
	"context"
	"errors"
	"io"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	runtimev1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/plegtop/plegtop/engine/pleg"
)

// uidLabel is the label by which the kubelet asks for one pod's sandboxes and
// containers.
const uidLabel = "io.kubernetes.pod.uid"

// ListPodSandbox lists the sandboxes of all pods, or of the pod uid if it is
// not empty, in the runtime's order. All are asked for by the streaming form
// where the runtime has one, since that has no limit on the answer's size.
func (c *Client) ListPodSandbox(ctx context.Context, uid pleg.UID) (rows []pleg.ListedSandbox, err error) {
	var l sandboxList
	if uid == "" {
		k := c.knownSandboxes.take()
		defer func() { c.knownSandboxes.give(k, rows) }()
		l.known = k
		done, err := c.sandboxes.try(ctx, func(o grpc.CallOption) error {
			return c.stream(ctx, streamedSandboxes, &runtimev1.StreamPodSandboxesRequest{}, &l, o)
		})
		if done {
			return l.result(ctx, err)
		}
		l = sandboxList{list[pleg.ListedSandbox]{known: k}}
	}
	err = c.conn.Invoke(ctx, runtimev1.RuntimeService_ListPodSandbox_FullMethodName,
		&runtimev1.ListPodSandboxRequest{Filter: sandboxFilter(uid)}, &l, grpc.StaticMethod())
	return l.result(ctx, err)
}

// ListContainers lists containers as [Client.ListPodSandbox] lists sandboxes.
func (c *Client) ListContainers(ctx context.Context, uid pleg.UID) (rows []pleg.ListedContainer, err error) {
	var l containerList
	if uid == "" {
		k := c.knownContainers.take()
		defer func() { c.knownContainers.give(k, rows) }()
		l.known = k
		done, err := c.containers.try(ctx, func(o grpc.CallOption) error {
			return c.stream(ctx, streamedContainers, &runtimev1.StreamContainersRequest{Filter: containerFilter("")}, &l, o)
		})
		if done {
			return l.result(ctx, err)
		}
		l = containerList{list[pleg.ListedContainer]{known: k}}
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

const (
	streamedSandboxes  = runtimev1.RuntimeService_StreamPodSandboxes_FullMethodName
	streamedContainers = runtimev1.RuntimeService_StreamContainers_FullMethodName
)

// stream makes a streaming list call. Every part of the answer is added to list,
// until the runtime ends the stream or the context does.
func (c *Client) stream(ctx context.Context, method string, request proto.Message, list decoder, o grpc.CallOption) error {
	s, err := c.ask(ctx, method, request, o)
	if err != nil {
		return err
	}
	for {
		switch err := s.RecvMsg(list); {
		case err == nil:
		case errors.Is(err, io.EOF):
			return nil
		default:
			return err
		}
	}
}

// ask makes a call whose answer is a stream.
func (c *Client) ask(ctx context.Context, method string, request proto.Message, o ...grpc.CallOption) (grpc.ClientStream, error) {
	s, err := c.conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, method, append(o, grpc.StaticMethod())...)
	if err != nil {
		return nil, err
	}
	if err := s.SendMsg(request); err != nil && !errors.Is(err, io.EOF) { // which says: it is over, see RecvMsg
		return nil, err
	}
	return s, s.CloseSend()
}
