package cri

import (
	"errors"
	"fmt"
	"time"

	"google.golang.org/protobuf/proto"
	runtimev1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/plegtop/plegtop/engine/pleg"
)

// A recording keeps answers as CRI's messages: [Message] writes them with the fields that plegtop
// knows, the other functions read them with the code that reads the answers of a runtime. The
// reading functions fail for bytes that are no such message. They do not insist on the fields that
// the kubelet needs: the client checked them before the answer was recorded.

// Message returns an answer, or an entry of a list, as the bytes of CRI's message, never nil: a
// *[pleg.Version] as VersionResponse, []pleg.Condition as RuntimeStatus, a *[pleg.SandboxStatus] as
// PodSandboxStatus, a *[pleg.ContainerStatus] as ContainerStatus, a *[pleg.ListedSandbox] as
// PodSandbox, a *[pleg.ListedContainer] as Container. Equal answers have equal bytes. It fails for
// a text that is not UTF-8; the client lets none through.
func Message(answer any) ([]byte, error) {
	return proto.MarshalOptions{Deterministic: true}.MarshalAppend([]byte{}, messageOf(answer))
}

func messageOf(answer any) proto.Message {
	switch a := answer.(type) {
	case *pleg.Version:
		return &runtimev1.VersionResponse{RuntimeName: a.RuntimeName, RuntimeVersion: a.RuntimeVersion, RuntimeApiVersion: a.APIVersion}
	case []pleg.Condition:
		m := new(runtimev1.RuntimeStatus)
		for _, c := range a {
			m.Conditions = append(m.Conditions, &runtimev1.RuntimeCondition{Type: c.Type, Status: c.Status, Reason: c.Reason, Message: c.Message})
		}
		return m
	case *pleg.SandboxStatus:
		return sandboxMessage(a)
	case *pleg.ContainerStatus:
		return &runtimev1.ContainerStatus{
			Id:         a.ID,
			Metadata:   &runtimev1.ContainerMetadata{Name: a.Name, Attempt: a.Attempt},
			State:      stateIn(containerStates, a.State),
			CreatedAt:  nanoseconds(a.CreatedAt),
			StartedAt:  nanoseconds(a.StartedAt),
			FinishedAt: nanoseconds(a.FinishedAt),
			ExitCode:   a.ExitCode,
			Image:      &runtimev1.ImageSpec{Image: a.Image},
			Reason:     a.Reason,
			Message:    a.Message,
			Labels:     map[string]string{containerLabel: a.Name},
		}
	case *pleg.ListedSandbox:
		return &runtimev1.PodSandbox{
			Id: a.ID, Metadata: podMetadata(a.Pod, a.Attempt), State: stateIn(sandboxStates, a.State), CreatedAt: nanoseconds(a.CreatedAt),
		}
	case *pleg.ListedContainer:
		return &runtimev1.Container{
			Id:           a.ID,
			PodSandboxId: a.SandboxID,
			Metadata:     &runtimev1.ContainerMetadata{Name: a.Name, Attempt: a.Attempt},
			Image:        &runtimev1.ImageSpec{Image: a.Image},
			State:        stateIn(containerStates, a.State),
			CreatedAt:    nanoseconds(a.CreatedAt),
			Labels: map[string]string{
				uidLabel: string(a.Pod.UID), namespaceLabel: a.Pod.Namespace, nameLabel: a.Pod.Name, containerLabel: a.Name,
			},
		}
	}
	panic(fmt.Sprintf("cri: a %T is no answer", answer))
}

func sandboxMessage(s *pleg.SandboxStatus) *runtimev1.PodSandboxStatus {
	m := &runtimev1.PodSandboxStatus{
		Id: s.ID, Metadata: podMetadata(s.Pod, s.Attempt), State: stateIn(sandboxStates, s.State), CreatedAt: nanoseconds(s.CreatedAt), RuntimeHandler: s.Handler,
	}
	if len(s.IPs) > 0 {
		m.Network = &runtimev1.PodSandboxNetworkStatus{Ip: s.IPs[0]}
		for _, ip := range s.IPs[1:] {
			m.Network.AdditionalIps = append(m.Network.AdditionalIps, &runtimev1.PodIP{Ip: ip})
		}
	}
	if s.HostNetwork {
		options := &runtimev1.NamespaceOption{Network: runtimev1.NamespaceMode_NODE}
		m.Linux = &runtimev1.LinuxPodSandboxStatus{Namespaces: &runtimev1.Namespace{Options: options}}
	}
	return m
}

func podMetadata(r pleg.PodRef, attempt uint32) *runtimev1.PodSandboxMetadata {
	return &runtimev1.PodSandboxMetadata{Name: r.Name, Namespace: r.Namespace, Uid: string(r.UID), Attempt: attempt}
}

// stateIn returns CRI's number for a state. If CRI has no number for the state, as for a sandbox
// of unknown state, it returns a number that CRI does not have.
func stateIn[S ~int32](states map[S]pleg.State, s pleg.State) S {
	for number, known := range states {
		if known == s {
			return number
		}
	}
	return 99
}

func nanoseconds(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

// ReadVersion reads a VersionResponse.
func ReadVersion(wire []byte) (pleg.Version, error) { return new(converter).version(wire) }

// ReadConditions reads a RuntimeStatus. Its result is never nil if there is no error.
func ReadConditions(wire []byte) ([]pleg.Condition, error) {
	var s runtimev1.RuntimeStatus
	err := decode(wire, &s)
	return append([]pleg.Condition{}, new(converter).runtimeStatus(&s)...), err
}

// ReadSandbox reads a PodSandboxStatus.
func ReadSandbox(wire []byte) (pleg.SandboxStatus, error) {
	var s runtimev1.PodSandboxStatus
	err := decode(wire, &s)
	return new(converter).sandbox(&s), err
}

// ReadContainer reads a ContainerStatus.
func ReadContainer(wire []byte) (pleg.ContainerStatus, error) {
	var s runtimev1.ContainerStatus
	err := decode(wire, &s)
	return new(converter).container(&s), err
}

// ReadListedSandbox reads a PodSandbox, an entry of a list.
func ReadListedSandbox(wire []byte) (*pleg.ListedSandbox, error) {
	return usable(new(converter).listedSandbox(wire))
}

// ReadListedContainer reads a Container, an entry of a list.
func ReadListedContainer(wire []byte) (*pleg.ListedContainer, error) {
	return usable(new(converter).listedContainer(wire))
}

var errUnusable = errors.New("the entry has no id, no pod, no metadata or no image")

func usable[T any](entry *T, err error) (*T, error) {
	if entry == nil && err == nil {
		err = errUnusable
	}
	return entry, err
}
