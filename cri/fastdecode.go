package cri

import (
	"slices"

	"google.golang.org/protobuf/proto"
	runtimev1 "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// Fast decoding. A list of a node with a thousand pods is a megabyte or two,
// most of it labels and annotations that nobody here looks at, and the generated
// code makes a map and strings of all of them, every second. What follows reads
// the few fields that a relist needs into one message, over and over, and passes
// over the rest, checking only that it is UTF-8; and it reads an entry but once for
// as long as that stays the same (known.go).
//
// It knows the ordinary form of an answer. Whatever else protobuf allows it
// leaves to the generated code, which then decides, so both always agree;
// FuzzFastDecode holds them to it.

// read adds an answer to a list: by fast where it has the ordinary form, else by
// add, once the generated code has read it into whole.
func (l *list[T]) read(wire []byte, fast func([]byte) bool, whole proto.Message, add func()) error {
	n, ordinary := entries(wire)
	if err := l.weigh(len(wire), n); err != nil {
		return err
	}
	l.rows = slices.Grow(l.rows, n)
	before := *l
	if ordinary && fast(wire) {
		return nil
	}
	*l = before
	if err := proto.Unmarshal(wire, whole); err != nil {
		return whose(wire, whole, err)
	}
	add()
	return nil
}

// decode adds the sandboxes of an answer, plain or a part of a stream: both
// have them as field 1.
func (l *sandboxList) decode(wire []byte) error {
	var whole runtimev1.ListPodSandboxResponse
	return l.read(wire, l.fastDecode, &whole, func() { l.add(whole.Items) })
}

func (l *sandboxList) fastDecode(wire []byte) bool {
	var s fastSandbox
	one := []*runtimev1.PodSandbox{&s.PodSandbox}
	for len(wire) > 0 {
		var f field
		f, wire, _ = nextField(wire)
		if l.again(f.bytes) {
			continue
		}
		if !s.read(f.bytes) {
			return false
		}
		odd := l.Anomalies
		l.add(one)
		l.learn(s.Id, f.bytes, odd)
	}
	return true
}

// A fastSandbox is a sandbox with the fields that [sandboxList.add] looks at.
type fastSandbox struct {
	runtimev1.PodSandbox
	metadata runtimev1.PodSandboxMetadata
}

func (s *fastSandbox) read(b []byte) bool {
	s.Id, s.Metadata, s.State, s.CreatedAt = "", nil, 0, 0
	var metadata bool
	return eachField(b, func(f field) bool { return s.take(f, &metadata) })
}

func (s *fastSandbox) take(f field, metadata *bool) bool {
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
	case 5, 6: // labels, annotations
		return f.skipEntry()
	case 7: // runtime handler
		return f.skipText()
	}
	return true
}

func readSandboxMetadata(m *runtimev1.PodSandboxMetadata, b []byte) bool {
	m.Name, m.Uid, m.Namespace, m.Attempt = "", "", "", 0
	return eachField(b, func(f field) bool {
		switch f.num {
		case 1:
			return f.text(&m.Name)
		case 2:
			return f.text(&m.Uid)
		case 3:
			return f.text(&m.Namespace)
		case 4:
			m.Attempt = uint32(f.number)
			return f.varint()
		}
		return true
	})
}

// decode adds the containers of an answer, as [sandboxList.decode] does.
func (l *containerList) decode(wire []byte) error {
	var whole runtimev1.ListContainersResponse
	return l.read(wire, l.fastDecode, &whole, func() { l.add(whole.Containers) })
}

func (l *containerList) fastDecode(wire []byte) bool {
	c := fastContainer{Container: runtimev1.Container{Labels: make(map[string]string, 4)}}
	one := []*runtimev1.Container{&c.Container}
	for len(wire) > 0 {
		var f field
		f, wire, _ = nextField(wire)
		if l.again(f.bytes) {
			continue
		}
		if !c.read(f.bytes) {
			return false
		}
		odd := l.Anomalies
		l.add(one)
		l.learn(c.Id, f.bytes, odd)
	}
	return true
}

// A fastContainer is a container with the fields that [containerList.add] looks
// at, and of the labels the four that it looks up.
type fastContainer struct {
	runtimev1.Container
	metadata runtimev1.ContainerMetadata
	image    runtimev1.ImageSpec
}

func (c *fastContainer) read(b []byte) bool {
	c.Id, c.PodSandboxId, c.Metadata, c.Image, c.State, c.CreatedAt = "", "", nil, nil, 0, 0
	clear(c.Labels)
	var metadata, image bool
	return eachField(b, func(f field) bool { return c.take(f, &metadata, &image) })
}

func (c *fastContainer) take(f field, metadata, image *bool) bool {
	switch f.num {
	case 1:
		return f.text(&c.Id)
	case 2:
		return f.text(&c.PodSandboxId)
	case 3:
		c.Metadata = &c.metadata
		return f.embedded(metadata) && readContainerMetadata(&c.metadata, f.bytes)
	case 4:
		c.Image = &c.image
		return f.embedded(image) && readImage(&c.image, f.bytes)
	case 6:
		c.State = runtimev1.ContainerState(f.number)
		return f.varint()
	case 7:
		c.CreatedAt = int64(f.number)
		return f.varint()
	case 8:
		return c.label(f)
	case 5, 10: // image reference, image id
		return f.skipText()
	case 9: // annotations
		return f.skipEntry()
	}
	return true
}

func (c *fastContainer) label(f field) bool {
	key, value, ok := f.entry()
	switch string(key) {
	case uidLabel:
		c.Labels[uidLabel] = string(value)
	case nameLabel:
		c.Labels[nameLabel] = string(value)
	case namespaceLabel:
		c.Labels[namespaceLabel] = string(value)
	case containerLabel:
		c.Labels[containerLabel] = string(value)
	}
	return ok
}

func readContainerMetadata(m *runtimev1.ContainerMetadata, b []byte) bool {
	m.Name, m.Attempt = "", 0
	return eachField(b, func(f field) bool {
		switch f.num {
		case 1:
			return f.text(&m.Name)
		case 2:
			m.Attempt = uint32(f.number)
			return f.varint()
		}
		return true
	})
}

func readImage(m *runtimev1.ImageSpec, b []byte) bool {
	m.Image, m.UserSpecifiedImage = "", ""
	return eachField(b, func(f field) bool {
		switch f.num {
		case 1:
			return f.text(&m.Image)
		case 18:
			return f.text(&m.UserSpecifiedImage)
		case 2: // annotations
			return f.skipEntry()
		case 19, 20: // runtime handler, image reference
			return f.skipText()
		}
		return true
	})
}

// The lists are read as they come from the wire.
var (
	_ decoder = (*sandboxList)(nil)
	_ decoder = (*containerList)(nil)
)
