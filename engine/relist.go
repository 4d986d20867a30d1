package engine

import (
	"context"
	"time"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

// A relistLane makes the kubelet's relists, one after the other: of all pods when the period is
// over, and of one pod when that is asked for. (kubelet 1.25 to 1.37, pleg/generic.go.)
type relistLane struct{ *hub }

// A job is the next thing that the relist lane has to do.
type job struct {
	Pod   pleg.PodRef // the pod to relist; zero for all pods
	Asked bool        // somebody asked for it with a key: it is done in a pause, too
	Lists bool        // it begins with the lists; a release before 1.36 inspects one pod without them
}

func (l relistLane) run(ctx context.Context) {
	for {
		var next job
		if !l.await(ctx, func(m *Model, now time.Time) (found bool, at time.Time) {
			next, found, at = m.nextJob(now)
			return found, at
		}) || ctx.Err() != nil {
			return
		}
		l.relist(ctx, next)
	}
}

// relist is the kubelet's relist: two lists, then one inspection after the other.
func (l relistLane) relist(ctx context.Context, j job) {
	l.mark(RelistBegan{Pod: j.Pod.UID, Asked: j.Asked})
	if j.Lists {
		sandboxes := l.list(ctx, call.ListPodSandbox, j.Pod)
		if sandboxes.Err != nil && !l.goesOn() {
			l.failed(ctx)
			return
		}
		containers := l.list(ctx, call.ListContainers, j.Pod)
		if sandboxes.Err != nil || containers.Err != nil {
			l.failed(ctx)
			return
		}
		l.mark(Listed{sandboxes.ID, containers.ID}) // the model compares, and finds the pods to inspect
	}
	for next, more := l.nextInspection(ctx); more; next, more = l.nextInspection(ctx) {
		l.inspect(ctx, next)
	}
	if ctx.Err() == nil {
		l.mark(RelistEnded{})
	}
}

// failed marks that a list failed, unless the engine has ended: then we ended the list ourselves.
func (l relistLane) failed(ctx context.Context) {
	if ctx.Err() == nil {
		l.mark(RelistFailed{})
	}
}

func (l relistLane) list(ctx context.Context, op call.Operation, pod pleg.PodRef) finished {
	return l.callOrRetry(ctx, call.Flight{By: call.ByRelist, Op: op, Pod: pod}, l.start.listTime())
}

// goesOn reports whether the containers are listed even though the list of sandboxes failed. No kubelet does
// that. An examination does it, because half of the node is better than nothing.
func (l relistLane) goesOn() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.start.Once && l.model.calls.Extent(l.now()) != call.Silent
}

// nextInspection returns the pod to inspect next. While the engine is paused it waits.
func (l relistLane) nextInspection(ctx context.Context) (next pleg.Inspection, more bool) {
	found := l.await(ctx, func(m *Model, now time.Time) (bool, time.Time) {
		if m.holdsRelist() {
			return false, time.Time{}
		}
		next, more = m.nextInspection()
		return true, time.Time{}
	})
	return next, found && more
}

// inspect asks for all sandboxes and then for all containers of a pod, as the kubelet does. An
// object that is not found any more is left out. Any other error ends the inspection. Releases that
// list the pod once more do so before its sandboxes and before its containers.
func (l relistLane) inspect(ctx context.Context, next pleg.Inspection) {
	in := &inspector{lane: l, ctx: ctx, pod: next.Pod.PodRef}
	sandboxes, containers := next.Pod.Sandboxes, next.Pod.Containers
	if next.ListAgain {
		sandboxes = newestFirst(in.list(call.ListPodSandbox).Sandboxes, in.pod.UID)
	}
	for _, f := range sandboxCalls(in.pod, sandboxes) {
		in.ask(f)
	}
	if next.ListAgain {
		containers = ofPod(in.list(call.ListContainers).Containers, in.pod.UID)
	}
	for _, f := range containerCalls(in.pod, containers) {
		in.ask(f)
	}
	if ctx.Err() == nil {
		l.mark(Inspected{Pod: in.pod.UID, Calls: in.calls})
	}
}

// An inspector makes the calls of one inspection, until one fails.
type inspector struct {
	lane   relistLane
	ctx    context.Context
	pod    pleg.PodRef
	calls  []uint64
	failed bool
}

func (in *inspector) list(op call.Operation) finished {
	return in.ask(call.Flight{Op: op, Pod: in.pod})
}

func (in *inspector) ask(f call.Flight) finished {
	if in.failed {
		return finished{}
	}
	f.By = call.ByRelist
	m := in.lane.call(in.ctx, f, in.lane.start.Timeout)
	in.calls = append(in.calls, m.ID)
	in.failed = m.Err != nil && !(f.Op.AboutObject() && m.Err.Kind == call.ErrNotFound)
	return m
}
