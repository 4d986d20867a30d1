package record

import (
	"time"

	"google.golang.org/protobuf/proto"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/plegtop/plegtop/engine/pleg"
)

// The kubelet's labels, which say whose a container is.
const (
	uidLabel       = "io.kubernetes.pod.uid"
	namespaceLabel = "io.kubernetes.pod.namespace"
	nameLabel      = "io.kubernetes.pod.name"
	containerLabel = "io.kubernetes.container.name"
)

// badState is a state that CRI does not know, for one that plegtop took as unknown.
const badState = 99

// deterministic writes equal messages as equal bytes.
var deterministic = proto.MarshalOptions{Deterministic: true}

// message returns a message as bytes, never nil. It fails only for a text that is not UTF-8; the
// client lets none through.
func message(m proto.Message) ([]byte, error) {
	return deterministic.MarshalAppend([]byte{}, m)
}

func sandboxMessage(s *pleg.ListedSandbox) *cri.PodSandbox {
	return &cri.PodSandbox{Id: s.ID, Metadata: podMessage(s.Pod, s.Attempt), State: sandboxState(s.State), CreatedAt: nanoseconds(s.CreatedAt)}
}

func sandboxOf(m *cri.PodSandbox) *pleg.ListedSandbox {
	return &pleg.ListedSandbox{Pod: podOf(m.Metadata), Sandbox: pleg.Sandbox{
		ID: m.Id, State: stateOfSandbox(m.State), Attempt: m.Metadata.GetAttempt(), CreatedAt: moment(m.CreatedAt),
	}}
}

func containerMessage(c *pleg.ListedContainer) *cri.Container {
	return &cri.Container{
		Id: c.ID, PodSandboxId: c.SandboxID, Metadata: &cri.ContainerMetadata{Name: c.Name, Attempt: c.Attempt},
		Image: &cri.ImageSpec{Image: c.Image}, State: containerState(c.State), CreatedAt: nanoseconds(c.CreatedAt),
		Labels: map[string]string{uidLabel: string(c.Pod.UID), namespaceLabel: c.Pod.Namespace, nameLabel: c.Pod.Name, containerLabel: c.Name},
	}
}

func containerOf(m *cri.Container) *pleg.ListedContainer {
	return &pleg.ListedContainer{
		Pod: pleg.PodRef{UID: pleg.UID(m.Labels[uidLabel]), Namespace: m.Labels[namespaceLabel], Name: m.Labels[nameLabel]},
		Container: pleg.Container{
			ID: m.Id, Name: m.Labels[containerLabel], State: stateOfContainer(m.State), Attempt: m.Metadata.GetAttempt(),
			CreatedAt: moment(m.CreatedAt), Image: m.Image.GetImage(), SandboxID: m.PodSandboxId,
		},
	}
}

func sandboxStatusMessage(s *pleg.SandboxStatus) *cri.PodSandboxStatus {
	m := &cri.PodSandboxStatus{
		Id: s.ID, Metadata: podMessage(s.Pod, s.Attempt), State: sandboxState(s.State), CreatedAt: nanoseconds(s.CreatedAt), RuntimeHandler: s.Handler,
	}
	if len(s.IPs) > 0 {
		m.Network = &cri.PodSandboxNetworkStatus{Ip: s.IPs[0]}
		for _, ip := range s.IPs[1:] {
			m.Network.AdditionalIps = append(m.Network.AdditionalIps, &cri.PodIP{Ip: ip})
		}
	}
	if s.HostNetwork {
		m.Linux = &cri.LinuxPodSandboxStatus{Namespaces: &cri.Namespace{Options: &cri.NamespaceOption{Network: cri.NamespaceMode_NODE}}}
	}
	return m
}

func sandboxStatusOf(m *cri.PodSandboxStatus) *pleg.SandboxStatus {
	s := &pleg.SandboxStatus{
		ID: m.Id, Pod: podOf(m.Metadata), State: stateOfSandbox(m.State), Attempt: m.Metadata.GetAttempt(), CreatedAt: moment(m.CreatedAt),
		HostNetwork: m.Linux.GetNamespaces().GetOptions().GetNetwork() == cri.NamespaceMode_NODE, Handler: m.RuntimeHandler,
	}
	if m.Network != nil {
		s.IPs = append(s.IPs, m.Network.Ip)
		for _, ip := range m.Network.AdditionalIps {
			s.IPs = append(s.IPs, ip.GetIp())
		}
	}
	return s
}

