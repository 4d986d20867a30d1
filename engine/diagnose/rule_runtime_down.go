package diagnose

import (
	"slices"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/waits"
)

// RuntimeDown is a runtime that is not there, or that refuses calls.
const RuntimeDown ID = "runtime-down"

// statusFails is how often in a row Status must fail. It is asked for every 5 s.
const statusFails = 2

// A runtime is not there, or refuses every call; or it refuses only lists or only Status; or it is there only now and
// then; or its socket is lost, and it still answers on connections from before.
var runtimeDown = Rule{
	ID: RuntimeDown, Needs: Unpaused, Warned: AtRisk,
	Find: func(f *Facts, report func(Match)) {
		f.refuses(report)
		f.socketLost(report)
	},
}

// refuses reports a runtime that refuses calls.
func (f *Facts) refuses(report func(Match)) {
	switch {
	case f.Scope == answers.Refused:
		report(f.refused("", f.Refusals))
		return
	case f.Scope == answers.Silent && f.heldByOther():
		m := f.silent()
		why := f.shut()
		m.Variant, m.Chain = "held", false // the process that listens there is no runtime: its chain shows nothing
		m.Values["why"], m.Steps = why.text, map[string][]Step{"+down": why.steps}
		report(m)
		return
	case f.Scope == answers.Silent:
		return
	}
	if e := f.Failure; e != nil && answers.IsAway(e.Err) && f.failsOn(e, answers.DownForSure) && f.othersAnswered(e) {
		report(f.partRefused(e))
		return
	}
	refuses := func(e *answers.Failure) bool {
		return e != nil && answers.IsBad(e.Err) && !answers.IsUnreadable(e.Err) && f.failsOn(e, statusFails)
	}
	switch {
	case refuses(f.StatusErr):
		report(f.partRefused(f.StatusErr))
	case f.Flaky.Failed > 0 && !f.listsFailByTurns(): // the finding about lists that fail now and then says the same, with the runtime's words
		report(f.comesAndGoes())
	case refuses(f.VersionErr):
		m := f.partRefused(f.VersionErr)
		m.Severity = Warning // the kubelet asks for it when it starts, and then hardly ever
		report(m)
	}
}

// failsOn reports whether a call has failed often enough in a row, also on a runtime on which calls fail now and then.
// A call that failed before the lists came back does not count, because it was not repeated since. check has asked
// several times for a call that still fails at its end.
func (f *Facts) failsOn(e *answers.Failure, enough int) bool {
	if f.once() {
		return e.InRow >= enough || e.Op == call.Status || f.Sums(e.Op).LastOK.IsZero()
	}
	mended := !e.Op.IsList() && f.Failure == nil && !e.At.After(f.Memory.Outages.ListBack)
	return e.InRow >= enough && !mended && (f.Flaky.Failed == 0 || f.at().Sub(e.First) >= answers.FailingLong)
}

// othersAnswered reports whether Status or an object was answered while a list failed. An answer from after the last
// failure does not count: then the runtime has just come back.
func (f *Facts) othersAnswered(e *answers.Failure) bool {
	return f.once() || slices.ContainsFunc(f.Calls, func(c answers.Calls) bool {
		return c.Op != call.Version && !c.Op.IsList() && c.LastOK.After(e.First) && c.LastOK.Before(e.At)
	})
}

// refused returns a match about calls that are refused. The first of them has failed for longest.
func (f *Facts) refused(variant string, all []*answers.Failure) Match {
	first := all[0]
	m := Match{
		Variant: variant, Severity: f.failing(first.First), Since: first.First,
		Values: Values{
			"operation": first.Op, "inRow": first.InRow, "error": extract(plain(first.Err)), "refusedBy": f.refusedBy(first.Err),
			"endpoint": f.Endpoint, "other": f.Other,
		},
		Lines: map[string][]line{"swept": f.sweptLine(), "clock": f.downLine(), "refusals": f.refusalLines(all)},
		Steps: map[string][]Step{"+down": f.downSteps()},
	}
	for _, e := range all {
		if node := waits.CallKey(e.Op, ""); f.Graph().Find(node) >= 0 {
			m.Nodes, m.Chain = append(m.Nodes, node), true
		}
	}
	if version := f.Sums(call.Version); f.once() && f.VersionErr == nil && !version.LastOK.IsZero() {
		m.Values["version"] = version.P50
	}
	return m
}

