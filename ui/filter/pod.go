package filter

import (
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine"
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

// inState reports whether one of the pod's containers is in state s, or one of
// its sandboxes where it has no container. A pod is absent when it was not in
// the last list.
func inState(p *engine.Pod, s pleg.State) bool {
	seen := p.Seen()
	switch {
	case s == pleg.Absent:
		return p.Current == nil
	case len(seen.Containers) == 0:
		return slices.ContainsFunc(seen.Sandboxes, func(b pleg.Sandbox) bool { return b.State == s })
	}
	return slices.ContainsFunc(seen.Containers, func(c pleg.Container) bool { return c.State == s })
}

// restarts returns how often the container was restarted that was most often.
func restarts(p *engine.Pod) int64 {
	var most int64
	for _, c := range p.Seen().Containers {
		most = max(most, int64(c.Attempt))
	}
	return most
}

// created returns when the pod's first sandbox still listed was made, or its
// first container where no sandbox is; zero where the runtime does not say.
func created(p *engine.Pod) time.Time {
	var first time.Time
	older := func(t time.Time) {
		if !t.IsZero() && (first.IsZero() || t.Before(first)) {
			first = t
		}
	}
	for _, s := range p.Seen().Sandboxes {
		older(s.CreatedAt)
	}
	if first.IsZero() {
		for _, c := range p.Seen().Containers {
			older(c.CreatedAt)
		}
	}
	return first
}

// EventProblem says, in a few words, what is bad about an event, or "" if
// nothing is: the channel was full and the kubelet never saw it, a container
// ended with another code than 0, or its state became unknown.
func EventProblem(e engine.Event) string {
	switch {
	case e.Delivery == pleg.Discarded:
		return "discarded"
	case e.Exited && e.ExitCode != 0:
		return "exited with an error"
	case e.To == pleg.Unknown:
		return "state unknown"
	}
	return ""
}
