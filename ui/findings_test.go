package ui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/ui/theme"
)

func (s *stage) findingUnder() string {
	if f := s.m.findings.current().Finding; f != nil {
		return string(f.ID)
	}
	return ""
}

func TestCursorStaysOnItsFinding(t *testing.T) {
	all := hungFindings()
	s := newStage(t, 80, 24).find(all[1:2]...).show(unhealthyNode()).press("4")
	s.find(all...).show(unhealthyNode())
	if got := s.findingUnder(); got != "crash-loop" {
		t.Errorf("the cursor went from crash-loop to %q", got)
	}
	if got := s.find(all[0], all[2]).show(unhealthyNode()).findingUnder(); got != "pleg-unhealthy" {
		t.Errorf("once its finding has gone, the cursor is on %q", got)
	}
	if s.find().show(unhealthyNode()); s.m.findings.current().Finding != nil {
		t.Error("a cursor where there is no finding")
	}
}

// TestRowUnderTheCursorIsSeen holds that no finding is out of reach, however
// little room there is.
func TestRowUnderTheCursorIsSeen(t *testing.T) {
	for _, height := range []int{6, 9, 12, 24} {
		s := newStage(t, 80, height).find(hungFindings()...).show(unhealthyNode()).press("4")
		for _, step := range []struct{ key, want string }{
			{"k", "inspect-hung"}, {"j", "pleg-unhealthy"}, {"j", "events-discarded"}, {"j", "crash-loop"}, {"j", "crash-loop"},
			{"k", "events-discarded"}, {"g", "inspect-hung"}, {"G", "crash-loop"},
		} {
			if got := s.press(step.key).findingUnder(); got != step.want {
				t.Fatalf("at height %d %s leads to %q, want %q", height, step.key, got, step.want)
			}
			f := &s.m.findings
			if y := f.first[f.cursor] - f.top; y < 0 || y >= f.height {
				t.Errorf("at height %d the first line of %s is line %d of %d", height, step.want, y, f.height)
			}
		}
	}
}

func TestFindingOpensAndLeadsToItsPod(t *testing.T) {
	s := newStage(t, 80, 24).find(hungFindings()...).show(unhealthyNode()).press("4", "enter")
	if !s.m.finding.open || s.rowOf("Finding: critical inspect-hung") == "" {
		t.Fatalf("enter opens no finding:\n%s", withoutStyles(s.m.frame()))
	}
	if s.press("enter"); s.m.detail.pod == nil || s.m.detail.pod.Name != "nfs-client" {
		t.Fatal("a second enter does not lead to the pod")
	}
	if s.press("c"); fmt.Sprint(s.cmd()) != "nfs-client" {
		t.Errorf("c in the detail of a pod copies %q", s.cmd())
	}
	if s.press("esc"); s.m.detail.pod != nil || !s.m.finding.open {
		t.Error("esc does not lead back to the finding")
	}
	if s.press("esc"); s.m.finding.open || s.focused() != "Findings" {
		t.Error("esc does not lead back to the pane")
	}
	if s.press("j", "enter", "enter"); s.m.detail.pod != nil || !strings.Contains(s.m.flash.text, "no pod") {
		t.Errorf("a finding about no pod leads to %v and says %q", s.m.detail.pod, s.m.flash.text)
	}
	if s.press("1"); s.m.finding.open || s.focused() != "Pods" {
		t.Error("a pane's key does not lead out of a finding")
	}
}

func TestFindingIsKeptUpToDate(t *testing.T) {
	all := hungFindings()
	s := newStage(t, 120, 40).find(all...).show(unhealthyNode()).press("4", "enter")
	all[0].Evidence = []string{"the newest of it"}
	if s.find(all...).show(unhealthyNode()); s.rowOf("the newest of it") == "" {
		t.Error("the evidence is that of before")
	}
	if s.find().end(all[0]).show(healthyNode()); s.rowOf("✔ over for 1m") == "" || s.rowOf("the newest of it") == "" {
		t.Error("a finding that is over is not shown as such")
	}
}

func TestCopyOfTheNextSafeCommand(t *testing.T) {
	for name, tt := range map[string]struct {
		next []diagnose.Step
		want string // the clipboard, or what is said
	}{
		"the first that is safe":  {[]diagnose.Step{{Text: "think"}, {Command: "kill -9 1", Risky: true}, {Command: "crictl ps"}, {Command: "ps"}}, "crictl ps"},
		"only risky ones":         {[]diagnose.Step{{Command: "kill -9 1", Risky: true}}, "no safe command to copy here"},
		"none":                    {nil, "no safe command to copy here"},
		"what is seen is not all": {[]diagnose.Step{{Command: "crictl ps '\x1b[201~\nreboot\n'"}}, "not copied: a name in the command holds characters that cannot be seen"},
	} {
		for _, keys := range []string{"4 c", "4 enter c"} {
			s := newStage(t, 120, 40).find(diagnose.Finding{ID: "x", Next: tt.next}).show(healthyNode()).press(strings.Fields(keys)...)
			got := s.m.flash.text
			if s.cmd != nil {
				got = fmt.Sprint(s.cmd())
			}
			if got != tt.want {
				t.Errorf("%s, %s: %q, want %q", name, keys, got, tt.want)
			}
		}
	}
}

