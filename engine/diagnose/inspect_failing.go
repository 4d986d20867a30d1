package diagnose

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

// InspectFailing is a pod whose inspection fails again and again.
const InspectFailing ID = "inspect-failing"

var inspectFailingKind = &kind{
	id: InspectFailing, find: inspectFailing,
	needs: unpaused, because: starves,
	pod: "failing inspection", state: "failing",
	severity: "warning", scenario: "`inspect-failing`",
	when: "a pod's inspection fails again and again, with the runtime's error; the one object whose status ends the connection each time",
}

const (
	// failsThrice is how many inspections in a row must fail to be more than a
	// race with a container that comes or goes, or than bad luck.
	failsThrice = 3
	// failsSteadily is the same on a runtime where calls fail now and then: there
	// the inspection of a pod of three objects may fail every other time.
	failsSteadily = 10
	// unsteadyPods is how many inspections must fail and then succeed by
	// themselves within [answers.FlakyFor] for failures to be a matter of chance.
	unsteadyPods = 3
	// flakyObjects is how many objects must fail once to speak of it.
	flakyObjects = 3
	// fullFailing is how many failing pods get a finding each.
	fullFailing = 10
	// manyFailing owners whose pods fail alike have one trouble, which is the
	// runtime's.
	manyFailing = 5
)

// A failingPod is a pod whose inspection fails, with the call that does.
type failingPod struct {
	*answers.Failure
	swept string // when and how, by a sweep; empty if by inspections
}

// sweptPod returns the pod of an object of which a sweep says that it fails.
func sweptPod(o answers.Outcome, how string) failingPod {
	return failingPod{&answers.Failure{Flight: o.Flight, Err: o.Err}, how}
}

func (p failingPod) like() manner { return manner{p.Op.String(), call.Code(p.Err)} }

// name names one trouble: the pods of one owner that fail alike.
func (p failingPod) name() group { return groupOf(p.Object(), p.like()) }

// line is what is said of one of several.
func (p failingPod) line() string { return p.Object().String() + ": " + words(p.Err) }

func (p failingPod) subject() Subject { return asking(p.Flight) }

// inspectFailing finds pods whose inspection ends in an error, again and again.
func inspectFailing(v *view) []Finding {
	if v.Scope.Whole() {
		return nil
	}
	killer, found := v.ConnectionKiller()
	if v.byChance() && !found {
		if v.Flaky.Failed > 0 || v.Sweep.Flaky < flakyObjects {
			return nil
		}
		return []Finding{v.nowAndThen()}
	}
	pods := v.failingPods()
	if found {
		pods = append(pods, sweptPod(killer, fmt.Sprintf("ended the connection both times in the check of all at %s; %s failed with it and answered when asked again", v.clock(v.Sweep.Began), count(v.Sweep.Flaky, "other"))))
	}
	if len(pods) == 0 {
		return v.recovering()
	}
	many, pods := v.manyAlike(pods)
	var findings []Finding
	if len(many) > 0 {
		findings = append(findings, v.manyFail(many))
	}
	return append(findings, folded(v, InspectFailing, pods, fullFailing, failingPod.name, v.podsFail, func(rest []failingPod) Finding {
		return restOf(InspectFailing, more(len(rest), "pod")+" cannot be inspected", v.says(), rest, failingPod.line)
	})...)
}

// failingPods returns one call for each pod: what a sweep saw, since that names
// the object, and then the inspections. For which the runtime was not there is not
// told of a runtime that was away lately.
func (v *view) failingPods() []failingPod {
	var pods []failingPod
	swept := make(map[pleg.PodRef]bool)
	away := v.awayLately()
	alone := v.Unreachable() > 0 && !away
	if w := v.FreshSweep(); w != nil {
		for _, o := range w.Failed {
			if !swept[o.Pod] && (v.OwnError(o.Err, o.Took) || answers.IsAway(o.Err) && alone) && (w.Ended.IsZero() || !v.HeardSince(o.Flight, w.AskedLast())) {
				swept[o.Pod] = true
				pods = append(pods, sweptPod(o, "failed twice in the check of all at "+v.clock(w.Began)))
			}
		}
	}
	need := failsThrice
	if v.unsteady() {
		need = failsSteadily
	}
	for p := range v.podsWith((*podFacts).fails) {
		if f := p.Failure; f != nil && f.InRow >= need && !swept[f.Pod] && (v.OwnError(f.Err, f.Took()) || !away && v.isAwayFor(f)) {
			pods = append(pods, failingPod{Failure: f})
		}
	}
	return pods
}

// isAwayFor reports whether the runtime is away for nothing but one pod: it has
// answered lists for as long as that has failed.
func (v *view) isAwayFor(f *answers.Failure) bool {
	return answers.IsAway(f.Err) && v.Failure == nil && v.StatusErr == nil && f.InRow > answers.DownForSure && v.Health.ListedAt.After(f.First)
}

// manyAlike returns those that fail in the way in which the pods of most owners do,
// if these are many, or were and are still several; and all others.
func (v *view) manyAlike(pods []failingPod) (many, others []failingPod) {
	owners, most := make(map[manner]int), manner{}
	for _, g := range grouped(pods, failingPod.name) {
		how := g[0].like()
		if owners[how]++; owners[how] > owners[most] {
			most = how
		}
	}
	if n := owners[most]; n < manyFailing && !(n > 1 && v.told.holds(Key{ID: InspectFailing, Group: most.String()})) {
		return nil, pods
	}
	for _, p := range pods {
		if p.like() == most {
			many = append(many, p)
		} else {
			others = append(others, p)
		}
	}
	return many, others
}

