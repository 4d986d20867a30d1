package cri

import (
	"google.golang.org/grpc/mem"
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

// read reads an answer into a list: by fast where it has the ordinary form, else by
// add, once the generated code has read it into whole.
func (l *list[T]) read(data mem.BufferSlice, fast func(pieces) bool, whole proto.Message, add func()) error {
	before := *l
	if n, ordinary := newPieces(data).entries(); ordinary {
		if err := weigh(n); err != nil {
			return err
		}
		l.room = n
		if fast(newPieces(data)) {
			return nil
		}
	}
	*l = before // what is known now holds: add makes the same rows in the same places
	one := data.MaterializeToBuffer(mem.DefaultBufferPool())
	defer one.Free()
	wire := one.ReadOnlyData()
	if err := weigh(entries(wire)); err != nil {
		return err
	}
	if err := proto.Unmarshal(wire, whole); err != nil {
		return whose(wire, whole, err)
	}
	add()
	return nil
}

// decode reads the sandboxes of an answer.
func (l *sandboxList) decode(data mem.BufferSlice) error {
	var whole runtimev1.ListPodSandboxResponse
	return l.read(data, l.fastDecode, &whole, func() { l.add(whole.Items) })
}

func (l *sandboxList) fastDecode(p pieces) bool {
	return fastDecode(&l.list, p, sandboxForm, l.add)
}

// decode reads the containers of an answer.
func (l *containerList) decode(data mem.BufferSlice) error {
	var whole runtimev1.ListContainersResponse
	return l.read(data, l.fastDecode, &whole, func() { l.add(whole.Containers) })
}

func (l *containerList) fastDecode(p pieces) bool {
	return fastDecode(&l.list, p, containerForm, l.add)
}

// fastDecode adds the entries of an answer that has the ordinary form, up to the first that
// does not have it.
func fastDecode[T, M any, P interface {
	message[M]
	GetId() string
}](l *list[T], p pieces, formOf func(P) form, add func([]P)) bool {
	one := []P{new(M)}
	fm := formOf(one[0])
	for p.left > 0 {
		entry, ok := p.entry()
		if !ok {
			return false
		}
		if l.again(entry) {
			continue
		}
		one[0].Reset()
		if !fm.read(entry) {
			return false
		}
		l.differ()
		odd := l.Anomalies
		add(one)
		l.learn(one[0].GetId(), entry, odd)
	}
	l.end()
	return true
}

// sandboxForm has the fields that [sandboxList.add] looks at.
func sandboxForm(s *runtimev1.PodSandbox) form {
	return form{
		1: textTo(&s.Id),
		2: messageTo(&s.Metadata, sandboxMetadataForm),
		3: numberTo(&s.State),
		4: numberTo(&s.CreatedAt),
		5: field.skipEntry, // labels
		6: field.skipEntry, // annotations
		7: field.skipText,  // runtime handler
	}
}

func sandboxMetadataForm(m *runtimev1.PodSandboxMetadata) form {
	return form{1: textTo(&m.Name), 2: textTo(&m.Uid), 3: textTo(&m.Namespace), 4: numberTo(&m.Attempt)}
}

// containerForm has the fields that [containerList.add] looks at, and of the labels the
// four that it looks up.
func containerForm(c *runtimev1.Container) form {
	return form{
		1:  textTo(&c.Id),
		2:  textTo(&c.PodSandboxId),
		3:  messageTo(&c.Metadata, containerMetadataForm),
		4:  messageTo(&c.Image, imageForm),
		5:  field.skipText, // image reference
		6:  numberTo(&c.State),
		7:  numberTo(&c.CreatedAt),
		8:  entriesTo(&c.Labels, uidLabel, nameLabel, namespaceLabel, containerLabel),
		9:  field.skipEntry, // annotations
		10: field.skipText,  // image id
	}
}

func containerMetadataForm(m *runtimev1.ContainerMetadata) form {
	return form{1: textTo(&m.Name), 2: numberTo(&m.Attempt)}
}

func imageForm(m *runtimev1.ImageSpec) form {
	return form{
		1:  textTo(&m.Image),
		2:  field.skipEntry, // annotations
		18: textTo(&m.UserSpecifiedImage),
		19: field.skipText, // runtime handler
		20: field.skipText, // image reference
	}
}

// All of these are read as they come from the wire.
var (
	_ decoder = (*sandboxList)(nil)
	_ decoder = (*containerList)(nil)
	_ decoder = (*plugins)(nil)
)
