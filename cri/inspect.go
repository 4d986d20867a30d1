package cri

import (
	"context"

	"google.golang.org/grpc"
	runtimev1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

// PodSandboxStatus returns the runtime's full answer about the sandbox id.
// One that the kubelet refuses for what it lacks is an error here too: see
// [unusableSandbox].
func (c *Client) PodSandboxStatus(ctx context.Context, id string) (pleg.SandboxStatus, error) {
	answer, err := c.sandboxStatus(ctx, id)
	if err != nil {
		return pleg.SandboxStatus{}, err
	}
	if lack := unusableSandbox(answer.GetStatus()); lack != "" {
		return pleg.SandboxStatus{}, unusable(call.PodSandboxStatus, lack)
	}
	s, found := convertSandboxStatus(answer.GetStatus())
	note(ctx, found)
	return s, nil
}

// ContainerStatus returns the runtime's full answer about the container id, as
// [Client.PodSandboxStatus] does.
func (c *Client) ContainerStatus(ctx context.Context, id string) (pleg.ContainerStatus, error) {
	answer, err := c.containerStatus(ctx, id)
	if err != nil {
		return pleg.ContainerStatus{}, err
	}
	if lack := unusableContainer(answer.GetStatus()); lack != "" {
		return pleg.ContainerStatus{}, unusable(call.ContainerStatus, lack)
	}
	s, found := convertContainerStatus(answer.GetStatus())
	note(ctx, found)
	return s, nil
}

// Status returns the runtime's verdicts on itself, in its order.
func (c *Client) Status(ctx context.Context) ([]pleg.Condition, error) {
	answer, err := c.rpc.Status(ctx, &runtimev1.StatusRequest{Verbose: false})
	if err != nil {
		return nil, err
	}
	if answer.GetStatus() == nil {
		return nil, unusable(call.Status, "the answer has no status")
	}
	conditions, found := convertConditions(answer.GetStatus().GetConditions())
	note(ctx, found)
	return conditions, nil
}

func (c *Client) sandboxStatus(ctx context.Context, id string, o ...grpc.CallOption) (*runtimev1.PodSandboxStatusResponse, error) {
	return c.rpc.PodSandboxStatus(ctx, &runtimev1.PodSandboxStatusRequest{PodSandboxId: id, Verbose: false}, o...)
}

func (c *Client) containerStatus(ctx context.Context, id string, o ...grpc.CallOption) (*runtimev1.ContainerStatusResponse, error) {
	return c.rpc.ContainerStatus(ctx, &runtimev1.ContainerStatusRequest{ContainerId: id, Verbose: false}, o...)
}

// unusable is the error for an answer that came and is of no use. It has no code, since
// the runtime sent none.
func unusable(op call.Operation, lack string) error {
	return &call.Error{Op: op, Kind: call.ErrOther, Text: lack}
}
