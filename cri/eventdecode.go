package cri

import (
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
	runtimev1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/plegtop/plegtop/engine/pleg"
)

// An event of a busy node is some kilobytes, most of it labels, annotations and mounts that
// nobody here looks at. What follows reads the rest, in the manner of fastdecode.go, but
// leaves nothing to the generated code: an event that does not have the ordinary form is one
// that no runtime sends, and is skipped. FuzzEventDecode holds the two against each other.

// statusesLimit is how many containers the status in an event may have. A pod can't have
// so many: they would not fit in the message that makes it.
const statusesLimit = 1000

// An event is one message of the stream, with the fields that are looked at. It is used
// for one after the other.
type event struct {
	runtimev1.ContainerEventResponse // without the statuses
	statuses                         []pleg.ContainerStatus
	form                             form
}

// newEvent returns an event into which messages can be read.
func newEvent() *event {
	e, c := new(event), new(runtimev1.ContainerStatus)
	one := containerStatusForm(c)
	e.form = form{
		1: textTo(&e.ContainerId),
		2: numberTo(&e.ContainerEventType),
		3: numberTo(&e.CreatedAt),
		4: messageTo(&e.PodSandboxStatus, sandboxStatusForm),
		5: func(f field) bool {
			c.Reset()
			if f.typ != protowire.BytesType || len(e.statuses) == statusesLimit || !one.read(f.bytes) {
				return false
			}
			s, _ := convertContainerStatus(c)
			e.statuses = append(e.statuses, s)
			return true
		},
	}
	return e
}

var signals = map[runtimev1.ContainerEventType]pleg.Signal{
	runtimev1.ContainerEventType_CONTAINER_CREATED_EVENT: pleg.SignalCreated,
	runtimev1.ContainerEventType_CONTAINER_STARTED_EVENT: pleg.SignalStarted,
	runtimev1.ContainerEventType_CONTAINER_STOPPED_EVENT: pleg.SignalStopped,
	runtimev1.ContainerEventType_CONTAINER_DELETED_EVENT: pleg.SignalDeleted,
}

// upstream returns the event in data, false if it is none that can be made use of: not
// readable, of no container, or of no kind that CRI has.
func (e *event) upstream(data mem.BufferSlice) (pleg.Upstream, bool) {
	if len(data) == 0 {
		return pleg.Upstream{}, false
	}
	wire := data.MaterializeToBuffer(mem.DefaultBufferPool())
	defer wire.Free()
	return e.decode(wire.ReadOnlyData())
}

func (e *event) decode(wire []byte) (pleg.Upstream, bool) {
	e.Reset()
	e.statuses = nil
	if !e.form.read(wire) {
		return pleg.Upstream{}, false
	}
	signal, known := signals[e.ContainerEventType]
	if !known || e.ContainerId == "" {
		return pleg.Upstream{}, false
	}
	var m sanitizer
	u := pleg.Upstream{Signal: signal, ID: m.text(e.ContainerId), At: m.time(e.CreatedAt)}
	if e.PodSandboxStatus.GetMetadata() != nil { // else the kubelet makes nothing of it either
		s, _ := convertSandboxStatus(e.PodSandboxStatus)
		u.Pod = s.Pod
		u.Status = pleg.Compose(s.Pod, []pleg.SandboxStatus{s}, e.statuses)
	}
	return u, true
}

// sandboxStatusForm has the fields that [convertSandboxStatus] looks at.
func sandboxStatusForm(s *runtimev1.PodSandboxStatus) form {
	return form{
		1: textTo(&s.Id),
		2: messageTo(&s.Metadata, sandboxMetadataForm),
		3: numberTo(&s.State),
		4: numberTo(&s.CreatedAt),
		5: messageTo(&s.Network, networkForm),
		6: messageTo(&s.Linux, linuxForm),
		9: textTo(&s.RuntimeHandler),
	}
}

func linuxForm(l *runtimev1.LinuxPodSandboxStatus) form {
	return form{1: messageTo(&l.Namespaces, func(n *runtimev1.Namespace) form {
		return form{2: messageTo(&n.Options, func(o *runtimev1.NamespaceOption) form { return form{1: numberTo(&o.Network)} })}
	})}
}

// addressesLimit is how many addresses a sandbox may have besides its first: the kubelet
// looks at one of each family.
const addressesLimit = 100

func networkForm(n *runtimev1.PodSandboxNetworkStatus) form {
	return form{
		1: textTo(&n.Ip),
		2: func(f field) bool {
			ip := new(runtimev1.PodIP)
			n.AdditionalIps = append(n.AdditionalIps, ip)
			return f.typ == protowire.BytesType && len(n.AdditionalIps) <= addressesLimit && form{1: textTo(&ip.Ip)}.read(f.bytes)
		},
	}
}

// containerStatusForm has the fields that [convertContainerStatus] looks at, and of the
// labels the one.
func containerStatusForm(c *runtimev1.ContainerStatus) form {
	return form{
		1:  textTo(&c.Id),
		2:  messageTo(&c.Metadata, containerMetadataForm),
		3:  numberTo(&c.State),
		4:  numberTo(&c.CreatedAt),
		5:  numberTo(&c.StartedAt),
		6:  numberTo(&c.FinishedAt),
		7:  numberTo(&c.ExitCode),
		8:  messageTo(&c.Image, imageForm),
		10: textTo(&c.Reason),
		11: textTo(&c.Message),
		12: entriesTo(&c.Labels, containerLabel),
	}
}