// partRefused returns a match about a list or Status that fails while other calls are answered. Without either of them
// the kubelet considers the runtime down.
func (f *Facts) partRefused(e *answers.Failure) Match {
	m := f.refused("part", []*answers.Failure{e})
	if e.InRow > 1 {
		m.Variant = "part-again"
	}
	m.Subject.Operation = e.Op.String()
	return m
}

// comesAndGoes returns a match about a runtime that is there only now and then.
func (f *Facts) comesAndGoes() Match {
	m := Match{
		Variant: "flaky", Severity: Warning, Headed: "runtime intermittently unreachable",
		Values: Values{"failed": f.Flaky.Failed, "calls": many{int(f.Flaky.All), "call"}, "away": f.awayWords(), "often": f.timesAway() >= answers.Outages},
		Lines:  map[string][]line{},
	}
	for _, c := range f.Calls {
		var codes []string
		for _, n := range c.ByCode {
			codes = append(codes, thousands(n.Count)+" with "+n.Code)
		}
		m.Lines["codes"] = append(m.Lines["codes"], lineOf("codes", Values{"operation": c.Op, "calls": many{int(c.Count), "call"}, "since": f.Started, "codes": codes}))
	}
	if away := f.SweptAway(); away > 0 && 2*away >= f.Sweep.Done {
		m.Severity = Critical // it went away during the check
	}
	if cut := f.CutOff(); len(cut) > 0 && len(cut) <= failingMost {
		var names []string
		for _, o := range cut {
			names = append(names, o.Op.String()+" of "+o.Object().String())
		}
		m.Values["killers"] = names
	}
	if e := f.Failure; e != nil && answers.IsAway(e.Err) {
		m.Lines["refusals"] = []line{f.refusal(e)}
	}
	return m
}

// socketLost reports that nobody can connect to the runtime any more, while it answers on connections from before. That
// needs an answer from after the begin of the look: a runtime that went away with its socket does not answer any more.
func (f *Facts) socketLost(report func(Match)) {
	s := &f.Look.Socket
	at, known := f.lookedAt()
	if s.Unlinked.PID == 0 || !known || !slices.ContainsFunc(f.Calls, func(c answers.Calls) bool { return c.LastOK.After(at) }) {
		return
	}
	steps := f.newSocket()
	last := &steps[len(steps)-1]
	*last = last.after("the kubelet was not restarted yet")
	report(Match{
		Variant: "socket", Severity: Warning, Group: groupSocket, Brief: "socket lost",
		Values: Values{"process": s.Unlinked, "away": f.socketAway(), "endpoint": f.Endpoint},
		Steps:  map[string][]Step{"+down": steps},
	})
}

// refusal returns a line that says how a call fails, since when and how often, with the runtime's own words.
func (f *Facts) refusal(e *answers.Failure) line {
	v := Values{"operation": e.Op, "n": e.InRow, "age": age(f.at().Sub(e.First)), "since": e.First, "error": words(e.Err)}
	if e.InRow > 1 {
		return lineOf("failed-again", v)
	}
	delete(v, "age")
	if ago := f.at().Sub(e.At); ago >= answers.Late {
		v["age"] = age(ago)
	}
	return lineOf("failed", v)
}

// sweptLine returns a line about how far check had come when it was given up.
func (f *Facts) sweptLine() []line {
	w := f.Sweep
	if w == nil || w.GivenUp == "" {
		return nil
	}
	return []line{lineOf("swept-until", Values{"answered": answeredIn(w), "objects": many{w.Total, "object"}, "why": w.GivenUp})}
}

func answeredIn(w *answers.Sweep) int { return max(0, w.Done-len(w.Hung)-len(w.Failed)) }

// downLine returns a line that says what the kubelet makes of a missing Status, and when.
func (f *Facts) downLine() []line {
	switch n := f.Node; {
	case n.RuntimeDown != "":
		return []line{lineOf("kubelet-says", Values{"text": n.RuntimeDown})}
	case n.DownAt.After(f.at()):
		return []line{lineOf("kubelet-will-say", Values{"left": age(n.DownAt.Sub(f.at()))})}
	}
	return nil
}
