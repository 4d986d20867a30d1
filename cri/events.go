package cri

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
	"google.golang.org/grpc"
	runtimev1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/guard"
	"github.com/plegtop/plegtop/engine/pleg"
)

const (
	// eventsHandshake is shorter than handshake: the engine takes a stream for open after a second.
	eventsHandshake = 900 * time.Millisecond
	// queueFrames and queueBytes are how much may wait between the receiver of the stream and the
	// reader of the events: some two seconds of a node on which everything happens at once.
	queueFrames = 4096
	queueBytes  = 4 << 20
	// eventsWindow, in bytes, is how far the runtime may be ahead of gRPC while this process gets
	// no time, before it has to wait.
	eventsWindow = 4 << 20
	// statusesLimit is how many containers the status in an event may have. No pod has so many: the
	// request that creates it would be too large.
	statusesLimit = 1000
)

// A pace bounds what a stream may cost, in messages and in bytes.
type pace [2]*rate.Limiter

// receiving is 50,000 messages and 64 MiB a second: no runtime has so much to report. What is faster
// waits in the runtime, since to receive it only to count it would take a core.
func receiving() pace { return pace{rate.NewLimiter(50_000, 500), rate.NewLimiter(64<<20, 640<<10)} }

// decoding is 25,600 events, or statuses of containers in them, and 10 MiB a second, with twice that
// at once: containerd keeps what nobody has listened to for 5 minutes, and sends all of it to the
// first listener.
func decoding() pace { return pace{rate.NewLimiter(25_600, 51_200), rate.NewLimiter(10<<20, 20<<20)} }

// wait adds what has come, and returns when more may come, or ctx ends.
func (p pace) wait(ctx context.Context, messages, bytes int) {
	now, pause := time.Now(), time.Duration(0)
	for i, n := range []int{messages, bytes} {
		for ; n > 0; n -= p[i].Burst() {
			pause = max(pause, p[i].ReserveN(now, min(n, p[i].Burst())).DelayFrom(now))
		}
	}
	if pause < 10*time.Millisecond { // a timer for each message would cost more than the message
		return
	}
	select {
	case <-time.After(pause):
	case <-ctx.Done():
	}
}

// Events opens the runtime's event stream, GetContainerEvents. It hands each event to deliver, in
// order and from the goroutine of the caller, until ctx or the stream ends. It returns why, never
// nil: the context's cause, io.EOF if the runtime closed the stream, else a *call.Error.
//
// A runtime waits for a listener that is slow, and the others wait with it. So the stream is
// received whatever deliver does, at up to 50,000 messages a second. What cannot be handed on, since
// it comes too fast or cannot be read, is counted in Skipped of the next event. The stream has a
// connection of its own, which is closed at the end: no other call waits for it, and the runtime
// sees at once that nobody listens any more.
func (c *Client) Events(ctx context.Context, deliver func(pleg.Upstream)) error {
	own, err := open(c.path, c.dial, eventsHandshake,
		grpc.WithInitialWindowSize(eventsWindow), grpc.WithInitialConnWindowSize(eventsWindow))
	if err != nil {
		return err
	}
	defer own.Close()
	defer context.AfterFunc(c.alive, func() { _ = own.Close() })()
	q := newQueue()
	guard.Go(func() { q.receive(ctx, own.events(ctx)) })
	q.hand(ctx, deliver)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(q.err, io.EOF):
		return fmt.Errorf("the runtime closed the event stream: %w", q.err)
	}
	return own.explain(ctx, call.GetContainerEvents, q.err)
}

// events opens the stream and returns what receives its next message.
func (c *Client) events(ctx context.Context) (next func(*message) error) {
	s, err := c.conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, service+call.GetContainerEvents.String())
	if err == nil {
		if err = s.SendMsg(&runtimev1.GetEventsRequest{}); err == nil || errors.Is(err, io.EOF) { // RecvMsg has the reason of an EOF
			err = s.CloseSend()
		}
	}
	return func(m *message) error {
		if err != nil {
			return err
		}
		return s.RecvMsg(m)
	}
}

// A queue has the messages of a stream that were received and not decoded yet.
type queue struct {
	frames  chan message // closed when the stream has ended; an empty one only wakes the reader
	bytes   atomic.Int64 // in frames
	skipped atomic.Uint64
	err     error // why the stream has ended; set before frames is closed
}

func newQueue() *queue { return &queue{frames: make(chan message, queueFrames)} }

// receive takes messages from a stream until it ends. It waits only for next and its pace.
func (q *queue) receive(ctx context.Context, next func(*message) error) {
	defer close(q.frames)
	for p := receiving(); ; {
		var m message
		if q.err = next(&m); q.err != nil {
			return
		}
		n := m.data.Len()
		q.put(m)
		p.wait(ctx, 1, n)
	}
}

// put queues a message, or frees and counts it if there is no room, or nothing in it to be read.
func (q *queue) put(m message) {
	n := int64(m.data.Len())
	if n == 0 || n > smallLimit || q.bytes.Load()+n > queueBytes {
		m.data.Free()
		q.skipped.Add(1)
		m, n = message{}, 0
	}
	q.bytes.Add(n)
	select {
	case q.frames <- m:
	default:
		m.data.Free()
		q.bytes.Add(-n)
		if n > 0 {
			q.skipped.Add(1) // the others are counted already
		}
	}
}

// hand decodes what is in the queue and delivers it, until the stream ends. What waits when ctx
// ends is only counted.
func (q *queue) hand(ctx context.Context, deliver func(pleg.Upstream)) {
	give := func(u pleg.Upstream) {
		if u.Skipped = q.skipped.Swap(0); u.ID != "" || u.Skipped > 0 {
			deliver(u)
		}
	}
	p := decoding()
	for m := range q.frames {
		n := m.data.Len()
		var u pleg.Upstream
		statuses := 0
		wire := m.whole()
		if ctx.Err() == nil {
			u, statuses = upstream(wire.ReadOnlyData())
		}
		wire.Free()
		q.bytes.Add(-int64(n))
		if n > 0 && u.ID == "" {
			q.skipped.Add(1)
		}
		give(u)
		p.wait(ctx, 1+statuses, n)
	}
	give(pleg.Upstream{})
}

var signals = map[runtimev1.ContainerEventType]pleg.Signal{
	runtimev1.ContainerEventType_CONTAINER_CREATED_EVENT: pleg.SignalCreated,
	runtimev1.ContainerEventType_CONTAINER_STARTED_EVENT: pleg.SignalStarted,
	runtimev1.ContainerEventType_CONTAINER_STOPPED_EVENT: pleg.SignalStopped,
	runtimev1.ContainerEventType_CONTAINER_DELETED_EVENT: pleg.SignalDeleted,
}

// upstream returns the event in wire, and how many statuses of containers that has. The event has
// no ID if it is of no use: it cannot be read, has no container, or is of a kind that CRI lacks.
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