func containerStatusMessage(c *pleg.ContainerStatus) *cri.ContainerStatus {
	return &cri.ContainerStatus{
		Id: c.ID, Metadata: &cri.ContainerMetadata{Name: c.Name, Attempt: c.Attempt}, State: containerState(c.State),
		CreatedAt: nanoseconds(c.CreatedAt), StartedAt: nanoseconds(c.StartedAt), FinishedAt: nanoseconds(c.FinishedAt),
		ExitCode: c.ExitCode, Image: &cri.ImageSpec{Image: c.Image}, Reason: clean(c.Reason), Message: clean(c.Message),
		Labels: map[string]string{containerLabel: c.Name},
	}
}

func containerStatusOf(m *cri.ContainerStatus) *pleg.ContainerStatus {
	return &pleg.ContainerStatus{
		ID: m.Id, Name: m.Metadata.GetName(), State: stateOfContainer(m.State), Attempt: m.Metadata.GetAttempt(), Image: m.Image.GetImage(),
		ExitCode: m.ExitCode, Reason: m.Reason, Message: m.Message,
		CreatedAt: moment(m.CreatedAt), StartedAt: moment(m.StartedAt), FinishedAt: moment(m.FinishedAt),
	}
}

func conditionsMessage(all []pleg.Condition) *cri.RuntimeStatus {
	m := new(cri.RuntimeStatus)
	for _, c := range all {
		m.Conditions = append(m.Conditions, &cri.RuntimeCondition{Type: c.Type, Status: c.Status, Reason: clean(c.Reason), Message: clean(c.Message)})
	}
	return m
}

func conditionsOf(m *cri.RuntimeStatus) []pleg.Condition {
	all := make([]pleg.Condition, 0, len(m.Conditions))
	for _, c := range m.Conditions {
		all = append(all, pleg.Condition{Type: c.GetType(), Status: c.GetStatus(), Reason: c.GetReason(), Message: c.GetMessage()})
	}
	return all
}

func versionMessage(v *pleg.Version) *cri.VersionResponse {
	return &cri.VersionResponse{RuntimeName: v.RuntimeName, RuntimeVersion: v.RuntimeVersion, RuntimeApiVersion: v.APIVersion}
}

func versionOf(m *cri.VersionResponse) *pleg.Version {
	return &pleg.Version{RuntimeName: m.RuntimeName, RuntimeVersion: m.RuntimeVersion, APIVersion: m.RuntimeApiVersion}
}

func podMessage(r pleg.PodRef, attempt uint32) *cri.PodSandboxMetadata {
	return &cri.PodSandboxMetadata{Name: r.Name, Namespace: r.Namespace, Uid: string(r.UID), Attempt: attempt}
}

func podOf(m *cri.PodSandboxMetadata) pleg.PodRef {
	return pleg.PodRef{Namespace: m.GetNamespace(), Name: m.GetName(), UID: pleg.UID(m.GetUid())}
}

// containerStates are CRI's by ours.
var containerStates = map[pleg.State]cri.ContainerState{
	pleg.Created: cri.ContainerState_CONTAINER_CREATED, pleg.Running: cri.ContainerState_CONTAINER_RUNNING,
	pleg.Exited: cri.ContainerState_CONTAINER_EXITED, pleg.Unknown: cri.ContainerState_CONTAINER_UNKNOWN,
}

func containerState(s pleg.State) cri.ContainerState {
	if state, known := containerStates[s]; known {
		return state
	}
	return badState
}

func stateOfContainer(state cri.ContainerState) pleg.State {
	for s, known := range containerStates {
		if known == state {
			return s
		}
	}
	return pleg.Unknown
}

func sandboxState(s pleg.State) cri.PodSandboxState {
	switch s {
	case pleg.Running:
		return cri.PodSandboxState_SANDBOX_READY
	case pleg.Exited:
		return cri.PodSandboxState_SANDBOX_NOTREADY
	}
	return badState
}

func stateOfSandbox(s cri.PodSandboxState) pleg.State {
	switch s {
	case cri.PodSandboxState_SANDBOX_READY:
		return pleg.Running
	case cri.PodSandboxState_SANDBOX_NOTREADY:
		return pleg.Exited
	}
	return pleg.Unknown
}

func nanoseconds(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

func moment(ns int64) time.Time {
	if ns == 0 {
		return time.Time{}
	}
	return time.Unix(0, ns)
}
