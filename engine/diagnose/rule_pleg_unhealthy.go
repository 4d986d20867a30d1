package diagnose

import (
	"github.com/plegtop/plegtop/engine/answers"
)

// PLEGUnhealthy is the kubelet's verdict that its PLEG is not healthy.
const PLEGUnhealthy ID = "pleg-unhealthy"

const (
	// flapsLeast is how many times PLEG must have been unhealthy to be flapping: one time is an incident.
	flapsLeast = 2
	// flapWindow is how far back these times count, in thresholds: an hour with the kubelet's 3 min. An unhealthy time
	// cannot begin until a list has been missing for a threshold.
	flapWindow = 20
)

// The kubelet's verdict on its PLEG is given; or a list fails with the runtime's own error, which leads to the verdict;
// or lists fail now and then; or the verdict was given again and again.
var plegUnhealthy = Rule{
	ID: PLEGUnhealthy, Needs: Unpaused,
	Find: func(f *Facts, report func(Match)) {
		spells := f.Memory.SpellsWithin(flapWindow*f.Threshold, f.at())
		flaps := len(spells) >= flapsLeast
		var m Match
		switch {
		case f.listFails():
			m = f.failingList(f.Failure)
		case f.unhealthy(), f.awaitsFirstList() && !f.listsFailByTurns():
			m = f.unhealthyPLEG()
		case f.listsFailByTurns():
			m = f.failingByTurns()
		case flaps:
			m = Match{Variant: "flapping", Severity: Warning, Since: spells[0].Began, Brief: "pleg flapping", Values: Values{}, Steps: map[string][]Step{}}
		default:
			return
		}
		if flaps {
			m.Values = m.Values.with(f.spellValues(spells))
			m.Steps["+flaps"] = f.advise("pleg.flaps", nil)
		}
		report(m)
	},
}

// unhealthyPLEG returns a match about the verdict.
func (f *Facts) unhealthyPLEG() Match {
	m := Match{
		Severity: Critical, Since: f.Health.Since, Values: f.verdictValues(), Lines: map[string][]line{"posting": f.postingLine()},
		Steps: map[string][]Step{"+restart": f.thenRestart(f.advise("kubelet.says", nil)...)},
	}
	if f.saysNotReady() {
		m.Lines["node"] = []line{lineOf("node.not-ready", Values{"reason": f.Node.Reason, "message": Rounded(f.Node.Message)})}
	}
	if e := f.Failure; e != nil {
		m.Lines["refusals"] = []line{f.refusal(e)}
	}
	return m
}

// failingList returns a match about a list that fails, which leads to the verdict.
func (f *Facts) failingList(e *answers.Failure) Match {
	m := f.unhealthyPLEG()
	m.Variant, m.Subject.Operation = "list-fails", e.Op.String()
	m.Values["operation"], m.Values["error"], m.Values["verb"] = e.Op, extract(words(e.Err)), crictlVerbs[e.Op]
	if !f.unhealthy() {
		m.Since, m.Severity = e.First, f.failing(e.First)
	}
	return m
}

// failingByTurns returns a match about lists that fail now and then.
func (f *Facts) failingByTurns() Match {
	failed, all := f.relistsLately()
	return Match{
		Variant: "by-turns", Severity: Warning, Values: Values{"failed": failed, "relists": many{all, "relist"}, "within": age(answers.FlakyFor)},
		Lines: map[string][]line{"failures": f.listFailures()}, Steps: map[string][]Step{},
	}
}
