package diagnose

import (
	"slices"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

func TestNotReady(t *testing.T) {
	ready := pleg.Condition{Type: "RuntimeReady", Status: true}
	network := pleg.Condition{Type: "NetworkReady", Status: true}
	other := pleg.Condition{Type: "ContainerdHasNoDeprecationWarnings", Reason: "x"}
	noCNI := pleg.Condition{Type: "NetworkReady", Reason: "NetworkPluginNotReady", Message: "Network plugin returns error: cni plugin not initialized"}
	sick := pleg.Condition{Type: "RuntimeReady", Reason: "ShimBroken", Message: "a \x1b[31mshim"}
	tests := []struct {
		name       string
		conditions []pleg.Condition
		unanswered bool
		want       []ID
		evidence   string
	}{
		{name: "well", conditions: []pleg.Condition{ready, network, other}},
		{name: "never answered", unanswered: true},
		{name: "a probe alone was answered"},
		{"no network", []pleg.Condition{ready, noCNI}, false, []ID{NetworkNotReady}, "NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized"},
		{"not ready, hostile", []pleg.Condition{sick, network}, false, []ID{RuntimeNotReady}, "RuntimeReady=false reason:ShimBroken message:a \x1b[31mshim"},
		{"neither", []pleg.Condition{sick, noCNI}, false, []ID{RuntimeNotReady, NetworkNotReady}, ""},
		{"not mentioned", []pleg.Condition{ready, other}, false, []ID{NetworkNotReady}, "Status was answered with 2 conditions, none of them NetworkReady"},
		{"no conditions at all", []pleg.Condition{}, false, []ID{RuntimeNotReady, NetworkNotReady}, ""},
		{"no reason", []pleg.Condition{ready, {Type: "NetworkReady"}}, false, []ID{NetworkNotReady}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := checked(3)
			n.Conditions = tt.conditions
			if tt.unanswered {
				n.calls(call.Status).LastOK = time.Time{}
			}
			got := append(find(&runtimeNotReady, n.facts()), find(&networkNotReady, n.facts())...)
			wantIDs(t, got, tt.want...)
			if tt.evidence != "" && !slices.Contains(got[0].Evidence, tt.evidence) {
				t.Errorf("evidence %q lacks %q", got[0].Evidence, tt.evidence)
			}
			for _, f := range got {
				if f.Severity != Critical || f.Subject.Operation != "Status" {
					t.Errorf("%s %s about %s", f.Severity, f.ID, f.Subject.Operation)
				}
			}
		})
	}
}

// A single look does not know since when.
func TestNotReadyInOneLookHasNoSince(t *testing.T) {
	for n, want := range map[*node]string{
		healthy(3): "by the kubelet's rules the node is NotReady since " + clock(ago(time.Minute), now) + ": no network", checked(3): "by the kubelet's rules the node is NotReady: no network",
	} {
		n.Node.Ready, n.Node.Known, n.Node.Since, n.Node.Message = false, true, ago(time.Minute), "no network"
		firstSays(t, n.condition("NetworkReady").diagnose(), want)
	}
}
