package diagnose

import (
	"fmt"
	"slices"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

// RuntimeNotReady is a runtime that says so of itself.
const RuntimeNotReady ID = "runtime-not-ready"

var runtimeNotReadyKind = &kind{
	id: RuntimeNotReady, find: runtimeNotReady,
	needs: unpaused, is: unready, because: starves | silences | garbles, turns: true,
	words:    []nodeWord{(*view).runtimeUnits, (*view).deprecated},
	severity: "critical", scenario: "`overflow`",
	when: "RuntimeReady is false or missing",
}

// NetworkNotReady is a runtime that says so of its network.
const NetworkNotReady ID = "network-not-ready"

var networkNotReadyKind = &kind{
	id: NetworkNotReady, find: networkNotReady,
	needs: unpaused, because: starves | silences | garbles, turns: true,
	words: []nodeWord{(*view).kernelSaid, (*view).deprecated}, kernel: ofDevice, killed: runtimeKilled,
	severity: "critical", scenario: "`network-not-ready`",
	when: "NetworkReady is false or missing",
}

// The conditions that the kubelet insists on. A runtime may have others; none
// of them keeps the node from being ready.
const (
	runtimeReady = "RuntimeReady"
	networkReady = "NetworkReady"
)

// runtimeNotReady tells that the runtime itself says it is not ready: the sync
// loop of the kubelet then stands still.
func runtimeNotReady(v *view) []Finding {
	return notReady(v, RuntimeNotReady, runtimeReady, "the kubelet's sync loop skips every pod meanwhile", func() []Step {
		return v.runtimeSteps(v.advise("runtime.conditions", nil)...)
	})
}

// networkNotReady tells that the runtime says its network is not ready: the node
// is not ready for it, though pods on the host's network go on.
func networkNotReady(v *view) []Finding {
	found := notReady(v, NetworkNotReady, networkReady, "pods get no new sandbox unless they are on the host's network", func() []Step {
		return v.advise("network.not-ready", v.networkValues())
	})
	for i := range found {
		found[i].say(v.networkState())
	}
	return found
}

// notReady looks for a condition that is false or, which the kubelet takes for
// the same, not there.
func notReady(v *view, id ID, condition, effect string, next func() []Step) []Finding {
	c, lacks := v.lacks(condition)
	if !lacks {
		return nil
	}
	f := Finding{
		ID: id, Severity: Critical, Subject: Subject{Operation: call.Status.String()},
		Summary:  fmt.Sprintf("the condition %s is false with reason %s", condition, excerpt(c.Reason)),
		Evidence: []string{fmt.Sprintf("%s=%t reason:%s message:%s", c.Type, c.Status, c.Reason, c.Message)}, // as the kubelet spells it
		Next:     next(),
	}
	switch {
	case c.Type == "":
		f.Summary = fmt.Sprintf("the answer to Status does not mention %s, which the kubelet takes for false", condition)
		f.Evidence = []string{fmt.Sprintf("Status was answered with %s, none of them %s", count(len(v.Conditions), "condition"), condition)}
	case c.Reason == "":
		f.Summary = fmt.Sprintf("the condition %s is false, and no reason given", condition)
	}
	if n := v.Node; n.Known && !n.Ready {
		since := " since " + v.clock(n.Since)
		if !v.Policy.Bounds().Past { // which has seen no other time than now
			since = ""
		}
		f.say("by the kubelet's rules the node is NotReady" + since + ": " + n.Message)
	}
	if e := v.StatusErr; e != nil {
		f.say(fmt.Sprintf("as of the last answer; Status fails since %s: %v", v.clock(e.First), e.Err))
	}
	f.say(effect)
	return []Finding{f}
}

// lacks reports whether a condition is not met, and how the runtime gave it; zero if
// it did not name it. Before the first answer to Status there is nothing to say; that of a probe
// says only that Status is answered.
func (v *view) lacks(name string) (pleg.Condition, bool) {
	if v.Conditions == nil {
		return pleg.Condition{}, false
	}
	i := slices.IndexFunc(v.Conditions, func(c pleg.Condition) bool { return c.Type == name })
	if i < 0 {
		return pleg.Condition{}, true
	}
	return v.Conditions[i], !v.Conditions[i].Status
}
