package lines

import (
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/pleg"
)

// TestWithin holds that findings about pods of other namespaces are left out
// wholly, by name and in the headline, and that the node's own stay.
func TestWithin(t *testing.T) {
	of := func(namespace string, s diagnose.Severity) diagnose.Finding {
		return diagnose.Finding{ID: diagnose.InspectHung, Severity: s, Summary: namespace + " hangs", Subject: diagnose.Subject{ObjectRef: pleg.ObjectRef{Pod: pleg.PodRef{Namespace: namespace, Name: "pod-of-" + namespace}}}}
	}
	node := diagnose.Finding{ID: diagnose.HostPressure, Severity: diagnose.Warning, Summary: "the disk is full"}
	all := []diagnose.Finding{of("a", diagnose.Critical), of("b", diagnose.Info), node}
	clock := diagnose.Clock{What: "NotReady", In: time.Minute}
	head := diagnose.Headline{Word: "INSPECTION HANGS", Severity: diagnose.Critical, Text: "behind a/pod-of-a app", Clock: clock}
	bare := diagnose.Headline{Word: "INSPECTION HANGS", Severity: diagnose.Warning, Text: elsewhere, Clock: clock}
	for name, tt := range map[string]struct {
		namespaces []string
		want       int // findings and turns
		headline   diagnose.Headline
		exit       int
	}{
		"all":       {nil, 3, head, ExitCritical},
		"its own":   {[]string{"a"}, 2, head, ExitCritical},
		"another's": {[]string{"b"}, 2, bare, ExitWarning},
		"two":       {[]string{"b", "a"}, 3, head, ExitCritical},
		"nobody's":  {[]string{"c"}, 1, bare, ExitWarning},
	} {
		u := diagnose.Update{Findings: all, Headline: head}
		for _, f := range all {
			u.Turns = append(u.Turns, diagnose.Turn{Finding: f})
		}
		got := within(u, tt.namespaces)
		if len(got.Findings) != tt.want || len(got.Turns) != tt.want || got.Headline != tt.headline || ExitCode(got) != tt.exit {
			t.Errorf("%s: %+v", name, got)
		}
		if len(u.Findings) != 3 || u.Findings[0].Summary != "a hangs" {
			t.Errorf("%s: the update was changed", name)
		}
	}
}

// TestWithinCountsNothingElsewhere holds that a headline that sums up warnings says
// nothing once one of them is left out.
func TestWithinCountsNothingElsewhere(t *testing.T) {
	u := diagnose.Update{
		Headline: diagnose.Headline{Word: "HEALTHY", Text: "2 warnings, the first crash-loop"},
		Findings: []diagnose.Finding{{ID: diagnose.CrashLoop, Severity: diagnose.Warning, Summary: "it died", Subject: diagnose.Subject{ObjectRef: pleg.ObjectRef{Pod: pleg.PodRef{Namespace: "a", Name: "pod"}}}}},
	}
	if got := within(u, []string{"b"}); got.Headline != (diagnose.Headline{Word: "HEALTHY"}) {
		t.Errorf("headline %+v", got.Headline)
	}
}

// A headline about the node stays, though a finding sums up pods of another namespace: that
// has no pod's name, which would stand in every text.
func TestWithinKeepsWhatIsOfTheNode(t *testing.T) {
	there := diagnose.Subject{ObjectRef: pleg.ObjectRef{Pod: pleg.PodRef{Namespace: "a", Name: "pod"}}}
	u := diagnose.Update{
		Headline: diagnose.Headline{Word: "NOT ALL SEEN", Severity: diagnose.Warning, Text: "4 of 15 objects asked: cut off by the deadline"},
		Findings: []diagnose.Finding{{ID: diagnose.CrashLoop, Severity: diagnose.Warning, Summary: "two died", Evidence: []string{"it died"}, Members: []diagnose.Subject{there}, Count: 1}},
	}
	if got := within(u, []string{"b"}); got.Headline != u.Headline || len(got.Findings) != 0 {
		t.Errorf("headline %+v, %d findings", got.Headline, len(got.Findings))
	}
}
