package cri

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	runtimev1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

// telling returns a stub whose event stream is this.
func telling(f streamAnswer) *stub {
	s := healthy()
	s.streams = map[string]streamAnswer{getEvents: f}
	return s
}

// untilItEnds sends these and nothing more until the client has gone.
func untilItEnds(messages ...proto.Message) streamAnswer {
	return func(s grpc.ServerStream) error {
		if err := chunks(messages...)(s); err != nil {
			return err
		}
		<-s.Context().Done()
		return s.Context().Err()
	}
}

func gather(to *[]pleg.Upstream) func(pleg.Upstream) {
	return func(u pleg.Upstream) { *to = append(*to, u) }
}

func TestEventsComeInOrder(t *testing.T) {
	var sent []proto.Message
	var want []pleg.Upstream
	for i := range 300 {
		e := goodEvent()
		e.CreatedAt += int64(i)
		u := upstreamOf(t, e)
		sent, want = append(sent, e), append(want, u)
	}
	c := start(t, telling(chunks(sent...)))
	var got []pleg.Upstream
	if err := c.Events(within(t, testLimit), gather(&got)); !errors.Is(err, io.EOF) {
		t.Errorf("error = %v, want %v", err, io.EOF)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events differ (-sent +got):\n%s", diff)
	}
	if state := c.conn.GetState(); state != connectivity.Idle {
		t.Errorf("the stream used the connection of the other calls, which is %v", state)
	}
}

func TestEventsEndWithAReason(t *testing.T) {
	done := errors.New("enough")
	for name, tt := range map[string]struct {
		stream streamAnswer
		end    func(context.CancelCauseFunc) // nil: it ends by itself
		want   error
		text   string
	}{
		"not enabled":   {chunks(), nil, io.EOF, "the runtime closed the event stream: EOF"},
		"unknown":       {func(grpc.ServerStream) error { return status.Error(codes.Unimplemented, "unknown method") }, nil, call.ErrUnimplemented, "GetContainerEvents: Unimplemented: unknown method"},
		"broken":        {func(grpc.ServerStream) error { return status.Error(codes.Unavailable, "gone") }, nil, call.ErrUnavailable, "GetContainerEvents: Unavailable: gone"},
		"by us":         {untilItEnds(goodEvent()), func(cancel context.CancelCauseFunc) { cancel(done) }, done, "enough"},
		"over 16 MiB":   {untilItEnds(wired(goodEvent(), bytes.Repeat([]byte{15<<3 | 2, 0}, messageLimit/2))), nil, call.ErrTooLarge, ""},
		"of no runtime": {nil, nil, call.ErrUnavailable, "connect: no such file or directory"},
	} {
		t.Run(name, func(t *testing.T) {
			c := dialed(t, filepath.Join(t.TempDir(), "none"))
			if tt.stream != nil {
				c = start(t, telling(tt.stream))
			}
			ctx, cancel := context.WithCancelCause(within(t, testLimit))
			defer cancel(nil)
			err := c.Events(ctx, func(pleg.Upstream) { tt.end(cancel) })
			if !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("error = %v, want %v with %q", err, tt.want, tt.text)
			}
		})
	}
}

