package diagnose

import (
	"fmt"
	"time"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/waits"
)

// RuntimeUnresponsive is a runtime that is there and answers nothing.
const RuntimeUnresponsive ID = "runtime-unresponsive"

var runtimeUnresponsiveKind = &kind{
	id: RuntimeUnresponsive, find: runtimeUnresponsive,
	needs: unpaused, is: silences, because: starves | stands, whole: true, hangs: true,
	words: []nodeWord{(*view).callsInFlight, (*view).kernelSaid, (*view).runtimeUnits, (*view).deprecated}, kernel: ofDisk | ofDevice, killed: runtimeKilled,
	severity: "critical", scenario: "`deadlock`",
	when: "Status, lists and status calls hang, whether or not Version answers; or the runtime falls silent while `check` looks",
}

// runtimeUnresponsive finds a runtime that answers nothing but perhaps Version,
// and one that answers all but Status or Version. The subject has an operation
// only in the latter case.
func runtimeUnresponsive(v *view) []Finding {
	switch v.Scope {
	case answers.Silent:
		if v.heldByOther() { // then it is down
			return nil
		}
		return []Finding{v.silentFinding()}
	case answers.AllSlow, answers.Refused:
		return nil
	}
	var findings []Finding
	for _, op := range []call.Operation{call.Status, call.Version} {
		if v.Hangs(op) {
			findings = append(findings, v.halfSilentFinding(&v.General[op]))
		}
	}
	return findings
}

func (v *view) silentFinding() Finding {
	h, verb := v.Silence, "version"
	if _, answered := v.AnswerTime(call.Version, v.SinceFresh(h)); answered { // which crictl would get as well
		verb = verbs[call.ListPodSandbox]
	}
	f := Finding{
		ID: RuntimeUnresponsive, Severity: v.severity(h), Since: h.Since,
		Summary: fmt.Sprintf("no list and no status has come back for %s", v.silentFor(h)),
		Next: v.runtimeSteps(append(v.stackSteps(),
			v.advise("runtime.silent", Values{"verb": one(verb)})...)...),
	}
	if v.Hangs(call.Version) || len(v.Refusals) > 0 {
		f.Summary = fmt.Sprintf("no call has come back for %s, not even Version", v.silentFor(h))
	}
	if said := v.proxy(); said != "" {
		f.Summary += ": " + said
		f.Next = v.proxied(v.evidence.Socket.Holder)
	}
	if v.Fell {
		f.Summary = fmt.Sprintf("the runtime fell silent: Status got no answer within %s, and no other call has come back", span(h.Took))
		f.say(v.sweptUntil())
	}
	for _, r := range v.Refusals {
		f.say(v.refusal(*r))
	}
	for op := range v.General {
		if v.Hangs(call.Operation(op)) {
			f.say(v.hangLine(&v.General[op]))
		}
	}
	for i := range v.Statuses[:min(len(v.Statuses), 3)] {
		f.say(v.hangLine(&v.Statuses[i]))
	}
	if took, ok := v.AnswerTime(call.Version, v.SinceFresh(h)); ok {
		f.say("only Version is answered, in " + span(took))
	} else if took, ok := v.AnswerTime(call.Status, v.SinceFresh(h)); ok {
		f.say("only Status is answered, in " + span(took))
	}
	f.say(v.downClock(), v.daemon())
	if l := v.List(); l != nil { // which the relist waits for
		h = l
	}
	f.say(v.lockLines(waits.CallKey(h.Op, h.ID))...)
	return f.withChain(v, waits.CallKey(h.Op, h.ID))
}

// silentFor says for how long nothing has come back; of a deadline shorter than a
// second, exactly.
func (v *view) silentFor(h *answers.Hang) string {
	if lasted := v.lasted(h); lasted < time.Second {
		return span(lasted)
	}
	return going(v.At.Sub(h.Since))
}

// halfSilentFinding is about Status or Version alone.
func (v *view) halfSilentFinding(h *answers.Hang) Finding {
	f := Finding{
		ID: RuntimeUnresponsive, Severity: v.severity(h), Since: h.Since,
		Summary: fmt.Sprintf("%v %s", h.Op, v.unanswered(h)),
		Subject: Subject{Operation: h.Op.String()}, Nodes: []string{waits.CallKey(h.Op, h.ID)},
		Next: v.runtimeSteps(v.advise("runtime.silent", Values{"verb": one("info")})...),
	}
	meanwhile := v.meanwhile(h)
	if meanwhile != "" { // before anything else is asked, nobody knows
		f.Summary += ", while other calls are answered"
	}
	f.say(v.hangLine(h), meanwhile)
	if h.Op == call.Version {
		f.Severity = Warning // it holds up the posting of the node's status, and nothing else
		f.say(v.posting())
		return f
	}
	f.say(v.downClock(), v.posting(), v.pressure(), v.daemon())
	return f
}

// downClock says what the kubelet's own clock on Status makes of it.
func (v *view) downClock() string {
	switch n := v.Node; {
	case n.RuntimeDown != "":
		return "a kubelet that sees the same says: " + n.RuntimeDown
	case n.DownAt.After(v.At):
		return fmt.Sprintf("the kubelet says \"container runtime is down\" in %s unless a Status comes back", going(n.DownAt.Sub(v.At)))
	}
	return ""
}
