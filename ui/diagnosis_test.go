package ui

import (
	"strings"
	"testing"

	"github.com/plegtop/plegtop/engine/diagnose"
)

func TestAlertsComeFromFindings(t *testing.T) {
	all := hungFindings()
	for name, tt := range map[string]struct {
		stage *stage
		want  []string
	}{
		"nothing found yet": {newStage(t, 80, 24).show(hungNode()), []string{"✖ ContainerStatus out for 47s of 2m: default/nfs-client app"}},
		"found":             {newStage(t, 80, 24).find(all[:1]...).show(hungNode()), []string{"✖ inspect-hung: ContainerStatus of", "  while 5 other calls answer"}},
		"of another pod":    {newStage(t, 80, 24).find(all[1]).show(hungNode()), []string{"✖ ContainerStatus out for 47s of 2m", "▲ crash-loop: "}},
		"the same call of another pod": {newStage(t, 80, 24).find(diagnose.Finding{ID: diagnose.InspectFailing, Severity: diagnose.Critical, Summary: "it", Subject: diagnose.Subject{Operation: "ContainerStatus", Pod: all[1].Subject.Pod}}).show(hungNode()),
			[]string{"✖ inspect-failing: it", "✖ ContainerStatus out for 47s of 2m"}},
		"effects last, the verdict in the gauge only": {newStage(t, 200, 50).press("f").find(all...).show(hungNode()),
			[]string{"✖ inspect-hung", "▲ crash-loop", "▲ events-discarded"}},
		"those seen below": {newStage(t, 200, 50).find(all...).show(hungNode()), []string{"✖ inspect-hung"}},
		"failures, as long as nothing says so": {newStage(t, 200, 50).show(failingNode()),
			[]string{"✖ ListPodSandbox failed 101 times", "▲ Status failed: Unavailable"}},
		"of all the runtime": {newStage(t, 200, 50).find(diagnose.Finding{ID: diagnose.RuntimeDown, Severity: diagnose.Critical, Summary: "gone"}).show(failingNode()),
			[]string{"✖ runtime-down: gone"}},
		"information is none": {newStage(t, 200, 50).find(diagnose.Finding{ID: "x", Summary: "by the way"}).show(healthyNode()), nil},
	} {
		var got []string
		for _, a := range tt.stage.m.alerts {
			got = append(got, a.text)
		}
		ok := len(got) == len(tt.want)
		for i := range min(len(got), len(tt.want)) {
			ok = ok && strings.HasPrefix(got[i], tt.want[i])
		}
		if !ok {
			t.Errorf("%s: alerts\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
		}
	}
}

// TestSmallestScreenNamesTheWorst holds that the worst finding is among the facts
// of the header.
func TestSmallestScreenNamesTheWorst(t *testing.T) {
	s := newStage(t, 40, 10).find(hungFindings()...).show(unhealthyNode())
	if s.rowOf("✖ inspect-hung") == "" {
		t.Errorf("no line names it:\n%s", withoutStyles(s.m.frame()))
	}
}
