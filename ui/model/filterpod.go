package model

import (
	"slices"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/pleg"
)

// anyName reports whether match holds for one of the names by which a word
// finds a pod.
func anyName(p *engine.Pod, match func(string) bool) bool {
	if match(p.Name) || match(p.Namespace) || match(p.PodRef.String()) {
		return true
	}
	return slices.ContainsFunc(p.Seen().Containers, func(c pleg.Container) bool { return match(c.Name) })
}

func eventNames(e engine.Event) []string {
	return []string{e.Pod.Name, e.Container, e.Pod.Namespace, e.Pod.String()}
}

func containerNames(p *engine.Pod) []string {
	var all []string
	for _, c := range p.Seen().Containers {
		all = append(all, c.Name)
	}
	return all
}

func ids(p *engine.Pod) []string {
	all := []string{string(p.UID)}
	for _, s := range p.Seen().Sandboxes {
		all = append(all, s.ID)
	}
	for _, c := range p.Seen().Containers {
		all = append(all, c.ID)
	}
	return all
}

func reasons(p *engine.Pod) []string {
	var all []string
	for _, c := range statuses(p) {
		if c.Reason != "" {
			all = append(all, c.Reason)
		}
	}
	return all
}

// statuses returns what the last inspection found of each container; none if
// it failed.
func statuses(p *engine.Pod) []pleg.ContainerStatus {
	if p.Status == nil {
		return nil
	}
	return p.Status.Containers
}

// states are the words of states that mean something: those that pods are shown with,
// and those of a container, which are among them but for absent.
var states = append([]string{pleg.Absent.String()}, diagnose.PodWords()...)

// inState reports whether a pod is shown as in that state, or one of its containers is
// in it, or one of its sandboxes where it has no container. A pod is absent when it was
// not in the last list.
func inState(p *Pod, state string) bool {
	switch {
	case state == pleg.Absent.String():
		return p.Pod.Current == nil
	case state == p.Word():
		return true
	case len(p.Seen.Containers) == 0:
		return slices.ContainsFunc(p.Seen.Sandboxes, func(b pleg.Sandbox) bool { return p.Listed(b.ID, b.State) == state })
	}
	return slices.ContainsFunc(p.Seen.Containers, func(c pleg.Container) bool { return p.Listed(c.ID, c.State) == state })
}

// EventProblem says, in a few words, what is bad about an event, or "" if
// nothing is: the channel was full and the kubelet never saw it, a container
// ended with another code than 0, its state became unknown, or a network failed.
func EventProblem(e engine.Event) string {
	switch {
	case e.Delivery == pleg.Discarded:
		return "discarded"
	case e.Exited && e.ExitCode != 0:
		return "exited with an error"
	case e.Kind == pleg.NetworkFailed:
		return "network failed"
	case e.To == pleg.Unknown:
		return "state unknown"
	}
	return ""
}
