package diagnose

import (
	"cmp"
	"fmt"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/past"
)

// PLEGUnhealthy is the verdict of the kubelet on its PLEG.
const PLEGUnhealthy ID = "pleg-unhealthy"

const (
	// flapsLeast is how many unhealthy times make a flapping PLEG: one is an incident.
	flapsLeast = 2
	// flapWindow is how far back they count, in thresholds: an hour with the kubelet's 3 min. One cannot begin until a list
	// has been missing for a threshold.
	flapWindow = 20
)

// The kubelet's verdict on its PLEG; a list that fails with the runtime's own error, which leads to it; lists that fail
// now and then; or a verdict that was given again and again.
var plegUnhealthy = Rule{
	ID: PLEGUnhealthy, Needs: Unpaused,
	Find: func(f *Facts, report func(Match)) {
		// A kubelet that starts waits for its first list.
		starts := f.once() && !f.Health.Healthy && (f.Failure != nil || f.List() != nil)
		spells := f.Memory.SpellsWithin(flapWindow*f.Threshold, f.at())
		flaps := len(spells) >= flapsLeast
		var m Match
		switch {
		case f.listFails():
			m = f.failingList(f.Failure)
		case f.unhealthy(), starts && !f.listsFailByTurns():
			m = f.unhealthyPLEG()
		case f.listsFailByTurns():
			m = f.failingByTurns()
		case flaps:
			m = Match{Variant: "flapping", Severity: Warning, Since: spells[0].Began, Brief: "pleg flapping", Values: Values{}, Steps: map[string][]Step{}}
		default:
			return
		}
		if flaps {
			f.addFlaps(&m, spells)
		}
		report(m)
	},
}

// unhealthyPLEG is about the verdict.
func (f *Facts) unhealthyPLEG() Match {
	h := &f.Health
	v := Values{"overdue": f.overdue(), "listed": h.ListedAt}
	m := Match{
		Severity: Critical, Since: h.Since, Values: v, Lines: map[string][]line{"posting": f.postingLine()},
		Steps: map[string][]Step{"+restart": f.thenRestart(f.advise("kubelet.says", nil)...)},
	}
	if n := &f.Node; n.Known && !n.Ready {
		m.Lines["node"] = []line{lineOf("node.not-ready", Values{"reason": n.Reason, "message": Rounded(n.Message)})}
	}
	switch left := f.untilUnhealthy(); {
	case left > 0:
		v["left"] = age(left)
	case m.Lines["node"] != nil: // it has the verdict
	case f.Node.PLEG != "":
		v["verdict"] = Rounded(f.Node.PLEG)
	case f.unhealthy(), f.once():
		v["verdict"] = "PLEG is not healthy: " + Rounded(h.Verdict)
	}
	switch {
	case h.ListedAt.IsZero():
		v["watched"] = age(f.at().Sub(f.Started))
	case h.Healthy:
		v["old"] = age(h.ListAge(f.at()))
	default:
		v["since"], v["lasted"] = h.Since, age(f.at().Sub(h.Since))
	}
	if e := f.Failure; e != nil {
		m.Lines["refusals"] = []line{f.refusal(e)}
	}
	if p := f.Phase; p.Step == engine.Inspecting {
		v["done"], v["pods"], v["inspecting"] = p.Done, many{p.Total, "pod"}, age(f.at().Sub(p.Began))
	}
	return m
}

// failingList is about a list that fails, which leads to the verdict.
func (f *Facts) failingList(e *answers.Failure) Match {
	m := f.unhealthyPLEG()
	m.Variant, m.Subject.Operation = "list-fails", e.Op.String()
	m.Values["operation"], m.Values["error"], m.Values["verb"] = e.Op, extract(words(e.Err)), crictlVerbs[e.Op]
	if !f.unhealthy() {
		m.Since, m.Severity = e.First, f.failing(e.First)
	}
	return m
}

// failingByTurns is about lists that fail now and then.
func (f *Facts) failingByTurns() Match {
	all, failed := 0, 0
	for _, r := range f.Relists.History {
		if f.at().Sub(r.At) <= answers.FlakyFor {
			all++
			if r.Failed {
				failed++
			}
		}
	}
	var failures []line
	for _, e := range f.Memory.Outages.ListsFailed {
		failures = append(failures, lineOf("failed-at", Values{"at": e.At, "operation": e.Op, "error": words(e.Err)}))
	}
	return Match{
		Variant: "by-turns", Severity: Warning, Values: Values{"failed": failed, "relists": many{all, "relist"}, "within": age(answers.FlakyFor)},
		Lines: map[string][]line{"failures": failures}, Steps: map[string][]Step{},
	}
}

// addFlaps adds when PLEG was unhealthy, and the step that shows why.
func (f *Facts) addFlaps(m *Match, spells []past.Spell) {
	var texts []string
	for _, s := range spells {
		texts = append(texts, fmt.Sprintf("%s (%s)", f.clock(s.Began), going(cmp.Or(s.Ended, f.at()).Sub(s.Began))))
	}
	m.Values = m.Values.with(Values{
		"times": many{len(spells), "time"}, "period": age(f.at().Sub(spells[0].Began)), "spells": texts,
		"threshold": f.Threshold, "listAge": age(f.Health.ListAge(f.at())),
	})
	m.Steps["+flaps"] = f.advise("pleg.flaps", nil)
}
