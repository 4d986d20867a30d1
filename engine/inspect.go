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

// lists makes both list calls, of one pod or, for an empty uid, of all.
func (e *Engine) lists(ctx context.Context, uid pleg.UID) (l listing) {
	pod := pleg.PodRef{UID: uid}
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

// inspect makes the calls of one inspection, in the kubelet's order: releases
// that list again do so before the sandboxes and before the containers. What
// is not found any more is left out; any other error ends the inspection.
func (e *Engine) inspect(ctx context.Context, next pleg.Inspection) (*pleg.PodStatus, error) {
	pod := next.Pod
	sandboxes, err := e.inspectSandboxes(ctx, next)
	if err != nil {
		return nil, err
	}
	containers, err := e.inspectContainers(ctx, next)
	if err != nil {
		return nil, err
	}
	return pleg.Compose(pod.PodRef, sandboxes, containers), nil
}

func (e *Engine) inspectSandboxes(ctx context.Context, next pleg.Inspection) ([]pleg.SandboxStatus, error) {
	pod := next.Pod
	listed := pod.Sandboxes
	if next.ListAgain {
		again, _, _, err := e.listSandboxes(ctx, pod.PodRef)
		if err != nil {
			return nil, fmt.Errorf("list sandboxes of pod %v: %w", pod.PodRef, err)
		}
		listed = newestFirst(again, pod.UID)
	}
	statuses := make([]pleg.SandboxStatus, 0, len(listed))
	for _, s := range listed {
		var st pleg.SandboxStatus
		_, err := e.call(ctx, Flight{Op: call.PodSandboxStatus, Pod: pod.PodRef, ID: s.ID}, func(ctx context.Context) (err error) {
			st, err = e.config.Runtime.PodSandboxStatus(ctx, s.ID)
			return err
		})
		switch {
		case err == nil:
			statuses = append(statuses, st)
		case !errors.Is(err, call.ErrNotFound):
			return nil, fmt.Errorf("inspect sandbox of pod %v: %w", pod.PodRef, err)
		}
	}
	return statuses, nil
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

func (e *Engine) inspectContainers(ctx context.Context, next pleg.Inspection) ([]pleg.ContainerStatus, error) {
	pod := next.Pod
	listed := pod.Containers
	if next.ListAgain {
		again, _, _, err := e.listContainers(ctx, pod.PodRef)
		if err != nil {
			return nil, fmt.Errorf("list containers of pod %v: %w", pod.PodRef, err)
		}
		listed = ofPod(again, pod.UID)
	}
	statuses := make([]pleg.ContainerStatus, 0, len(listed))
	for _, c := range listed {
		var st pleg.ContainerStatus
		_, err := e.call(ctx, Flight{Op: call.ContainerStatus, Pod: pod.PodRef, Container: c.Name, ID: c.ID}, func(ctx context.Context) (err error) {
			st, err = e.config.Runtime.ContainerStatus(ctx, c.ID)
			return err
		})
		switch {
		case err == nil:
			statuses = append(statuses, st)
		case !errors.Is(err, call.ErrNotFound):
			return nil, fmt.Errorf("inspect container %s of pod %v: %w", cmp.Or(c.Name, c.ID), pod.PodRef, err)
		}
	}
	return statuses, nil
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