// A runtime that is stopped takes the connection and says nothing on it: that is no open
// stream, and said before it could be taken for one.
func TestEventsOfSilentRuntime(t *testing.T) {
	t.Parallel()
	path := filepath.Join(shortDir(t), "cri.sock")
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	err = dialed(t, path).Events(within(t, testLimit), func(pleg.Upstream) {})
	if !errors.Is(err, call.ErrSilent) || !strings.Contains(err.Error(), eventsHandshake.String()) {
		t.Errorf("error = %v, want %v", err, call.ErrSilent)
	}
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

// The runtime's side of the stream is over with ours, though it never ends by itself.
func TestEventsCloseAtOnce(t *testing.T) {
	over := make(chan struct{})
	c := start(t, telling(func(s grpc.ServerStream) error {
		defer close(over)
		return endless(goodEvent())(s)
	}))
	ctx, cancel := context.WithCancel(within(t, testLimit))
	err := c.Events(ctx, func(pleg.Upstream) { cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v", err)
	}
	select {
	case <-over:
	case <-within(t, testLimit).Done():
		t.Error("the runtime has not noticed")
	}
}

// Nothing in an event ends the stream, but all that is not handed on is counted.
func TestUnreadableEventsAreSkipped(t *testing.T) {
	wiredEvent := func(wire ...byte) proto.Message { return wired(new(runtimev1.ContainerEventResponse), wire) }
	nameless, odd, large, crowd := goodEvent(), goodEvent(), goodEvent(), goodEvent()
	nameless.ContainerId, odd.ContainerEventType = "", 77
	large.PodSandboxStatus.Annotations = map[string]string{"large": strings.Repeat("x", partLimit)}
	for len(crowd.ContainersStatuses) <= statusesLimit {
		crowd.ContainersStatuses = append(crowd.ContainersStatuses, &runtimev1.ContainerStatus{})
	}
	bad := []proto.Message{
		wiredEvent(0xFF), wiredEvent(1<<3|2, 9), wiredEvent(1<<3|2, 1, 0xFF), nameless, odd, large, crowd, wiredEvent(),
	}
	lengthy := goodEvent()
	lengthy.ContainerId = long
	var got []pleg.Upstream
	c := start(t, telling(chunks(append(append([]proto.Message{goodEvent()}, bad...), lengthy, nameless)...)))
	err := c.Events(within(t, testLimit), gather(&got))
	if !errors.Is(err, io.EOF) {
		t.Errorf("error = %v", err)
	}
	var skipped uint64
	var events []pleg.Upstream
	for _, u := range got {
		skipped += u.Skipped
		if u.Skipped = 0; u.ID != "" {
			events = append(events, u)
		}
	}
	if want := uint64(len(bad)) + 1; skipped != want {
		t.Errorf("skipped %d, want %d", skipped, want)
	}
	if want := upstreamOf(t, goodEvent()); len(events) != 2 || !cmp.Equal(events[0], want) || events[1].ID != cut(long) {
		t.Errorf("events = %+v", events)
	}
}

// A flood is a stream that sends one message without end.
type flood []byte

func (f flood) RecvMsg(m any) error {
	*m.(*mem.Buffer) = mem.SliceBuffer(f)
	return nil
}

// However much a runtime sends, so much of it is looked at in a second. All of it is delivered or
// counted. What comes at once after a time without a listener is looked at without a pause.
func TestFloodIsBounded(t *testing.T) {
	event := goodEvent()
	ordinary := onWire(t, event)
	event.PodSandboxStatus.Annotations = map[string]string{"a": strings.Repeat("x", 10<<10)}
	large := onWire(t, event)
	crowd := []byte("\x0a\x01x\x22\x02\x12\x00" + strings.Repeat("\x2a\x00", statusesLimit))
	for name, tt := range map[string]struct {
		message          []byte
		atOnce, inSecond int
	}{
		"empty":         {nil, 51_200, 25_600},
		"garbage":       {[]byte{0xFF}, 51_200, 25_600},
		"large garbage": {bytes.Repeat([]byte{0xFF}, 100<<10), 200, 100},
		"events":        {ordinary, 12_000, 6_400}, // each has two statuses
		"large events":  {large, 1_700, 900},
		"many statuses": {crowd, 50, 26},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const seconds = 2
				ctx, cancel := context.WithTimeout(t.Context(), seconds*time.Second)
				defer cancel()
				began, atOnce, all := time.Now(), 0, 0
				deliver := func(u pleg.Upstream) {
					if (u.ID == "") != (u.Skipped == 1) {
						t.Fatalf("delivered %+v", u)
					}
					if time.Since(began) == 0 {
						atOnce++
					}
					all++
				}
				if err := receive(ctx, until{ctx, flood(tt.message)}, deliver); err != io.EOF {
					t.Errorf("error = %v", err)
				}
				if atOnce < tt.atOnce || all > tt.atOnce*12/10+seconds*tt.inSecond {
					t.Errorf("%d messages at once, %d in %d s, want %d and %d in each", atOnce, all, seconds, tt.atOnce, tt.inSecond)
				}
				if took := time.Since(began); took != seconds*time.Second {
					t.Errorf("it ended after %v", took)
				}
			})
		})
	}
}

// until ends a stream with its context.
type until struct {
	ctx    context.Context
	stream flood
}

func (u until) RecvMsg(m any) error {
	if u.ctx.Err() != nil {
		return io.EOF
	}
	return u.stream.RecvMsg(m)
}

func goodEvent() *runtimev1.ContainerEventResponse {
	older := goodContainerStatus()
	older.Id, older.CreatedAt, older.Image.UserSpecifiedImage = "container-0", older.CreatedAt-1, "nginx:1.26"
	older.Annotations = map[string]string{"io.kubernetes.container.hash": "5f1c"}
	older.Mounts = []*runtimev1.Mount{{ContainerPath: "/etc/hosts", HostPath: "/var/lib/kubelet/pods/uid-1/etc-hosts"}}
	sandbox := goodSandboxStatus()
	sandbox.State, sandbox.RuntimeHandler = runtimev1.PodSandboxState_SANDBOX_READY, "runc"
	sandbox.Labels = map[string]string{uidLabel: "uid-1"}
	return &runtimev1.ContainerEventResponse{
		ContainerId: "container-1", ContainerEventType: runtimev1.ContainerEventType_CONTAINER_STOPPED_EVENT,
		CreatedAt: 1_700_000_004_000_000_000, PodSandboxStatus: sandbox,
		ContainersStatuses: []*runtimev1.ContainerStatus{older, goodContainerStatus()},
	}
}

