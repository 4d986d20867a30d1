package cri

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"golang.org/x/time/rate"
	"google.golang.org/grpc"
	"google.golang.org/grpc/mem"
	runtimev1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

const (
	// eventsHandshake is shorter than handshake: the engine takes a stream for open after a second.
	eventsHandshake = 900 * time.Millisecond
	// eventsWindow, in bytes, is how far the runtime may be ahead of the reader of the stream before it
	// has to wait.
	eventsWindow = 4 << 20
	// statusesLimit is how many containers the status in an event may have. No pod has so many: the
	// request that creates it would be too large.
	statusesLimit = 1000
)

// newPace returns the limit of a stream: each second 25,600 events and statuses of containers in
// them, and twice that at once. The burst is for containerd: it keeps events without a listener for
// 5 minutes, and sends all of them to the first listener. A large message counts as several events,
// 410 bytes each, which is 10 MiB a second. No runtime is faster for long; a faster one has to
// wait.
func newPace() *rate.Limiter { return rate.NewLimiter(25_600, 51_200) }

// wait returns when a stream may go on after a message, or ctx ends.
func wait(ctx context.Context, pace *rate.Limiter, statuses, bytes int) {
	cost := min(1+statuses+bytes/410, pace.Burst())
	for !pace.AllowN(time.Now(), cost) {
		select {
		case <-time.After(10 * time.Millisecond): // a timer for each message would cost more than the message
		case <-ctx.Done():
			return
		}
	}
}

// Events opens the runtime's event stream, GetContainerEvents. It hands each event to deliver, in
// order and from the goroutine of the caller, until ctx or the stream ends. It returns why it
// ended, never nil: the context's cause, io.EOF if the runtime closed the stream, else a
// *call.Error.
//
// A runtime waits for a slow listener, and the other listeners wait with it. So deliver must return
// at once. An event that cannot be read is delivered with no ID and 1 in Skipped. The stream has a
// connection of its own, which is closed at the end: no other call waits for it, and the runtime sees
// at once that nobody listens any more.
func (c *Client) Events(ctx context.Context, deliver func(pleg.Upstream)) error {
	own, err := open(c.path, c.dial, eventsHandshake,
		grpc.WithInitialWindowSize(eventsWindow), grpc.WithInitialConnWindowSize(eventsWindow))
	if err != nil {
		return err
	}
	defer own.Close()
	stream, err := own.conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, service+call.GetContainerEvents.String())
	if err == nil {
		_ = stream.SendMsg(&runtimev1.GetEventsRequest{}) // RecvMsg says why it failed
		_ = stream.CloseSend()
		err = receive(ctx, stream, deliver)
	}
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, io.EOF):
		return fmt.Errorf("the runtime closed the event stream: %w", err)
	}
	return own.explain(ctx, call.GetContainerEvents, err)
}

// receive delivers the events of a stream until it ends, and returns why it ended.
func receive(ctx context.Context, stream interface{ RecvMsg(any) error }, deliver func(pleg.Upstream)) error {
	for pace := newPace(); ; {
		var wire mem.Buffer
		if err := stream.RecvMsg(&wire); err != nil {
			return err
		}
		bytes := wire.Len()
		u, statuses := upstream(wire.ReadOnlyData())
		wire.Free()
		if u.ID == "" {
			u = pleg.Upstream{Skipped: 1}
		}
		deliver(u)
		wait(ctx, pace, statuses, bytes)
	}
}

var signals = map[runtimev1.ContainerEventType]pleg.Signal{
	runtimev1.ContainerEventType_CONTAINER_CREATED_EVENT: pleg.SignalCreated,
	runtimev1.ContainerEventType_CONTAINER_STARTED_EVENT: pleg.SignalStarted,
	runtimev1.ContainerEventType_CONTAINER_STOPPED_EVENT: pleg.SignalStopped,
	runtimev1.ContainerEventType_CONTAINER_DELETED_EVENT: pleg.SignalDeleted,
}

// upstream returns the event in wire, and how many statuses of containers the event has. The
// event has no ID if it is of no use: it cannot be read, has no container, or is of a kind that
// CRI lacks.
func upstream(wire []byte) (u pleg.Upstream, statuses int) {
	for f := range fields(wire) {
		if f.num == 5 { // containers_statuses
			statuses++
		}
	}
	var e runtimev1.ContainerEventResponse
	if statuses > statusesLimit || decode(wire, &e) != nil {
		return u, statuses
	}
	signal, known := signals[e.ContainerEventType]
	if !known || e.ContainerId == "" {
		return u, statuses
	}
	var c converter
	u = pleg.Upstream{Signal: signal, ID: c.text(e.ContainerId), At: c.time(e.CreatedAt)}
	if e.PodSandboxStatus.GetMetadata() == nil { // the kubelet makes no status of it either
		return u, statuses
	}
	sandbox := c.sandbox(e.PodSandboxStatus)
	var containers []pleg.ContainerStatus
	for _, s := range e.ContainersStatuses {
		containers = append(containers, c.container(s))
	}
	u.Pod, u.Status = sandbox.Pod, pleg.Compose(sandbox.Pod, []pleg.SandboxStatus{sandbox}, containers)
	return u, statuses
}
