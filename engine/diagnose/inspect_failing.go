package diagnose

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/call"
)

const (
	// failsThrice is how many inspections in a row must fail to be more than a
	// race with a container that comes or goes, or than bad luck.
	failsThrice = 3
	// failsSteadily is the same on a runtime where calls fail now and then: there
	// the inspection of a pod of three objects may fail every other time.
	failsSteadily = 10
	// flakyObjects is how many objects must fail once to speak of it.
	flakyObjects = 3
	// fullFailing is how many failing pods get a finding each.
	fullFailing = 10
	// manyFailing pods, and more than one in manyShare of all, that fail alike
	// are one trouble of the runtime.
	manyFailing = 5
	manyShare   = 0.3
)

// A failingPod is a pod whose inspection fails, with the call that does.
type failingPod struct {
	engine.Flight
	err   error
	since string // when and how often
}

// like is what failures of several pods have in common if they are one trouble.
func (p failingPod) like() string { return p.Op.String() + " " + call.Code(p.err) }

// inspectFailing finds pods whose inspection ends in an error, again and again.
func inspectFailing(in Input) []Finding {
	r := read(in.Snapshot)
	culprit, found := r.culprit()
	if r.byChance() && !found {
		if _, flaky := in.flaky(); flaky || r.Sweep.Flaky < flakyObjects {
			return nil
		}
		return []Finding{in.nowAndThen(&r)}
	}
	pods := r.failingPods(in.unsteady(), in.past().outages.lately(in.Snapshot))
	if found && !knownPod(pods, culprit.Flight) {
		pods = append(pods, culprit)
	}
	if len(pods) == 0 {
		return in.recovering()
	}
	if alike := mostAlike(pods); len(alike) >= manyFailing && float64(len(alike)) > manyShare*float64(len(r.Pods)) {
		return []Finding{in.manyFail(alike, len(r.Pods))}
	}
	var findings []Finding
	for _, p := range pods[:min(len(pods), fullFailing)] {
		findings = append(findings, in.podFails(&r, p))
	}
	if rest := pods[min(len(pods), fullFailing):]; len(rest) > 0 {
		findings = append(findings, restFails(rest))
	}
	return findings
}

// failingPods returns one call for each pod: what a sweep saw, since that names
// the object, and then the inspections. For which the runtime was not there is not
// told of a runtime that was away lately.
func (r *reading) failingPods(unsteady, away bool) []failingPod {
	var pods []failingPod
	alone := strandedObjects(r.Snapshot) > 0 && !away
	if w := r.Sweep; w != nil && r.At.Sub(w.Began) <= sweepHolds {
		for _, o := range w.Failed {
			if (r.ownError(o.Err, o.Took) || stranded(o.Err) && alone) && !knownPod(pods, o.Flight) && (w.Ended.IsZero() || !r.inspectedSince(o.Flight, w.Ended)) {
				pods = append(pods, failingPod{o.Flight, o.Err, "failed twice in the sweep at " + clock(w.Began)})
			}
		}
	}
	need := failsThrice
	if unsteady {
		need = failsSteadily
	}
	for _, p := range r.Pods {
		if p.Failure == nil || p.Failure.InRow < need || !r.ownError(p.Failure.Err, p.Failure.Took()) && (away || !r.strandedPod(p)) {
			continue
		}
		f := p.Failure
		if !knownPod(pods, f.Flight) {
			since := fmt.Sprintf("failed %d times in a row, for %s since %s", f.InRow, going(r.At.Sub(f.First)), clock(f.First))
			pods = append(pods, failingPod{f.Flight, f.Err, since})
		}
	}
	return pods
}

// ownError reports whether an error is the runtime's answer about an object: no
// hang, no runtime that is away, no object that has gone.
func (r *reading) ownError(err error, took time.Duration) bool {
	switch {
	case err == nil, errors.Is(err, call.ErrNotFound):
		return false
	case errors.Is(err, call.ErrDeadline):
		return !r.ranOut(err, took)
	}
	return isAnswer(err)
}

func stranded(err error) bool { return errors.Is(err, call.ErrUnavailable) }

// strandedPod reports whether the runtime is away for nothing but a pod: it has
// answered lists for as long as that has failed.
func (r *reading) strandedPod(p *engine.Pod) bool {
	return stranded(p.Failure.Err) && r.Failure == nil && r.StatusErr == nil && p.Failure.InRow > downForSure && r.Health.ListedAt.After(p.Failure.First)
}

func knownPod(pods []failingPod, f engine.Flight) bool {
	return slices.ContainsFunc(pods, func(p failingPod) bool { return p.Pod == f.Pod })
}

// mostAlike returns the largest group of failures that are alike.
func mostAlike(pods []failingPod) []failingPod {
	groups := make(map[string][]failingPod)
	for _, p := range pods {
		groups[p.like()] = append(groups[p.like()], p)
	}
	var best []failingPod
	for _, p := range pods { // in their order, so that equals give equal results
		if g := groups[p.like()]; len(g) > len(best) {
			best = g
		}
	}
	return best
}

func (in Input) podFails(r *reading, p failingPod) Finding {
	f := Finding{
		ID: InspectFailing, Severity: Warning,
		Summary:  fmt.Sprintf("%v of %s fails: %s", p.Op, object(p.Flight), excerpt(words(p.err))),
		Subject:  on(p.Op, p.Pod, p.Container, p.ID),
		Evidence: []string{words(p.err), p.since, "its events are held back and its status is not known until an inspection succeeds"},
	}
	verb := "inspect"
	if p.Op == call.PodSandboxStatus {
		verb = "inspectp"
	}
	f.Evidence = append(f.Evidence, in.processes(r, p.Flight)...)
	f.Next = []Step{
		{Text: "the same question by crictl", Command: in.crictl(verb, operand(p.ID)...)},
		{Text: "what the runtime says of it", Command: in.logs() + " | grep -F -e " + quote(cmp.Or(p.ID, p.Pod.Name))},
		{Text: "makes only this pod anew", Command: "kubectl delete pod --force -n " + quote(p.Pod.Namespace) + " -- " + quote(p.Pod.Name), Risky: true},
	}
	if p.ID == "" {
		f.Next = f.Next[1:]
	}
	return f
}

func (in Input) manyFail(alike []failingPod, all int) Finding {
	first := alike[0]
	f := Finding{
		ID: InspectFailing, Severity: Warning,
		Summary:  fmt.Sprintf("%v fails for %s of %s: %s", first.Op, thousands(uint64(len(alike))), count(all, "pod"), excerpt(words(first.err))),
		Subject:  Subject{Operation: first.Op.String()},
		Evidence: []string{words(first.err), first.since, "so many at once are no trouble of a pod's, but of the runtime's"},
		Next: in.runtimeSteps(
			Step{Text: "what the runtime says", Command: in.logs()},
			Step{Text: "is a disk full or read-only", Command: "df -h; df -i"},
		),
	}
	for _, p := range alike[:min(len(alike), namedHung)] {
		f.Evidence = append(f.Evidence, object(p.Flight)+": "+words(p.err))
	}
	return f
}

func restFails(rest []failingPod) Finding {
	f := Finding{ID: InspectFailing, Severity: Warning, Summary: more(len(rest), "pod") + " cannot be inspected"}
	for _, p := range rest[:min(len(rest), namedHung)] {
		f.Evidence = append(f.Evidence, object(p.Flight)+": "+words(p.err))
	}
	return f
}
