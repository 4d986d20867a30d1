package diagnose

import "github.com/plegtop/plegtop/engine/call"

// RuntimeNotReady is a runtime that reports that it is not ready. NetworkNotReady is a runtime that reports that its
// network is not ready.
const (
	RuntimeNotReady ID = "runtime-not-ready"
	NetworkNotReady ID = "network-not-ready"
)

// These are the conditions that a kubelet reads from Status. (CRI, RuntimeReady and NetworkReady)
const runtimeReady, networkReady = "RuntimeReady", "NetworkReady"

// The runtime reports that it is not ready: the kubelet's sync loop stands still.
var runtimeNotReady = Rule{
	ID: RuntimeNotReady, Needs: Unpaused, Turns: true,
	Find: func(f *Facts, report func(Match)) {
		if m, lacks := f.conditionLacks(runtimeReady); lacks {
			m.Steps = map[string][]Step{"+restart": f.thenRestart(f.advise("runtime.conditions", nil)...)}
			report(m)
		}
	},
}

// The runtime reports that its network is not ready: the node is not ready, although pods on the host's network go on.
var networkNotReady = Rule{
	ID: NetworkNotReady, Needs: Unpaused, Turns: true,
	Find: func(f *Facts, report func(Match)) {
		if m, lacks := f.conditionLacks(networkReady); lacks {
			m.Values = f.networkValues().with(m.Values)
			report(m)
		}
	},
}

// conditionLacks returns a match about a condition that is false or missing. The kubelet treats both in the same way.
func (f *Facts) conditionLacks(name string) (m Match, lacks bool) {
	c, lacks := f.lacks(name)
	if !lacks {
		return m, false
	}
	m = Match{Severity: Critical, Subject: Subject{Operation: call.Status.String()}, Values: Values{
		"condition": name, "conditions": many{len(f.Conditions), "condition"}, "reason": extract(c.Reason),
	}}
	switch {
	case c.Type == "":
		m.Variant = "missing"
	case c.Reason == "":
		m.Variant = "no-reason"
	}
	m.Lines = map[string][]line{}
	if c.Type != "" { // as the kubelet spells it
		m.Lines["given"] = []line{lineOf("condition", Values{"type": c.Type, "rest": "false reason:" + c.Reason + " message:" + c.Message})}
	}
	if n := f.Node; n.Known && !n.Ready {
		v := Values{"message": n.Message}
		if !f.once() { // check has seen no other time than now
			v["since"] = n.Since
		}
		m.Lines["node"] = []line{lineOf("node.not-ready", v)}
	}
	if e := f.StatusErr; e != nil {
		m.Values["failsSince"], m.Values["error"] = e.First, e.Err.Error()
	}
	return m, true
}