// TestEndedFindingsComeBelow holds that what has ended lately is seen below what
// holds, can be opened, and is told apart from the like of it that holds.
func TestEndedFindingsComeBelow(t *testing.T) {
	all := hungFindings()
	s := newStage(t, 120, 40).find(all[:1]...).end(all[0], all[2]).show(hungNode()).press("4")
	lines := withoutStyles(s.m.frame())
	holds, line, over := strings.Index(lines, "✖ critical inspect-hung"), strings.Index(lines, "── ended lately ─"), strings.Index(lines, "✖ ended    inspect-hung")
	if holds < 0 || line < holds || over < line {
		t.Errorf("frame\n%s", lines)
	}
	if row := s.rowOf("ended    inspect-hung"); !strings.Contains(row, "lasted 47s, over 1m ago: ContainerStatus default/nfs-client app") {
		t.Errorf("row %q", row)
	}
	for i, want := range []bool{false, true, true, true} {
		if got := s.m.findings.current().ended != nil; got != want {
			t.Errorf("%d down: the cursor is on one that ended: %v", i, got)
		}
		s.press("j")
	}
	if s.press("k", "enter"); s.rowOf("✔ over for 1m, it lasted 47s; this is the last of it") == "" {
		t.Errorf("frame\n%s", withoutStyles(s.m.frame()))
	}
}

// TestOpenFindingEnds holds that a finding that is open says so when it ends, and
// stays what it was when the like of it comes again.
func TestOpenFindingEnds(t *testing.T) {
	all := hungFindings()
	s := newStage(t, 120, 40).find(all...).show(hungNode()).press("4", "enter").find().end(all[0]).show(healthyNode())
	s.find(all...).show(hungNode())
	if s.rowOf("✔ over for 1m, it lasted 47s") == "" {
		t.Errorf("frame\n%s", withoutStyles(s.m.frame()))
	}
}

