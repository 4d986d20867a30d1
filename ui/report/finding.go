// Package report says what is known of a finding, a node and its event sources, and the calls
// of an operation as sections of rows, once for the screen and for lines: a [widget.Doc] prints them. Its texts are not
// cleaned: that is done where they are printed. All of it is pure and safe for concurrent
// use.
package report

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/waits"
	"github.com/plegtop/plegtop/ui/say"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
	"github.com/plegtop/plegtop/ui/widget"
)

// A Form says for what a report is written.
type Form struct {
	Theme *theme.Theme
	Width int  // cells that rows have behind labels or marks; 0 for as many as they take
	Brief bool // one row where a sheet has several, for text
}

// A Found is a finding, and what else there is to say of it.
type Found struct {
	*diagnose.Finding
	Ended   *diagnose.Ended // nil while it holds
	At      time.Time       // now
	LeadsTo []string        // the kinds of findings that it explains
}

// Finding returns what is known of a finding: what is wrong, and what ends it; who waits for
// whom; what shows it; what to do next; and last what it is about, as its names stand in
// the first line.
func Finding(o Form, f Found) []widget.Section {
	return []widget.Section{o.head(f), o.context(f), o.chain(f.Chain), o.evidence(f.Evidence), o.steps(f.Finding), o.subject(f.Finding)}
}

func (o Form) head(f Found) (s widget.Section) {
	symbol, st := say.SeverityLook(o.Theme, f.Severity)
	first := widget.Row{Mark: text.Say(st, symbol), Hang: 2, Spans: []text.Span{text.Say(o.Theme.Strong, f.Summary)}}
	if o.Brief {
		first.Mark.Text += " " + f.Severity.String() + " " + string(f.ID)
		first.Spans = []text.Span{text.Say(o.Theme.Text, say.Summary(f.Finding))}
		if f.Summary != "" {
			first.Mark.Text += ":"
		}
	}
	first.Mark.Width = text.Width(first.Mark.Text) + 1
	s.Rows = append(s.Rows, first)
	if e := f.Ended; e != nil {
		over := "over for " + text.AgeCoarse(f.At.Sub(e.End)) + ", it lasted " + text.Age(e.End.Sub(e.Began)) + "; this is the last of it"
		s.Add(widget.Row{Mark: text.Say(o.Theme.Good, o.Theme.Symbols.Good).In(2), Hang: 2, Spans: []text.Span{text.Say(o.Theme.Good, over)}})
	}
	return s
}

// context says what holds a finding up, and what it is part of.
func (o Form) context(f Found) (s widget.Section) {
	if !o.Brief { // in text the answer stands above, and each effect below its cause
		s.Add(Holders(o, f.Finding)...)
		s.Add(widget.Fact("because of", widget.Plain, string(f.Cause)), widget.Fact("leads to", widget.Plain, strings.Join(f.LeadsTo, ", ")))
	}
	return s
}

// Holders names what holds up what a finding is about, and the command that cuts that: first,
// so that a person sees both in the smallest window.
func Holders(o Form, f *diagnose.Finding) []widget.Row {
	var s widget.Section
	for _, l := range say.Cuts(f.Chain) {
		if !f.IsAbout(l) {
			label := "cause"
			switch {
			case l.Kind == waits.Goroutine: // why it waits is not known
				label = "held at"
			case l.Proof == "":
				label = "probable cause"
			}
			s.Add(widget.Styled(label, widget.Plain, o.Theme.Strong, l.Name))
		}
		s.Add(acting(o, *l.Cut)...)
	}
	return s.Rows
}

// chain draws what waits for what.
func (o Form) chain(chain []diagnose.Link) widget.Section {
	s := widget.Section{Title: "Blocking chain", Word: "chain"}
	s.Lines(say.Chain(o.Theme, chain, o.Width))
	return s
}

func (o Form) evidence(lines []string) widget.Section {
	s := widget.Section{Title: "Evidence", Word: "evidence"}
	for _, line := range lines {
		s.Add(widget.Row{Mark: text.Say(o.Theme.Dim, "  "+o.Theme.Symbols.Bullet).In(4), Spans: []text.Span{text.Say(o.Theme.Text, line)}})
	}
	return s
}

// steps returns what to do next, but for what cuts the chain. A command has lines of its own,
// so that it can be taken with the mouse where the terminal has no clipboard.
func (o Form) steps(f *diagnose.Finding) widget.Section {
	s, cuts := widget.Section{Title: "Next", Word: "next"}, say.Cuts(f.Chain)
	for _, step := range f.Next {
		if !o.Brief && slices.ContainsFunc(cuts, func(l diagnose.Link) bool { return l.Cut.Same(step) }) {
			continue
		}
		what, st := say.Step(o.Theme, step)
		number := text.Say(o.Theme.Dim, "  "+strconv.Itoa(len(s.Rows)+1)).In(5)
		s.Add(widget.Row{Mark: number, Spans: []text.Span{text.Say(st, what)}, Command: step.Command})
	}
	return s
}

// subject names what a finding is about, with ids in full.
func (o Form) subject(f *diagnose.Finding) widget.Section {
	about, s := f.Subject, widget.Section{Title: "Subject", Word: "subject"}
	if f.Count > 1 {
		s.Title += ", the first of " + strconv.Itoa(f.Count)
	}
	if o.Brief {
		on := say.Subject(about)
		if on != "" && about.ID != "" {
			on += ", id " + pleg.ShortID(about.ID)
		}
		s.Add(widget.Fact("", widget.Plain, on))
		return s
	}
	for _, r := range [][2]string{
		{"call", about.Operation}, {"namespace", about.Pod.Namespace}, {"pod", about.Pod.Name}, {"uid", string(about.Pod.UID)},
		{"container", about.Container}, {"id", about.ID}, {"guide", explain(f)},
	} {
		s.Add(widget.Fact(r[0], widget.Plain, r[1]))
	}
	return s
}

// explain is the command that says what such a finding means.
func explain(f *diagnose.Finding) string { return "plegtop explain " + string(f.ID) }
