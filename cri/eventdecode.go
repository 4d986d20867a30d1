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
	wire []byte // of a message in pieces

	id        string
	kind      runtimev1.ContainerEventType
	createdAt int64
	sandbox   *runtimev1.PodSandboxStatus // nil if the event has none
	statuses  []pleg.ContainerStatus
	container fastContainerStatus
	status    fastSandboxStatus
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
	wire := data[0].ReadOnlyData()
	if len(data) > 1 {
		e.wire = append(e.wire[:0], wire...)
		for _, piece := range data[1:] {
			e.wire = append(e.wire, piece.ReadOnlyData()...)
		}
		wire = e.wire
	}
	return e.decode(wire)
}

func (e *event) decode(wire []byte) (pleg.Upstream, bool) {
	e.id, e.kind, e.createdAt, e.sandbox, e.statuses = "", 0, 0, nil, nil
	var sandbox bool
	if !eachField(wire, func(f field) bool { return e.take(f, &sandbox) }) {
		return pleg.Upstream{}, false
	}
	signal, known := signals[e.kind]
	if !known || e.id == "" {
		return pleg.Upstream{}, false
	}
	var m sanitizer
	u := pleg.Upstream{Signal: signal, ID: m.text(e.id), At: m.time(e.createdAt)}
	if e.sandbox.GetMetadata() != nil { // else the kubelet makes nothing of it either
		s, _ := convertSandboxStatus(e.sandbox)
		u.Pod = s.Pod
		u.Status = pleg.Compose(s.Pod, []pleg.SandboxStatus{s}, e.statuses)
	}
	return u, true
}

func (e *event) take(f field, sandbox *bool) bool {
	switch f.num {
	case 1:
		return f.text(&e.id)
	case 2:
		e.kind = runtimev1.ContainerEventType(f.number)
		return f.varint()
	case 3:
		e.createdAt = int64(f.number)
		return f.varint()
	case 4:
		e.sandbox = &e.status.PodSandboxStatus
		return f.embedded(sandbox) && e.status.read(f.bytes)
	case 5:
		if f.typ != protowire.BytesType || len(e.statuses) == statusesLimit || !e.container.read(f.bytes) {
			return false
		}
		s, _ := convertContainerStatus(&e.container.ContainerStatus)
		e.statuses = append(e.statuses, s)
	}
	return true
}

// A fastSandboxStatus is a sandbox's status with the fields that [convertSandboxStatus]
// looks at.
type fastSandboxStatus struct {
	runtimev1.PodSandboxStatus
	metadata runtimev1.PodSandboxMetadata
	network  runtimev1.PodSandboxNetworkStatus
}

func (s *fastSandboxStatus) read(b []byte) bool {
	s.Id, s.Metadata, s.State, s.CreatedAt, s.Network, s.RuntimeHandler = "", nil, 0, 0, nil, ""
	var metadata, network bool
	return eachField(b, func(f field) bool { return s.take(f, &metadata, &network) })
}

func (s *fastSandboxStatus) take(f field, metadata, network *bool) bool {
	switch f.num {
	case 1:
		return f.text(&s.Id)
	case 2:
		s.Metadata = &s.metadata
		return f.embedded(metadata) && readSandboxMetadata(&s.metadata, f.bytes)
	case 3:
		s.State = runtimev1.PodSandboxState(f.number)
		return f.varint()
	case 4:
		s.CreatedAt = int64(f.number)
		return f.varint()
	case 5:
		s.Network = &s.network
		return f.embedded(network) && readNetwork(&s.network, f.bytes)
	case 9:
		return f.text(&s.RuntimeHandler)
	}
	return true
}

// addressesLimit is how many addresses a sandbox may have besides its first: the kubelet
// looks at one of each family.
const addressesLimit = 100

func readNetwork(n *runtimev1.PodSandboxNetworkStatus, b []byte) bool {
	n.Ip, n.AdditionalIps = "", nil
	return eachField(b, func(f field) bool {
		switch f.num {
		case 1:
			return f.text(&n.Ip)
		case 2:
			ip := new(runtimev1.PodIP)
			n.AdditionalIps = append(n.AdditionalIps, ip)
			return f.typ == protowire.BytesType && len(n.AdditionalIps) <= addressesLimit &&
				eachField(f.bytes, func(f field) bool { return f.num != 1 || f.text(&ip.Ip) })
		}
		return true
	})
}

// A fastContainerStatus is a container's status with the fields that
// [convertContainerStatus] looks at, and of the labels the one.
type fastContainerStatus struct {
	runtimev1.ContainerStatus
	metadata runtimev1.ContainerMetadata
	image    runtimev1.ImageSpec
}

func (c *fastContainerStatus) read(b []byte) bool {
	c.Id, c.Metadata, c.State, c.CreatedAt, c.StartedAt, c.FinishedAt = "", nil, 0, 0, 0, 0
	c.ExitCode, c.Image, c.Reason, c.Message = 0, nil, "", ""
	clear(c.Labels)
	var metadata, image bool
	return eachField(b, func(f field) bool {
		switch {
		case f.num == 2:
			c.Metadata = &c.metadata
			return f.embedded(&metadata) && readContainerMetadata(&c.metadata, f.bytes)
		case f.num == 8:
			c.Image = &c.image
			return f.embedded(&image) && readImage(&c.image, f.bytes)
		case f.num >= 3 && f.num <= 7:
			c.number(f)
			return f.varint()
		}
		return c.text(f)
	})
}

func (c *fastContainerStatus) number(f field) {
	switch f.num {
	case 3:
		c.State = runtimev1.ContainerState(f.number)
	case 4:
		c.CreatedAt = int64(f.number)
	case 5:
		c.StartedAt = int64(f.number)
	case 6:
		c.FinishedAt = int64(f.number)
	case 7:
		c.ExitCode = int32(f.number)
	}
}

func (c *fastContainerStatus) text(f field) bool {
	switch f.num {
	case 1:
		return f.text(&c.Id)
	case 10:
		return f.text(&c.Reason)
	case 11:
		return f.text(&c.Message)
	case 12:
		return c.label(f)
	}
	return true
}

func (c *fastContainerStatus) label(f field) bool {
	key, value, ok := f.entry()
	if ok && string(key) == containerLabel {
		if c.Labels == nil {
			c.Labels = make(map[string]string, 1)
		}
		c.Labels[containerLabel] = string(value)
	}
	return ok
}
