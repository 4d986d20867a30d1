package cri

import (
	"fmt"

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
// It knows the ordinary form of an entry. Whatever else protobuf allows it
// leaves to the generated code, which then decides, so both always agree;
// FuzzFastDecode holds them to it.

// decode reads the sandboxes of an answer.
func (l *sandboxList) decode(data mem.BufferSlice) error {
	return read(&l.list, data, sandboxForm, l.add)
}

// decode reads the containers of an answer.
func (l *containerList) decode(data mem.BufferSlice) error {
	return read(&l.list, data, containerForm, l.add)
}

// read adds the entries of an answer to a list.
func read[T, M any, P interface {
	message[M]
	proto.Message
	GetId() string
}](l *list[T], data mem.BufferSlice, formOf func(P) form, add func(P)) error {
	for _, err := range entries(data) {
		if err == nil {
			l.room++
		}
	}
	if err := weigh(l.room); err != nil {
		return err
	}
	one, place := P(new(M)), 0
	fm := formOf(one)
	for entry, err := range entries(data) {
		if err != nil {
			return err
		}
		if place++; l.again(entry) {
			continue
		}
		one.Reset()
		ordinary := fm.read(entry)
		if !ordinary {
			if err := proto.Unmarshal(entry, one); err != nil { // half of it need not be readable either
				return fmt.Errorf("entry %d (id %q): %w", place, idOf(entry), err)
			}
		}
		l.differ()
		odd := l.Anomalies
		if add(one); ordinary {
			l.learn(one.GetId(), entry, odd)
		}
	}
	l.end()
	return nil
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
