package diagnose

import (
	"fmt"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/evidence"
)

const (
	// againKept is how long an errand is remembered after it was seen last: before each
	// further try containerd waits twice as long, five minutes at most.
	againKept = 6 * time.Minute
	// againMost is how many are remembered.
	againMost = 100
	// againVerb is what is begun again and again: containerd gives runc delete ten
	// seconds, ends it, and calls it anew, so that none of them ever gets old. (containerd
	// 1.6 to 2.4.)
	againVerb = "delete"
)

// A repeated is an errand for one container with those that came before it.
type repeated struct {
	evidence.Process // the last that was seen
	begun, seen      time.Time
	times            int // processes
}

// repeats remembers them by container.
type repeats map[string]repeated

func (all *repeats) add(r *evidence.Report) {
	for id, p := range *all {
		if r.At.Sub(p.seen) > againKept {
			delete(*all, id)
		}
	}
	errands := r.Processes.Errands
	for _, p := range errands {
		within := slices.ContainsFunc(errands, func(q evidence.Process) bool { return q.PID == p.Parent }) // a wrapper has called it
		was, known := (*all)[p.Container]
		if !p.Own || p.Verb != againVerb || p.Container == "" || within || !known && len(*all) >= againMost {
			continue
		}
		if !known {
			was.begun = r.At.Add(-p.Age)
		}
		if was.PID != p.PID {
			was.times++
		}
		was.Process, was.seen = p, r.At
		put((*map[string]repeated)(all), p.Container, was)
	}
}

// runs reports whether an errand was seen by the last look.
func (v *view) runs(p evidence.Process) bool {
	return slices.ContainsFunc(v.evidence.Processes.Errands, func(q evidence.Process) bool { return q.PID == p.PID })
}

// ran says how long an errand has run, alone or with those before it.
func (v *view) ran(p evidence.Process) string {
	if again := v.past.again[p.Container]; again.times > 1 && again.PID == p.PID {
		return fmt.Sprintf("is begun again and again for %s (pid %d last)", going(p.Age), p.PID)
	}
	return fmt.Sprintf("has run for %s (pid %d)", going(p.Age), p.PID)
}
