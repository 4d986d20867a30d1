package ui

import (
	"fmt"
	"strings"
	"testing"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/findings"
	"github.com/plegtop/plegtop/ui/pane"
)

// folded is a finding about several pods of one owner.
func folded() diagnose.Finding {
	f := diagnose.Finding{
		ID: diagnose.CrashLoop, Severity: diagnose.Warning, Group: "shop/cart", Count: 60,
		Summary:  "60 pods of shop/cart crash alike, the worst has died 9 times",
		Evidence: []string{"exit codes 137, 137, 137"},
		Next:     []diagnose.Step{{Kind: diagnose.Look, Text: "see what it wrote", Command: "crictl logs --previous 8f2a"}},
	}
	for i := range 3 {
		ref := pleg.PodRef{UID: pleg.UID(fmt.Sprint("u", i)), Namespace: "shop", Name: fmt.Sprint("cart-", i)}
		f.Members = append(f.Members, diagnose.Subject{ObjectRef: pleg.ObjectRef{ID: fmt.Sprint("c", i), Pod: ref, Container: "cart"}})
		f.Evidence = append(f.Evidence, fmt.Sprintf("%v/cart died %d times, last with 137", ref, 9-i))
	}
	f.Subject = f.Members[0]
	return f
}

// findingsShow returns a stage with the pane of some findings.
func findingsShow(w, h int, found ...diagnose.Finding) *Stage {
	return NewStage(findings.New(pane.Settings{}), With(View(Unhealthy()), found...), w, h)
}

// findingsUnder names what the cursor is on: the id of a finding, or a pod.
func findingsUnder(s *Stage) string {
	switch on := s.Subject(); {
	case on.Finding != nil:
		return string(on.Finding.ID)
	default:
		return on.Pod.Name
	}
}

func TestFindingsGolden(t *testing.T) {
	findingsShow(118, 35, Chained()...).Press("space").Golden(t, "chain")
	for want, s := range map[string]*Stage{
		"no findings yet": findingsShow(78, 19),
		"✔ No findings. R checks every container":                            NewStage(findings.New(pane.Settings{}), Ended(With(View(Healthy())), Findings()[:1]...), 78, 19),
		"✖ ended    inspect-hung   lasted 47s, over 1m ago: ContainerStatus": NewStage(findings.New(pane.Settings{}), Ended(With(View(Healthy()), Findings()[1]), Findings()[0], Findings()[2]), 78, 19),
	} {
		if s.Check(t); s.Row(want) == "" {
			t.Errorf("no line says %q:\n%s", want, s.Text())
		}
	}
	findingsShow(78, 19, HostileFindings()...).EverySize(t)
}

// TestCursorStaysOnItsFinding holds that it does once a person has put it there, and
// that until then it is on the worst.
func TestCursorStaysOnItsFinding(t *testing.T) {
	all := Findings()
	s := findingsShow(80, 20, all[1:2]...)
	if got := findingsUnder(s.Show(With(s.V, all...))); got != "inspect-hung" {
		t.Errorf("a cursor that nobody has moved is on %q, want the worst", got)
	}
	s = findingsShow(80, 20, all[1:2]...).Press("j")
	if got := findingsUnder(s.Show(With(s.V, all...))); got != "crash-loop" {
		t.Errorf("the cursor went from crash-loop to %q", got)
	}
	if got := findingsUnder(s.Show(With(s.V, all[0], all[2]))); got != "pleg-unhealthy" {
		t.Errorf("once its finding has gone, the cursor is on %q", got)
	}
	if s.Show(With(s.V)); s.Subject() != (pane.Subject{}) {
		t.Error("a cursor where there is no finding")
	}
}

