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
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	runtimev1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/plegtop/plegtop/engine/call"
)

// long is a text that is cut.
var long = "at first: " + strings.Repeat("é", 50_000) + " :at last"

func TestErrorsByClass(t *testing.T) {
	kinds := map[codes.Code]call.Kind{ // ErrOther for all others
		codes.Unavailable:      call.ErrUnavailable,
		codes.PermissionDenied: call.ErrPermission,
		codes.Unauthenticated:  call.ErrPermission,
		codes.DeadlineExceeded: call.ErrDeadline,
		codes.NotFound:         call.ErrNotFound,
		codes.Unimplemented:    call.ErrUnimplemented,
	}
	s := healthy()
	c := start(t, s)
	ask := func(err error) error {
		s.answers[containerStatus] = refuse(err)
		_, err = c.ContainerStatus(within(t, testLimit), "x")
		return err
	}
	for code := codes.Canceled; code <= codes.Unauthenticated; code++ {
		err := ask(status.Error(code, "the runtime's words"))
		wantError(t, err, &call.Error{Op: call.ContainerStatus, Kind: kinds[code], Code: code.String(), Text: "the runtime's words"})
	}
	for text, kind := range map[string]call.Kind{
		"grpc: received message larger than max (20000000 vs. 16777216)":      call.ErrTooLarge,
		"trying to send message larger than max (20000000 vs. 16777216)":      call.ErrTooLarge,
		"grpc: received message after decompression larger than max 16777216": call.ErrTooLarge,
		"no space left on device": call.ErrOther,
	} {
		wantError(t, ask(status.Error(codes.ResourceExhausted, text)), &call.Error{Op: call.ContainerStatus, Kind: kind, Code: "ResourceExhausted", Text: text})
	}
	for _, text := range []string{long, strings.Repeat(long, 4)} { // the second does not even fit in a header
		err := ask(status.Error(codes.Unknown, text))
		if e, ok := errors.AsType[*call.Error](err); !ok || len(e.Text) > textLimit || text == long && e.Text != cut(long) {
			t.Errorf("error of %d bytes: %v", len(err.Error()), err)
		}
	}
}

func TestCut(t *testing.T) {
	short := cut(long)
	if len(short) > textLimit || !strings.HasPrefix(short, "at first: éé") || !strings.HasSuffix(short, "éé :at last") ||
		!strings.Contains(short, " bytes cut) ") || strings.ToValidUTF8(short, "") != short {
		t.Errorf("cut is %q", short)
	}
	if got := cut("a\xffb"); got != "a\uFFFDb" {
		t.Errorf("cut is %q", got)
	}
}

