package ui

import (
	"context"
	"errors"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/evidence"
)

// TestDiagnosisIsMadeInUpdate holds that a diagnosis is made once for each update
// and each look at the node, of what is shown, and never while a frame is drawn.
func TestDiagnosisIsMadeInUpdate(t *testing.T) {
	var asked []diagnose.Input
	s := newStage(t, 120, 40, func(c *Config) {
		c.Diagnose = func(in diagnose.Input) []diagnose.Finding {
			asked = append(asked, in)
			return nil
		}
	})
	s.report(looked())
	if len(asked) != 0 {
		t.Error("a diagnosis of nothing was made")
	}
	snap := healthyNode()
	s.show(snap).report(looked())
	s.m.frame()
	s.send(sizeOf(80, 24)).press("4", "j", "v", "esc").m.frame()
	if len(asked) != 2 {
		t.Fatalf("%d diagnoses, want 2", len(asked))
	}
	for _, in := range asked {
		if in.Snapshot != snap || in.History == nil || in.Evidence == nil || in.Endpoint != s.m.cfg.Source.Endpoint {
			t.Errorf("diagnosis of %+v", in)
		}
	}
	s.press("Z").show(unhealthyNode()).report(lookedInVain())
	if len(asked) != 2 {
		t.Error("a diagnosis was made while the screen was frozen")
	}
	s.press("Z")
	if last := asked[len(asked)-1]; len(asked) != 3 || last.Snapshot != s.m.latest || last.Evidence.Processes.Missing == "" {
		t.Errorf("%d diagnoses once it is thawed, the last of %+v", len(asked), last)
	}
}

func TestOneLookIsOutstanding(t *testing.T) {
	var fail error
	s := newStage(t, 80, 24, func(c *Config) {
		c.Evidence = func(context.Context) (evidence.Report, error) { return looked(), fail }
	})
	batch, ok := s.m.Init()().(tea.BatchMsg)
	if !ok || len(batch) != 2 {
		t.Fatalf("Init gives %v, want a wait and a look", batch)
	}
	s.send(batch[1]())
	if s.m.report == nil || s.cmd == nil {
		t.Fatal("a look is not taken over, or not followed by the next")
	}
	if s.press("Z").send(batch[1]()); s.cmd == nil {
		t.Error("a look that comes while the screen is frozen is not followed by the next")
	}
	fail = errors.New("over")
	if s.run(); s.cmd != nil || s.m.report == nil || s.m.err != nil {
		t.Error("the end of the looks is not quiet")
	}
	if cmd := newStage(t, 80, 24).m.lookAgain(); cmd != nil {
		t.Error("asks for looks where nobody looks")
	}
}

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
