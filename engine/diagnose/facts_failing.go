package diagnose

import (
	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

const (
	// failsInRow is how many inspections in a row must fail. Fewer may be a race with a container that comes or goes,
	// or bad luck.
	failsInRow = 3
	// failsSteadily replaces failsInRow on a node where calls fail by chance: there the inspection of a pod of three
	// objects may fail every other time.
	failsSteadily = 10
	// flakyObjects is how many objects must fail only once in a check of all for that to be chance.
	flakyObjects = 3
)

// failsByChance reports whether calls fail now and then, whatever they ask for: within a minute the runtime went away
// three times, or three inspections failed and then succeeded by themselves.
func (f *Facts) failsByChance() bool {
	r := f.Memory.Recovered
	return f.outages().Outages >= answers.Outages || len(r) >= answers.Outages && f.at().Sub(r[0]) <= answers.FlakyFor
}

// sweepByChance reports whether calls failed by chance in the check of all, also those for objects that failed twice.
// If calls fail by chance, the second calls fail as often as the first ones. An object that ends the connection is no
// chance: the calls beside it fail because of it.
func (f *Facts) sweepByChance() bool {
	w := f.FreshSweep()
	if w == nil || w.Flaky < max(flakyObjects, len(w.Failed)) {
		return false
	}
	if _, killed := f.ConnectionKiller(); killed {
		return false
	}
	once := w.Flaky + len(w.Failed)
	return len(w.Failed)*w.Done <= w.Done+2*once*once
}

// A failingPod is a pod whose inspection fails, with the call that fails.
type failingPod struct {
	*answers.Failure
	like string // what failures of pods have in common: the operation and the code
	how  how
}

// A how says how we know that a pod fails.
type how uint8

const (
	inRow  how = iota // inspections fail, one after the other
	twice             // both calls of the check of all failed
	killer            // the call for its status ends the connection each time
)

// howFails returns a line about when and how often a pod fails.
func (f *Facts) howFails(p failingPod) line {
	switch p.how {
	case twice:
		return lineOf("failed-twice", Values{"at": f.Sweep.Began})
	case killer:
		return lineOf("killer", Values{"at": f.Sweep.Began, "others": many{f.Sweep.Flaky, "other"}})
	}
	return lineOf("failed-in-row", Values{"times": many{p.InRow, "time"}, "age": age(f.at().Sub(p.First)), "since": p.First})
}

func (p failingPod) member() Member {
	return Member{asking(p.Flight), Values{"path": p.Object().String(), "error": words(p.Err)}}
}

// failingPods returns one call for each pod that fails. It takes the failures from the check of all first, because that
// names the object, then those from inspections. If the runtime was away lately, no pod is blamed for that.
func (f *Facts) failingPods() (pods []failingPod) {
	likes := make(map[likeness]string) // there are few, and thousands of pods
	add := func(e *answers.Failure, how how) {
		l := likeness{e.Op, call.Code(e.Err)}
		if likes[l] == "" {
			likes[l] = l.op.String() + " " + l.code
		}
		pods = append(pods, failingPod{e, likes[l], how})
	}
	away := f.awayLately()
	alone := f.Unreachable() > 0 && !away
	checked := make(map[pleg.PodRef]bool)
	if w := f.FreshSweep(); w != nil && !f.sweepByChance() {
		for _, o := range w.Failed {
			own := f.OwnError(o.Err, o.Took) || alone && answers.IsAway(o.Err)
			if own && !checked[o.Pod] && (w.Ended.IsZero() || !f.HeardSince(o.Flight, w.AskedLast())) {
				checked[o.Pod] = true
				add(&answers.Failure{Flight: o.Flight, Err: o.Err}, twice)
			}
		}
	}
	need := failsInRow
	if f.failsByChance() {
		need = failsSteadily
	}
	for p := range f.podsWith((*podFacts).fails) {
		e := p.Failure
		if e != nil && e.InRow >= need && !(len(checked) > 0 && checked[e.Pod]) && (f.OwnError(e.Err, e.Took()) || !away && f.awayForOne(e)) {
			add(e, inRow)
		}
	}
	if o, found := f.ConnectionKiller(); found {
		add(&answers.Failure{Flight: o.Flight, Err: o.Err}, killer)
	}
	return pods
}

// Failures with the same likeness are alike.
type likeness struct {
	op   call.Operation
	code string
}

// awayForOne reports whether the runtime is away only for one pod: it has answered lists while the inspection of that
// pod failed.
func (f *Facts) awayForOne(e *answers.Failure) bool {
	return answers.IsAway(e.Err) && f.Failure == nil && f.StatusErr == nil && e.InRow > answers.DownForSure && f.Health.ListedAt.After(e.First)
}

// failNowAndThen returns one match about a check of all in which objects failed by chance. It blames none of them.
func (f *Facts) failNowAndThen() Match {
	w := f.Sweep
	m := Match{
		Variant: "chance", Severity: Warning, Alone: true, Group: "chance",
		Values: Values{"failed": w.Flaky + len(w.Failed), "objects": many{w.Done, "object"}, "again": w.Flaky, "both": len(w.Failed)},
		Steps:  map[string][]Step{"+restart": f.thenRestart(f.logs()...)},
	}
	var errors []line
	for _, op := range answers.StatusCalls {
		if sums := f.Sums(op); sums.LastErr != nil {
			errors = append(errors, lineOf("failed", Values{"operation": op, "error": words(sums.LastErr)}))
		}
	}
	m.Lines = map[string][]line{"errors": errors}
	return m
}