// TestUnfolds holds that a finding about several leads to each of them.
func TestUnfolds(t *testing.T) {
	s := findingsShow(110, 20, append(Findings()[:1], folded())...).Press("G")
	if s.Row("cart-1/cart died 8 times") != "" || s.Row("crash-loop ▸") == "" {
		t.Fatalf("it is not folded:\n%s", s.Text())
	}
	for _, key := range []string{"space", "l", "right"} {
		s.Press(key)
		for _, want := range []string{"crash-loop ▾", "├ shop/cart-0/cart died 9 times", "├ shop/cart-2/cart died 7 times", "└ and 57 more"} {
			if s.Row(want) == "" {
				t.Errorf("after %s no row says %q:\n%s", key, want, s.Text())
			}
		}
		if findingsUnder(s) != "crash-loop" {
			t.Errorf("%s moves the cursor to %q", key, findingsUnder(s))
		}
		if s.Press("j", "j", "l"); findingsUnder(s) != "cart-1" {
			t.Errorf("right on one of them leads to %q", findingsUnder(s))
		}
		s.Press("enter")
		want := pane.Subject{ObjectRef: pleg.ObjectRef{ID: "c1", Pod: folded().Members[1].Pod, Container: "cart"}}
		if got := s.Sheets[len(s.Sheets)-1]; got != want || findingsUnder(s) != "cart-1" {
			t.Errorf("enter opens %+v, want %+v", got, want)
		}
		if s.Press("c"); s.Clip != "cart-1" {
			t.Errorf("c copies %q", s.Clip)
		}
		if s.Press("left"); findingsUnder(s) != "crash-loop" || s.Row("cart-1") != "" {
			t.Errorf("left leaves the cursor on %q:\n%s", findingsUnder(s), s.Text())
		}
	}
	s.Press("space", "space")
	if s.Row("cart-1") != "" {
		t.Error("space does not fold")
	}
	if s.Press("g", "space"); s.Said != "nothing to unfold here" {
		t.Errorf("space on one about a single pod says %q", s.Said)
	}
	// Which they are may change while it is unfolded.
	s.Press("G", "space", "j")
	less := folded()
	less.Members, less.Evidence, less.Count = less.Members[1:], less.Evidence[2:], 2
	less.Subject = less.Members[0]
	if s.Show(With(s.V, less)); s.Row("├ shop/cart-1") == "" || s.Row("└ shop/cart-2") == "" || s.Row("cart-0") != "" || s.Row("more") != "" {
		t.Errorf("after one got well:\n%s", s.Text())
	}
}

func TestOpens(t *testing.T) {
	s := findingsShow(80, 20, Findings()...).Press("enter")
	if got := s.Sheets; len(got) != 1 || got[0].Finding.ID != diagnose.InspectHung || got[0].Pod.Name != "nfs-client" || got[0].Container != "app" {
		t.Errorf("enter opens %+v", got)
	}
	if s := findingsShow(80, 20).Press("enter"); s.Sheets != nil || s.Said != "no finding is under the cursor" {
		t.Errorf("where there is no finding enter opens %+v and says %q", s.Sheets, s.Said)
	}
}

func TestFindingsCopy(t *testing.T) {
	for name, tt := range map[string]struct {
		next       []diagnose.Step
		clip, said string
	}{
		"the first that is safe":  {[]diagnose.Step{{Text: "think"}, {Command: "kill -9 1", Kind: diagnose.Act, Risk: "it may do harm", Scope: "pod"}, {Command: "crictl ps"}, {Command: "ps"}}, "crictl ps", "copied crictl ps"},
		"only risky ones":         {[]diagnose.Step{{Command: "kill -9 1", Kind: diagnose.Act, Risk: "it may do harm", Scope: "pod"}}, "", "no safe command to copy here"},
		"none":                    {nil, "", "no safe command to copy here"},
		"what is seen is not all": {[]diagnose.Step{{Command: "crictl ps '\x1b[201~\nreboot\n'"}}, "", "not copied: a name in the command holds characters that cannot be seen"},
	} {
		if s := findingsShow(120, 20, diagnose.Finding{ID: "x", Next: tt.next}).Press("c"); s.Clip != tt.clip || s.Said != tt.said {
			t.Errorf("%s: copied %q, want %q; said %q, want %q", name, s.Clip, tt.clip, s.Said, tt.said)
		}
	}
	one := folded()
	one.Members[0].Pod.Name = Nasty
	if s := findingsShow(120, 20, one).Press("space", "j", "c"); s.Clip == "" || strings.ContainsAny(s.Clip, "\x1b\x07\u009b\n\u202E") {
		t.Errorf("of a hostile name %q is copied", s.Clip)
	}
}

