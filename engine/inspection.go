package engine

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

// An inspection is the outcome of the calls about one pod.
type inspection struct {
	Pod          pleg.PodRef
	Began, Ended time.Time
	sandboxes    []pleg.SandboxStatus
	containers   []pleg.ContainerStatus
	found        pleg.Anomalies
	failed       *answer // the call that failed it; nil if none did
	Err          error
}

// take takes in the answer to one call of the inspection; nil for a call that was never made. An object that is
// not found any more is left out. Anomalies of a list are not counted, because the list of all pods has them
// too.
func (i *inspection) take(a *answer, first bool) {
	if a == nil {
		i.Err = cmp.Or(i.Err, error(outOfTurn(call.ContainerStatus)))
		return
	}
	if first {
		i.Began = a.Flight.Since
	}
	i.Ended = a.At
	if a.Flight.Op.AboutObject() {
		i.found = i.found.Add(a.Found)
	}
	switch {
	case a.Err != nil && a.Flight.Op.AboutObject() && a.Err.Kind == call.ErrNotFound:
	case a.Err != nil && i.Err == nil:
		i.failed, i.Err = a, inspectError(a.Flight, a.Err)
	case a.Answer.Sandbox != nil:
		i.sandboxes = append(i.sandboxes, *a.Answer.Sandbox)
	case a.Answer.Container != nil:
		i.containers = append(i.containers, *a.Answer.Container)
	}
}

// inspectError returns an error that names the step of an inspection that failed.
func inspectError(f call.Flight, err error) error {
	switch f.Op {
	case call.ListPodSandbox:
		return fmt.Errorf("list sandboxes of pod %v: %w", f.Pod, err)
	case call.ListContainers:
		return fmt.Errorf("list containers of pod %v: %w", f.Pod, err)
	case call.PodSandboxStatus:
		return fmt.Errorf("inspect sandbox of pod %v: %w", f.Pod, err)
	}
	return fmt.Errorf("inspect container %s of pod %v: %w", cmp.Or(f.Container, f.ID), f.Pod, err)
}

// status returns what the inspection found; nil if it failed.
func (i *inspection) status() *pleg.PodStatus {
	if i.Err != nil {
		return nil
	}
	return pleg.Compose(i.Pod, i.sandboxes, i.containers)
}

// newestFirst returns the sandboxes of one pod in the order of older kubelets. It leaves out those
// of other pods: a runtime that ignores the label sends them as well.
func newestFirst(listed []*pleg.ListedSandbox, uid pleg.UID) []pleg.Sandbox {
	var sandboxes []pleg.Sandbox
	for _, s := range listed {
		if s.Pod.UID == uid {
			sandboxes = append(sandboxes, s.Sandbox)
		}
	}
	slices.SortStableFunc(sandboxes, func(a, b pleg.Sandbox) int { return b.CreatedAt.Compare(a.CreatedAt) })
	return sandboxes
}

func ofPod(listed []*pleg.ListedContainer, uid pleg.UID) []pleg.Container {
	var containers []pleg.Container
	for _, c := range listed {
		if c.Pod.UID == uid {
			containers = append(containers, c.Container)
		}
	}
	return containers
}

// sandboxCalls returns the calls that ask for each of a pod's sandboxes, once.
func sandboxCalls(pod pleg.PodRef, sandboxes []pleg.Sandbox) []call.Flight {
	calls := make([]call.Flight, len(sandboxes))
	for i, s := range sandboxes {
		calls[i] = call.Flight{Op: call.PodSandboxStatus, Pod: pod, ID: s.ID}
	}
	return distinct(calls)
}

// containerCalls returns the calls that ask for each of a pod's containers, once.
func containerCalls(pod pleg.PodRef, containers []pleg.Container) []call.Flight {
	calls := make([]call.Flight, len(containers))
	for i, c := range containers {
		calls[i] = call.Flight{Op: call.ContainerStatus, Pod: pod, Container: c.Name, ID: c.ID}
	}
	return distinct(calls)
}

// callsFor returns the calls that ask for all objects of a pod, sandboxes first.
func callsFor(pod *pleg.Pod) []call.Flight {
	return append(sandboxCalls(pod.PodRef, pod.Sandboxes), containerCalls(pod.PodRef, pod.Containers)...)
}

// distinct leaves out a call if an earlier one asks for the same object: a list may have an object
// thousands of times.
func distinct(calls []call.Flight) []call.Flight {
	if len(calls) < 2 {
		return calls
	}
	asked := make(map[target]bool, len(calls))
	return slices.DeleteFunc(calls, func(f call.Flight) bool {
		t := targetOf(f)
		twice := asked[t]
		asked[t] = true
		return twice
	})
}

// A target is what a status call is about.
type target string

func targetOf(f call.Flight) target { return target(f.Op.String() + " " + f.ID) }