func TestNothingFound(t *testing.T) {
	paused := healthyNode()
	paused.Paused = true
	for want, s := range map[string]*stage{
		"nothing known yet": newStage(t, 80, 24),
		"✔ nothing found: every call answers; R looks at every container": newStage(t, 80, 24).show(healthyNode()),
		"nothing found yet": newStage(t, 80, 24).show(failingNode()),
		"nobody looks while the relist is paused; nothing is known": newStage(t, 80, 24).show(paused),
		"nothing found so far; SWEEP 120/330, 0 hung, 0 failed":     newStage(t, 80, 24).show(withSweepOf(sweepOf(120, false))),
	} {
		if got := strings.TrimSpace(s.press("4").rowOf("nothing")); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestFindingsTakeTheRoomThatTheyNeed(t *testing.T) {
	s := newStage(t, 200, 50).show(healthyNode())
	if b := s.m.layout.boxes[2]; b.pane != findingsPane || b.h != 2 {
		t.Errorf("without a finding the pane %d has %d lines", b.pane, b.h)
	}
	s.find(hungFindings()...).show(unhealthyNode())
	if b := s.m.layout.boxes[2]; b.h != s.m.findings.need() {
		t.Errorf("with findings the pane has %d lines, and needs %d", b.h, s.m.findings.need())
	}
	many := make([]diagnose.Finding, 300)
	for i := range many {
		many[i] = diagnose.Finding{ID: "crash-loop", Summary: "again", Subject: diagnose.Subject{Container: fmt.Sprint(i)}}
	}
	s.find(many...).show(unhealthyNode())
	if b := s.m.layout.boxes[2]; b.h > 50/3 {
		t.Errorf("many findings take %d lines of 50", b.h)
	}
}

func TestTallScreenKeepsTheLastPaneUnderThePods(t *testing.T) {
	s := newStage(t, 120, 40).show(healthyNode())
	for _, step := range []struct {
		key  string
		want pane
	}{{"1", eventsPane}, {"4", findingsPane}, {"1", findingsPane}, {"3", callsPane}, {"1", callsPane}} {
		if s.press(step.key); s.m.layout.boxes[1].pane != step.want {
			t.Errorf("after %s: %s under the pods, want %s", step.key, paneNames[s.m.layout.boxes[1].pane], paneNames[step.want])
		}
	}
}

// TestKeysOfAFinding holds what keys mean where a finding is under the cursor.
func TestKeysOfAFinding(t *testing.T) {
	s := newStage(t, 80, 24).find(hungFindings()...).show(unhealthyNode()).press("4", "r")
	if got := s.asked(); got != "reinspect uid-default-nfs-client" {
		t.Errorf("r asked for %q", got)
	}
	if s.press("j", "r"); len(s.controls.got) != 1 {
		t.Errorf("r on a finding about no pod asked for %q", s.asked())
	}
	if s.press(">"); !strings.Contains(s.m.flash.text, "order of their causes") || s.m.pods.sort != 0 {
		t.Errorf("> says %q", s.m.flash.text)
	}
}

// TestFindingMarksItsPod holds that a pod that the runtime calls running is not
// taken for sound where a finding knows better, as long as it does.
func TestFindingMarksItsPod(t *testing.T) {
	f := hungFindings()[0]
	s := newStage(t, 200, 50).find(f).show(healthyNode())
	if row := s.rowOf("▸ nfs-client"); !strings.Contains(row, "✖ hung") || !strings.Contains(row, "status hangs") {
		t.Errorf("the row of the pod: %q", row)
	}
	if got := names(&s.press("W").m.pods); got != "nfs-client payments-6c8f9d7b5-t8wfx" {
		t.Errorf("the pods with a problem are %q", got)
	}
	if got := names(&s.press("W", "/", "h", "a", "s", ":", "p", "r", "o", "b", "l", "e", "m", "enter").m.pods); got != "nfs-client payments-6c8f9d7b5-t8wfx" {
		t.Errorf("has:problem shows %q", got)
	}
	if s.find().show(s.m.snap); len(s.m.pods.rows) != 1 {
		t.Errorf("once the finding has gone, has:problem shows %q", names(&s.m.pods))
	}
	f.Severity = diagnose.Info
	if s.find(f).show(s.m.snap); len(s.m.pods.rows) != 1 {
		t.Error("what is worth knowing only is taken for a problem")
	}
}

func TestHostileFindingsStayCheap(t *testing.T) {
	look, f := theme.Default(), findings{}
	all := make([]diagnose.Finding, 50)
	for i := range all {
		all[i] = diagnose.Finding{ID: "x", Summary: strings.Repeat("日 ", 1<<16), Subject: diagnose.Subject{Pod: pleg.PodRef{Name: fmt.Sprint(i)}}}
	}
	f.resize(80, 20)
	f.observe(pen{&look, noon}, diagnose.Update{Findings: all}, nil, false)
	if n := len(f.lines); n > 50*mostLines {
		t.Errorf("%d lines for 50 findings", n)
	}
}

// TestUnseenCursorIsOnTheWorst holds that a cursor that nobody has looked at does
// not stick to the finding that happened to come first.
func TestUnseenCursorIsOnTheWorst(t *testing.T) {
	all := hungFindings()
	s := newStage(t, 80, 24).find(all[1:2]...).show(unhealthyNode()).find(all...).show(unhealthyNode())
	if got := s.press("4").findingUnder(); got != "inspect-hung" {
		t.Errorf("the cursor is on %q, want the worst", got)
	}
}

// TestTextsOfFindingsStand holds that figures change at most once a second as long
// as the findings stay the same, and at once when one comes or gets worse.
func TestTextsOfFindingsStand(t *testing.T) {
	all := hungFindings()[:1]
	s := newStage(t, 160, 40)
	say := func(after time.Duration, out string, found ...diagnose.Finding) string {
		found[0].Summary = "no answer for " + out
		snap := hungNode()
		snap.At = noon.Add(after)
		return s.find(found...).show(snap).m.findings.current().Summary
	}
	worse := append(hungFindings()[:1], hungFindings()[2])
	for _, tt := range []struct {
		after time.Duration
		found []diagnose.Finding
		out   string
		want  string
	}{
		{0, all, "47.1s", "47.1s"},
		{250 * time.Millisecond, hungFindings()[:1], "47.3s", "47.1s"},
		{500 * time.Millisecond, worse, "47.6s", "47.6s"},
		{1400 * time.Millisecond, append(hungFindings()[:1], hungFindings()[2]), "48.5s", "47.6s"},
		{1500 * time.Millisecond, append(hungFindings()[:1], hungFindings()[2]), "48.6s", "48.6s"},
	} {
		if got := say(tt.after, tt.out, tt.found...); got != "no answer for "+tt.want {
			t.Errorf("after %v: %q, want that of %s", tt.after, got, tt.want)
		}
	}
}
