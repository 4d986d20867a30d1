package report

import (
	"slices"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/waits"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
	"github.com/plegtop/plegtop/ui/widget"
)

// AnswerLabels is how wide the labels of an answer are, with the gap after them.
const AnswerLabels = 12

// How much an [Answer] says: each says what those before it say, too.
const (
	AnswerAct      = iota // what ends it, or where nothing does what checks it
	AnswerCheck           // what checks it
	AnswerRisk            // what is risked by acting
	AnswerChain           // who waits for whom
	AnswerEvidence        // a line of evidence; each more than this is a line more
)

// Answer returns what a person needs first about what is wrong: who waits for whom, the
// command that checks it, the command that ends it, and what that risks. It has no rows where
// nothing is wrong. At is now.
func Answer(o Form, a diagnose.Answer, at time.Time, much int) widget.Section {
	s := widget.Section{}
	if much >= AnswerChain {
		s.Rows = o.inline(a, at)
	}
	if much >= AnswerCheck || a.Act.Command == "" {
		s.Add(widget.Row{Label: "check", Command: a.Check.Command, Note: a.Check.Text})
		if a.Check.Dumps() && much >= AnswerRisk { // it looks like the end of the runtime
			s.Add(widget.Styled("", widget.Plain, o.Theme.Dim, "harmless: the runtime goes on, and plegtop reads the file that it writes"))
		}
	}
	for _, r := range acting(o, a.Act) {
		if much >= AnswerRisk || r.Label != risk {
			s.Add(r)
		}
	}
	for i := range min(len(a.Evidence), much-AnswerEvidence+1) {
		label := ""
		if i == 0 {
			label = "evidence"
		}
		s.Add(widget.Fact(label, widget.Plain, a.Evidence[i]))
	}
	return s
}

// risk is the label of what is risked.
const risk = "RISK"

// acting returns what ends it, when to do so, and what that risks, which is not left out where it is
// nothing; where no command does, in words what to do.
func acting(o Form, s diagnose.Step) []widget.Row {
	t := o.Theme
	risks := widget.Styled(risk, widget.Plain, theme.When(s.Risky(), t.Warn, t.Dim), s.Risk)
	switch {
	case s == (diagnose.Step{}):
		return nil
	case s.Command == "" && s.Risky():
		return []widget.Row{widget.Styled("act", widget.Plain, t.Warn, s.Says()), risks}
	case s.Command == "":
		return []widget.Row{widget.Styled("act", widget.Plain, t.Text, s.Says())}
	}
	rows := []widget.Row{{Label: "act", Command: s.Command, Note: s.Text}}
	if s.When != "" {
		rows = append(rows, widget.Fact("when", widget.Plain, s.When))
	}
	return append(rows, risks)
}

// inline returns the chain of an answer as text of as few lines as it takes. A call
// says since when it is so; where the chain is to be cut a mark stands behind it.
func (o Form) inline(a diagnose.Answer, at time.Time) []widget.Row {
	t, parts := o.Theme, diagnose.ChainParts(a.Chain)
	if len(parts) < 2 {
		return nil
	}
	rows, left := []widget.Row{{Label: "chain"}}, o.Width
	add := func(all []text.Span) {
		w := cells(all)
		if o.Width > 0 && w > left+1 && left < o.Width { // the gap after the last may be cut
			rows, left = append(rows, widget.Row{Label: " "}), o.Width
		}
		left -= w
		r := &rows[len(rows)-1]
		r.Spans = append(r.Spans, all...)
	}
	for i, p := range parts {
		for _, unit := range o.units(p, i == 0, at) {
			add(unit)
		}
	}
	if last := parts[len(parts)-1]; last.Kind == waits.Call { // a call that waits for something else, which nobody has found
		unknown := theme.When(a.Check.Dumps(), "not known: check asks the runtime", "not known what it waits for")
		for word := range strings.FieldsSeq(t.Symbols.Step + " " + unknown) {
			add([]text.Span{text.Say(t.Dim, word).In(text.Width(word) + 1)})
		}
	}
	return rows
}

// units returns a part of a chain in pieces that no line breaks: its words, or, where it is to be
// cut and a line holds it with its mark, all of it.
func (o Form) units(p diagnose.ChainPart, first bool, at time.Time) (all [][]text.Span) {
	t := o.Theme
	said := func(st theme.Style, s string) text.Span { return text.Say(st, s).In(text.Width(s) + 1) }
	var lead []text.Span
	if !first {
		lead = append(lead, said(t.Dim, t.Symbols.Step))
	}
	if p.Likely {
		lead = append(lead, said(t.Warn, "likely"))
	}
	for word := range strings.FieldsSeq(p.Text + age(p, at)) {
		all = append(all, append(lead, said(t.Strong, word)))
		lead = nil
	}
	if p.Cut == nil {
		return all
	}
	act := theme.When(p.Kind == waits.Goroutine, "act on the runtime", "act here") // nobody can act on a goroutine
	all = append(all, []text.Span{said(t.Warn, t.Symbols.Left+" "+act)})
	if whole := slices.Concat(all...); cells(whole) <= o.Width+1 { // the gap after the last may be cut
		return [][]text.Span{whole}
	}
	return all
}

// cells is how wide spans are in all.
func cells(all []text.Span) (w int) {
	for _, s := range all {
		w += s.Width
	}
	return w
}

// age says for how long a part of a chain has been so, where its text does not say that.
func age(p diagnose.ChainPart, at time.Time) string {
	if p.Since.IsZero() || p.Kind != waits.Call {
		return ""
	}
	return " " + text.Age(at.Sub(p.Since))
}
