package engine

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

// An inspection asks for all sandboxes and containers of a pod, one call after the
// other in the kubelet's order: releases that list again do so before the
// sandboxes and before the containers. What is not found any more is left out; any
// other error ends it. What is odd in a list made again is not counted: the list of
// all has it, too.
type inspection struct {
	next       pleg.Inspection
	began      time.Time
	ended      time.Time
	todo       []call.Flight // the calls that are still to be made
	out        bool
	sandboxes  []pleg.SandboxStatus
	containers []pleg.ContainerStatus
	found      pleg.Anomalies
	failed     *answer // the call that it failed with; nil if it did not
	err        error
}

func newInspection(now time.Time, next pleg.Inspection) *inspection {
	i := &inspection{next: next, began: now, ended: now}
	if pod := next.Pod.PodRef; next.ListAgain {
		i.todo = []call.Flight{{Op: call.ListPodSandbox, Pod: pod}, {Op: call.ListContainers, Pod: pod}}
	} else {
		i.todo = partsOf(next.Pod)
	}
	return i
}

func (i *inspection) over() bool { return !i.out && (i.err != nil || len(i.todo) == 0) }

// advance makes the next call, if there is one.
func (i *inspection) advance(m *machine) {
	if i.out || i.over() {
		return
	}
	m.calls.want(m.now, m.policy.kubelets(i.todo[0]))
	i.todo, i.out = i.todo[1:], true
}

func (i *inspection) take(m *machine, a *answer) {
	i.out, i.ended = false, a.at
	if a.Op.AboutObject() {
		i.found = i.found.Add(a.found)
	}
	pod := i.next.Pod.PodRef
	switch v := a.value; {
	case a.err != nil && a.Op.AboutObject() && errors.Is(a.err, call.ErrNotFound):
	case a.err != nil:
		i.failed, i.err = a, inspectError(a.Flight, a.err)
	case v.Sandbox != nil:
		i.sandboxes = append(i.sandboxes, *v.Sandbox)
	case v.Container != nil:
		i.containers = append(i.containers, *v.Container)
	case a.Op == call.ListPodSandbox:
		i.todo = slices.Concat(sandboxCalls(pod, newestFirst(v.Sandboxes, pod.UID)), i.todo)
	case a.Op == call.ListContainers:
		i.todo = slices.Concat(containerCalls(pod, ofPod(v.Containers, pod.UID)), i.todo)
	}
	i.advance(m)
}

// inspectError says which step of an inspection failed.
func inspectError(f call.Flight, err error) error {
	switch f.Op {
	case call.ListPodSandbox:
		return fmt.Errorf("list sandboxes of pod %v: %w", f.Pod, err)
	case call.ListContainers:
		return fmt.Errorf("list containers of pod %v: %w", f.Pod, err)
	}
	return fmt.Errorf("inspect %s of pod %v: %w", objectOf(f), f.Pod, err)
}

// status returns what the inspection found; nil if it failed.
func (i *inspection) status() *pleg.PodStatus {
	if i.err != nil {
		return nil
	}
	return pleg.Compose(i.next.Pod.PodRef, i.sandboxes, i.containers)
}

// took returns how long the inspection was under way.
func (i *inspection) took() time.Duration { return i.ended.Sub(i.began) }

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
func sandboxCalls(pod pleg.PodRef, sandboxes []pleg.Sandbox) []call.Flight {
	calls := make([]call.Flight, len(sandboxes))
	for i, s := range sandboxes {
		calls[i] = call.Flight{Op: call.PodSandboxStatus, Pod: pod, ID: s.ID}
	}
	return once(calls)
}

// containerCalls returns the calls that ask for each of a pod's containers.
func containerCalls(pod pleg.PodRef, containers []pleg.Container) []call.Flight {
	calls := make([]call.Flight, len(containers))
	for i, c := range containers {
		calls[i] = call.Flight{Op: call.ContainerStatus, Pod: pod, Container: c.Name, ID: c.ID}
	}
	return once(calls)
}

// once leaves out what an earlier call asks for: a list may have an object thousands of times.
func once(calls []call.Flight) []call.Flight {
	asked := make(map[answers.Target]bool, len(calls))
	return slices.DeleteFunc(calls, func(f call.Flight) bool {
		target := targetOf(f)
		again := asked[target]
		asked[target] = true
		return again
	})
}

func targetOf(f call.Flight) answers.Target { return answers.Target{Op: f.Op, ID: f.ID} }

// partsOf returns the calls that ask for all of a pod, sandboxes first.
func partsOf(pod *pleg.Pod) []call.Flight {
	return append(sandboxCalls(pod.PodRef, pod.Sandboxes), containerCalls(pod.PodRef, pod.Containers)...)
}

// objectOf names what a status call is about, within its pod.
func objectOf(f call.Flight) string {
	if f.Op == call.PodSandboxStatus {
		return "sandbox"
	}
	return "container " + cmp.Or(f.Container, f.ID)
}
