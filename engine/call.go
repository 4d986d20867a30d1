package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

// A finished is a call that has ended.
type finished struct {
	ID uint64 // 0 if no call was made
	Answer
	raw []byte      // the answer as JSON; only for a call that is ByRequest
	Err *call.Error // nil if it was answered
}

// call makes one call, reports its begin and its end, and returns the outcome. Two calls for one target would
// wait for the same lock. So call waits while another call for the target is out, at most until its own
// deadline. If the other call is our own and this one is not, the other one is withdrawn: our own calls never
// hold up a relist.
func (h *hub) call(ctx context.Context, f call.Flight, timeout time.Duration) finished {
	var o *outgoing
	var began time.Time
	turn := func(m *Model, now time.Time) (bool, time.Time) {
		if began.IsZero() {
			began = now
		}
		left := timeout - now.Sub(began)
		if other, busy := m.calls.InWay(f, now); busy && left > 0 {
			if other.Ours() && !f.Ours() {
				h.withdraw(other)
			}
			return false, began.Add(timeout)
		}
		if left > 0 {
			o = h.begin(ctx, f, left)
		}
		return true, time.Time{}
	}
	switch {
	case !h.await(ctx, turn):
		return finished{Err: call.ErrorOf(f.Op, fmt.Errorf("%w: %w", call.ErrCanceled, context.Cause(ctx)))}
	case o == nil:
		return finished{Err: outOfTurn(f.Op)}
	}
	return h.finish(o)
}

// An outgoing is a call that was reported to begin. The lane that began it has to make it.
type outgoing struct {
	id      uint64
	flight  call.Flight
	timeout time.Duration
	lane    context.Context
	ctx     context.Context // of the call: ends with lane, and when the call is withdrawn
	cancel  context.CancelFunc
}

// begin reports that a call begins, and returns it. The hub is locked. From now on one of our own calls can be
// withdrawn, even before it is made.
func (h *hub) begin(ctx context.Context, f call.Flight, timeout time.Duration) *outgoing {
	h.lastID++
	o := &outgoing{id: h.lastID, flight: f, timeout: timeout, lane: ctx}
	o.ctx, o.cancel = context.WithCancel(ctx)
	if f.Ours() {
		h.ours[targetOf(f)] = o.cancel
	}
	h.apply(CallBegan{ID: o.id, Flight: f, Timeout: timeout})
	return o
}

// finish makes the call that begin has reported, reports its end, and returns the outcome.
func (h *hub) finish(o *outgoing) finished {
	f, trace := o.flight, new(call.Trace)
	defer o.cancel()
	ctx, cancel := context.WithTimeout(call.WithTrace(o.ctx, trace), h.config.Clock.Real(o.timeout))
	defer cancel()
	m := finished{ID: o.id}
	var err error
	if f.By == call.ByRequest {
		m.raw, err = h.config.Runtime.Raw(ctx, f.Op, f.ID)
	} else {
		m.Answer, err = put(ctx, h.config.Runtime, f)
	}
	if m.Err = call.ErrorOf(f.Op, err); m.Err != nil {
		m.Answer = Answer{}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if f.Ours() {
		delete(h.ours, targetOf(f))
	}
	if ended := o.lane.Err() != nil && !gaveUp(o.lane, f); ended {
		return m
	}
	h.meter.add(time.Now(), uint64(max(trace.RequestBytes+trace.ResponseBytes, 0)))
	h.apply(CallEnded{ID: o.id, Answer: m.Answer, Trace: *trace, Err: m.Err})
	h.letGo()
	return m
}

// gaveUp reports whether the caller of [Engine.Raw] no longer waits for an answer, although the
// engine goes on.
func gaveUp(ctx context.Context, f call.Flight) bool {
	return f.By == call.ByRequest && ctx.Err() != nil && !errors.Is(context.Cause(ctx), ErrStopped)
}

// withdraw cancels one of our own calls. The hub is locked.
func (h *hub) withdraw(f call.Flight) {
	if cancel := h.ours[targetOf(f)]; cancel != nil {
		cancel()
	}
}

// put calls the method of the runtime that f names, and returns its answer.
func put(ctx context.Context, r Runtime, f call.Flight) (a Answer, err error) {
	switch f.Op {
	case call.Version:
		a.Version = new(pleg.Version)
		*a.Version, err = r.Version(ctx)
	case call.Status:
		a.Conditions, err = r.Status(ctx)
	case call.ListPodSandbox:
		a.Sandboxes, err = r.ListPodSandbox(ctx, f.Pod.UID)
	case call.ListContainers:
		a.Containers, err = r.ListContainers(ctx, f.Pod.UID)
	case call.PodSandboxStatus:
		a.Sandbox = new(pleg.SandboxStatus)
		*a.Sandbox, err = r.PodSandboxStatus(ctx, f.ID)
	case call.ContainerStatus:
		a.Container = new(pleg.ContainerStatus)
		*a.Container, err = r.ContainerStatus(ctx, f.ID)
	default:
		err = fmt.Errorf("make %v: not one of the engine's calls", f.Op)
	}
	return a, err
}

const (
	// retries is how often an examination repeats a kubelet call that fails at once: a runtime that
	// restarts is back soon.
	retries = 2
	// retryAfter is the wait before a retry.
	retryAfter = 500 * time.Millisecond
)

// callOrRetry is call with retries: an examination repeats a call that fails at once.
func (h *hub) callOrRetry(ctx context.Context, f call.Flight, timeout time.Duration) finished {
	for try := 0; ; try++ {
		began := h.config.Clock.Now()
		m := h.call(ctx, f, timeout)
		if try == retries || !h.start.Once || !mayPass(m.Err) || h.config.Clock.Now().Sub(began) > call.LateAfter {
			return m
		}
		if !sleep(ctx, h.config.Clock.Real(retryAfter)) {
			return m
		}
	}
}

// mayPass reports whether the cause of an error may be gone a moment later.
func mayPass(err *call.Error) bool {
	stays := []call.Kind{call.ErrPermission, call.ErrNotFound, call.ErrTooLarge, call.ErrUnreadable, call.ErrUnimplemented, call.ErrCanceled}
	return err != nil && !slices.ContainsFunc(stays, func(k call.Kind) bool { return errors.Is(err, k) })
}

// outOfTurn returns the error of a call that was never made, because another call for the same target was out
// until the deadline.
func outOfTurn(op call.Operation) *call.Error {
	return call.NoAnswer(op, call.OutOfTurn, "an earlier call for the same object has not returned; it shows in the calls in flight")
}

// sooner returns the earlier of two moments; zero stands for never.
func sooner(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// latest returns the later of two moments.
func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
