package ui

import (
	"slices"
	"strconv"
	"strings"

	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/ui/finding"
	"github.com/plegtop/plegtop/ui/text"
)

// A findingSheet is the screen of one finding. It keeps the finding after that
// has gone, so that it can be read to its end.
type findingSheet struct {
	sheet
	open  bool
	of    diagnose.Finding
	ended *diagnose.Ended // nil while it holds
}

// numberWidth is how wide the numbers of the next steps are, with their indent.
const numberWidth = 5

// observe brings the sheet up to date with what was found, for w cells.
func (s *findingSheet) observe(b pen, all *findings, w int) {
	if !s.open {
		return
	}
	s.follow(all)
	s.anew()
	s.summary(b, all, w)
	s.evidence(b, w)
	s.steps(b, w)
	s.subject(b)
	s.clamp(s.size())
}

// follow takes over the finding as it is now, or its end. What has ended stays
// so, though the like of it may come again.
func (s *findingSheet) follow(all *findings) {
	if s.ended != nil {
		return
	}
	if i := slices.IndexFunc(all.all, func(f diagnose.Finding) bool { return f.Key() == s.of.Key() }); i >= 0 {
		s.of = all.all[i]
	} else if i := slices.IndexFunc(all.past, func(e diagnose.Ended) bool { return e.Key() == s.of.Key() }); i >= 0 {
		s.of, s.ended = all.past[i].Finding, &all.past[i]
	}
}

func (s *findingSheet) summary(b pen, all *findings, w int) {
	symbol, st := finding.Look(b.Theme, s.of.Severity)
	s.paragraph(b.Strong, s.of.Summary, w, slot{st, symbol, 2})
	if e := s.ended; e != nil {
		over := " over for " + text.AgeCoarse(b.at.Sub(e.End)) + ", it lasted " + text.Age(e.End.Sub(e.Began)) + "; this is the last of it"
		s.add(slot{b.Good, b.Symbols.Good + over, 0})
	}
	if s.of.Cause != "" {
		s.add(slot{b.Dim, "  because of", 13}, slot{b.Text, string(s.of.Cause), 0})
	}
	if effects := effectsOf(all.all, s.of.ID); effects != "" {
		s.add(slot{b.Dim, "  leads to", 13}, slot{b.Text, effects, 0})
	}
}

// effectsOf lists the kinds of findings that those of kind id explain.
func effectsOf(all []diagnose.Finding, id diagnose.ID) string {
	var out []string
	for i := range all {
		if all[i].Cause == id {
			out = append(out, string(all[i].ID))
		}
	}
	return strings.Join(out, ", ")
}

// subject adds what the finding is about, ids in full: last, as its names stand in
// the first line.
func (s *findingSheet) subject(b pen) {
	about := s.of.Subject
	if about == (diagnose.Subject{}) {
		return
	}
	s.section(b, pick(s.of.Count > 1, "Subject, the first of "+strconv.Itoa(s.of.Count), "Subject"))
	for _, f := range []struct{ label, text string }{
		{"call", about.Operation}, {"namespace", about.Pod.Namespace}, {"pod", about.Pod.Name}, {"uid", string(about.Pod.UID)},
		{"container", about.Container}, {"id", about.ContainerID},
	} {
		if f.text != "" {
			s.add(slot{b.Dim, "  " + f.label, 12}, slot{b.Text, f.text, 0})
		}
	}
}

func (s *findingSheet) evidence(b pen, w int) {
	if len(s.of.Evidence) == 0 {
		return
	}
	s.section(b, "Evidence")
	for _, line := range s.of.Evidence {
		s.paragraph(b.Text, line, w, slot{b.Dim, "  " + b.Symbols.Bullet, 4})
	}
}

// steps adds what to do next. A command has lines of its own, so that it can be
// taken with the mouse where the terminal has no clipboard.
func (s *findingSheet) steps(b pen, w int) {
	if len(s.of.Next) == 0 {
		return
	}
	s.section(b, "Next")
	for i, step := range s.of.Next {
		number := slot{b.Dim, "  " + strconv.Itoa(i+1), numberWidth}
		what, st := step.Text, b.Text
		if step.Risky {
			what, st = b.Symbols.Warn+" risky, changes the node: "+what, b.Warn
		}
		s.paragraph(st, what, w, number)
		if step.Command != "" {
			s.paragraph(b.Key, step.Command, w, slot{b.Dim, "", numberWidth})
		}
	}
}
