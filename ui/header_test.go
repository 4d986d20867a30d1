package ui

import (
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
)

// lineTwo returns the second line of the screen.
func (s *stage) lineTwo() string {
	return strings.TrimSpace(strings.Split(withoutStyles(s.m.frame()), "\n")[1])
}

func TestHeadlineIsLineTwo(t *testing.T) {
	paused := healthyNode()
	paused.Paused, paused.Health.Healthy, paused.Health.ListedAt = true, false, ago(4*time.Minute)
	paused.Health.Verdict = "pleg was last seen active 4m0s ago; threshold is 3m0s"
	for _, tt := range []struct {
		name  string
		stage *stage
		w     int
		want  string
	}{
		{"before the first update", newStage(t, 80, 24), 80, "? STARTING"},
		{"sound", newStage(t, 80, 24).show(healthyNode()), 80, "✔ HEALTHY  [█·········] list <2s of 3m  inspected <2s ago  PLEG healthy for 1h"},
		{"a cause that is long", newStage(t, 80, 24).find(hungFindings()...).show(hungNode()), 80, "✖ INSPECTION HANGS  NotReady in 2m13s  ContainerStatus of default/nfs-client"},
		{"in full", newStage(t, 200, 50).find(hungFindings()...).show(hungNode()), 200, "✖ INSPECTION HANGS  NotReady in 2m13s  ContainerStatus of default/nfs-client app has been out for 47s while 5 other calls answer within 2ms; unhealthy in 2m13s  [█████···············] list 47s of 3m"},
		{"under a sheet", newStage(t, 80, 24).find(hungFindings()...).show(hungNode()).press("v"), 80, "✖ INSPECTION HANGS  NotReady in 2m13s  ContainerStatus of default/nfs-client …"},
		{"paused", newStage(t, 120, 40).show(paused), 120, "? PAUSED  the last look was 4m ago  [██████████████████████] list 4m of 3m  inspected <2s ago"},
	} {
		if got := tt.stage.lineTwo(); got != tt.want {
			t.Errorf("%s:\n%q, want\n%q", tt.name, got, tt.want)
		}
		frame := withoutStyles(tt.stage.m.frame())
		if tt.name == "paused" && (strings.Contains(frame, "UNHEALTHY") || strings.Contains(frame, "NotReady") || strings.Contains(frame, "pleg was last seen")) {
			t.Errorf("a verdict while nobody looks:\n%s", frame)
		}
	}
}

// TestBarIsOfTheClockThatEndsFirst holds that a Status that hangs, which makes a
// node NotReady after 30 s, is not hidden behind the three minutes of PLEG.
func TestBarIsOfTheClockThatEndsFirst(t *testing.T) {
	s := nodeOf(hungNode())
	s.Node.DownAt = noon.Add(18 * time.Second)
	for want, c := range map[string]diagnose.Clock{
		"Status 12s of 30s": {What: "NotReady", In: 18 * time.Second},
		"list 47s of 3m":    {What: "PLEG unhealthy", In: 133 * time.Second},
	} {
		if got := clockText(s, c); got != want {
			t.Errorf("%v: %q, want %q", c, got, want)
		}
	}
	if got := clockText(nodeOf(healthyNode()), diagnose.Clock{}); got != "list <2s of 3m" {
		t.Errorf("no clock: %q", got)
	}
}

// TestSmallestScreenNamesTheWorst holds that the headline comes first there, too,
// each part of it in lines of its own.
func TestSmallestScreenNamesTheWorst(t *testing.T) {
	s := newStage(t, 40, 10).find(hungFindings()...).show(hungNode())
	got := strings.Split(withoutStyles(s.m.frame()), "\n")
	for i, want := range []string{"✖ INSPECTION HANGS", "NotReady in 2m13s", "ContainerStatus of default/nfs-client"} {
		if strings.TrimSpace(got[i]) != want {
			t.Errorf("line %d is %q, want %q", i+1, got[i], want)
		}
	}
}

func TestWindowTitleHasTheWord(t *testing.T) {
	s := newStage(t, 80, 24).find(hungFindings()...).show(hungNode())
	if got := s.m.View().WindowTitle; got != "plegtop worker-17 INSPECTION HANGS" {
		t.Errorf("title %q", got)
	}
}

// TestNodeIsNotJudgedWhilePaused holds that the node's screen tells no verdict
// that nobody has looked for.
func TestNodeIsNotJudgedWhilePaused(t *testing.T) {
	s := illNode()
	s.Paused = true
	if got := lineOf(s, nil, "node Ready"); got != "no such line" {
		t.Errorf("node Ready: %q", got)
	}
	if got := lineOf(&engine.Snapshot{Seq: 1, At: noon}, nil, "node Ready"); got == "no such line" {
		t.Error("nothing is said of a node that is looked at")
	}
}
