package cri

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	runtimev1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/plegtop/plegtop/engine/call"
)

func TestEveryCode(t *testing.T) {
	kinds := map[codes.Code]call.Kind{
		codes.Unavailable:      call.ErrUnavailable,
		codes.PermissionDenied: call.ErrPermission,
		codes.Unauthenticated:  call.ErrPermission,
		codes.DeadlineExceeded: call.ErrDeadline,
		codes.NotFound:         call.ErrNotFound,
		codes.Unimplemented:    call.ErrUnimplemented,
	}
	s := healthy()
	c := start(t, s)
	for code := codes.Canceled; code <= codes.Unauthenticated; code++ {
		s.answers[runtimev1.RuntimeService_ContainerStatus_FullMethodName] = refuse(status.Error(code, "the runtime's words"))
		kind := kinds[code] // ErrOther for all others
		_, err := c.ContainerStatus(within(t, testLimit), "x")
		wantError(t, err, &call.Error{Op: call.ContainerStatus, Kind: kind, Code: code.String(), Text: "the runtime's words"})
		if !errors.Is(err, kind) {
			t.Errorf("%v does not match its kind", err)
		}
	}
}

func TestExhausted(t *testing.T) {
	tests := []struct {
		text string
		want call.Kind
	}{
		{"grpc: received message larger than max (20000000 vs. 16777216)", call.ErrTooLarge},
		{"trying to send message larger than max (20000000 vs. 16777216)", call.ErrTooLarge},
		{"grpc: received message after decompression larger than max 16777216", call.ErrTooLarge},
		{"no space left on device", call.ErrOther},
		{"", call.ErrOther},
	}
	for _, tt := range tests {
		if got := kindOf(status.New(codes.ResourceExhausted, tt.text)); got != tt.want {
			t.Errorf("ResourceExhausted %q means %v, want %v", tt.text, got, tt.want)
		}
	}
}

func TestAnswerOverTheLimit(t *testing.T) {
	s := healthy()
	list := func(bytes int) proto.Message {
		pod := goodSandbox()
		pod.Annotations = map[string]string{"big": strings.Repeat("x", bytes)}
		return &runtimev1.ListPodSandboxResponse{Items: []*runtimev1.PodSandbox{pod}}
	}
	c, ctx := start(t, s), within(t, testLimit)

	s.answers[runtimev1.RuntimeService_ListPodSandbox_FullMethodName] = reply(list(16<<20 - 1000))
	if _, err := c.ListPodSandbox(ctx, ""); err != nil {
		t.Errorf("an answer just below the limit: %v", err)
	}
	s.answers[runtimev1.RuntimeService_ListPodSandbox_FullMethodName] = reply(list(16 << 20))
	rows, err := c.ListPodSandbox(ctx, "")
	if !errors.Is(err, call.ErrTooLarge) || call.Code(err) != "ResourceExhausted" {
		t.Errorf("an answer over the limit: %v, want %v", err, call.ErrTooLarge)
	}
	if rows != nil {
		t.Errorf("a failed list has %d rows", len(rows))
	}
}

// hang answers no call before its context ends.
func hang(ctx context.Context, _ any) (proto.Message, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestDeadline(t *testing.T) {
	s := healthy()
	s.answers[runtimev1.RuntimeService_ContainerStatus_FullMethodName] = hang
	c := start(t, s)
	for range 20 { // either end's timer may be first
		_, err := c.ContainerStatus(within(t, 5*time.Millisecond), "x")
		wantError(t, err, call.NoAnswer(call.ContainerStatus, call.Expired, "context deadline exceeded"))
	}
}

func TestCloseCancelsCalls(t *testing.T) {
	s := healthy()
	var c *Client
	s.answers[runtimev1.RuntimeService_ContainerStatus_FullMethodName] = func(ctx context.Context, req any) (proto.Message, error) {
		_ = c.Close()
		return hang(ctx, req)
	}
	c = start(t, s)
	_, err := c.ContainerStatus(within(t, testLimit), "x")
	if !errors.Is(err, call.ErrCanceled) {
		t.Errorf("error = %v, want %v", err, call.ErrCanceled)
	}
}

// What gRPC makes of a stream that the server's timer reset first.
func TestResetByTheServersTimer(t *testing.T) {
	const reset = "stream terminated by RST_STREAM with error code: CANCEL"
	c := dialed(t, filepath.Join(t.TempDir(), "none"))
	method := runtimev1.RuntimeService_ListContainers_FullMethodName
	ended, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	tests := []struct {
		name string
		ctx  context.Context
		code codes.Code
		want call.Error
	}{
		{"deadline", t.Context(), codes.DeadlineExceeded,
			*call.NoAnswer(call.ListContainers, call.Expired, "context deadline exceeded")},
		{"canceled at the deadline", ended, codes.Canceled,
			*call.NoAnswer(call.ListContainers, call.Expired, "context deadline exceeded")},
		{"canceled by the runtime", t.Context(), codes.Canceled,
			call.Error{Op: call.ListContainers, Kind: call.ErrOther, Code: "Canceled", Text: reset}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			wantError(t, c.explain(tt.ctx, method, status.Error(tt.code, reset)), &tt.want)
		})
	}
}

// A connection that gRPC gives up since nothing came on it is not a socket where
// nobody is.
func TestSilentSocket(t *testing.T) {
	var c Client
	c.dialer = new(dialer)
	for why, kind := range map[string]error{
		"read unix @->/run/x.sock: use of closed network connection": call.ErrSilent,
		"EOF": call.ErrUnavailable,
	} {
		err := c.explain(t.Context(), runtimev1.RuntimeService_Version_FullMethodName, status.Error(codes.Unavailable, `connection error: desc = "error reading server preface: `+why+`"`))
		if e, is := errors.AsType[*call.Error](err); !is || e.Kind != kind || !errors.Is(err, call.ErrUnavailable) {
			t.Errorf("%s: error = %#v, want %v", why, err, kind)
		}
	}
}

// A connection that breaks under a call is no answer of the runtime's.
func TestBrokenConnection(t *testing.T) {
	var c Client
	c.dialer = new(dialer)
	for text, want := range map[string]call.Reason{"error reading from server: EOF": call.Broken, "the task has gone": call.Theirs} {
		err := c.explain(t.Context(), runtimev1.RuntimeService_Version_FullMethodName, status.Error(codes.Unavailable, text))
		wantError(t, err, &call.Error{Op: call.Version, Kind: call.ErrUnavailable, Code: "Unavailable", Text: text, Why: want})
	}
}

func TestNothingListens(t *testing.T) {
	path := filepath.Join(shortDir(t), "cri.sock")
	_, err := dialed(t, path).Version(within(t, testLimit))
	wantError(t, err, &call.Error{Op: call.Version, Kind: call.ErrUnavailable, Code: "Unavailable",
		Text: "dial unix " + path + ": connect: no such file or directory"})
}

func TestSocketWithoutPermission(t *testing.T) {
	refused := func(context.Context, string, string) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Net: "unix", Err: os.NewSyscallError("connect", syscall.EACCES)}
	}
	c, err := open("/run/x.sock", refused, handshake)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, err = c.ListPodSandbox(within(t, testLimit), "")
	wantError(t, err, &call.Error{Op: call.ListPodSandbox, Kind: call.ErrPermission, Code: "Unavailable", Text: "dial unix: connect: permission denied"})
}