// hang answers no call before its context ends.
func hang(ctx context.Context, _ any) (proto.Message, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestDeadline(t *testing.T) {
	s := healthy()
	s.answers[containerStatus], s.answers[listContainers] = hang, hang
	c := start(t, s)
	for range 20 { // the timer of either end may be first
		_, err := c.ContainerStatus(within(t, 5*time.Millisecond), "x")
		wantError(t, err, call.NoAnswer(call.ContainerStatus, call.Expired, "context deadline exceeded"))
	}
	if rows, err := c.ListContainers(within(t, 5*time.Millisecond), ""); !errors.Is(err, call.ErrDeadline) || rows != nil {
		t.Errorf("%d rows, %v", len(rows), err)
	}
}

func TestCloseCancelsCalls(t *testing.T) {
	s := healthy()
	var c *Client
	s.answers[containerStatus] = func(ctx context.Context, req any) (proto.Message, error) {
		_ = c.Close()
		return hang(ctx, req)
	}
	c = start(t, s)
	if _, err := c.ContainerStatus(within(t, testLimit), "x"); !errors.Is(err, call.ErrCanceled) {
		t.Errorf("error = %v, want %v", err, call.ErrCanceled)
	}
}

// What gRPC says depends on which end notices first. These are its words.
func TestExplain(t *testing.T) {
	const reset = "stream terminated by RST_STREAM with error code: CANCEL"
	const preface = `connection error: desc = "error reading server preface: `
	const silent = "the socket takes a connection and says nothing on it for 5s"
	c := dialed(t, "/nowhere")
	live := t.Context()
	ended, cancel := context.WithTimeout(live, 0)
	defer cancel()
	for _, tt := range []struct {
		ctx  context.Context
		code codes.Code
		text string
		want call.Error
	}{
		{live, codes.DeadlineExceeded, reset, *call.NoAnswer(call.Version, call.Expired, "context deadline exceeded")},
		{ended, codes.Canceled, reset, *call.NoAnswer(call.Version, call.Expired, "context deadline exceeded")},
		{live, codes.Canceled, reset, call.Error{Kind: call.ErrOther, Code: "Canceled", Text: reset}}, // by the runtime
		{live, codes.Unavailable, preface + `read unix @->/run/x.sock: use of closed network connection"`, call.Error{Kind: call.ErrSilent, Text: silent}},
		{live, codes.Unavailable, preface + `EOF"`, call.Error{Kind: call.ErrUnavailable, Text: preface + `EOF"`, Why: call.Broken}},
		{live, codes.Unavailable, "error reading from server: EOF", call.Error{Kind: call.ErrUnavailable, Text: "error reading from server: EOF", Why: call.Broken}},
		{live, codes.Unavailable, "the task has gone", call.Error{Kind: call.ErrUnavailable, Text: "the task has gone"}},
	} {
		if tt.want.Op = call.Version; tt.want.Code == "" {
			tt.want.Code = tt.code.String()
		}
		wantError(t, c.explain(tt.ctx, call.Version, status.Error(tt.code, tt.text)), &tt.want)
	}
}

func TestNoConnection(t *testing.T) {
	path := filepath.Join(shortDir(t), "cri.sock")
	_, err := dialed(t, path).Version(within(t, testLimit))
	wantError(t, err, &call.Error{Op: call.Version, Kind: call.ErrUnavailable, Code: "Unavailable", Text: "dial unix " + path + ": connect: no such file or directory"})
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

func TestRuntimeGoneAndBack(t *testing.T) {
	path := filepath.Join(shortDir(t), "cri.sock")
	stop := healthy().serve(t, path)
	c, ctx := dialed(t, path), within(t, testLimit)
	if _, err := c.Version(ctx); err != nil {
		t.Fatal(err)
	}
	stop()
	for range 50 { // it fails at once each time, whatever the back-off
		if _, err := c.Version(ctx); !errors.Is(err, call.ErrUnavailable) {
			t.Fatalf("error = %v, want %v", err, call.ErrUnavailable)
		}
	}
	s := healthy()
	s.serve(t, path)
	for state := c.conn.GetState(); state != connectivity.Ready; state = c.conn.GetState() {
		if state == connectivity.Idle {
			c.conn.Connect()
		}
		if !c.conn.WaitForStateChange(ctx, state) {
			t.Fatal("the client did not connect")
		}
	}
	if _, err := c.Version(ctx); err != nil {
		t.Errorf("after the runtime is back: %v", err)
	}
	// Its own words count, and not those of the failed attempt before.
	s.answers[version] = refuse(status.Error(codes.Unavailable, "server is not initialized yet"))
	_, err := c.Version(ctx)
	wantError(t, err, &call.Error{Op: call.Version, Kind: call.ErrUnavailable, Code: "Unavailable", Text: "server is not initialized yet"})
}

// TestGoAwayIsSilent runs itself, since gRPC has standard error from the start.
func TestGoAwayIsSilent(t *testing.T) {
	if path := os.Getenv("CRI_TEST_GOAWAY"); path != "" {
		if _, err := dialed(t, path).Version(within(t, testLimit)); err == nil {
			t.Error("no error")
		}
		return
	}
	path := filepath.Join(shortDir(t), "cri.sock")
	listener := listen(t, path)
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

// emptyEntries is a message of empty embedded messages number num, as large as the kubelet takes it.
func emptyEntries(num byte) []byte { return bytes.Repeat([]byte{num<<3 | 2, 0}, messageLimit/2) }

func TestHostileAnswersAreBounded(t *testing.T) {
	inspection := func(s *runtimev1.ContainerStatus) proto.Message {
		return &runtimev1.ContainerStatusResponse{Status: s}
	}
	calls := map[string]func(context.Context, *Client) error{
		listSandboxes:   func(ctx context.Context, c *Client) error { _, err := c.ListPodSandbox(ctx, ""); return err },
		listContainers:  func(ctx context.Context, c *Client) error { _, err := c.ListContainers(ctx, ""); return err },
		containerStatus: func(ctx context.Context, c *Client) error { _, err := c.ContainerStatus(ctx, "x"); return err },
		runtimeStatus:   func(ctx context.Context, c *Client) error { _, err := c.Status(ctx); return err },
	}
	named := goodContainer()
	named.Id = strings.Repeat("\x01", partLimit+1)
	large := goodContainer()
	large.Annotations = map[string]string{"large": strings.Repeat("x", messageLimit)}
	for name, tt := range map[string]struct {
		method string
		answer proto.Message
		want   string // in the error
	}{
		"8 million empty sandboxes":  {listSandboxes, wired(&runtimev1.ListPodSandboxResponse{}, emptyEntries(1)), "100k entries"},
		"8 million empty containers": {listContainers, wired(&runtimev1.ListContainersResponse{}, emptyEntries(1)), "100k entries"},
		"a container of 8 MiB":       {listContainers, &runtimev1.ListContainersResponse{Containers: []*runtimev1.Container{wired(&runtimev1.Container{}, emptyEntries(8)[2*partLimit:])}}, `entry 1 (id ""): larger than max of plegtop: 4 MiB`},
		"an id of 4 MiB":             {listContainers, &runtimev1.ListContainersResponse{Containers: []*runtimev1.Container{named}}, "larger than max of plegtop: 4 MiB"},
		"2 million conditions":       {runtimeStatus, &runtimev1.StatusResponse{Status: wired(&runtimev1.RuntimeStatus{}, emptyEntries(1)[:partLimit-64])}, "1000 conditions"},
		"a list over 16 MiB":         {listContainers, &runtimev1.ListContainersResponse{Containers: []*runtimev1.Container{large}}, "larger than max"},
		"2 million mounts":           {containerStatus, inspection(wired(&runtimev1.ContainerStatus{}, emptyEntries(14)[:partLimit])), "larger than max of plegtop: 4 MiB"},
		"a status over 16 MiB":       {containerStatus, inspection(&runtimev1.ContainerStatus{Message: strings.Repeat("x", messageLimit)}), "larger than max"},
	} {
		t.Run(name, func(t *testing.T) {
			s := healthy()
			s.answers[tt.method] = reply(tt.answer)
			c, ctx := start(t, s), within(t, testLimit)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err := calls[tt.method](ctx, c)
			runtime.ReadMemStats(&after)
			if !errors.Is(err, call.ErrTooLarge) || call.Code(err) != "ResourceExhausted" || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error = %v, want %v with %q", err, call.ErrTooLarge, tt.want)
			}
			if len(err.Error()) > 2*textLimit {
				t.Errorf("the error has %d bytes", len(err.Error()))
			}
			if used, most := after.TotalAlloc-before.TotalAlloc, uint64(24*messageLimit); used > most { // both ends, with garbage
				t.Errorf("it took %d MiB, want %d at most", used>>20, most>>20)
			}
		})
	}
}

// The largest answers that a node may have are taken: a list as large as the kubelet takes it, and a
// status with long texts.
func TestLargestAnswersAreTaken(t *testing.T) {
	s := healthy()
	one, sandbox := goodContainer(), goodSandboxStatus()
	one.Id = strings.Repeat("f", 64)
	n := messageLimit / proto.Size(&runtimev1.ListContainersResponse{Containers: []*runtimev1.Container{one}})
	s.answers[listContainers] = reply(&runtimev1.ListContainersResponse{Containers: slices.Repeat([]*runtimev1.Container{one}, n)})
	sandbox.Annotations = map[string]string{"large": strings.Repeat("x", partLimit-1<<10)}
	s.answers[sandboxStatus] = reply(&runtimev1.PodSandboxStatusResponse{Status: sandbox})
	c, ctx := start(t, s), within(t, testLimit)
	if rows, err := c.ListContainers(ctx, ""); err != nil || len(rows) != n {
		t.Errorf("%d rows, %v, want %d", len(rows), err, n)
	}
	if got, err := c.PodSandboxStatus(ctx, "x"); err != nil || got.ID != sandbox.Id {
		t.Errorf("sandbox %q, %v", got.ID, err)
	}
}

// The error for an answer that is no protobuf says which entry it is.
func TestUnreadableAnswers(t *testing.T) {
	bad := []byte("\x0a\x09\x0a\x043f2a\x2a\x01\xff") // an image reference that is not UTF-8
	s := healthy()
	s.answers[listContainers] = reply(wired(&runtimev1.ListContainersResponse{}, append(wireOf(t, "good"), bad...)))
	s.answers[runtimeStatus] = reply(wired(&runtimev1.StatusResponse{}, []byte{1<<3 | 2, 9}))
	c, ctx := start(t, s), within(t, testLimit)
	_, err := c.ListContainers(ctx, "")
	wantError(t, err, &call.Error{Op: call.ListContainers, Kind: call.ErrUnreadable, Text: `unreadable answer: entry 2 (id "3f2a"): string field contains invalid UTF-8`})
	if _, err := c.Status(ctx); !errors.Is(err, call.ErrUnreadable) {
		t.Errorf("error = %v, want %v", err, call.ErrUnreadable)
	}
}

// A wireCodec passes messages on as they are on the wire.
type wireCodec struct{}

func (wireCodec) Marshal(v any) ([]byte, error)      { return v.([]byte), nil }
func (wireCodec) Unmarshal(data []byte, v any) error { *v.(*[]byte) = data; return nil }
func (wireCodec) Name() string                       { return "proto" }

type plugin struct{ kind, id, err string }

// onWire is a plugin as containerd lists it.
func (p plugin) onWire() []byte {
	text := func(b []byte, num protowire.Number, s string) []byte {
		return protowire.AppendString(protowire.AppendTag(b, num, protowire.BytesType), s)
	}
	b := text(text(text(nil, 1, p.kind), 2, p.id), 3, "io.containerd.metadata.v1")
	if p.err != "" {
		why := text(protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), 2), 2, p.err)
		b = text(b, 7, string(why))
	}
	return b
}

