package diagnose

import (
	"fmt"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
)

const (
	// slowFactor is how many times as long as the others an object must take to
	// be the one that is slow, and not the runtime.
	slowFactor = 10
	// slowHolds is how long a sweep's slow object is spoken of: that is over, and
	// asked for anew it may come at once.
	slowHolds = time.Minute
)

// slowInSweep finds objects whose status came late in the last sweep, while those
// of others are fast. Nothing hangs there; it is how a hang begins.
func (v *view) slowInSweep() (findings []Finding) {
	w := v.Sweep
	if w == nil || w.Ended.IsZero() || v.At.Sub(w.Ended) > slowHolds {
		return nil
	}
	for _, o := range w.Slowest {
		if o.Err == nil && o.Took >= answers.Late && v.standsOut(o.Op, o.Took) && !stalled(o, w.Slowest) && !v.HeardSince(o.Flight, w.Ended) {
			findings = append(findings, v.slowFinding(o.Flight, o.Took))
		}
	}
	return findings
}

// stalled reports whether an object of another pod was answered late at the same moment: what
// held up both has nothing to do with either.
func stalled(o answers.Outcome, slowest []answers.Outcome) bool {
	return slices.ContainsFunc(slowest, func(other answers.Outcome) bool {
		return other.Pod.UID != o.Pod.UID && other.Took >= answers.Late/2 && other.At.Sub(o.At).Abs() <= answers.Together
	})
}

// standsOut reports whether a call of an operation took much longer than half of
// its like.
func (v *view) standsOut(op call.Operation, took time.Duration) bool {
	sums := v.Sums(op)
	return sums.P50 > 0 && took >= slowFactor*sums.P50
}

func (v *view) slowFinding(f call.Flight, took time.Duration) Finding {
	found := Finding{
		ID: RuntimeSlow, Severity: Warning,
		Summary: fmt.Sprintf("%v of %s was answered after %s, half of the others within %s", f.Op, f.Object().String(), span(took), span(v.Sums(f.Op).P50)),
		Subject: asking(f), Group: f.Object().String() + " " + f.Op.String(),
		Next: v.slowObjectSteps(f),
	}
	found.say(v.neighbours())
	found.say(v.processes(f)...)
	return found
}

func (v *view) slowObjectSteps(f call.Flight) []Step {
	values := Values{"id": short(f.ID)}
	if f.Op == call.PodSandboxStatus {
		values["ofSandbox"] = one("yes")
	}
	return v.advise("object.slow", values)
}
