package cri

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// What is taken of an answer at most. A runtime that is broken, or hostile, must
// cost plegtop no more memory than the largest node there is.
const (
	// messageLimit is the kubelet's own, in bytes, for whatever it asks: see
	// maxMsgSize in its cri-client.
	messageLimit = 16 << 20
	// entriesLimit is how many sandboxes or containers a list may have: three
	// times as many as fit in a message with the kubelet's labels. An empty one
	// takes 2 bytes there, and 150 in memory. It is also how many parts any other
	// answer may have, see [parts]: by default the kernel lets no container have more
	// mounts (fs.mount-max), and those are most of them.
	entriesLimit = 100_000
	// smallLimit is for what a relist does not ask for, in bytes: a raw answer, an
	// event, an error. The largest thing in them are the annotations, of which
	// Kubernetes takes 256 KiB.
	smallLimit = 1 << 20
	// textLimit is how much is kept of one text, in bytes: as long as a path may
	// be, and as a termination message. No runtime has a longer id: it is the
	// name of a folder.
	textLimit = 4096
)

// small is the option of a call for a raw answer.
var small = grpc.MaxCallRecvMsgSize(smallLimit)

// parts counts what takes more room in memory than on the wire: the embedded messages of
// an answer, at all depths, and the elements of its lists and maps. It stops where there
// are too many.
func parts(wire []byte, of protoreflect.MessageDescriptor) (n int) {
	eachField(wire, func(f field) bool {
		d := of.Fields().ByNumber(f.num)
		switch {
		case d == nil:
		case d.Message() != nil:
			n += 1 + parts(f.bytes, d.Message())
		case d.IsPacked() && f.typ == protowire.BytesType:
			n += len(f.bytes) // as many numbers at most
		case d.IsList():
			n++
		}
		return n <= entriesLimit
	})
	return n
}

// weigh returns an error if an answer has more entries, or parts, than are taken.
func weigh(entries int) error {
	if entries > entriesLimit {
		return fmt.Errorf("%s of plegtop: %dk entries", tooMuch, entriesLimit/1000)
	}
	return nil
}

// tooMuch is how gRPC puts it, too.
const tooMuch = "larger than max"

// cut returns s without its middle if it is too long: an error's cause is at the
// end of it. What it returns keeps no more of s in memory.
func cut(s string) string {
	if len(s) <= textLimit {
		return s
	}
	const half = textLimit/2 - 32
	head, tail := half, len(s)-half
	for head > 0 && !utf8.RuneStart(s[head]) {
		head--
	}
	for tail < len(s) && !utf8.RuneStart(s[tail]) {
		tail++
	}
	return strings.Join([]string{s[:head], fmt.Sprintf("(%d bytes cut)", tail-head), s[tail:]}, " ... ")
}
