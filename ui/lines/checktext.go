package lines

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/ui/report"
	"github.com/plegtop/plegtop/ui/say"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
	"github.com/plegtop/plegtop/ui/widget"
)

const (
	labels = 12 // cells of a label with the gap after it
	inward = 4  // of what belongs to the line above
	narrow = 24 // a text is never wrapped to fewer cells, however narrow the terminal
)

// appendText appends the check for people: the headline, the findings, what was
// seen, and the table of calls.
func appendText(b []byte, u diagnose.Update, o CheckOptions) []byte {
	return o.write(b, func(d *widget.Doc, t *theme.Theme) {
		form, written := report.Form{Theme: t, Width: o.Width, Brief: true}, map[string]bool{}
		headline(d, form, u, written)
		findings(d, form, u, written)
		d.Line()
		d.Sections(facts(u, o)...)
		d.Line()
		calls(d, t, u.Snapshot)
	})
}

// write appends what is written as text, wrapped at the width if there is one.
func (o CheckOptions) write(b []byte, write func(d *widget.Doc, t *theme.Theme)) []byte {
	look := o.Theme
	if look.Symbols.Ellipsis == "" {
		look = theme.Default()
	}
	if !o.Colour {
		look = theme.Theme{Symbols: look.Symbols}
	}
	d := widget.Doc{Beside: true, Labels: labels}
	d.Write(widget.Pen{Theme: &look}, o.Width, 0, func(d *widget.Doc) { write(d, &look) })
	return d.Append(b)
}

// headline writes the line that a person in a hurry reads, and below it the answer: who waits
// for whom, what to check, what to do, what that risks, and whom it is about.
func headline(d *widget.Doc, o report.Form, u diagnose.Update, written map[string]bool) {
	h, t := u.Headline, o.Theme
	symbol, look := say.HeadlineLook(t, h)
	head := symbol + " " + text.Clean(h.Word)
	d.Sections(widget.Section{Rows: []widget.Row{{
		Mark: text.Say(look, head).In(text.Width(head) + 2), Hang: 2, Spans: []text.Span{text.Say(t.Strong, say.Clauses(h))},
	}}})
	a := u.Answer()
	if a.Severity < diagnose.Warning {
		return
	}
	if o.Width > 0 {
		o.Width = max(o.Width-labels, narrow)
	}
	s := report.Answer(o, a, u.Snapshot.At, report.AnswerEvidence-1)
	s.Add(widget.Fact("affected", widget.Plain, u.Affected()))
	d.Sections(s)
	for _, step := range []diagnose.Step{a.Check, a.Act} {
		written[cmp.Or(step.Command, step.Text)] = true
	}
}

// findings writes all of them, each effect under its cause. A summary that the
// headline holds is not written again, and neither is a step or a chain: what an effect
// calls for is often what its cause calls for.
func findings(d *widget.Doc, o report.Form, u diagnose.Update, written map[string]bool) {
	width := o.Width
	for _, r := range say.FindingTree(u.Findings) {
		if d.Indent = r.Depth * (inward + 2); r.Depth > 0 {
			d.Line(text.Span{Width: d.Indent - 2}, text.Say(o.Theme.Dim, "leads to"))
		} else {
			d.Line()
		}
		f := fresh(r.Finding, written)
		if strings.Contains(u.Headline.Text, say.Summary(&f)) {
			f.Summary = ""
		}
		if width > 0 {
			o.Width = max(width-d.Indent-inward-labels, narrow)
		}
		all := report.Finding(o, report.Found{Finding: &f})
		d.Sections(all[0])
		d.Indent += inward
		d.Sections(all[1:]...)
	}
	d.Indent = 0
}

// fresh returns a finding less the steps and the chain that are written, and takes down
// those that it has.
func fresh(of *diagnose.Finding, written map[string]bool) diagnose.Finding {
	note := func(s string) (was bool) {
		was, written[s] = written[s], true
		return was
	}
	f := *of
	if note(diagnose.ChainLine(f.Chain)) {
		f.Chain = nil
	}
	f.Next = slices.DeleteFunc(slices.Clone(f.Next), func(s diagnose.Step) bool { return note(cmp.Or(s.Command, s.Text)) })
	return f
}

// calls writes the table of calls that were made.
func calls(d *widget.Doc, t *theme.Theme, s *engine.Snapshot) {
	var rows [][]text.Span
	for _, c := range s.Calls {
		if !made(c) {
			continue
		}
		took := []string{"-", "-", "-"}
		if c.Count > 0 {
			took = []string{text.Took(c.P50), text.Took(c.P99), text.Took(c.Max)}
		}
		cells := slices.Concat([]string{c.Op.String(), text.Count(c.Count), text.Count(c.Errors), text.Count(c.Gone)},
			took, []string{out(s, c), text.Bytes(c.ResponseBytes)})
		rows = append(rows, text.Each(theme.When(c.Errors > 0 || c.InFlight > 0, t.Warn, t.Text), cells...))
	}
	table(d, t, rows, "call", "count", "errors", "gone", "p50", "p99", "max", "out", "bytes")
}

// table writes figures under their heads. The first column stands to the left.
func table(d *widget.Doc, t *theme.Theme, rows [][]text.Span, heads ...string) {
	columns := make([]text.Column, len(heads))
	for i, h := range heads {
		columns[i] = text.Column{Head: h, Left: i == 0}
	}
	for _, line := range text.Figures(t.Head, columns, rows) {
		d.Line(line...)
	}
}

// out says how many calls are out, and since when.
func out(s *engine.Snapshot, c answers.Calls) string {
	if c.InFlight == 0 {
		return "-"
	}
	return fmt.Sprintf("%d, %s", c.InFlight, text.Age(oldest(s, c.Op)))
}
