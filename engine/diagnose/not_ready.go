package diagnose

import (
	"fmt"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

// The conditions that the kubelet insists on. A runtime may have others; none
// of them keeps the node from being ready.
const (
	runtimeReady = "RuntimeReady"
	networkReady = "NetworkReady"
)

// runtimeNotReady tells that the runtime itself says it is not ready: the sync
// loop of the kubelet then stands still.
func runtimeNotReady(v *view) []Finding {
	f, lacking := notReady(v, RuntimeNotReady, runtimeReady)
	if !lacking {
		return nil
	}
	f.Evidence = append(f.Evidence, "the kubelet's sync loop skips every pod meanwhile")
	f.Next = []Step{
		{Text: "all conditions as the runtime gives them", Command: v.crictl("info")},
		v.logStep("what the runtime logged when it became so"),
	}
	return []Finding{f}
}

// networkNotReady tells that the runtime says its network is not ready: the node
// is not ready for it, though pods on the host's network go on.
func networkNotReady(v *view) []Finding {
	f, lacking := notReady(v, NetworkNotReady, networkReady)
	if !lacking {
		return nil
	}
	f.Evidence = append(f.Evidence, "pods get no new sandbox unless they are on the host's network")
	f.Next = []Step{
		{Text: "all conditions as the runtime gives them", Command: v.crictl("info")},
		{Text: "whether the network plugin has written its configuration", Command: "ls -l /etc/cni/net.d /opt/cni/bin"},
		{Text: "whether the network plugin's own pods run", Command: v.crictl("pods", "--namespace=kube-system")},
	}
	return []Finding{f}
}

// notReady looks for a condition that is false or, which the kubelet takes for
// the same, not there. Before the first answer to Status there is nothing to say.
func notReady(v *view, id ID, condition string) (Finding, bool) {
	s := v.Snapshot
	if !statusAnswered(v) || met(s.Conditions, condition) {
		return Finding{}, false
	}
	f := Finding{ID: id, Severity: Critical, Subject: Subject{Operation: call.Status.String()}}
	c, named := conditionOf(s.Conditions, condition)
	switch {
	case !named:
		f.Summary = fmt.Sprintf("the answer to Status does not mention %s, which the kubelet takes for false", condition)
		f.Evidence = []string{fmt.Sprintf("Status was answered with %s, none of them %s", count(len(s.Conditions), "condition"), condition)}
	case c.Reason == "":
		f.Summary = fmt.Sprintf("the condition %s is false, and no reason given", condition)
		f.Evidence = []string{verbatim(c)}
	default:
		f.Summary = fmt.Sprintf("the condition %s is false with reason %s", condition, excerpt(c.Reason))
		f.Evidence = []string{verbatim(c)}
	}
	if n := s.Node; n.Known && !n.Ready {
		f.Evidence = append(f.Evidence, fmt.Sprintf("node would be NotReady since %s: %s", clock(n.Since), n.Message))
	}
	if s.StatusErr != nil {
		f.Evidence = append(f.Evidence, fmt.Sprintf("as of the last answer; Status fails since %s: %v", clock(s.StatusErr.First), s.StatusErr.Err))
	}
	return f, true
}

func statusAnswered(v *view) bool {
	for _, c := range v.Calls {
		if c.Op == call.Status {
			return !c.LastOK.IsZero()
		}
	}
	return len(v.Conditions) > 0
}

func met(conditions []pleg.Condition, name string) bool {
	c, named := conditionOf(conditions, name)
	return named && c.Status
}

func conditionOf(conditions []pleg.Condition, name string) (pleg.Condition, bool) {
	for _, c := range conditions {
		if c.Type == name {
			return c, true
		}
	}
	return pleg.Condition{}, false
}

// verbatim spells a condition as the kubelet does in the node's Ready message.
func verbatim(c pleg.Condition) string {
	return fmt.Sprintf("%s=%t reason:%s message:%s", c.Type, c.Status, c.Reason, c.Message)
}