// podsFail is about one pod, or about several of one owner that fail alike.
func (v *view) podsFail(group []failingPod) Finding {
	p := group[0]
	f := Finding{
		ID: InspectFailing, Severity: Warning,
		Summary:  fmt.Sprintf("%v of %s fails: %s", p.Op, p.Object().String(), excerpt(words(p.Err))),
		Subject:  p.subject(),
		Evidence: []string{p.Object().Path() + " " + v.failingSince(p) + ": " + words(p.Err), "its events are held back and its status is not known until an inspection succeeds"},
	}
	f.say(v.processes(p.Flight)...)
	values := Values{"id": short(p.ID), "inLog": one(cmp.Or(p.ID, p.Pod.Name)), "sandbox": short(v.sandbox(p.Flight))}
	if p.Op == call.PodSandboxStatus {
		values["ofSandbox"] = one("yes")
	}
	f.Next = v.advise("object.fails", values)
	if !slices.ContainsFunc(f.Next, Step.acts) {
		f.Next = v.runtimeSteps(f.Next...)
	}
	if len(group) > 1 {
		f.Summary = fmt.Sprintf("%v fails for %s: %s", p.Op, podsOf(group), excerpt(words(p.Err)))
		f = about(f, group, failingPod.line)
	}
	return f
}

// failingSince says when and how often a pod failed.
func (v *view) failingSince(p failingPod) string {
	if p.swept != "" {
		return p.swept
	}
	return fmt.Sprintf("failed %s in a row, for %s since %s", count(p.InRow, "time"), going(v.At.Sub(p.First)), v.clock(p.First))
}

func (v *view) manyFail(all []failingPod) Finding {
	first, whose := all[0], count(len(all), "pod")
	if n := len(v.Pods); n >= len(all) { // without a list nobody knows how many there are
		whose = thousands(len(all)) + " of " + count(n, "pod")
	}
	f := Finding{
		ID: InspectFailing, Severity: Warning,
		Summary:  fmt.Sprintf("%v fails for %s: %s", first.Op, whose, excerpt(words(first.Err))),
		Subject:  Subject{Operation: first.Op.String()},
		Group:    first.like().String(),
		Evidence: []string{words(first.Err), v.failingSince(first), "so many at once are no trouble of a pod's, but of the runtime's"},
		Next:     v.runtimeSteps(v.says()...),
	}
	if path := servedPath(words(first.Err)); path != "" {
		f.Evidence[2] = "nobody serves " + path + " any more; the runtime only says so"
		f.Next = append(f.Next[:1], v.serveAnew(path)...)
	}
	return about(f, all, failingPod.line)
}

// byChance reports whether so many calls of the last sweep failed and were
// answered when asked again that those which failed twice may have done so by
// chance: no object is to blame for that.
func (v *view) byChance() bool {
	w := v.FreshSweep()
	if w == nil || w.Flaky == 0 || w.Flaky < len(w.Failed) || w.Done == 0 {
		return false
	}
	once := w.Flaky + len(w.Failed)
	return len(w.Failed)*w.Done <= w.Done+2*once*once
}

// recoveries returns how many inspections failed and then succeeded within
// [answers.FlakyFor], with nothing done about it: where many do, no pod is to blame.
func (v *view) recoveries() (n int) {
	for _, at := range v.Memory.Recoveries {
		if v.At.Sub(at) <= answers.FlakyFor {
			n++
		}
	}
	return n
}

// unsteady reports whether calls fail now and then, whatever they ask for.
func (v *view) unsteady() bool {
	return v.recoveries() >= unsteadyPods || v.outages().Outages >= answers.Outages
}

// recovering is about inspections that fail and succeed by themselves, while all
// else works.
func (v *view) recovering() []Finding {
	n := v.recoveries()
	if v.Flaky.Failed > 0 || n < unsteadyPods || v.awayLately() {
		return nil
	}
	return []Finding{{
		ID: InspectFailing, Severity: Warning,
		Summary:  fmt.Sprintf("%s in the last minute failed, and succeeded a relist or two later", count(n, "inspection")),
		Evidence: []string{fmt.Sprintf("no pod fails %d times in a row, so none is to blame", failsSteadily)},
		Next:     v.runtimeSteps(v.says()...),
	}}
}

func (v *view) nowAndThen() Finding {
	w := v.Sweep
	f := Finding{
		ID: InspectFailing, Severity: Warning,
		Summary:  fmt.Sprintf("the status of %d of %s failed, for most only until it was asked for again", w.Flaky+len(w.Failed), count(w.Done, "object")),
		Evidence: []string{fmt.Sprintf("%d were answered when asked again, %d failed twice", w.Flaky, len(w.Failed))},
		Next:     v.runtimeSteps(v.says()...),
	}
	for _, op := range answers.StatusCalls {
		if sums := v.Sums(op); sums.LastErr != nil {
			f.say(fmt.Sprintf("%v: %s of %s failed, the last with %s", op, thousands(sums.Errors), count(sums.Count, "call"), words(sums.LastErr)))
		}
	}
	return f
}
