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
	if n := c.opened.Load(); n != 0 {
		t.Errorf("the stream used the connection of the other calls")
	}
}

func TestEventsEndWithAReason(t *testing.T) {
	done := errors.New("enough")
	for name, tt := range map[string]struct {
		stream streamAnswer
		end    func(*Client, context.CancelCauseFunc) // nil: it ends by itself
		want   error
		text   string
	}{
		"not enabled":   {chunks(), nil, io.EOF, "the runtime closed the event stream: EOF"},
		"unknown":       {func(grpc.ServerStream) error { return status.Error(codes.Unimplemented, "unknown method") }, nil, call.ErrUnimplemented, "GetContainerEvents: Unimplemented: unknown method"},
		"broken":        {func(grpc.ServerStream) error { return status.Error(codes.Unavailable, "gone") }, nil, call.ErrUnavailable, "GetContainerEvents: Unavailable: gone"},
		"by us":         {untilItEnds(goodEvent()), func(_ *Client, cancel context.CancelCauseFunc) { cancel(done) }, done, "enough"},
		"with client":   {untilItEnds(goodEvent()), func(c *Client, _ context.CancelCauseFunc) { _ = c.Close() }, call.ErrCanceled, ""},
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
			err := c.Events(ctx, func(pleg.Upstream) { tt.end(c, cancel) })
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
	large.PodSandboxStatus.Annotations = map[string]string{"large": strings.Repeat("x", smallLimit)}
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

// What nobody reads takes so much room, in bytes and in number, and the rest is counted.
func TestQueueIsBounded(t *testing.T) {
	frame := func(bytes int) message { return message{mem.BufferSlice{mem.SliceBuffer(make([]byte, bytes))}} }
	f := &queue{frames: make(chan message, 100)}
	const fit = queueBytes / smallLimit
	for range fit + 1 {
		f.put(frame(smallLimit))
	}
	if f.bytes.Load() != queueBytes || f.skipped.Load() != 1 {
		t.Errorf("%d bytes, %d skipped; want %d and 1", f.bytes.Load(), f.skipped.Load(), queueBytes)
	}
	f = &queue{frames: make(chan message, 2)}
	for range 5 {
		f.put(frame(100))
	}
	if f.bytes.Load() != 200 || f.skipped.Load() != 3 {
		t.Errorf("%d bytes, %d skipped; want 200 and 3", f.bytes.Load(), f.skipped.Load())
	}
}

// Whoever takes the events does not return before the runtime has sent them all: it notices
// nothing of that, and what did not fit is counted.
func TestRuntimeIsNeverBlocked(t *testing.T) {
	const sent = 20_000
	stuck := make(chan struct{})
	c := start(t, telling(func(s grpc.ServerStream) error {
		defer close(stuck)
		for range sent {
			if err := s.SendMsg(goodEvent()); err != nil {
				return err
			}
		}
		return nil
	}))
	var events, skipped uint64
	err := c.Events(within(t, testLimit), func(u pleg.Upstream) {
		<-stuck
		skipped += u.Skipped
		if u.ID != "" {
			events++
		}
	})
	if !errors.Is(err, io.EOF) || events+skipped != sent || events < 1000 || skipped == 0 {
		t.Errorf("%v: %d events and %d skipped of %d", err, events, skipped, sent)
	}
	t.Logf("%d events, %d skipped", events, skipped)
}

// A flood sends without end, as fast as it is read; a test that would never end has enough
// of it after most messages.
type flood struct {
	message    []byte
	sent, most uint64
}

func (f *flood) next(m *message) error {
	if f.sent == f.most {
		return io.EOF
	}
	f.sent++
	if len(f.message) > 0 {
		m.data = mem.BufferSlice{mem.SliceBuffer(f.message)}
	}
	return nil
}

// However much a runtime sends, so much of it is received and looked at in a second, and
// all of it is handed on or counted.
func TestFloodIsBounded(t *testing.T) {
	ordinary, err := proto.Marshal(goodEvent())
	if err != nil {
		t.Fatal(err)
	}
	crowd := []byte("\x0a\x01x\x22\x02\x12\x00" + strings.Repeat("\x2a\x00", statusesLimit))
	for name, tt := range map[string]struct {
		message        []byte
		received, read uint64 // in a second, at most
	}{
		"empty":         {nil, 50_000, 0},
		"garbage":       {[]byte{0xFF}, 50_000, 0},
		"large garbage": {bytes.Repeat([]byte{0xFF}, 100<<10), 640, 0},
		"events":        {ordinary, 50_000, 25_600},
		"many statuses": {crowd, 32_768, 26},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const seconds = 1
				began := time.Now()
				s := &flood{message: tt.message, most: seconds * tt.received}
				f := newQueue()
				over := make(chan time.Duration, 1)
				go func() {
					f.receive(t.Context(), s.next)
					over <- time.Since(began)
				}()
				var events, skipped uint64
				ctx, cancel := context.WithTimeout(t.Context(), (seconds+1)*time.Second)
				defer cancel()
				f.hand(ctx, func(u pleg.Upstream) {
					skipped += u.Skipped
					if u.ID != "" {
						events++
					}
				})
				if took := <-over; took < seconds*time.Second*8/10 {
					t.Errorf("%d messages were received in %v", s.sent, took)
				}
				if all := time.Since(began).Seconds() + 2; float64(events) > all*float64(tt.read) || events+skipped != s.sent {
					t.Errorf("%d events and %d skipped of %d in %.1f s", events, skipped, s.sent, all)
				}
			})
		})
	}
}

// What a runtime has kept until somebody listens comes at once, and none of it is lost:
// here 15 MB, where 4 MiB may wait.
func TestBacklogIsRead(t *testing.T) {
	event := goodEvent()
	event.PodSandboxStatus.Annotations = map[string]string{"a": strings.Repeat("x", 10<<10)}
	message, err := proto.Marshal(event)
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		f := newQueue()
		go f.receive(t.Context(), (&flood{message: message, most: 1500}).next)
		var events, skipped uint64
		f.hand(t.Context(), func(u pleg.Upstream) { events, skipped = events+1, skipped+u.Skipped })
		if events != 1500 || skipped != 0 {
			t.Errorf("%d events and %d skipped of 1,500", events, skipped)
		}
	})
}

// What waits when nobody wants it any more holds up nobody.
func TestFloodEndsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		f := newQueue()
		crowd := []byte("\x0a\x01x\x22\x02\x12\x00" + strings.Repeat("\x2a\x00", statusesLimit))
		go f.receive(ctx, (&flood{message: crowd, most: 2000}).next)
		time.AfterFunc(time.Second, cancel)
		began := time.Now()
		var all uint64
		f.hand(ctx, func(u pleg.Upstream) {
			all += u.Skipped
			if u.ID != "" {
				all++
			}
		})
		if took := time.Since(began); took > time.Second || all != 2000 {
			t.Errorf("it took %v; %d of 2,000 are counted", took, all)
		}
	})
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
