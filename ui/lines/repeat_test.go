package lines

import (
	"strings"
	"testing"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/waits"
)

// TestCheckTextSaysThingsOnce holds that a step that a cause and its effect share,
// and what findings tell word for word, are written once.
func TestCheckTextSaysThingsOnce(t *testing.T) {
	r := downCheck()
	restart := diagnose.Step{Text: "the last resort", Command: "systemctl restart containerd", Risky: true}
	const message, verdict, partial = "[container runtime is down, and more]", "pleg was last seen active 3m1s ago", "no list: it hangs"
	r.Findings = []diagnose.Finding{
		{ID: diagnose.RuntimeDown, Severity: diagnose.Critical, Summary: "the socket is gone", Evidence: []string{"NotReady: " + message}, Next: []diagnose.Step{restart}},
		{
			ID: diagnose.PLEGUnhealthy, Severity: diagnose.Critical, Cause: diagnose.RuntimeDown,
			Summary: "pleg unhealthy: no list for 3m", Evidence: []string{"the kubelet says " + verdict, partial}, Next: []diagnose.Step{restart, {Text: "look at its log"}},
		},
	}
	r.Snapshot.Node = engine.Node{Known: true, Reason: "KubeletNotReady", Message: message}
	r.Snapshot.Health, r.Snapshot.Partial = engine.Health{Verdict: verdict}, partial
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

// The headline names a process with its state once; what its words have not ends it.
func TestHeadlineNamesAStateOnce(t *testing.T) {
	for said, want := range map[string]string{
		"no list is answered, behind crio (pid 7, T in do_signal_stop)": "T in do_signal_stop)\n", "no list is answered": "no list is answered -> stopped (T)\n",
	} {
		r := downCheck()
		r.Headline = diagnose.Headline{Word: "NOT ANSWERING", Severity: diagnose.Critical, Text: said}
		r.Findings[0].Chain = []diagnose.Link{
			{Kind: waits.Relist, Name: "relist"}, {Kind: waits.Process, ID: "7", Name: "pid 7 (crio)", Proof: "its own"}, {Kind: waits.Kernel, Name: "stopped (T)", Proof: "its state"},
		}
		if first, _, _ := strings.Cut(string(checkOutput(t, r, options)), "\n"); !strings.HasSuffix(first+"\n", want) {
			t.Errorf("headline %q, want %q at its end", first, want)
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
