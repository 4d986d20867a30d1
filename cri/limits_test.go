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

// emptyEntries is a message of empty embedded messages number num, as large as
// the kubelet takes it.
func emptyEntries(num byte) []byte {
	return bytes.Repeat([]byte{num<<3 | 2, 0}, messageLimit/2)
}

func TestHostileAnswersAreBounded(t *testing.T) {
	const inspect = runtimev1.RuntimeService_ContainerStatus_FullMethodName
	calls := map[string]func(context.Context, *Client) error{
		listSandboxes:  func(ctx context.Context, c *Client) error { _, err := c.ListPodSandbox(ctx, ""); return err },
		listContainers: func(ctx context.Context, c *Client) error { _, err := c.ListContainers(ctx, ""); return err },
		inspect:        func(ctx context.Context, c *Client) error { _, err := c.ContainerStatus(ctx, "x"); return err },
	}
	for name, tt := range map[string]struct {
		method string
		answer proto.Message
		want   string // what the error says
	}{
		"8 million empty sandboxes":    {listSandboxes, wired(&runtimev1.ListPodSandboxResponse{}, emptyEntries(1)), "100k entries"},
		"8 million empty containers":   {listContainers, wired(&runtimev1.ListContainersResponse{}, emptyEntries(1)), "100k entries"},
		"and one that is no container": {listContainers, wired(&runtimev1.ListContainersResponse{}, append(emptyEntries(1)[4:], 8, 1)), "100k entries"},
		"8 million mounts":             {inspect, &runtimev1.ContainerStatusResponse{Status: wired(&runtimev1.ContainerStatus{}, emptyEntries(14)[16:])}, "100k entries"},
		"one mount of 8 million users": {inspect, &runtimev1.ContainerStatusResponse{Status: &runtimev1.ContainerStatus{Mounts: []*runtimev1.Mount{wired(&runtimev1.Mount{}, emptyEntries(6)[32:])}}}, "100k entries"},
		"16 million groups":            {inspect, &runtimev1.ContainerStatusResponse{Status: &runtimev1.ContainerStatus{User: &runtimev1.ContainerUser{Linux: &runtimev1.LinuxContainerUser{SupplementalGroups: make([]int64, messageLimit-32)}}}}, "100k entries"},
		"a status over 16 MiB":         {inspect, &runtimev1.ContainerStatusResponse{Status: &runtimev1.ContainerStatus{Message: strings.Repeat("x", messageLimit)}}, "larger than max"},
	} {
		t.Run(name, func(t *testing.T) {
			s := healthy()
			s.answers[tt.method] = reply(tt.answer)
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

// The longest list of real containers that fits in a message stays below all limits.
func TestLongestListIsTaken(t *testing.T) {
	one := goodContainer()
	one.Id = strings.Repeat("f", 64)
	entry := &runtimev1.ListContainersResponse{Containers: []*runtimev1.Container{one}}
	n := messageLimit / proto.Size(entry)
	s := healthy()
	s.answers[listContainers] = reply(&runtimev1.ListContainersResponse{Containers: slices.Repeat(entry.Containers, n)})
	rows, err := start(t, s).ListContainers(within(t, testLimit), "")
	if err != nil || len(rows) != n {
		t.Errorf("%d rows, %v, want %d", len(rows), err, n)
	}
}

// What a kubelet takes must not fail for a limit of ours.
func TestLargestStatusIsTaken(t *testing.T) {
	const large = messageLimit - 1<<10
	sandbox, container := goodSandboxStatus(), goodContainerStatus()
	sandbox.Annotations = map[string]string{"large": strings.Repeat("x", large)}
	mount := &runtimev1.Mount{ContainerPath: "/data/" + strings.Repeat("x", 150), HostPath: "/var/lib/kubelet/pods/" + strings.Repeat("x", 150)}
	container.Mounts = slices.Repeat([]*runtimev1.Mount{mount}, large/(proto.Size(mount)+3))
	s := healthy()
	s.answers[runtimev1.RuntimeService_PodSandboxStatus_FullMethodName] = reply(&runtimev1.PodSandboxStatusResponse{Status: sandbox})
	s.answers[runtimev1.RuntimeService_ContainerStatus_FullMethodName] = reply(&runtimev1.ContainerStatusResponse{Status: container})
	s.answers[runtimev1.RuntimeService_Status_FullMethodName] = reply(&runtimev1.StatusResponse{Status: &runtimev1.RuntimeStatus{
		Conditions: []*runtimev1.RuntimeCondition{{Type: "RuntimeReady", Status: true, Message: strings.Repeat("x", large)}},
	}})
	c, ctx := start(t, s), within(t, testLimit)
	if got, err := c.PodSandboxStatus(ctx, "x"); err != nil || got.ID != sandbox.Id {
		t.Errorf("sandbox %q, %v", got.ID, err)
	}
	if got, err := c.ContainerStatus(ctx, "x"); err != nil || got.ID != container.Id {
		t.Errorf("container %q, %v", got.ID, err)
	}
	if got, err := c.Status(ctx); err != nil || len(got) != 1 || !got[0].Status {
		t.Errorf("%d conditions, %v", len(got), err)
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
	wantError(t, err, &call.Error{Op: call.ListContainers, Kind: call.ErrUnreadable,
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
