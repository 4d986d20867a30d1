package ui

import (
	"strings"
	"testing"

	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/findings"
	"github.com/plegtop/plegtop/ui/pane"
)

// findingsOpen returns a stage with the sheet of one of some findings.
func findingsOpen(w, h, which int, found ...diagnose.Finding) *Stage {
	v := With(View(Unhealthy()), found...)
	return NewStage(findings.Sheet(v, pane.Subject{Finding: &v.Findings[which]}), v, w, h)
}

func TestFindingsSheetGolden(t *testing.T) {
	findingsOpen(118, 35, 0, Chained()...).Golden(t, "sheet-chain")
	findingsOpen(78, 19, 0, HostileFindings()...).EverySize(t)
	folded := findingsOpen(78, 19, 0, folded())
	folded.Check(t)
	over := findingsOpen(78, 19, 2, Findings()...)
	over.Show(Ended(View(Healthy()), Findings()[2])).Check(t)
}

func TestSheetLeadsToItsPod(t *testing.T) {
	s := findingsOpen(80, 20, 0, Findings()...).Press("enter")
	if got := s.Sheets; len(got) != 1 || got[0].Finding != nil || got[0].Pod.Name != "nfs-client" || got[0].Container != "app" {
		t.Errorf("enter opens %+v", got)
	}
	if s.NoSheet = true; s.Press("enter").Said != "default/nfs-client has gone" {
		t.Errorf("of a pod that has gone it says %q", s.Said)
	}
	if s := findingsOpen(80, 20, 2, Findings()...).Press("enter"); s.Sheets != nil || s.Said != "this finding is about no pod" {
		t.Errorf("a finding about no pod opens %+v and says %q", s.Sheets, s.Said)
	}
}

// TestSheetCopies holds that the command under the cursor is copied, and a risky one only
// where a person has put the cursor.
func TestSheetCopies(t *testing.T) {
	all := Findings()
	steps := all[0].Next
	for _, h := range []int{4, 10, 40} {
		s := findingsOpen(120, h, 0, all...)
		if s.Press("c"); s.Clip != steps[0].Command {
			t.Errorf("in %d lines c copies %q at first", h, s.Clip)
		}
		for _, step := range steps {
			for range 20 {
				if s.Press("c"); s.Clip == step.Command && s.Row(step.Command[:10]) != "" {
					break
				}
				s.Press("j")
			}
			if s.Clip != step.Command || s.Row(step.Command[:10]) == "" {
				t.Errorf("in %d lines %q is out of reach:\n%s", h, step.Command, s.Text())
			}
		}
		s.Press("g")
		if s.Press("c"); s.Clip != steps[0].Command {
			t.Errorf("in %d lines, back at the top, c copies %q", h, s.Clip)
		}
	}
	// Steps may change while one is under the cursor.
	s := findingsOpen(120, 40, 0, all...).Press("j")
	all[0].Next = append([]diagnose.Step{{Kind: diagnose.Look, Text: "something new", Command: "true"}}, steps...)
	if s.Show(With(s.V, all...)).Press("c"); s.Clip != steps[1].Command {
		t.Errorf("with a step more c copies %q", s.Clip)
	}
	risky := diagnose.Finding{ID: "x", Next: []diagnose.Step{{Text: "think"}, {Text: "kill it", Command: "kill -9 1", Kind: diagnose.Act, Risk: "it may do harm", Scope: "pod"}}}
	s = findingsOpen(120, 40, 0, risky)
	if s.Press("c"); s.Clip != "" || !strings.Contains(s.Said, "not copied, for it changes the node") {
		t.Errorf("without being asked for, a risky step is copied: %q, %q", s.Clip, s.Said)
	}
	if s.Act(keymap.Filter).Press("c"); s.Clip != "" {
		t.Errorf("a search counts as going to a risky step: %q", s.Clip)
	}
	if s.Press("c"); s.Clip != "kill -9 1" {
		t.Errorf("where a person asks again, a risky step is not copied: %q", s.Said)
	}
	s = findingsOpen(120, 40, 0, risky)
	if s.Press("j", "c"); s.Clip != "kill -9 1" {
		t.Errorf("where a person went to it, a risky step is not copied: %q", s.Said)
	}
	if s := findingsOpen(120, 40, 0, diagnose.Finding{ID: "x", Next: risky.Next[:1]}).Press("c"); s.Clip != "" || s.Said != "no safe command to copy here" {
		t.Errorf("without a command: %q, %q", s.Clip, s.Said)
	}
	if s := findingsOpen(120, 40, 0, HostileFindings()...).Press("c"); s.Clip != "" || !strings.Contains(s.Said, "cannot be seen") {
		t.Errorf("of a hostile command: %q, %q", s.Clip, s.Said)
	}
}

// TestSheetCutsTheChain holds that the command that cuts a chain stands at the head of
// the sheet only, not among the next steps, and that it is copied only where a person went to it.
func TestSheetCutsTheChain(t *testing.T) {
	all := Chained()
	cut := all[0].Next[1].Command
	for _, h := range []int{4, 16, 60} {
		s := findingsOpen(78, h, 0, all...)
		if n := strings.Count(findingsOpen(78, 80, 0, all...).Text(), cut); n != 1 {
			t.Errorf("the command that cuts is there %d times, want at the head only", n)
		}
		if s.Press("c"); s.Clip == cut {
			t.Errorf("in %d lines c copies what changes the node", h)
		}
		for range 30 {
			if s.Press("j", "c"); s.Clip == cut {
				break
			}
			s.Clip = ""
		}
		if h == 60 { // it is the first, and j goes on to the next
			s.Press("k", "c")
		}
		if s.Clip != cut {
			t.Errorf("in %d lines %q is out of reach:\n%s", h, cut, s.Text())
		}
	}
	all[0].Next, all[0].Chain[5].Proof = all[0].Next[:1], ""
	if got := findingsOpen(78, 60, 0, all...).Row("probable cause"); !strings.HasSuffix(got, "runc update for 10m") {
		t.Errorf("of what is not proven it says %q", got)
	}
	if s := findingsOpen(78, 60, 0, all...).Press("k", "c"); s.Clip != cut {
		t.Errorf("where no step says so too, it copies %q and says %q", s.Clip, s.Said)
	}
}
