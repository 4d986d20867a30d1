package filter

import (
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/pleg"
)

const (
	// startGrace is how long a container may stay created before that is a
	// problem. Between create and start a healthy runtime needs well under a
	// second; a slow one with large volumes some seconds.
	startGrace = 30 * time.Second

	// A container that was restarted this often, the last time this lately, is
	// in a crash loop: the kubelet's back-off ends at five minutes, and ten
	// minutes after a good start it forgets.
	loopRestarts = 3
	loopMemory   = 10 * time.Minute
)

// Problem says, in a few words, what is wrong with a pod, or "" if nothing is.
// This is what has:problem and "problems only" mean. A pod has a problem when,
// in this order,
//   - its last inspection failed;
//   - the runtime lists one of its containers as unknown;
//   - one of its containers has been created for 30 s and not started;
//   - one of its containers was restarted three times or more, the last time
//     less than ten minutes ago;
//   - one of its containers exited with another code than 0.
//
// Only the newest container of each name counts: what a restart has mended is
// no problem any more. A call that hangs, or a finding, is a problem too, but no part of p: see
// [Filter.TroubledPod]. The answer never holds text from the runtime.
func Problem(p *engine.Pod, at time.Time) string {
	if p.StatusErr != nil || p.Failure != nil {
		return "inspection fails"
	}
	worst, text := 0, ""
	for i := range p.Seen().Containers {
		c := &p.Seen().Containers[i]
		if superseded(p, c) {
			continue
		}
		if rank, what := containerProblem(p, c, at); rank > worst {
			worst, text = rank, what
		}
	}
	return text
}

// superseded reports whether a later container of the same name is listed.
func superseded(p *engine.Pod, c *pleg.Container) bool {
	for i := range p.Seen().Containers {
		if o := &p.Seen().Containers[i]; o.Attempt > c.Attempt && o.Name == c.Name {
			return true
		}
	}
	return false
}

// containerProblem returns what is wrong with one container, and how it ranks:
// 0 for nothing.
func containerProblem(p *engine.Pod, c *pleg.Container, at time.Time) (rank int, text string) {
	age := at.Sub(c.CreatedAt)
	known := !c.CreatedAt.IsZero()
	switch {
	case c.State == pleg.Unknown:
		return 4, "state unknown"
	case c.State == pleg.Created && known && age >= startGrace:
		return 3, "created, not started"
	case c.Attempt >= loopRestarts && known && age < loopMemory:
		return 2, "crash loop"
	case c.State == pleg.Exited && failed(p, c.ID):
		return 1, "exited with an error"
	}
	return 0, ""
}

func failed(p *engine.Pod, id string) bool {
	for _, s := range statuses(p) {
		if s.ID == id {
			return s.State == pleg.Exited && s.ExitCode != 0
		}
	}
	return false
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
