package cri

import (
	"context"

	"google.golang.org/grpc/codes"
	runtimev1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

// PodSandboxStatus returns the runtime's full answer about the sandbox id, and
// what of it was mended. An answer that the kubelet refuses for what it lacks
// is an error here too: see [unusableSandbox].
func (c *Client) PodSandboxStatus(ctx context.Context, id string) (pleg.SandboxStatus, pleg.Anomalies, error) {
	answer, err := c.sandboxStatus(ctx, id)
	if err != nil {
		return pleg.SandboxStatus{}, pleg.Anomalies{}, err
	}
	if lack := unusableSandbox(answer.GetStatus()); lack != "" {
		return pleg.SandboxStatus{}, pleg.Anomalies{}, unusable(call.PodSandboxStatus, lack)
	}
	s, mended := convertSandboxStatus(answer.GetStatus())
	return s, mended, nil
}

// ContainerStatus returns the runtime's full answer about the container id, as
// [Client.PodSandboxStatus] does.
func (c *Client) ContainerStatus(ctx context.Context, id string) (pleg.ContainerStatus, pleg.Anomalies, error) {
	answer, err := c.containerStatus(ctx, id)
	if err != nil {
		return pleg.ContainerStatus{}, pleg.Anomalies{}, err
	}
	if lack := unusableContainer(answer.GetStatus()); lack != "" {
		return pleg.ContainerStatus{}, pleg.Anomalies{}, unusable(call.ContainerStatus, lack)
	}
	s, mended := convertContainerStatus(answer.GetStatus())
	return s, mended, nil
}

// Status returns the runtime's verdicts on itself, in its order, and what of
// them was mended or left out.
func (c *Client) Status(ctx context.Context) ([]pleg.Condition, pleg.Anomalies, error) {
	answer, err := c.rpc.Status(ctx, &runtimev1.StatusRequest{Verbose: false})
	if err != nil {
		return nil, pleg.Anomalies{}, err
	}
	if answer.GetStatus() == nil {
		return nil, pleg.Anomalies{}, unusable(call.Status, "the answer has no status")
	}
	conditions, mended := convertConditions(answer.GetStatus().GetConditions())
	return conditions, mended, nil
}

func (c *Client) sandboxStatus(ctx context.Context, id string) (*runtimev1.PodSandboxStatusResponse, error) {
	return c.rpc.PodSandboxStatus(ctx, &runtimev1.PodSandboxStatusRequest{PodSandboxId: id, Verbose: false})
}

func (c *Client) containerStatus(ctx context.Context, id string) (*runtimev1.ContainerStatusResponse, error) {
	return c.rpc.ContainerStatus(ctx, &runtimev1.ContainerStatusRequest{ContainerId: id, Verbose: false})
}

// unusable is the error for an answer that came and is of no use. Its code is
// the one that gRPC itself gives to an answer which it can't decode.
func unusable(op call.Operation, lack string) error {
	return &call.Error{Op: op, Kind: call.ErrOther, Code: codes.Internal.String(), Text: lack}
}
