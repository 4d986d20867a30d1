package lines

import (
	"strings"
	"testing"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/kubelet"
)

// TestCheckTextSaysThingsOnce holds that a step that a cause and its effect share,
// and what findings tell word for word, are written once.
func TestCheckTextSaysThingsOnce(t *testing.T) {
	r := downCheck()
	restart := diagnose.Step{Text: "the last resort", Command: "systemctl restart containerd", Kind: diagnose.Act, Risk: "it may do harm", Scope: "pod"}
	const message, verdict, partial = "[container runtime is down, and more]", "pleg was last seen active 3m1s ago", "no list: it hangs"
	r.Findings = []diagnose.Finding{
		{ID: diagnose.RuntimeDown, Severity: diagnose.Critical, Summary: "the socket is gone", Evidence: []string{"NotReady: " + message}, Next: []diagnose.Step{restart}},
		{
			ID: diagnose.PLEGUnhealthy, Severity: diagnose.Critical, Cause: diagnose.RuntimeDown,
			Summary: "pleg unhealthy: no list for 3m", Evidence: []string{"the kubelet says " + verdict, partial}, Next: []diagnose.Step{restart, {Text: "look at its log"}},
		},
	}
	r.Snapshot.Node = kubelet.Node{Known: true, Reason: "KubeletNotReady", Message: message}
	r.Snapshot.Health, r.Snapshot.Partial = kubelet.Health{Verdict: verdict}, partial
	out := string(checkOutput(t, r, options))
	for _, once := range []string{restart.Command, message, verdict, partial, "look at its log"} {
		if n := strings.Count(out, once); n != 1 {
			t.Errorf("%q stands there %d times:\n%s", once, n, out)
		}
	}
	if !strings.Contains(out, "critical pleg-unhealthy: no list for 3m\n") {
		t.Errorf("the words of an id follow it:\n%s", out)
	}
	r.Findings = nil
	out = string(checkOutput(t, r, options))
	for _, text := range []string{message, verdict, partial} {
		if !strings.Contains(out, text) {
			t.Errorf("%q is not told where no finding does:\n%s", text, out)
		}
	}
}

// TestNothingListed holds that a sweep of nothing is not told as one that went well.
func TestNothingListed(t *testing.T) {
	r := downCheck()
	r.Snapshot.Sweep = &answers.Sweep{Width: 4}
	if out := string(checkOutput(t, r, options)); !strings.Contains(out, "asked       no object: none is listed\n") {
		t.Errorf("check says\n%s", out)
	}
}
