package cri

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	runtimev1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/plegtop/plegtop/engine/call"
)

// wired is a message that is these bytes on the wire, whatever they are.
func wired[M proto.Message](m M, wire []byte) M {
	m.ProtoReflect().SetUnknown(wire)
	return m
}

// marshaled is m as it is on the wire, for one that is sent often.
func marshaled[M proto.Message](t *testing.T, m, empty M) M {
	wire, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return wired(empty, wire)
}

// emptyEntries is a message of empty embedded messages number num, as large as
// the kubelet takes it.
func emptyEntries(num byte) []byte {
	return bytes.Repeat([]byte{num<<3 | 2, 0}, messageLimit/2)
}

// endless sends m for as long as somebody listens.
func endless(m proto.Message) streamAnswer {
	return func(s grpc.ServerStream) error {
		for {
			if err := s.SendMsg(m); err != nil {
				return err
			}
		}
	}
}

func TestHostileAnswersAreBounded(t *testing.T) {
	many := make([]*runtimev1.Container, 1000)
	for i := range many {
		many[i] = goodContainer()
	}
	large := goodSandbox()
	large.Annotations = map[string]string{"large": strings.Repeat("x", messageLimit/2)}
	longMessage := goodContainerStatus()
	longMessage.Message = strings.Repeat("x", statusLimit/2)
	const inspect = runtimev1.RuntimeService_ContainerStatus_FullMethodName
	calls := map[string]func(context.Context, *Client) error{
		listSandboxes:  func(ctx context.Context, c *Client) error { _, err := c.ListPodSandbox(ctx, ""); return err },
		listContainers: func(ctx context.Context, c *Client) error { _, err := c.ListContainers(ctx, ""); return err },
		inspect:        func(ctx context.Context, c *Client) error { _, err := c.ContainerStatus(ctx, "x"); return err },
	}
	for name, tt := range map[string]struct {
		method string
		answer proto.Message
		stream streamAnswer
		want   string // what the error says
	}{
		"a stream that never ends":     {listContainers, nil, endless(marshaled(t, &runtimev1.StreamContainersResponse{Containers: many}, &runtimev1.StreamContainersResponse{})), "larger than max of plegtop: 100k entries"},
		"large messages without end":   {listSandboxes, nil, endless(&runtimev1.StreamPodSandboxesResponse{PodSandboxes: []*runtimev1.PodSandbox{large}}), "larger than max of plegtop: 64 MiB"},
		"8 million empty sandboxes":    {listSandboxes, wired(&runtimev1.ListPodSandboxResponse{}, emptyEntries(1)), nil, "100k entries"},
		"8 million empty containers":   {listContainers, wired(&runtimev1.ListContainersResponse{}, emptyEntries(1)), nil, "100k entries"},
		"and one that is no container": {listContainers, wired(&runtimev1.ListContainersResponse{}, append(emptyEntries(1)[4:], 8, 1)), nil, "100k entries"},
		"8 million mounts":             {inspect, &runtimev1.ContainerStatusResponse{Status: wired(&runtimev1.ContainerStatus{}, emptyEntries(14)[16:])}, nil, "larger than max"},
	} {
		t.Run(name, func(t *testing.T) {
			s := healthy()
			s.answers[tt.method] = reply(tt.answer)
			s.streams = map[string]streamAnswer{}
			if tt.stream != nil {
				s.streams[strings.NewReplacer("ListPodSandbox", "StreamPodSandboxes", "List", "Stream").Replace(tt.method)] = tt.stream
			}
			c, ctx := start(t, s), within(t, testLimit)
			var err error
			used := allocated(func() { err = calls[tt.method](ctx, c) })
			if !errors.Is(err, call.ErrTooLarge) || call.Code(err) != "ResourceExhausted" || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error = %v, want %v with %q", err, call.ErrTooLarge, tt.want)
			}
			if most := uint64(24 * messageLimit); used > most { // both ends together, garbage included
				t.Errorf("it took %d MiB, want %d at most", used>>20, most>>20)
			}
		})
	}
}

// allocated returns how many bytes f, and all beside it, asked for.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// A list of the largest node there is stays below all limits.
func TestLargeListsAreTaken(t *testing.T) {
	s := healthy()
	chunk := &runtimev1.StreamContainersResponse{}
	for range 1000 {
		c := goodContainer()
		c.Annotations = map[string]string{"io.kubernetes.container.hash": "5f1c", "more": strings.Repeat("x", 500)}
		chunk.Containers = append(chunk.Containers, c)
	}
	all := slices.Repeat([]proto.Message{marshaled(t, chunk, &runtimev1.StreamContainersResponse{})}, 60)
	s.streams = map[string]streamAnswer{streamedContainers: chunks(all...)}
	rows, err := start(t, s).ListContainers(within(t, testLimit), "")
	if err != nil || len(rows) != 60_000 {
		t.Errorf("%d rows, %v, want 60000", len(rows), err)
	}
}

