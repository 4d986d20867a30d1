package diagnose

import (
	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/waits"
)

// RuntimeUnresponsive is a runtime that is there and answers nothing.
const RuntimeUnresponsive ID = "runtime-unresponsive"

// A runtime answers nothing, or only Version; or it answers everything except Status or Version, and then that call is
// the subject's operation.
var runtimeUnresponsive = Rule{
	ID: RuntimeUnresponsive, Needs: Unpaused, Whole: true, Hangs: true,
	Find: func(f *Facts, report func(Match)) {
		switch {
		case f.Scope == answers.Silent && !f.heldByOther(): // otherwise the runtime is down
			report(f.silent())
		case f.Scope == answers.Silent, f.Scope == answers.AllSlow, f.Scope == answers.Refused:
		default:
			for _, op := range []call.Operation{call.Status, call.Version} {
				if f.Hangs(op) {
					report(f.halfSilent(&f.General[op]))
				}
			}
		}
	},
}

// silent returns a match about a runtime that answers nothing.
func (f *Facts) silent() Match {
	h := f.Silence
	version, answered := f.AnswerTime(call.Version, f.SinceFresh(h))
	v := Values{"age": f.silentFor(h), "took": h.Took, "verb": "version"}
	if answered { // crictl would get an answer as well
		v["only"], v["onlyTook"], v["verb"] = call.Version, version, crictlVerbs[call.ListPodSandbox]
	} else if status, answered := f.AnswerTime(call.Status, f.SinceFresh(h)); answered {
		v["only"], v["onlyTook"] = call.Status, status
	}
	m := Match{
		Severity: f.severity(h), Since: h.Since, Chain: true, Values: v,
		Lines: map[string][]line{"clock": f.downLine(), "refusals": f.refusalLines(f.Refusals), "hangs": f.hangLines()},
		Steps: map[string][]Step{"+silent": f.thenRestart(append(f.dumpFirst(), f.advise("runtime.silent", v)...)...)},
	}
	switch {
	case f.Fell:
		m.Variant, m.Lines["swept"] = "fell", f.sweptLine()
	case f.Hangs(call.Version) || len(f.Refusals) > 0:
		m.Variant = "not-even-version"
	}
	if proxy := f.proxy(); proxy != "" {
		v["proxy"], m.Steps["+silent"] = proxy, f.behindProxy()
	}
	node := waits.CallKey(h.Op, h.ID)
	if l := f.List(); l != nil { // the relist waits for the list
		node = waits.CallKey(l.Op, l.ID)
	}
	m.Lines["locks"], m.Nodes = f.lockLines(node), []string{node}
	return m
}

// halfSilent returns a match about a Status or a Version that hangs alone.
func (f *Facts) halfSilent(h *answers.Hang) Match {
	m := Match{
		Variant: "half", Severity: f.severity(h), Since: h.Since, Subject: Subject{Operation: h.Op.String()}, Nodes: []string{waits.CallKey(h.Op, h.ID)},
		Values: Values{"operation": h.Op, "silence": f.silence(h)},
		Lines:  map[string][]line{"hangs": {f.hangLine(h)}, "meanwhile": {f.meanwhile(h)}, "posting": f.postingLine(), "clock": f.downLine()},
		Steps:  map[string][]Step{"+silent": f.thenRestart(f.advise("runtime.silent", Values{"verb": "info"})...)},
	}
	if f.textsOf(m.Lines["meanwhile"]) != nil { // before another call is made, nobody knows
		m.Values["meanwhile"] = ", while other calls are answered"
	}
	if h.Op == call.Version {
		m.Variant, m.Severity = "version", Warning // Version holds up the posting of the node's status, and nothing else
	}
	return m
}