// withoutCRI is a server that knows only its plugins, if there are any.
func withoutCRI(all []plugin) *grpc.Server {
	answer := func(_ any, s grpc.ServerStream) error {
		method, _ := grpc.MethodFromServerStream(s)
		if method != pluginsMethod || all == nil {
			return status.Error(codes.Unimplemented, "unknown service "+strings.Split(method, "/")[1])
		}
		var request, list []byte
		if err := s.RecvMsg(&request); err != nil {
			return err
		}
		for _, p := range all {
			list = protowire.AppendBytes(protowire.AppendTag(list, 1, protowire.BytesType), p.onWire())
		}
		return s.SendMsg(list)
	}
	return grpc.NewServer(grpc.ForceServerCodec(wireCodec{}), grpc.UnknownServiceHandler(answer))
}

// A containerd without CRI has the reason itself.
func TestWhyThereIsNoCRI(t *testing.T) {
	overlay := plugin{"io.containerd.snapshotter.v1", "overlayfs", "not supported"}
	for _, tt := range []struct {
		name string
		all  []plugin
		want string
	}{
		{"a plugin failed", []plugin{overlay, {"io.containerd.cri.v1", "images", "no such folder"}, {"io.containerd.grpc.v1", "cri", "images failed"}},
			`containerd's plugin io.containerd.cri.v1.images did not start: no such folder`},
		{"the service itself", []plugin{{"io.containerd.cri.v1", "images", ""}, {"io.containerd.grpc.v1", "cri", "no cgroup"}},
			"containerd's plugin io.containerd.grpc.v1.cri did not start: no cgroup"},
		{"disabled", []plugin{overlay, {"io.containerd.grpc.v1", "images", ""}}, "containerd runs without its plugin cri: it is disabled, or not built in"},
		{"another program", nil, "unknown service runtime.v1.RuntimeService"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := shortDir(t) + "/x.sock"
			background(t, withoutCRI(tt.all), listen(t, path))
			if _, err := dialed(t, path).Version(within(t, testLimit)); !errors.Is(err, call.ErrUnimplemented) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error = %v, want %q", err, tt.want)
			}
		})
	}
}
