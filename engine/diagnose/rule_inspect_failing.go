package diagnose

import (
	"cmp"
	"fmt"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

// InspectFailing is a pod whose inspection fails again and again.
const InspectFailing ID = "inspect-failing"

const (
	// failingMost is how many failing pods have a finding each.
	failingMost = 10
	// failsInRow is how many inspections in a row must fail to be more than a race with a container that comes or goes, or
	// bad luck.
	failsInRow = 3
	// failsByChance is the same on a runtime where calls fail now and then: there the inspection of a pod with three objects
	// may fail every other time.
	failsByChance = 10
	// unsteadyLeast is how many inspections must fail and then succeed by themselves within a minute for failures to be a
	// matter of chance.
	unsteadyLeast = 3
	// manyOwners is from how many owners on pods that fail alike have one trouble, which is the runtime's.
	manyOwners = 5
)

// A pod's inspection fails again and again with the runtime's own error, or those of many pods; or the status of one
// object ends the connection each time.
var inspectFailing = Rule{
	ID: InspectFailing, Needs: Unpaused, Most: failingMost, ByOwner: true,
	Find: func(f *Facts, report func(Match)) {
		killer, found := f.ConnectionKiller()
		switch {
		case f.Scope.Whole():
			return
		case f.byChance() && !found:
			if w := f.Sweep; f.Flaky.Failed == 0 && w.Flaky >= unsteadyLeast {
				report(f.failsNowAndThen(w))
			}
			return
		}
		pods := f.failingPods()
		if found {
			pods = append(pods, failingPod{&answers.Failure{Flight: killer.Flight, Err: killer.Err}, lineOf("killer", Values{"at": f.Sweep.Began, "others": many{f.Sweep.Flaky, "other"}})})
		}
		if len(pods) == 0 {
			f.recovering(report)
			return
		}
		all, like := f.manyAlike(pods)
		if len(all) > 0 {
			report(f.manyFail(all, like))
		}
		for _, p := range pods {
			if len(all) == 0 || p.like() != like {
				report(f.podFails(p))
			}
		}
	},
}

// A failingPod is a pod whose inspection fails, with the call that fails.
type failingPod struct {
	*answers.Failure
	how line // when and how often
}

// like is in what pods fail alike: the operation and the code.
func (p failingPod) like() string { return p.Op.String() + " " + call.Code(p.Err) }

func (p failingPod) member() Member {
	return Member{asking(p.Flight), Values{"path": p.Object().String(), "error": words(p.Err)}}
}

// failingPods returns one call for each pod: what a check of all saw, since that names the object, and then what
// inspections saw. A runtime that was away lately blames nobody for that.
func (f *Facts) failingPods() (pods []failingPod) {
	swept := make(map[pleg.PodRef]bool)
	away := f.awayLately()
	alone := f.Unreachable() > 0 && !away
	if w := f.FreshSweep(); w != nil {
		for _, o := range w.Failed {
			own := f.OwnError(o.Err, o.Took) || answers.IsAway(o.Err) && alone
			if !swept[o.Pod] && own && (w.Ended.IsZero() || !f.HeardSince(o.Flight, w.AskedLast())) {
				swept[o.Pod] = true
				pods = append(pods, failingPod{&answers.Failure{Flight: o.Flight, Err: o.Err}, lineOf("failed-twice", Values{"at": w.Began})})
			}
		}
	}
	need := failsInRow
	if f.recoveries() >= unsteadyLeast || f.outages().Outages >= answers.Outages {
		need = failsByChance
	}
	for p := range f.podsWith((*podFacts).fails) {
		e := p.Failure
		if e == nil || e.InRow < need || swept[e.Pod] || !f.OwnError(e.Err, e.Took()) && (away || !f.awayForOne(e)) {
			continue
		}
		pods = append(pods, failingPod{e, lineOf("failed-in-row", Values{"times": many{e.InRow, "time"}, "age": age(f.at().Sub(e.First)), "since": e.First})})
	}
	return pods
}

// awayForOne reports whether the runtime is away for nothing but one pod: it has answered lists while that failed.
func (f *Facts) awayForOne(e *answers.Failure) bool {
	return answers.IsAway(e.Err) && f.Failure == nil && f.StatusErr == nil && e.InRow > answers.DownForSure && f.Health.ListedAt.After(e.First)
}

// manyAlike returns the pods that fail in the way in which the pods of most owners do, if these are many, or were and
// are still several.
func (f *Facts) manyAlike(pods []failingPod) (all []failingPod, like string) {
	like = mostAlike(f, InspectFailing, pods, manyOwners, func(p failingPod) (pleg.ObjectRef, string) { return p.Object(), p.like() })
	for _, p := range pods {
		if like != "" && p.like() == like {
			all = append(all, p)
		}
	}
	return all, like
}

// podFails is about one pod.
func (f *Facts) podFails(p failingPod) Match {
	m := Match{
		Severity: Warning, Subject: asking(p.Flight), Alike: p.like(), Else: f.thenRestart,
		Say: func(m *Match) { m.Values = p.member().Values },
	}
	m.Draw = func(m *Match) {
		m.Values = m.Values.with(Values{
			"operation": p.Op, "excerpt": extract(words(p.Err)), "how": f.say(p.how), "name": p.Object().Path(),
			"id": short(p.ID), "inLog": cmp.Or(p.ID, p.Pod.Name), "sandbox": short(f.sandboxOf(p.Flight)), "ofSandbox": p.Op == call.PodSandboxStatus,
		})
		m.Lines = map[string][]line{"processes": f.processLines(p.Flight)}
	}
	return m
}

// manyFail is about so many pods that it is the runtime's trouble.
func (f *Facts) manyFail(all []failingPod, like string) Match {
	first, whose := all[0], count(len(all), "pod")
	if n := len(f.Pods); n >= len(all) { // without a list nobody knows how many there are
		whose = fmt.Sprintf("%s of %s", thousands(len(all)), count(n, "pod"))
	}
	path := unservedPath(words(first.Err))
	m := Match{
		Variant: "many", Severity: Warning, Subject: Subject{Operation: first.Op.String()}, Alone: true, Group: like, Count: len(all),
		Values: Values{"operation": first.Op, "pods": whose, "excerpt": extract(words(first.Err)), "error": words(first.Err), "how": f.say(first.how), "target": path},
	}
	if path != "" {
		m.Variant = "many-unserved"
	} else {
		m.Steps = map[string][]Step{"+restart": f.thenRestart(f.logs()...)}
	}
	for _, p := range all[:min(len(all), membersMost)] {
		m.Members = append(m.Members, p.member())
	}
	return m
}

// byChance reports whether so many calls of the last check of all failed and were answered when asked again that those
// which failed twice may have done so by chance. Then no object is to blame.
func (f *Facts) byChance() bool {
	w := f.FreshSweep()
	if w == nil || w.Flaky == 0 || w.Flaky < len(w.Failed) || w.Done == 0 {
		return false
	}
	once := w.Flaky + len(w.Failed)
	return len(w.Failed)*w.Done <= w.Done+2*once*once
}

func (f *Facts) failsNowAndThen(w *answers.Sweep) Match {
	m := Match{
		Variant: "chance", Severity: Warning, Alone: true,
		Values: Values{"failed": w.Flaky + len(w.Failed), "objects": many{w.Done, "object"}, "once": w.Flaky, "twice": len(w.Failed)},
		Lines:  map[string][]line{}, Steps: map[string][]Step{"+restart": f.thenRestart(f.logs()...)},
	}
	for _, op := range answers.StatusCalls {
		if s := f.Sums(op); s.LastErr != nil {
			m.Lines["operations"] = append(m.Lines["operations"], lineOf("failed-of", Values{"operation": op, "n": s.Errors, "calls": many{int(s.Count), "call"}, "error": words(s.LastErr)}))
		}
	}
	return m
}

// recoveries returns how many inspections failed and then succeeded by themselves within a minute.
func (f *Facts) recoveries() (n int) {
	for _, at := range f.Memory.Recoveries {
		if f.at().Sub(at) <= answers.FlakyFor {
			n++
		}
	}
	return n
}

// recovering reports inspections that fail and succeed by themselves, while all else works.
func (f *Facts) recovering(report func(Match)) {
	if n := f.recoveries(); f.Flaky.Failed == 0 && n >= unsteadyLeast && !f.awayLately() {
		report(Match{
			Variant: "recovering", Severity: Warning, Alone: true, Values: Values{"inspections": many{n, "inspection"}, "row": failsByChance},
			Steps: map[string][]Step{"+restart": f.thenRestart(f.logs()...)},
		})
	}
}
