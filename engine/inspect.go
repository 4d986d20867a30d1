package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

// A listing is the outcome of both list calls.
type listing struct {
	sandboxes  []pleg.ListedSandbox
	containers []pleg.ListedContainer
	found      pleg.Anomalies
	failed     Flight // the call that failed, if err is not nil
	err        error
}

// lists makes both list calls, of one pod or, for an empty one, of all.
func (e *Engine) lists(ctx context.Context, pod pleg.PodRef) (l listing) {
	var found pleg.Anomalies
	l.sandboxes, l.found, l.failed, l.err = e.listSandboxes(ctx, pod)
	if l.err != nil {
		return l
	}
	l.containers, found, l.failed, l.err = e.listContainers(ctx, pod)
	l.found = l.found.Add(found)
	return l
}

func (e *Engine) listSandboxes(ctx context.Context, pod pleg.PodRef) (list []pleg.ListedSandbox, found pleg.Anomalies, f Flight, err error) {
	f, err = e.call(ctx, Flight{Op: call.ListPodSandbox, Pod: pod}, func(ctx context.Context) (err error) {
		list, found, err = e.config.Runtime.ListPodSandbox(ctx, pod.UID)
		return err
	})
	return list, found, f, err
}

func (e *Engine) listContainers(ctx context.Context, pod pleg.PodRef) (list []pleg.ListedContainer, found pleg.Anomalies, f Flight, err error) {
	f, err = e.call(ctx, Flight{Op: call.ListContainers, Pod: pod}, func(ctx context.Context) (err error) {
		list, found, err = e.config.Runtime.ListContainers(ctx, pod.UID)
		return err
	})
	return list, found, f, err
}

// An inspection is the outcome of one inspection.
type inspection struct {
	status *pleg.PodStatus
	found  pleg.Anomalies // in the answers about single objects, as far as they came
	failed Flight         // the call that failed, if err is not nil
	err    error
}

// inspect makes the calls of one inspection, in the kubelet's order: releases
// that list again do so before the sandboxes and before the containers. What
// is not found any more is left out; any other error ends the inspection. What
// is odd in a list made again is not counted: the list of all has it, too.
func (e *Engine) inspect(ctx context.Context, next pleg.Inspection) (i inspection) {
	sandboxes, err := e.inspectSandboxes(ctx, next, &i)
	if err != nil {
		i.err = err
		return i
	}
	containers, err := e.inspectContainers(ctx, next, &i)
	if err != nil {
		i.err = err
		return i
	}
	i.status = pleg.Compose(next.Pod.PodRef, sandboxes, containers)
	return i
}

func (e *Engine) inspectSandboxes(ctx context.Context, next pleg.Inspection, i *inspection) ([]pleg.SandboxStatus, error) {
	pod, listed := next.Pod.PodRef, next.Pod.Sandboxes
	if next.ListAgain {
		again, _, f, err := e.listSandboxes(ctx, pod)
		if err != nil {
			i.failed = f
			return nil, fmt.Errorf("list sandboxes of pod %v: %w", pod, err)
		}
		listed = newestFirst(again, pod.UID)
	}
	return statuses(ctx, e, sandboxCalls(pod, listed), i, e.config.Runtime.PodSandboxStatus)
}

// newestFirst returns the sandboxes of one pod as older kubelets sort them. A
// runtime that ignored the label sent those of other pods as well.
func newestFirst(listed []pleg.ListedSandbox, uid pleg.UID) []pleg.Sandbox {
	var sandboxes []pleg.Sandbox
	for _, s := range listed {
		if s.Pod.UID == uid {
			sandboxes = append(sandboxes, s.Sandbox)
		}
	}
	slices.SortStableFunc(sandboxes, func(a, b pleg.Sandbox) int { return b.CreatedAt.Compare(a.CreatedAt) })
	return sandboxes
}

func (e *Engine) inspectContainers(ctx context.Context, next pleg.Inspection, i *inspection) ([]pleg.ContainerStatus, error) {
	pod, listed := next.Pod.PodRef, next.Pod.Containers
	if next.ListAgain {
		again, _, f, err := e.listContainers(ctx, pod)
		if err != nil {
			i.failed = f
			return nil, fmt.Errorf("list containers of pod %v: %w", pod, err)
		}
		listed = ofPod(again, pod.UID)
	}
	return statuses(ctx, e, containerCalls(pod, listed), i, e.config.Runtime.ContainerStatus)
}

func ofPod(listed []pleg.ListedContainer, uid pleg.UID) []pleg.Container {
	var containers []pleg.Container
	for _, c := range listed {
		if c.Pod.UID == uid {
			containers = append(containers, c.Container)
		}
	}
	return containers
}

// sandboxCalls returns the calls that ask for each of a pod's sandboxes.
func sandboxCalls(pod pleg.PodRef, sandboxes []pleg.Sandbox) []Flight {
	calls := make([]Flight, len(sandboxes))
	for i, s := range sandboxes {
		calls[i] = Flight{Op: call.PodSandboxStatus, Pod: pod, ID: s.ID}
	}
	return calls
}

// containerCalls returns the calls that ask for each of a pod's containers.
func containerCalls(pod pleg.PodRef, containers []pleg.Container) []Flight {
	calls := make([]Flight, len(containers))
	for i, c := range containers {
		calls[i] = Flight{Op: call.ContainerStatus, Pod: pod, Container: c.Name, ID: c.ID}
	}
	return calls
}

// statuses makes the calls one after the other, up to the first that fails for
// another reason than that its object is gone, and adds to found what was odd.
func statuses[S any](ctx context.Context, e *Engine, calls []Flight, i *inspection,
	ask func(context.Context, string) (S, pleg.Anomalies, error),
) ([]S, error) {
	all := make([]S, 0, len(calls))
	for _, f := range calls {
		var status S
		var odd pleg.Anomalies
		made, err := e.call(ctx, f, func(ctx context.Context) (err error) {
			status, odd, err = ask(ctx, f.ID)
			return err
		})
		i.found = i.found.Add(odd)
		switch {
		case err == nil:
			all = append(all, status)
		case !errors.Is(err, call.ErrNotFound):
			i.failed = made
			return nil, fmt.Errorf("inspect %s of pod %v: %w", f.object(), f.Pod, err)
		}
	}
	return all, nil
}

// object names what a status call is about, within its pod.
func (f Flight) object() string {
	if f.Op == call.PodSandboxStatus {
		return "sandbox"
	}
	return "container " + cmp.Or(f.Container, f.ID)
}
