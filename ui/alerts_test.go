package ui

import (
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/pleg"
)

// alertLines returns the lines below the header.
func (s *stage) alertLines() (all []string) {
	for _, a := range s.m.alerts {
		all = append(all, a.text)
	}
	return all
}

// TestAlertOfOnePodNamesIt holds that a relist of one pod that a key asked for
// does not fail in silence.
func TestAlertOfOnePodNamesIt(t *testing.T) {
	snap := healthyNode()
	snap.PodFailure = &engine.Failure{
		Flight: engine.Flight{Op: call.ListContainers, Pod: pleg.PodRef{UID: "u", Namespace: "shop", Name: "cart-0"}},
		Err:    &call.Error{Op: call.ListContainers, Kind: call.ErrUnavailable, Code: "Unavailable", Text: "connection refused"},
		InRow:  1,
	}
	want := "ListContainers of shop/cart-0 failed: Unavailable: connection refused"
	if got := newStage(t, 200, 50).show(snap).alertLines(); len(got) != 1 || !strings.Contains(got[0], want) {
		t.Errorf("alerts = %q, want one that says %q", got, want)
	}
}

// TestNoAlertOfWhatIsOver holds that a finding which has not ended yet, but which
// nothing tells of any more, does not stand under a headline that is sound.
func TestNoAlertOfWhatIsOver(t *testing.T) {
	u := diagnose.Update{
		Update:   engine.Update{Snapshot: healthyNode()},
		Headline: diagnose.Headline{Word: "HEALTHY"},
		Findings: []diagnose.Finding{{ID: diagnose.RuntimeDown, Severity: diagnose.Warning, Summary: "no call reaches the runtime"}},
	}
	if got := newStage(t, 80, 24).send(updateMsg{u, nil}).alertLines(); got != nil {
		t.Errorf("alerts %q, want none", got)
	}
}

// TestAlertsDoNotRepeatTheHeadline holds that below the header stands only what
// neither the headline nor the pane of findings says.
func TestAlertsDoNotRepeatTheHeadline(t *testing.T) {
	all := hungFindings()
	for name, tt := range map[string]struct {
		stage *stage
		want  []string
	}{
		"the worst is the headline":                 {newStage(t, 200, 50).press("f").find(all...).show(hungNode()), []string{"▲ crash-loop"}},
		"the rest of its text":                      {newStage(t, 80, 24).find(all[:2]...).show(hungNode()), []string{"  … app has been out for 47s", "  in 2m13s", "▲ crash-loop"}},
		"the kubelet's words where they do not fit": {newStage(t, 120, 40).find(all...).show(unhealthyNode()), []string{"  … 2ms; unhealthy", "  pleg was last seen active 3m12s ago; threshold is 3m0s", "▲ crash-loop", "▲ odd answers"}},
		"those seen below":                          {newStage(t, 200, 50).find(all...).show(hungNode()), nil},
		"a warning under a sound word":              {newStage(t, 80, 24).find(all[1]).show(healthyNode()), []string{"▲ crash-loop"}},
		"information is none":                       {newStage(t, 80, 24).find(diagnose.Finding{ID: "x", Summary: "by the way"}).show(healthyNode()), nil},
	} {
		got := tt.stage.alertLines()
		ok := len(got) == len(tt.want)
		for i := range min(len(got), len(tt.want)) {
			ok = ok && strings.HasPrefix(got[i], tt.want[i])
		}
		if !ok {
			t.Errorf("%s: alerts\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
		}
	}
}

// TestSummariesDoNotRepeatTheirID holds that an id is not followed by its own words.
func TestSummariesDoNotRepeatTheirID(t *testing.T) {
	f := diagnose.Finding{ID: diagnose.CrashLoop, Severity: diagnose.Warning, Summary: "crash loop: shop/cart app died 3 times"}
	s := newStage(t, 120, 40).find(f).show(healthyNode())
	if s.rowOf("▲ crash-loop: shop/cart app died") == "" || s.press("4").rowOf("crash-loop shop/cart app died") == "" {
		t.Errorf("frame\n%s", withoutStyles(s.m.frame()))
	}
}

// TestOpenFindingIsToldOnce holds that the finding that is open is not told above
// itself.
func TestOpenFindingIsToldOnce(t *testing.T) {
	s := newStage(t, 80, 24).find(hungFindings()...).show(hungNode()).press("4", "G", "enter")
	if s.rowOf("▲ crash-loop: ") != "" {
		t.Errorf("alerts above the open finding: %q", s.alertLines())
	}
	if s.press("esc", "1"); s.rowOf("▲ crash-loop: ") == "" {
		t.Error("once it is closed, it is not told")
	}
}

func TestReasonLeavesOutTheSocket(t *testing.T) {
	for said, want := range map[string]string{
		"dial unix /run/containerd/containerd.sock: connect: connection refused": "Unavailable: connect: connection refused",
		"dial unix":                      "Unavailable: dial unix",
		"error reading from server: EOF": "Unavailable: error reading from server: EOF",
	} {
		err := &call.Error{Op: call.Status, Kind: call.ErrUnavailable, Code: "Unavailable", Text: said}
		if got := reason(err); got != want {
			t.Errorf("reason(%q) = %q, want %q", said, got, want)
		}
	}
}

// TestMeterNamesTheCallOfTheRelist holds that a Status that hangs beside a list,
// and has been out for longer, is not taken for what the relist waits for.
func TestMeterNamesTheCallOfTheRelist(t *testing.T) {
	s := healthyNode()
	s.InFlight = []engine.Flight{
		{Op: call.Status, Since: s.At.Add(-9 * time.Second)},
		{Op: call.ListPodSandbox, Since: s.At.Add(-8 * time.Second)},
	}
	if f := oldest(s); f == nil || f.Op != call.ListPodSandbox {
		t.Errorf("oldest = %v, want the list", f)
	}
	s.InFlight = s.InFlight[:1]
	if f := oldest(s); f != nil {
		t.Errorf("oldest = %v, want none", f)
	}
}

// The headline of chosen namespaces names no warning elsewhere.
func TestHeadlineNamesNoWarningElsewhere(t *testing.T) {
	const said = "but for one warning: crash-loop of shop/api app"
	f := diagnose.Finding{ID: diagnose.CrashLoop, Severity: diagnose.Warning, Subject: diagnose.Subject{Pod: pleg.PodRef{Namespace: "shop", Name: "api"}}}
	u := diagnose.Update{Update: engine.Update{Snapshot: healthyNode()}, Headline: diagnose.Headline{Word: "HEALTHY", Text: said}, Findings: []diagnose.Finding{f}}
	for namespace, want := range map[string]string{"": said, "shop": said, "other": ""} {
		s := newStage(t, 80, 24, func(c *Config) {
			if namespace != "" {
				c.Namespaces = []string{namespace}
			}
		})
		if got := s.send(updateMsg{u, nil}).m.headline.Text; got != want {
			t.Errorf("of %q: %q", namespace, got)
		}
	}
}
