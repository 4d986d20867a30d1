package cri

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
	runtimev1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

// A sanitizer turns single values of an answer into the words of package pleg, and
// counts those that it had to change.
type sanitizer struct{ pleg.Anomalies }

// note adds what was found in an answer to the trace of its call, if there is
// one.
func note(ctx context.Context, found pleg.Anomalies) {
	if t := call.TraceOf(ctx); t != nil {
		t.Anomalies = t.Anomalies.Add(found)
	}
}

// text returns s, with U+FFFD for each run of bytes that is not UTF-8, and without
// its middle if it is too long to be kept.
func (m *sanitizer) text(s string) string {
	if utf8.ValidString(s) && len(s) <= textLimit {
		return s
	}
	m.BadText++
	return cut(strings.ToValidUTF8(s, "\uFFFD"))
}

// time returns the moment ns nanoseconds after 1970, by the runtime's clock;
// the zero time for 0, which means "not given", and for what came before.
func (m *sanitizer) time(ns int64) time.Time {
	if ns > 0 {
		return time.Unix(0, ns)
	}
	if ns < 0 {
		m.BadTime++
	}
	return time.Time{}
}

func (m *sanitizer) containerState(s runtimev1.ContainerState) pleg.State {
	switch s {
	case runtimev1.ContainerState_CONTAINER_CREATED:
		return pleg.Created
	case runtimev1.ContainerState_CONTAINER_RUNNING:
		return pleg.Running
	case runtimev1.ContainerState_CONTAINER_EXITED:
		return pleg.Exited
	case runtimev1.ContainerState_CONTAINER_UNKNOWN:
		return pleg.Unknown
	}
	m.BadState++
	return pleg.Unknown
}

func (m *sanitizer) sandboxState(s runtimev1.PodSandboxState) pleg.State {
	switch s {
	case runtimev1.PodSandboxState_SANDBOX_READY:
		return pleg.Running
	case runtimev1.PodSandboxState_SANDBOX_NOTREADY:
		return pleg.Exited
	}
	m.BadState++
	return pleg.Unknown
}

func (m *sanitizer) pod(s *runtimev1.PodSandboxMetadata) pleg.PodRef {
	return pleg.PodRef{
		UID:       pleg.UID(m.text(s.GetUid())),
		Namespace: m.text(s.GetNamespace()),
		Name:      m.text(s.GetName()),
	}
}

// image returns the name that a person gave the image, where the runtime knows
// it: the other one is often a digest.
func (m *sanitizer) image(s *runtimev1.ImageSpec) string {
	if s.GetUserSpecifiedImage() != "" {
		return m.text(s.GetUserSpecifiedImage())
	}
	return m.text(s.GetImage())
}

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
	for f := range fields(wire) {
		if n > entriesLimit {
			break
		}
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
	}
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
