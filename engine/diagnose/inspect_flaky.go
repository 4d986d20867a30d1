package diagnose

import (
	"fmt"

	"github.com/plegtop/plegtop/engine/call"
)

// byChance reports whether so many calls of the last sweep failed and were
// answered when asked again that those which failed twice may have done so by
// chance: no object is to blame for that.
func (r *reading) byChance() bool {
	w := r.Sweep
	if w == nil || w.Flaky == 0 || w.Flaky < len(w.Failed) || w.Done == 0 || r.At.Sub(w.Began) > sweepHolds {
		return false
	}
	once := w.Flaky + len(w.Failed)
	return len(w.Failed)*w.Done <= w.Done+2*once*once
}

// unsteady reports whether calls fail now and then, whatever they ask for.
func (in Input) unsteady() bool {
	past := in.past()
	return past.recoveries.within(in.Snapshot.At) >= unsteadyPods || past.outages.within(in.Snapshot).bouts >= flakyBouts
}

// recovering is about inspections that fail and succeed by themselves, while all
// else works.
func (in Input) recovering() []Finding {
	n := in.past().recoveries.within(in.Snapshot.At)
	if _, flaky := in.flaky(); flaky || n < unsteadyPods || in.past().outages.lately(in.Snapshot) {
		return nil
	}
	return []Finding{{
		ID: InspectFailing, Severity: Warning,
		Summary:  fmt.Sprintf("%s in the last minute failed, and succeeded a relist or two later", count(n, "inspection")),
		Evidence: lines(fmt.Sprintf("no pod fails %d times in a row, so none is to blame", failsSteadily)),
		Next:     in.runtimeSteps(Step{Text: "what the runtime says", Command: in.logs()}),
	}}
}

func (in Input) nowAndThen(r *reading) Finding {
	w := r.Sweep
	f := Finding{
		ID: InspectFailing, Severity: Warning,
		Summary:  fmt.Sprintf("the status of %d of %s failed, for most only until it was asked for again", w.Flaky+len(w.Failed), count(w.Done, "object")),
		Evidence: []string{fmt.Sprintf("%d were answered when asked again, %d failed twice", w.Flaky, len(w.Failed))},
		Next:     in.runtimeSteps(Step{Text: "what the runtime says", Command: in.logs()}),
	}
	for _, op := range []call.Operation{call.PodSandboxStatus, call.ContainerStatus} {
		if sums := r.sums(op); sums.LastErr != nil {
			f.Evidence = append(f.Evidence, fmt.Sprintf("%v: %s of %s failed, the last with %s", op, thousands(sums.Errors), count(sums.Count, "call"), words(sums.LastErr)))
		}
	}
	return f
}
