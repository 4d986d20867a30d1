package cri

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	runtimev1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/plegtop/plegtop/engine/pleg"
)

// oddAnswers are answers of both lists at once, in forms that protobuf allows
// or refuses and no runtime sends.
func oddAnswers() map[string][]byte {
	message := func(parts ...[]byte) []byte {
		var b []byte
		for _, p := range parts {
			b = append(b, p...)
		}
		return b
	}
	text := func(num protowire.Number, s string) []byte {
		return protowire.AppendString(protowire.AppendTag(nil, num, protowire.BytesType), s)
	}
	number := func(num protowire.Number, n uint64) []byte {
		return protowire.AppendVarint(protowire.AppendTag(nil, num, protowire.VarintType), n)
	}
	line := func(parts ...[]byte) []byte { return text(1, string(message(parts...))) }
	entry := func(num protowire.Number, key, value string) []byte {
		return text(num, string(message(text(1, key), text(2, value))))
	}
	sandbox := line(text(1, "s"), text(2, string(message(text(1, "n"), text(2, "u"), text(3, "ns"), number(4, 7)))), number(3, 1), number(4, 5))
	metadata, image := text(3, string(text(1, "c"))), text(4, string(text(1, "i")))
	container := line(text(1, "c"), metadata, image, entry(8, uidLabel, "u"))
	return map[string][]byte{
		"empty":                     nil,
		"sandbox":                   sandbox,
		"container":                 container,
		"both twice":                message(sandbox, container, sandbox, container),
		"cut off":                   container[:len(container)-1],
		"metadata in two parts":     line(text(1, "s"), text(2, string(text(1, "n"))), text(2, string(text(2, "u")))),
		"container's in two parts":  line(text(1, "c"), metadata, text(3, string(number(2, 3))), image, entry(8, uidLabel, "u")),
		"image in two parts":        line(text(1, "c"), metadata, image, text(4, string(text(18, "x"))), entry(8, uidLabel, "u")),
		"the last id counts":        line(text(1, "a"), text(1, "b"), metadata, image, entry(8, uidLabel, "u")),
		"the last label counts":     line(text(1, "c"), metadata, image, entry(8, uidLabel, "a"), entry(8, uidLabel, "b")),
		"label without a value":     line(text(1, "c"), metadata, image, text(8, string(text(1, uidLabel)))),
		"label without a key":       line(text(1, "c"), metadata, image, text(8, string(text(2, "u")))),
		"unknown field":             message(sandbox, number(99, 1)),
		"unknown field in a line":   line(text(1, "c"), number(99, 1), metadata, image, entry(8, uidLabel, "u")),
		"fixed32":                   message(sandbox, protowire.AppendFixed32(protowire.AppendTag(nil, 99, protowire.Fixed32Type), 1)),
		"field number too large":    line([]byte("\x80\xff\xff\xff0"), []byte("000000000000")),
		"id as a number":            line(number(1, 7), metadata, image),
		"state as a text":           line(text(1, "c"), metadata, image, text(6, "x"), text(3, "x")),
		"long state":                line(text(1, "c"), metadata, image, number(6, 1<<40|1), entry(8, uidLabel, "u")),
		"negative time":             line(text(1, "c"), metadata, image, number(7, 1<<63), entry(8, uidLabel, "u")),
		"id not UTF-8":              line(text(1, "\xff"), metadata, image, entry(8, uidLabel, "u")),
		"label not UTF-8":           line(text(1, "c"), metadata, image, entry(8, "a", "\xff"), entry(8, uidLabel, "u")),
		"annotation not UTF-8":      line(text(1, "c"), metadata, image, entry(9, "\xff", "a"), entry(8, uidLabel, "u")),
		"image's name not UTF-8":    line(text(1, "c"), metadata, text(4, string(text(20, "\xff"))), entry(8, uidLabel, "u")),
		"sandbox's label not UTF-8": line(text(1, "s"), text(2, string(text(2, "u"))), entry(5, "a", "\xff")),
		"handler not UTF-8":         line(text(1, "s"), text(2, string(text(2, "u"))), text(7, "\xff")),
	}
}

func TestFastDecodeAgreesOnOddAnswers(t *testing.T) {
	for name, wire := range oddAnswers() {
		t.Run(name, func(t *testing.T) { agree(t, wire) })
	}
}

