package cri

import (
	"context"
	"net/netip"

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

// unusableSandbox says what the status lacks that the kubelet insists on, and
// fails the inspection for, in its words; empty if nothing. A nil status lacks itself.
// (cri-client 1.25 to 1.37: verifySandboxStatus, verifyContainerStatus, which add the
// metadata that they have.)
func unusableSandbox(s *runtimev1.PodSandboxStatus) string {
	m := s.GetMetadata()
	switch {
	case s == nil:
		return "the answer has no status"
	case s.Id == "":
		return "status.Id is not set"
	case m == nil:
		return "status.Metadata is not set"
	case m.Name == "" || m.Namespace == "" || m.Uid == "":
		return "metadata.Name, metadata.Namespace or metadata.Uid is not in metadata"
	case s.CreatedAt == 0:
		return "status.CreatedAt is not set"
	}
	return ""
}

// unusableContainer is [unusableSandbox] for a container.
func unusableContainer(s *runtimev1.ContainerStatus) string {
	switch {
	case s == nil:
		return "the answer has no status"
	case s.Id == "":
		return "status.Id is not set"
	case s.Metadata == nil:
		return "status.Metadata is not set"
	case s.Metadata.Name == "":
		return "metadata.Name is not in metadata"
	case s.CreatedAt == 0:
		return "status.CreatedAt is not set"
	case s.Image.GetImage() == "":
		return "status.Image is not set"
	case s.ImageRef == "":
		return "status.ImageRef is not set"
	}
	return ""
}

func convertSandboxStatus(s *runtimev1.PodSandboxStatus) (pleg.SandboxStatus, pleg.Anomalies) {
	var m sanitizer
	status := pleg.SandboxStatus{
		ID:          m.text(s.GetId()),
		Pod:         m.pod(s.GetMetadata()),
		State:       m.sandboxState(s.GetState()),
		Attempt:     s.GetMetadata().GetAttempt(),
		CreatedAt:   m.time(s.GetCreatedAt()),
		IPs:         m.ips(s.GetNetwork()),
		HostNetwork: s.GetLinux().GetNamespaces().GetOptions().GetNetwork() == runtimev1.NamespaceMode_NODE,
		Handler:     m.text(s.GetRuntimeHandler()),
	}
	return status, m.Anomalies
}

// ips returns the primary address and then the others. Like the kubelet it
// returns none at all if one of them is no address.
func (m *sanitizer) ips(n *runtimev1.PodSandboxNetworkStatus) []string {
	var texts []string
	if n.GetIp() != "" { // empty on the host's network
		texts = append(texts, n.GetIp())
	}
	for _, ip := range n.GetAdditionalIps() {
		texts = append(texts, ip.GetIp())
	}
	for _, text := range texts {
		if ip, err := netip.ParseAddr(text); err != nil || ip.Zone() != "" {
			m.BadText++
			return nil
		}
	}
	return texts
}

func convertContainerStatus(s *runtimev1.ContainerStatus) (pleg.ContainerStatus, pleg.Anomalies) {
	var m sanitizer
	status := pleg.ContainerStatus{
		ID:         m.text(s.GetId()),
		Name:       m.text(containerName(s.GetLabels(), s.GetMetadata())),
		State:      m.containerState(s.GetState()),
		Attempt:    s.GetMetadata().GetAttempt(),
		Image:      m.image(s.GetImage()),
		ExitCode:   s.GetExitCode(),
		Reason:     m.text(s.GetReason()),
		Message:    m.text(s.GetMessage()),
		CreatedAt:  m.time(s.GetCreatedAt()),
		StartedAt:  m.time(s.GetStartedAt()),
		FinishedAt: m.time(s.GetFinishedAt()),
	}
	return status, m.Anomalies
}

func convertVersion(v *runtimev1.VersionResponse) (pleg.Version, pleg.Anomalies) {
	var m sanitizer
	version := pleg.Version{
		RuntimeName:    m.text(v.GetRuntimeName()),
		RuntimeVersion: m.text(v.GetRuntimeVersion()),
		APIVersion:     m.text(v.GetRuntimeApiVersion()),
	}
	return version, m.Anomalies
}

// convertConditions keeps the runtime's order. A nil condition counts as one
// without metadata and is left out.
func convertConditions(conditions []*runtimev1.RuntimeCondition) ([]pleg.Condition, pleg.Anomalies) {
	var m sanitizer
	var kept []pleg.Condition
	for _, c := range conditions {
		if c == nil {
			m.NoMetadata++
			continue
		}
		kept = append(kept, pleg.Condition{
			Type:    m.text(c.Type),
			Status:  c.Status,
			Reason:  m.text(c.Reason),
			Message: m.text(c.Message),
		})
	}
	return kept, m.Anomalies
}
