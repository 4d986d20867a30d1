package cri

import (
	"cmp"
	"net/netip"
	"time"

	runtimev1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/plegtop/plegtop/engine/pleg"
)

// The labels by which the kubelet finds its containers (kubelet/pkg/types/labels.go). No other label
// is looked at or kept.
const (
	uidLabel       = "io.kubernetes.pod.uid"
	nameLabel      = "io.kubernetes.pod.name"
	namespaceLabel = "io.kubernetes.pod.namespace"
	containerLabel = "io.kubernetes.container.name"
)

// A converter decodes answers by the generated code and turns them into the types of package pleg.
// It counts all that it had to leave out or change. Its methods keep none of the bytes.
type converter struct{ pleg.Anomalies }

// A missing is something that an answer lacks.
type missing string

func (m missing) Error() string { return string(m) }

// A need is a field that the kubelet insists on, with the kubelet's words for a status without
// it.
type need struct {
	missing bool
	words   missing
}

// check returns an error for the first need that is not met.
func check(needs ...need) error {
	for _, n := range needs {
		if n.missing {
			return n.words
		}
	}
	return nil
}

func (c *converter) version(wire []byte) (v pleg.Version, err error) {
	var a runtimev1.VersionResponse
	if err := decode(wire, &a); err != nil {
		return v, err
	}
	return pleg.Version{RuntimeName: c.text(a.RuntimeName), RuntimeVersion: c.text(a.RuntimeVersion), APIVersion: c.text(a.RuntimeApiVersion)}, nil
}

func (c *converter) conditions(wire []byte) (all []pleg.Condition, err error) {
	var a runtimev1.StatusResponse
	if err := decode(wire, &a); err != nil {
		return nil, err
	}
	if len(a.Status.GetConditions()) > conditionsLimit {
		return nil, errConditions
	}
	return c.runtimeStatus(a.Status), check(need{a.Status == nil, "the answer has no status"})
}

func (c *converter) runtimeStatus(s *runtimev1.RuntimeStatus) (all []pleg.Condition) {
	for _, one := range s.GetConditions() {
		all = append(all, pleg.Condition{Type: c.text(one.GetType()), Status: one.GetStatus(), Reason: c.text(one.GetReason()), Message: c.text(one.GetMessage())})
	}
	return all
}

// listedSandbox reads an entry of a list. It returns nil for an entry that the kubelet cannot
// use.
func (c *converter) listedSandbox(wire []byte) (*pleg.ListedSandbox, error) {
	var s runtimev1.PodSandbox
	if err := decode(wire, &s); err != nil {
		return nil, err
	}
	switch {
	case s.Metadata == nil:
		c.NoMetadata++
	case s.Id == "":
		c.NoID++
	case s.Metadata.Uid == "":
		c.NoPodUID++
	default:
		return &pleg.ListedSandbox{Pod: c.pod(s.Metadata), Sandbox: pleg.Sandbox{
			ID: c.text(s.Id), State: state(c, sandboxStates, s.State), Attempt: s.Metadata.Attempt, CreatedAt: c.time(s.CreatedAt),
		}}, nil
	}
	return nil, nil
}

// listedContainer reads an entry of a list. It returns nil for an entry that the kubelet cannot
// use.
func (c *converter) listedContainer(wire []byte) (*pleg.ListedContainer, error) {
	var s runtimev1.Container
	if err := decode(wire, &s); err != nil {
		return nil, err
	}
	switch {
	case s.Metadata == nil:
		c.NoMetadata++
	case s.Id == "":
		c.NoID++
	case s.Image == nil:
		c.NoImage++
	case s.Labels[uidLabel] == "":
		c.NoPodUID++
	default:
		return &pleg.ListedContainer{
			Pod: pleg.PodRef{UID: pleg.UID(c.text(s.Labels[uidLabel])), Namespace: c.text(s.Labels[namespaceLabel]), Name: c.text(s.Labels[nameLabel])},
			Container: pleg.Container{
				ID: c.text(s.Id), Name: c.name(s.Labels, s.Metadata), State: state(c, containerStates, s.State), Attempt: s.Metadata.Attempt,
				CreatedAt: c.time(s.CreatedAt), Image: c.image(s.Image), SandboxID: c.text(s.PodSandboxId),
			},
		}, nil
	}
	return nil, nil
}

// sandboxStatus checks what the kubelet checks (cri-client 1.25 to 1.37: verifySandboxStatus).
func (c *converter) sandboxStatus(wire []byte) (pleg.SandboxStatus, error) {
	var a runtimev1.PodSandboxStatusResponse
	if err := decode(wire, &a); err != nil {
		return pleg.SandboxStatus{}, err
	}
	s, m := a.Status, a.Status.GetMetadata()
	return c.sandbox(s), check(
		need{s == nil, "the answer has no status"},
		need{s.GetId() == "", "status.Id is not set"},
		need{m == nil, "status.Metadata is not set"},
		need{m.GetName() == "" || m.GetNamespace() == "" || m.GetUid() == "", "metadata.Name, metadata.Namespace or metadata.Uid is not in metadata"},
		need{s.GetCreatedAt() == 0, "status.CreatedAt is not set"},
	)
}