func TestLongTextsAreCut(t *testing.T) {
	method := runtimev1.RuntimeService_ContainerStatus_FullMethodName
	s := healthy()
	c := start(t, s)
	long := "at first: " + strings.Repeat("é", 50_000) + " :at last"

	s.answers[method] = refuse(status.Error(codes.Unknown, long))
	_, err := c.ContainerStatus(within(t, testLimit), "x")
	if e, ok := errors.AsType[*call.Error](err); !ok || !cutWell(e.Text) {
		t.Errorf("error = %v, want one of %d bytes at most, without its middle", err, textLimit)
	}

	s.answers[method] = refuse(status.Error(codes.Unknown, strings.Repeat(long, 4)))
	_, err = c.ContainerStatus(within(t, testLimit), "x")
	if err == nil || len(err.Error()) > textLimit {
		t.Errorf("error of %d bytes: %v", len(err.Error()), err)
	}

	answer := goodContainerStatus()
	answer.Message, answer.Id = long, long
	s.answers[method] = reply(&runtimev1.ContainerStatusResponse{Status: answer})
	var trace call.Trace
	got, err := c.ContainerStatus(call.WithTrace(within(t, testLimit), &trace), "x")
	if err != nil || !cutWell(got.Message) || !cutWell(got.ID) || trace.Anomalies.BadText != 2 {
		t.Errorf("texts of %d and %d bytes, %+v, %v", len(got.Message), len(got.ID), trace.Anomalies, err)
	}
}

func cutWell(s string) bool {
	return len(s) <= textLimit && strings.HasPrefix(s, "at first: éé") && strings.HasSuffix(s, "éé :at last") &&
		strings.Contains(s, " bytes cut) ") && strings.ToValidUTF8(s, "") == s
}

// An answer that is no protobuf says which object it is for.
func TestUnreadableAnswers(t *testing.T) {
	bad := func(id string) []byte { // the image reference, which must be UTF-8
		return append([]byte{1<<3 | 2, byte(len(id) + 5), 1<<3 | 2, byte(len(id))}, id+"\x2a\x01\xff"...)
	}
	s := healthy()
	good, err := proto.Marshal(&runtimev1.ListContainersResponse{Containers: []*runtimev1.Container{goodContainer()}})
	if err != nil {
		t.Fatal(err)
	}
	s.answers[listContainers] = reply(wired(&runtimev1.ListContainersResponse{}, append(good, bad("3f2a")...)))
	s.answers[runtimev1.RuntimeService_Status_FullMethodName] = reply(wired(&runtimev1.StatusResponse{}, []byte{1<<3 | 2, 9}))
	c, ctx := start(t, s), within(t, testLimit)
	_, err = c.ListContainers(ctx, "")
	wantError(t, err, &call.Error{Op: call.ListContainers, Kind: call.ErrUnreadable, Code: "Internal",
		Text: `unreadable answer: entry 2 (id "3f2a"): string field contains invalid UTF-8`})
	_, err = c.Status(ctx)
	if !errors.Is(err, call.ErrUnreadable) {
		t.Errorf("error = %v, want %v", err, call.ErrUnreadable)
	}
}

// TestGoAwayIsSilent runs itself, since gRPC has standard error from the start.
func TestGoAwayIsSilent(t *testing.T) {
	if path := os.Getenv("CRI_TEST_GOAWAY"); path != "" {
		_, err := dialed(t, path).Version(within(t, testLimit))
		if err == nil {
			t.Error("no error")
		}
		return
	}
	path := filepath.Join(shortDir(t), "cri.sock")
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Write([]byte("\x00\x00\x00\x04\x00\x00\x00\x00\x00" + // SETTINGS
				"\x00\x00\x16\x07\x00\x00\x00\x00\x00" + "\x00\x00\x00\x00\x00\x00\x00\x0btoo_many_pings")) // GOAWAY, ENHANCE_YOUR_CALM
			_, _ = conn.Read(make([]byte, 1024))
			_ = conn.Close()
		}
	}()
	self := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestGoAwayIsSilent$")
	self.Env = append(os.Environ(), "CRI_TEST_GOAWAY="+path)
	var stderr bytes.Buffer
	self.Stderr = &stderr
	if out, err := self.Output(); err != nil || stderr.Len() > 0 {
		t.Errorf("%v, standard output:\n%s\nstandard error:\n%s", err, out, &stderr)
	}
}