// upstreamOf is what is made of an event, the zero value if nothing.
func upstreamOf(t testing.TB, r *runtimev1.ContainerEventResponse) pleg.Upstream {
	t.Helper()
	u, statuses := upstream(onWire(t, r))
	if statuses != len(r.ContainersStatuses) {
		t.Errorf("event = %+v with %d statuses", u, statuses)
	}
	return u
}

func TestEventsAreDecoded(t *testing.T) {
	type event = runtimev1.ContainerEventResponse
	none := func(u *pleg.Upstream) { *u = pleg.Upstream{} }
	noStatus := func(u *pleg.Upstream) { u.Pod, u.Status = pleg.PodRef{}, nil }
	for name, tt := range map[string]struct {
		change func(*event)
		want   func(*pleg.Upstream)
	}{
		"whole":           {func(*event) {}, func(*pleg.Upstream) {}},
		"created":         {func(r *event) { r.ContainerEventType = 0 }, func(u *pleg.Upstream) { u.Signal = pleg.SignalCreated }},
		"started":         {func(r *event) { r.ContainerEventType = 1 }, func(u *pleg.Upstream) { u.Signal = pleg.SignalStarted }},
		"deleted":         {func(r *event) { r.ContainerEventType = 3 }, func(u *pleg.Upstream) { u.Signal = pleg.SignalDeleted }},
		"unknown kind":    {func(r *event) { r.ContainerEventType = 4 }, none},
		"kind below zero": {func(r *event) { r.ContainerEventType = -1 }, none},
		"no id":           {func(r *event) { r.ContainerId = "" }, none},
		"no time":         {func(r *event) { r.CreatedAt = 0 }, func(u *pleg.Upstream) { u.At = time.Time{} }},
		"no sandbox":      {func(r *event) { r.PodSandboxStatus = nil }, noStatus},
		"no metadata":     {func(r *event) { r.PodSandboxStatus.Metadata = nil }, noStatus},
		"no containers":   {func(r *event) { r.ContainersStatuses = nil }, func(u *pleg.Upstream) { u.Status.Containers = nil }},
		"unknown state": {func(r *event) { r.PodSandboxStatus.State = 9 }, func(u *pleg.Upstream) {
			u.Status.Sandboxes[0].State, u.Status.IPs = pleg.Unknown, nil
		}},
	} {
		t.Run(name, func(t *testing.T) {
			sandbox, older := wantSandboxStatus, wantContainerStatus
			sandbox.State, sandbox.Handler = pleg.Running, "runc"
			older.ID, older.CreatedAt, older.Image = "container-0", older.CreatedAt.Add(-1), "nginx:1.26"
			want := pleg.Upstream{Signal: pleg.SignalStopped, ID: "container-1", At: time.Unix(1_700_000_004, 0), Pod: shopWeb,
				Status: pleg.Compose(sandbox.Pod, []pleg.SandboxStatus{sandbox}, []pleg.ContainerStatus{wantContainerStatus, older})}
			tt.want(&want)
			r := goodEvent()
			tt.change(r)
			if diff := cmp.Diff(want, upstreamOf(t, r)); diff != "" {
				t.Errorf("event differs (-want +got):\n%s", diff)
			}
		})
	}
}

// FuzzEvents holds that whatever comes is refused, or clean.
func FuzzEvents(f *testing.F) {
	whole := onWire(f, goodEvent())
	f.Add(whole)
	f.Add(whole[:len(whole)/2])
	f.Add(append(whole, whole...))
	f.Fuzz(func(t *testing.T, wire []byte) {
		u, _ := upstream(wire)
		if u.ID == "" {
			return
		}
		clean(t, pleg.Unknown, []time.Time{u.At}, u.ID, u.Pod.Name, u.Pod.Namespace, string(u.Pod.UID))
		if u.Status == nil {
			return
		}
		for _, s := range u.Status.Sandboxes {
			clean(t, s.State, []time.Time{s.CreatedAt}, s.ID, s.Handler)
		}
		for _, c := range u.Status.Containers {
			clean(t, c.State, []time.Time{c.CreatedAt, c.StartedAt, c.FinishedAt}, c.ID, c.Name, c.Image, c.Reason, c.Message)
		}
	})
}