// TestEndedComeBelow holds that what has ended lately is seen below what holds, can be
// opened, and is told apart from the like of it that holds.
func TestEndedComeBelow(t *testing.T) {
	all := Findings()
	v := Ended(With(View(Hung()), all[0]), all[0], all[2])
	v.Ended[1].Severity = diagnose.Warning // at its end
	s := NewStage(findings.New(pane.Settings{}), v, 120, 20)
	lines := s.Text()
	holds, line, over := strings.Index(lines, "✖ critical inspect-hung"), strings.Index(lines, "── recently resolved ─"), strings.Index(lines, "✖ ended    inspect-hung")
	if holds < 0 || line < holds || over < line {
		t.Errorf("lines\n%s", lines)
	}
	if s.Row("✖ ended    pleg-unhealthy") == "" {
		t.Errorf("how bad it was is not seen:\n%s", lines)
	}
	if row := s.Row("ended    inspect-hung"); !strings.Contains(row, "lasted 47s, over 1m ago: ContainerStatus default/nfs-client/app") {
		t.Errorf("row %q", row)
	}
	for i, want := range []*diagnose.Finding{&s.V.Findings[0], &s.V.Ended[0].Finding, &s.V.Ended[1].Finding, &s.V.Ended[1].Finding} {
		if got := s.Subject().Finding; got != want {
			t.Errorf("%d down: the cursor is on %v", i, got.ID)
		}
		s.Press("j")
	}
}

func TestNothingFound(t *testing.T) {
	paused := Healthy()
	paused.Paused = true
	for want, snap := range map[string]*engine.Snapshot{
		"waiting for the first list":                              {},
		"✔ No findings. R checks every container":                 Healthy(),
		"no findings yet":                                         Failing(),
		"paused: not judged":                                      paused,
		"no findings so far; CHECK ALL 120/330, 0 hung, 0 failed": WithSweep(SweepOf(120, false)),
	} {
		if s := NewStage(findings.New(pane.Settings{}), With(View(snap)), 80, 20); s.Row(want) != want {
			t.Errorf("%q is not shown:\n%s", want, s.Text())
		}
	}
}

func TestOrderIsThatOfCauses(t *testing.T) {
	for _, a := range []keymap.Action{keymap.SortNext, keymap.SortPrev, keymap.SortInvert} {
		if s := findingsShow(80, 20, Findings()...).Act(a); !strings.Contains(s.Said, "order of their causes") {
			t.Errorf("%s says %q", a, s.Said)
		}
	}
}

func TestFindingsEverySize(t *testing.T) {
	findingsShow(1, 1, append(Findings(), folded())...).Press("G", "space").EverySize(t)
	findingsShow(1, 1, HostileFindings()...).EverySize(t)
	findingsOpen(1, 1, 0, Findings()...).EverySize(t)
	findingsOpen(1, 1, 0, HostileFindings()...).EverySize(t)
}

// TestChainUnfolds holds that a finding unfolds its chain, and folds it again.
func TestChainUnfolds(t *testing.T) {
	s := findingsShow(78, 40, Chained()...)
	link := "runc update for 10m, pid 4800"
	if s.Row("list-hung ▸") == "" || s.Row(link) != "" {
		t.Fatalf("at first:\n%s", s.Text())
	}
	if s.Press("space"); s.Row("list-hung ▾") == "" || s.Row(link) == "" {
		t.Errorf("unfolded:\n%s", s.Text())
	}
	if s.Press("h"); s.Row("list-hung ▸") == "" || s.Row(link) != "" {
		t.Errorf("folded again:\n%s", s.Text())
	}
	s.Press("l").EverySize(t)
}
