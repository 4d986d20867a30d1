package ui

import (
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
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

// problemOf says, in a few words, what is wrong with a pod, or "" if nothing is.
// This is what has:problem and "problems only" mean. A pod has a problem when,
// in this order,
//   - a call about it hangs: out;
//   - its last inspection failed;
//   - the runtime lists one of its containers as unknown;
//   - one of its containers has been created for 30 s and not started;
//   - one of its containers was restarted three times or more, the last time
//     less than ten minutes ago;
//   - one of its containers exited with another code than 0;
//   - a finding is about it: found.
//
// Only the newest container of each name counts: what a restart has mended is no
// problem any more. The answer never holds text from the runtime.
func problemOf(p *engine.Pod, out *engine.Flight, found podFinding, at time.Time) string {
	switch {
	case out != nil:
		return out.Op.String() + " hangs"
	case p.StatusErr != nil || p.Failure != nil:
		return "inspection fails"
	}
	worst, text := 0, string(found.id)
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

// hangsIn returns the call about the pod uid that has been out for too long, or
// nil. That of a probe or a sweep does not count: where all the runtime is stuck, it
// says nothing about the pod that was chosen for it.
func hangsIn(s *engine.Snapshot, uid pleg.UID) *engine.Flight {
	for i := range s.InFlight {
		if f := &s.InFlight[i]; f.Pod.UID == uid && uid != "" && f.By != engine.ByProbe && f.By != engine.BySweep && f.Elapsed(s.At) >= stuck {
			return f
		}
	}
	return nil
}

// A podFinding is the worst that findings say of a pod. The zero value says nothing.
type podFinding struct {
	id       diagnose.ID
	severity diagnose.Severity
}

// podFindings returns the worst that findings say of each pod, by its UID.
func podFindings(found []diagnose.Finding) map[pleg.UID]podFinding {
	all := map[pleg.UID]podFinding{}
	for i := range found {
		f := &found[i]
		uid := f.Subject.Pod.UID
		if old, ok := all[uid]; uid != "" && f.Severity > diagnose.Info && (!ok || f.Severity > old.severity) {
			all[uid] = podFinding{f.ID, f.Severity}
		}
	}
	return all
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
	if p.Status == nil {
		return false
	}
	i := slices.IndexFunc(p.Status.Containers, func(c pleg.ContainerStatus) bool { return c.ID == id })
	return i >= 0 && p.Status.Containers[i].State == pleg.Exited && p.Status.Containers[i].ExitCode != 0
}
