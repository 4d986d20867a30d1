package cri

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/mem"
	runtimev1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/plegtop/plegtop/engine/guard"
	"github.com/plegtop/plegtop/engine/pleg"
)

const getEvents = runtimev1.RuntimeService_GetContainerEvents_FullMethodName

// What waits between the one who drains the stream and the one who reads the events, at
// most: some two seconds of a node on which everything happens at once.
const (
	framesRoom     = 4096
	frameBytesRoom = 4 << 20
	// eventsWindow is how much the runtime may send that gRPC itself has not handed on
	// yet, in bytes: it can be as far ahead before it has to wait for a process that is
	// given no time.
	eventsWindow = 4 << 20
	// paceOf is for how long a pace is counted.
	paceOf = 10 * time.Millisecond
)

// What a stream may cost, whatever is sent: no runtime has so much to say. What is faster
// than it can be received waits at the runtime, which waits, too, once eventsWindow is full:
// to receive it only in order to count it would take a core.
var (
	// drained is what is received: 50,000 messages and 64 MiB a second.
	drained = pace{messages: 500, bytes: 640 << 10}
	// lookedAt is what is read of that: 25,600 events, or statuses of containers in them,
	// and 10 MiB a second, and twice that at once. containerd keeps what nobody has listened
	// to for 5 minutes and sends all of it to the first who does.
	lookedAt = pace{messages: 256, bytes: 100 << 10, atOnce: 2 * time.Second}
)

// A pace is how much may come in [paceOf], and for how long what has come keeps it busy.
type pace struct {
	messages, bytes int
	atOnce          time.Duration // what may come without a pause
	began           time.Time     // when wait was called last
	busy            time.Duration // at began
}

// wait takes so much as having come, and returns when more may come, or ctx ends.
func (p *pace) wait(ctx context.Context, messages, bytes int) {
	now := time.Now()
	p.busy = max(p.busy-now.Sub(p.began), 0) + time.Duration(float64(paceOf)*max(float64(messages)/float64(p.messages), float64(bytes)/float64(p.bytes)))
	p.began = now
	pause := p.busy - p.atOnce
	if pause < paceOf {
		return
	}
	select {
	case <-time.After(pause):
	case <-ctx.Done():
	}
}

// Events opens the runtime's event stream, GetContainerEvents, and hands each event to
// deliver, in the order in which they come and from the goroutine that calls it, until ctx
// ends or the stream does. It returns why, never nil: the context's cause, io.EOF if the
// runtime closed the stream, else a *call.Error.
//
// A runtime waits for a reader that is behind, and then for the others do so, too. So the
// stream is drained whatever deliver does, at up to 50,000 messages a second: what comes
// faster than that is read, and what cannot be read, is counted in the Skipped of what is
// delivered next. The stream has a connection of its own, made and closed here, so that no
// other call waits for it, and the runtime sees at once that it is over.
func (c *Client) Events(ctx context.Context, deliver func(pleg.Upstream)) error {
	own, err := open(c.dialer.path, c.dialer.dial, eventsHandshake,
		grpc.WithInitialWindowSize(eventsWindow), grpc.WithInitialConnWindowSize(eventsWindow))
	if err != nil {
		return err
	}
	defer own.Close()
	defer context.AfterFunc(c.alive, func() { _ = own.Close() })()
	err = own.drain(ctx, deliver)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, io.EOF):
		return fmt.Errorf("the runtime closed the event stream: %w", err)
	}
	return err
}

// drain returns when the stream is over; nobody reads it then.
func (c *Client) drain(ctx context.Context, deliver func(pleg.Upstream)) error {
	s, err := c.askForEvents(ctx)
	if err != nil {
		return c.explain(ctx, getEvents, err)
	}
	f := frames{queue: make(chan mem.BufferSlice, framesRoom)}
	guard.Go(func() { f.receive(ctx, func(m any) error { return c.explain(ctx, getEvents, s.RecvMsg(m)) }) })
	f.hand(ctx, deliver)
	return f.err
}

// askForEvents makes the call whose answer is the stream.
func (c *Client) askForEvents(ctx context.Context) (grpc.ClientStream, error) {
	s, err := c.conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, getEvents, grpc.StaticMethod())
	if err != nil {
		return nil, err
	}
	if err := s.SendMsg(&runtimev1.GetEventsRequest{}); err != nil && !errors.Is(err, io.EOF) { // which says: it is over, see RecvMsg
		return nil, err
	}
	return s, s.CloseSend()
}

