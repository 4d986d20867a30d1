package cri

import (
	"errors"
	"fmt"
	"iter"
	"strings"
	"unicode/utf8"

	"google.golang.org/grpc/encoding"
	_ "google.golang.org/grpc/encoding/proto" // registers the codec that ours wraps
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// The limits of an answer. A broken or hostile runtime must not cost more memory than the largest
// node there is.
const (
	// messageLimit, in bytes, is the kubelet's own for every answer (cri-client: maxMsgSize).
	messageLimit = 16 << 20
	// entriesLimit is how many sandboxes or containers a list may have: three times as many as fit
	// in a message with the kubelet's labels. An empty entry takes 2 bytes there, and 150 in memory.
	entriesLimit = 100_000
	// conditionsLimit is how many conditions a Status may have. CRI has two, containerd adds a third.
	conditionsLimit = 1000
	// partLimit, in bytes, is for all else: an entry of a list, a status, an event, an error. The
	// largest part of each are annotations, and Kubernetes takes 256 KiB of those. The kubelet would
	// take a larger status. A part with nothing in it takes 2 bytes, and up to 150 in memory.
	partLimit = 4 << 20
	// textLimit, in bytes, is how much of one text is kept: as much as a path or a termination
	// message may have. An id is the name of a folder, so it is shorter.
	textLimit = 4096
)

// tooMuch stands in gRPC's text for a message over its limit, and so in ours.
const tooMuch = "larger than max"

var (
	errLimit      = errors.New(tooMuch + " of plegtop")
	errTooMany    = fmt.Errorf("%w: %dk entries", errLimit, entriesLimit/1000)
	errConditions = fmt.Errorf("%w: %d conditions", errLimit, conditionsLimit)
	errTooLarge   = fmt.Errorf("%w: %d MiB", errLimit, partLimit>>20)
	errMalformed  = errors.New("proto: cannot parse invalid wire-format data") // protobuf's own words
)

// A codec encodes requests as gRPC's own does. It hands over the bytes of an answer in a mem.Buffer.
// The caller of gRPC frees that.
type codec struct{ encoding.CodecV2 }

// Name is empty so that the content type stays application/grpc, which the kubelet sends.
func (codec) Name() string { return "" }

func (codec) Unmarshal(data mem.BufferSlice, v any) error {
	*v.(*mem.Buffer) = data.MaterializeToBuffer(mem.DefaultBufferPool())
	return nil
}

// decode reads a message by the generated code, unless that would take too much memory.
func decode(wire []byte, m proto.Message) error {
	if len(wire) > partLimit {
		return errTooLarge
	}
	return proto.Unmarshal(wire, m)
}

// A field is one field of a message on the wire. Its slices are parts of the message.
type field struct {
	num   protowire.Number
	typ   protowire.Type
	whole []byte // with the tag
	value []byte // of a text or an embedded message, else nil
}

// embedded reports whether f is a text or an embedded message with that number.
func (f *field) embedded(num protowire.Number) bool {
	return f.num == num && f.typ == protowire.BytesType
}

// fields yields the fields of a message. It ends with an error where the bytes are no message.
func fields(wire []byte) iter.Seq2[field, error] {
	return func(yield func(field, error) bool) {
		for len(wire) > 0 {
			num, typ, n := protowire.ConsumeField(wire)
			if n < 0 || num > protowire.MaxValidNumber {
				yield(field{}, errMalformed)
				return
			}
			f := field{num: num, typ: typ, whole: wire[:n]}
			if typ == protowire.BytesType {
				_, _, tag := protowire.ConsumeTag(wire)
				f.value, _ = protowire.ConsumeBytes(wire[tag:n])
			}
			if !yield(f, nil) {
				return
			}
			wire = wire[n:]
		}
	}
}

// text returns the last text with that number in a message, which is the one that counts in
// protobuf; nil if there is none.
func text(wire []byte, num protowire.Number) (value []byte) {
	for f := range fields(wire) {
		if f.embedded(num) {
			value = f.value
		}
	}
	return value
}

// cut returns s as valid UTF-8, and without its middle if it is too long: the cause of an error is
// at its end. The result keeps no more of s in memory.
func cut(s string) string {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	if len(s) <= textLimit {
		return s
	}
	const half = textLimit/2 - 32
	head, tail := strings.ToValidUTF8(s[:half], ""), strings.ToValidUTF8(s[len(s)-half:], "")
	return fmt.Sprintf("%s ... (%d bytes cut) ... %s", head, len(s)-len(head)-len(tail), tail)
}