// The ordinary form must not need the generated code, or leanness is lost.
func TestOrdinaryAnswersAreDecodedFast(t *testing.T) {
	pod := goodSandbox()
	pod.Labels, pod.Annotations, pod.RuntimeHandler = map[string]string{"app": "x"}, map[string]string{"a": "", "b": "c"}, "runc"
	wire, err := proto.Marshal(&runtimev1.ListPodSandboxResponse{Items: []*runtimev1.PodSandbox{pod, goodSandbox(), {}}})
	if err != nil {
		t.Fatal(err)
	}
	if !ordinary(wire, func() form { return sandboxForm(new(runtimev1.PodSandbox)) }) {
		t.Error("a sandbox was not decoded fast")
	}
	container := goodContainer()
	container.Annotations, container.ImageRef, container.ImageId = map[string]string{"a": "b"}, "sha256:x", "sha256:x"
	container.Image.Annotations, container.Image.RuntimeHandler, container.Image.ImageRef = map[string]string{"a": "b"}, "runc", "x"
	wire, err = proto.Marshal(&runtimev1.ListContainersResponse{Containers: []*runtimev1.Container{container, goodContainer(), {}}})
	if err != nil {
		t.Fatal(err)
	}
	if !ordinary(wire, func() form { return containerForm(new(runtimev1.Container)) }) {
		t.Error("a container was not decoded fast")
	}
	agree(t, wire)
}

// FuzzFastDecode holds the fast decoding against the generated code: same rows, same
// counters, same refusals.
func FuzzFastDecode(f *testing.F) {
	for _, wire := range oddAnswers() {
		f.Add(wire)
	}
	f.Fuzz(agree)
}

func agree(t *testing.T, wire []byte) {
	t.Helper()
	if len(wire) > entriesLimit { // an entry takes a byte at least
		return
	}
	var wantS sandboxList
	var sandboxes runtimev1.ListPodSandboxResponse
	wantErr := proto.Unmarshal(wire, &sandboxes)
	if wantErr == nil {
		for _, one := range sandboxes.Items {
			wantS.add(one)
		}
	}
	var s knownBy[pleg.ListedSandbox]
	for range 2 { // the second list knows what is in the first
		got := sandboxList{list[pleg.ListedSandbox]{known: s.take()}}
		gotErr := got.decode(inPieces(wire))
		compare(t, "sandboxes", gotErr, wantErr, got.rows, wantS.rows)
		compare(t, "sandboxes' anomalies", gotErr, wantErr, got.Anomalies, wantS.Anomalies)
		s.give(got.known, got.rows)
	}

	var wantC containerList
	var containers runtimev1.ListContainersResponse
	wantErr = proto.Unmarshal(wire, &containers)
	if wantErr == nil {
		for _, one := range containers.Containers {
			wantC.add(one)
		}
	}
	var c knownBy[pleg.ListedContainer]
	for range 2 {
		got := containerList{list[pleg.ListedContainer]{known: c.take()}}
		gotErr := got.decode(inPieces(wire))
		compare(t, "containers", gotErr, wantErr, got.rows, wantC.rows)
		compare(t, "containers' anomalies", gotErr, wantErr, got.Anomalies, wantC.Anomalies)
		c.give(got.known, got.rows)
	}
}

func compare[T any](t *testing.T, what string, gotErr, wantErr error, got, want T) {
	t.Helper()
	if (gotErr == nil) != (wantErr == nil) {
		t.Errorf("%s: error = %v, want %v", what, gotErr, wantErr)
		return
	}
	if wantErr != nil {
		return
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s differ (-generated +fast):\n%s", what, diff)
	}
}

// TestOddFieldsAreJoinedOnce holds that fields that no list has do not each cost all that follows.
func TestOddFieldsAreJoinedOnce(t *testing.T) {
	var wire []byte
	for range 1000 {
		wire = protowire.AppendVarint(protowire.AppendTag(wire, 2, protowire.VarintType), 1)
	}
	p := pieces{Reader: inPieces(wire).Reader()}
	for range 2 {
		if f, ok := p.field(); !ok || f.num != 2 {
			t.Fatalf("field %d, %v", f.num, ok)
		}
		if rest, _ := p.Peek(p.Remaining(), nil); len(rest) != 1 {
			t.Errorf("what is left is in %d pieces", len(rest))
		}
	}
}

// inPieces returns the bytes of a message as they may come: one that is empty, one that is
// long, and many that are short.
func inPieces(wire []byte) (data mem.BufferSlice) {
	half := len(wire) / 2
	data = mem.BufferSlice{mem.SliceBuffer(nil), mem.SliceBuffer(wire[:half])}
	for piece := range slices.Chunk(wire[half:], 7) {
		data = append(data, mem.SliceBuffer(piece))
	}
	return data
}

// ordinary reports whether all entries have the form.
func ordinary(wire []byte, f func() form) bool {
	for entry := range entries(inPieces(wire)) {
		if !f().read(entry) {
			return false
		}
	}
	return true
}
