package diagnose

import (
	"slices"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine/evidence"
)

// factsOf returns the facts of an input.
func factsOf(in Input) *Facts {
	s := *in.Snapshot
	s.Evidence = in.Evidence
	return new(kept).read(&s, in.Endpoint, nil)
}

// find returns the findings of one rule, without causes.
func find(r *Rule, f *Facts) (findings []Finding) {
	for _, d := range f.apply(r, nil) {
		f.draw(&d)
		findings = append(findings, d.Finding)
	}
	return findings
}

// by returns find for a rule.
func by(r *Rule) func(*Facts) []Finding { return func(f *Facts) []Finding { return find(r, f) } }

func leftRunning(f *Facts) []Finding {
	return slices.DeleteFunc(find(&orphanShims, f), func(o Finding) bool { return o.Group == "left-over" })
}

func has(findings []Finding, id ID) bool {
	return slices.ContainsFunc(findings, func(f Finding) bool { return f.ID == id })
}

// one returns a slice with the value, or nil if the value is empty.
func one(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}

// byHeld returns the headline of a node on which only these findings are wrong.
func (f *Facts) byHeld(all []Finding) Headline {
	f.holding = all
	h := f.byFindings()
	h.Text = h.text()
	return h
}

func asideOf(all []Finding) string { return (&Facts{holding: all}).aside() }

func (f *Facts) command(template string, v Values) (string, lack) {
	return adviser{f, v}.command(template)
}

func (f *Facts) posting() string { return strings.Join(f.textsOf(f.postingLine()), "") }

// behindFinding returns the processes behind a finding.
func (f *Facts) behindFinding(o *Finding) []evidence.Process {
	m := &Match{}
	for _, s := range o.Members {
		m.Members = append(m.Members, Member{Subject: s})
	}
	return f.processesBehind(&draft{*o, m})
}

// nextOf returns the headline that is shown after these.
func nextOf(s *steadyHeadline, h Headline, held []Finding, at, failed time.Time) Headline {
	h.parts = parts{effect: h.Text}
	if rest, is := strings.CutPrefix(h.Text, staysReady); is {
		h.parts.ready, h.parts.effect = staysReady, rest
	}
	return s.next(h, held, at, failed).made()
}