func (c *converter) sandbox(s *runtimev1.PodSandboxStatus) pleg.SandboxStatus {
	return pleg.SandboxStatus{
		ID: c.text(s.GetId()), Pod: c.pod(s.GetMetadata()), State: state(c, sandboxStates, s.GetState()), Attempt: s.GetMetadata().GetAttempt(),
		CreatedAt: c.time(s.GetCreatedAt()), IPs: c.ips(s.GetNetwork()), Handler: c.text(s.GetRuntimeHandler()),
		HostNetwork: s.GetLinux().GetNamespaces().GetOptions().GetNetwork() == runtimev1.NamespaceMode_NODE,
	}
}

// containerStatus checks what the kubelet checks (cri-client 1.25 to 1.37: verifyContainerStatus).
func (c *converter) containerStatus(wire []byte) (pleg.ContainerStatus, error) {
	var a runtimev1.ContainerStatusResponse
	if err := decode(wire, &a); err != nil {
		return pleg.ContainerStatus{}, err
	}
	s := a.Status
	return c.container(s), check(
		need{s == nil, "the answer has no status"},
		need{s.GetId() == "", "status.Id is not set"},
		need{s.GetMetadata() == nil, "status.Metadata is not set"},
		need{s.GetMetadata().GetName() == "", "metadata.Name is not in metadata"},
		need{s.GetCreatedAt() == 0, "status.CreatedAt is not set"},
		need{s.GetImage().GetImage() == "", "status.Image is not set"},
		need{s.GetImageRef() == "", "status.ImageRef is not set"},
	)
}

func (c *converter) container(s *runtimev1.ContainerStatus) pleg.ContainerStatus {
	return pleg.ContainerStatus{
		ID: c.text(s.GetId()), Name: c.name(s.GetLabels(), s.GetMetadata()), State: state(c, containerStates, s.GetState()), Attempt: s.GetMetadata().GetAttempt(),
		Image: c.image(s.GetImage()), ExitCode: s.GetExitCode(), Reason: c.text(s.GetReason()), Message: c.text(s.GetMessage()),
		CreatedAt: c.time(s.GetCreatedAt()), StartedAt: c.time(s.GetStartedAt()), FinishedAt: c.time(s.GetFinishedAt()),
	}
}

var (
	sandboxStates = map[runtimev1.PodSandboxState]pleg.State{
		runtimev1.PodSandboxState_SANDBOX_READY:    pleg.Running,
		runtimev1.PodSandboxState_SANDBOX_NOTREADY: pleg.Exited,
	}
	containerStates = map[runtimev1.ContainerState]pleg.State{
		runtimev1.ContainerState_CONTAINER_CREATED: pleg.Created,
		runtimev1.ContainerState_CONTAINER_RUNNING: pleg.Running,
		runtimev1.ContainerState_CONTAINER_EXITED:  pleg.Exited,
		runtimev1.ContainerState_CONTAINER_UNKNOWN: pleg.Unknown,
	}
)

func state[S comparable](c *converter, states map[S]pleg.State, s S) pleg.State {
	if known, ok := states[s]; ok {
		return known
	}
	c.BadState++
	return pleg.Unknown
}

// text returns s, without its middle if it is too long to be kept. The generated code has already
// refused text that is not UTF-8.
func (c *converter) text(s string) string {
	if len(s) > textLimit {
		c.BadText++
	}
	return cut(s)
}

// time returns the moment ns nanoseconds after 1970, by the runtime's clock. 0 means "not given"
// and becomes the zero time. So does a time before 1970.
func (c *converter) time(ns int64) time.Time {
	if ns > 0 {
		return time.Unix(0, ns)
	}
	if ns < 0 {
		c.BadTime++
	}
	return time.Time{}
}

func (c *converter) pod(m *runtimev1.PodSandboxMetadata) pleg.PodRef {
	return pleg.PodRef{UID: pleg.UID(c.text(m.GetUid())), Namespace: c.text(m.GetNamespace()), Name: c.text(m.GetName())}
}

// image returns the name that a person gave the image, if the runtime knows it: the other name is
// often a digest.
func (c *converter) image(s *runtimev1.ImageSpec) string {
	return c.text(cmp.Or(s.GetUserSpecifiedImage(), s.GetImage()))
}

// name returns the name that the pod gives its container. A container that the kubelet did not
// create may lack the label.
func (c *converter) name(labels map[string]string, m *runtimev1.ContainerMetadata) string {
	return c.text(cmp.Or(labels[containerLabel], m.GetName()))
}

// ips returns the primary address and then the others. Like the kubelet it returns none at all if
// one of them is no address (kubelet: determinePodSandboxIPs).
func (c *converter) ips(n *runtimev1.PodSandboxNetworkStatus) (ips []string) {
	if n.GetIp() != "" { // empty on the host's network
		ips = append(ips, n.GetIp())
	}
	for _, ip := range n.GetAdditionalIps() {
		ips = append(ips, ip.GetIp())
	}
	for _, text := range ips {
		if ip, err := netip.ParseAddr(text); err != nil || ip.Zone() != "" {
			c.BadText++
			return nil
		}
	}
	return ips
}
