package ui

import (
	"strings"
	"testing"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
)

// TestWorstAlertIsReadInFull holds that the worst alert goes on in a second line
// where there is room for it, and that no other line is torn.
func TestWorstAlertIsReadInFull(t *testing.T) {
	all := hungFindings()
	for _, tt := range []struct {
		w, h int
		want []string
	}{
		{80, 24, []string{"✖ inspect-hung: ContainerStatus of default/nfs-client app has been out for 47s", "  while 5 other calls answer within 2ms; unhealthy in 2m13s", "▲ crash-loop: "}},
		{80, 17, []string{"✖ inspect-hung: ContainerStatus of default/nfs-client app has been out for 47s while", "▲ crash-loop: "}},
		{140, 40, []string{"✖ inspect-hung: ContainerStatus of default/nfs-client app has been out for 47s while", "▲ crash-loop: "}},
	} {
		s := newStage(t, tt.w, tt.h).find(all[:2]...).show(hungNode())
		for i, a := range s.m.alerts {
			if i >= len(tt.want) || !strings.HasPrefix(a.text, tt.want[i]) {
				t.Errorf("%dx%d: line %d is %q, want %q", tt.w, tt.h, i, a.text, tt.want)
			}
		}
	}
}

// TestOpenFindingIsToldOnce holds that the finding that is open is not told above
// itself, also after its figures have changed.
func TestOpenFindingIsToldOnce(t *testing.T) {
	all := hungFindings()
	s := newStage(t, 120, 40).find(all...).show(hungNode()).press("4", "enter")
	all[0].Summary = "ContainerStatus of default/nfs-client app has been out for 50s"
	snap := hungNode()
	snap.At = snap.At.Add(2 * textsKept)
	if s.find(all...).show(snap); s.rowOf("inspect-hung: ") != "" || s.rowOf("▲ crash-loop: ") == "" {
		t.Errorf("alerts above the open finding: %v", s.m.alerts)
	}
	if s.press("esc"); s.rowOf("✖ inspect-hung: ") == "" {
		t.Error("once it is closed, it is not told")
	}
}

// TestSummariesDoNotRepeatTheirID holds that an id is not followed by its own words.
func TestSummariesDoNotRepeatTheirID(t *testing.T) {
	f := diagnose.Finding{ID: diagnose.CrashLoop, Severity: diagnose.Warning, Summary: "crash loop: shop/cart app died 3 times"}
	s := newStage(t, 120, 40).find(f).show(healthyNode()).press("4")
	if s.rowOf("▲ crash-loop: shop/cart app died") == "" || s.rowOf("crash-loop shop/cart app died") == "" {
		t.Errorf("frame\n%s", withoutStyles(s.m.frame()))
	}
}

// TestFoundOutcomeOfASweep holds that what a finding says of a sweep's outcome is
// not said again: nothing of a sweep that the engine made by itself, figures of one
// that was asked for.
func TestFoundOutcomeOfASweep(t *testing.T) {
	alone := sweepOf(330, true)
	alone.Width = 1
	for want, tt := range map[string]struct {
		w     *engine.Sweep
		found []diagnose.Finding
	}{
		"": {alone, hungFindings()},
		"SWEEP done: 330 of 330 asked in 3.0s, 1 hung, 0 failed":                     {sweepOf(330, true), hungFindings()},
		"SWEEP done: 330 of 330 asked in 3.0s, 1 hung, 0 failed; default/nfs-client": {alone, nil},
	} {
		got := ""
		for _, a := range newStage(t, 200, 50).find(tt.found...).show(withSweepOf(tt.w)).m.alerts {
			if _, out, ok := strings.Cut(a.text, "SWEEP"); ok {
				got = "SWEEP" + out
			}
		}
		if !strings.HasPrefix(got, want) || (want == "") != (got == "") || strings.Contains(got, "nfs-client") != strings.Contains(want, "nfs-client") {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestFew(t *testing.T) {
	for _, tt := range []struct {
		in      string
		w, most int
		want    string
	}{
		{"", 5, 2, ""},
		{"one two", 7, 1, "one two"},
		{"one two three", 7, 2, "one two|three"},
		{"one two three four five", 7, 2, "one two|three …"},
		{strings.Repeat("日", 5000), 4, 2, "日日|日… "},
		{strings.Repeat("x", 5000), 4, 1, "xxx…"},
		{strings.Repeat("\u0301", 5000), 4, 1, "\uFFFD"},
	} {
		if got := strings.Join(few(tt.in, tt.w, tt.most, "…"), "|"); got != tt.want {
			t.Errorf("few(%.20q, %d, %d) = %q, want %q", tt.in, tt.w, tt.most, got, tt.want)
		}
	}
}
