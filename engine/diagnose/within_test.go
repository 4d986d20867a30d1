package diagnose

import (
	"slices"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

// TestWithin checks that findings about pods of other namespaces are left out completely, by name and in the headline,
// and that the node's own findings stay.
func TestWithin(t *testing.T) {
	of := func(namespace string, s Severity) Finding {
		return Finding{ID: InspectHung, Severity: s, Summary: namespace + " hangs", Subject: Subject{ObjectRef: pleg.ObjectRef{Pod: pleg.PodRef{Namespace: namespace, Name: "pod-of-" + namespace}}}}
	}
	node := Finding{ID: HostPressure, Severity: Warning, Summary: "the disk is full"}
	all := []Finding{of("a", Critical), of("b", Info), node}
	clock := Clock{What: "NotReady", In: time.Minute}
	head := Headline{Word: "INSPECTION HANGS", Severity: Critical, Text: "behind a/pod-of-a app", Clock: clock}
	bare := Headline{Word: "INSPECTION HANGS", Severity: Warning, Text: elsewhere, Clock: clock}
	for name, tt := range map[string]struct {
		namespaces []string
		want       int // findings, turns and those that ended
		headline   Headline
	}{
		"all":       {nil, 3, head},
		"its own":   {[]string{"a"}, 2, head},
		"another's": {[]string{"b"}, 2, bare},
		"two":       {[]string{"b", "a"}, 3, head},
		"nobody's":  {[]string{"c"}, 1, bare},
	} {
		u := Update{Findings: all, Headline: head}
		for _, f := range all {
			u.Turns, u.Ended = append(u.Turns, Turn{Finding: f}), append(u.Ended, Ended{Finding: f})
		}
		got := u.Within(tt.namespaces)
		if len(got.Findings) != tt.want || len(got.Turns) != tt.want || len(got.Ended) != tt.want || got.Headline != tt.headline {
			t.Errorf("%s: %+v", name, got)
		}
		if len(u.Findings) != 3 || u.Findings[0].Summary != "a hangs" {
			t.Errorf("%s: the update was changed", name)
		}
	}
}

// TestWithinCountsNothingElsewhere checks that a headline that sums up warnings says nothing once one of them is left
// out.
func TestWithinCountsNothingElsewhere(t *testing.T) {
	u := Update{
		Headline: Headline{Word: "DEGRADED", Severity: Warning, Text: "2 warnings, the first crash-loop"},
		Findings: []Finding{{ID: CrashLoop, Severity: Warning, Summary: "it died", Subject: Subject{ObjectRef: pleg.ObjectRef{Pod: pleg.PodRef{Namespace: "a", Name: "pod"}}}}},
	}
	if got := u.Within([]string{"b"}); got.Headline != (Headline{Word: "HEALTHY"}) {
		t.Errorf("headline %+v", got.Headline)
	}
}

// TestWithinOfOneThatIsCritical checks a DEGRADED about one critical finding: in its namespace it is shown as it is,
// and elsewhere not as if nothing were wrong.
func TestWithinOfOneThatIsCritical(t *testing.T) {
	of := func(id ID, namespace string, s Severity) Finding {
		return Finding{ID: id, Severity: s, Summary: namespace + " is stuck", Subject: Subject{ObjectRef: pleg.ObjectRef{Pod: pleg.PodRef{Namespace: namespace, Name: "pod"}}}}
	}
	u := Update{
		Headline: Headline{Word: Degraded, Severity: Critical, Text: staysReady + "a is stuck"},
		Findings: []Finding{of(ProcessStuck, "a", Critical), of(CrashLoop, "b", Warning)},
	}
	for namespace, want := range map[string]Headline{
		"a": u.Headline,
		"b": {Word: Degraded, Severity: Warning, Text: elsewhere},
		"c": {Word: Degraded, Text: elsewhere},
	} {
		if got := u.Within([]string{namespace}).Headline; got != want {
			t.Errorf("%s: %+v, want %+v", namespace, got, want)
		}
	}
}

// A headline about the node stays, even if a finding sums up pods of another namespace: that finding has no pod's name,
// and an empty name would be in every text.
func TestWithinKeepsWhatIsOfTheNode(t *testing.T) {
	there := Subject{ObjectRef: pleg.ObjectRef{Pod: pleg.PodRef{Namespace: "a", Name: "pod"}}}
	u := Update{
		Headline: Headline{Word: "NOT ALL SEEN", Severity: Warning, Text: "4 of 15 objects asked: cut off by the deadline"},
		Findings: []Finding{{ID: CrashLoop, Severity: Warning, Summary: "two died", Evidence: []string{"it died"}, Members: []Subject{there}, Count: 1}},
	}
	if got := u.Within([]string{"b"}); got.Headline != u.Headline || len(got.Findings) != 0 {
		t.Errorf("headline %+v, %d findings", got.Headline, len(got.Findings))
	}
}

// TestWithinNamesNobodyElsewhere checks that of a finding about pods of several namespaces only the requested ones are
// left: in what holds, in the turns and in what ended. An effect that is left has no cause that was left out.
func TestWithinNamesNobodyElsewhere(t *testing.T) {
	of := func(namespace string) Subject {
		return Subject{ObjectRef: pleg.ObjectRef{Pod: pleg.PodRef{Namespace: namespace, Name: "pod"}}}
	}
	cause := Finding{ID: InspectHung, Severity: Critical, Summary: "hangs", Subject: of("a")}
	several := Finding{ID: CrashLoop, Severity: Warning, Summary: "two died", Evidence: []string{"in all", "a/pod", "b/pod"}, Members: []Subject{of("a"), of("b")}, Count: 2, Cause: cause.ID, CauseKey: cause.Key(), CauseOf: cause.Subject}
	u := Update{Findings: []Finding{cause, several}, Turns: []Turn{{Finding: several}}, Ended: []Ended{{Finding: several}}}
	got := u.Within([]string{"b"})
	if len(got.Findings) != 1 || len(got.Turns) != 1 || len(got.Ended) != 1 {
		t.Fatalf("%+v", got)
	}
	for what, f := range map[string]Finding{"holds": got.Findings[0], "turned": got.Turns[0].Finding, "ended": got.Ended[0].Finding} {
		if len(f.Members) != 1 || f.Members[0] != of("b") || !slices.Equal(f.Evidence, []string{"in all", "b/pod"}) {
			t.Errorf("what %s: %+v", what, f)
		}
	}
	if got.Findings[0].Cause != "" || len(u.Findings[1].Members) != 2 {
		t.Errorf("the cause is %q, and of the update are left %d members", got.Findings[0].Cause, len(u.Findings[1].Members))
	}
}

// TestWithinNamesNoCallElsewhere checks that a headline does not name the pod of a call that is late in another
// namespace, even if there is no finding about the call yet.
func TestWithinNamesNoCallElsewhere(t *testing.T) {
	pod := pleg.PodRef{UID: "u", Namespace: "a", Name: "pod"}
	u := Update{Headline: Headline{Word: "SLOW?", Severity: Warning, Text: "the relist waits for ContainerStatus of a/pod app since 3s"}}
	u.Snapshot = &engine.Snapshot{}
	u.Snapshot.InFlight = []call.Flight{{Op: call.ContainerStatus, Pod: pod}}
	if got := u.Within([]string{"b"}).Headline; got.Text != elsewhere || got.Severity != Info {
		t.Errorf("in b: %+v", got)
	}
	if got := u.Within([]string{"a"}).Headline; got != u.Headline {
		t.Errorf("in a: %+v", got)
	}
}

// TestHeadlineNames checks that a pod is recognised by its namespace and its whole name.
func TestHeadlineNames(t *testing.T) {
	for _, tt := range []struct {
		text, namespace, name string
		want                  bool
	}{
		{"lists hang: blocked by shop/api/app", "shop", "api", true},
		{"shop/api", "shop", "api", true},
		{"shop/api-2 and then shop/api: again", "shop", "api", true},
		{"lists hang: blocked by shop/api-2/app", "shop", "api", false},
		{"blocked by workshop/api app", "shop", "api", false},
		{"lists hang", "shop", "lists", false},
		{"lists hang", "shop", "", false},
		{"lists hang", "", "", false},
	} {
		if got := (Headline{Text: tt.text}).Names(pleg.PodRef{UID: "u", Namespace: tt.namespace, Name: tt.name}); got != tt.want {
			t.Errorf("%q names %s/%s: %v", tt.text, tt.namespace, tt.name, got)
		}
	}
}