// frames are what was received of a stream and not read yet.
type frames struct {
	queue   chan mem.BufferSlice // closed when the stream is over; an empty one is only there to be counted
	bytes   atomic.Int64         // in queue
	skipped atomic.Uint64        // not told yet
	err     error                // why the stream is over; set before queue is closed
}

// receive drains a stream by next. It waits for nothing but that and its pace.
func (f *frames) receive(ctx context.Context, next func(any) error) {
	defer close(f.queue)
	for p := drained; ; {
		var m undecoded
		if f.err = next(&m); f.err != nil {
			return
		}
		n := m.data.Len()
		f.put(m.data)
		p.wait(ctx, 1, n)
	}
}

// put has data wait for its turn if there is room, and frees and counts it if not.
func (f *frames) put(data mem.BufferSlice) {
	n := int64(data.Len())
	if n == 0 || n > smallLimit || f.bytes.Load()+n > frameBytesRoom {
		data.Free()
		f.skipped.Add(1)
		data, n = nil, 0
	}
	f.bytes.Add(n)
	select {
	case f.queue <- data:
	default:
		data.Free()
		f.bytes.Add(-n)
		f.skipped.Add(uint64(min(n, 1))) // the others are counted already
	}
}

// hand reads what waits and delivers it, until the stream is over. What waits when ctx ends
// is only counted.
func (f *frames) hand(ctx context.Context, deliver func(pleg.Upstream)) {
	p := lookedAt
	for data := range f.queue {
		n := data.Len()
		var u pleg.Upstream
		statuses, ok := 0, false
		if ctx.Err() == nil {
			wire := data.MaterializeToBuffer(mem.DefaultBufferPool())
			u, statuses, ok = upstream(wire.ReadOnlyData())
			wire.Free()
		}
		if len(data) > 0 && !ok {
			f.skipped.Add(1)
		}
		f.bytes.Add(-int64(n))
		data.Free()
		f.deliver(u, deliver)
		p.wait(ctx, 1+statuses, n)
	}
	f.deliver(pleg.Upstream{}, deliver)
}

// deliver hands on u, if it is an event, and what was skipped, if anything.
func (f *frames) deliver(u pleg.Upstream, to func(pleg.Upstream)) {
	if u.Skipped = f.skipped.Swap(0); u.ID != "" || u.Skipped > 0 {
		to(u)
	}
}

var signals = map[runtimev1.ContainerEventType]pleg.Signal{
	runtimev1.ContainerEventType_CONTAINER_CREATED_EVENT: pleg.SignalCreated,
	runtimev1.ContainerEventType_CONTAINER_STARTED_EVENT: pleg.SignalStarted,
	runtimev1.ContainerEventType_CONTAINER_STOPPED_EVENT: pleg.SignalStopped,
	runtimev1.ContainerEventType_CONTAINER_DELETED_EVENT: pleg.SignalDeleted,
}

// statusesLimit is how many containers the status in an event may have. A pod can't have
// so many: they would not fit in the message that makes it.
const statusesLimit = 1000

// upstream returns the event in wire and how many statuses of containers it has; false if it
// is none that can be made use of: not readable, of no container, or of no kind that CRI has.
func upstream(wire []byte) (u pleg.Upstream, statuses int, ok bool) {
	for f := range fields(wire) {
		if f.num == 5 { // containers_statuses
			statuses++
		}
	}
	var e runtimev1.ContainerEventResponse
	if statuses > statusesLimit || unmarshal(wire, &e) != nil {
		return u, statuses, false
	}
	signal, known := signals[e.ContainerEventType]
	if !known || e.ContainerId == "" {
		return u, statuses, false
	}
	var m sanitizer
	u = pleg.Upstream{Signal: signal, ID: m.text(e.ContainerId), At: m.time(e.CreatedAt)}
	if e.PodSandboxStatus.GetMetadata() == nil { // the kubelet makes nothing of it either
		return u, statuses, true
	}
	sandbox, _ := convertSandboxStatus(e.PodSandboxStatus)
	var containers []pleg.ContainerStatus
	for _, c := range e.ContainersStatuses {
		s, _ := convertContainerStatus(c)
		containers = append(containers, s)
	}
	u.Pod = sandbox.Pod
	u.Status = pleg.Compose(sandbox.Pod, []pleg.SandboxStatus{sandbox}, containers)
	return u, statuses, true
}
