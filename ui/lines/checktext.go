package lines

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/waits"
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
		headline(d, t, u)
		findings(d, report.Form{Theme: t, Width: o.Width, Brief: true}, u)
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

// headline writes the one line that a person in a hurry reads. Where something holds it
// all up it ends with that, and has before it what comes next.
func headline(d *widget.Doc, t *theme.Theme, u diagnose.Update) {
	h := u.Headline
	symbol, look := say.HeadlineLook(t, h)
	head, said := symbol+" "+text.Clean(h.Word), clauses(h)
	if last := say.LastProven(chainOf(u.Findings)); last.Name != "" {
		if next := say.Countdown(h); next != "" {
			head += " (" + text.Clean(next) + ")"
		}
		said = text.After(h.Word, h.Text)
		named := last.Kind == waits.Relist || last.Kind == waits.Call || // that is what hangs, and no cause
			last.Kind == waits.Kernel && last.NamedIn(said) || // with its process
			strings.Contains(said, last.Name) && (last.Kind == waits.Container || strings.Contains(said, " -> ")) // also where more follows
		if !named && !strings.HasSuffix(said, last.Name) {
			said = strings.TrimLeft(said+" -> "+last.Name, " ->")
		}
	}
	d.Sections(widget.Section{Rows: []widget.Row{{
		Mark: text.Say(look, head).In(text.Width(head) + 2), Hang: 2, Spans: []text.Span{text.Say(t.Strong, said)},
	}}})
}

// chainOf returns the chain of the first critical finding that has one.
func chainOf(all []diagnose.Finding) []diagnose.Link {
	i := slices.IndexFunc(all, func(f diagnose.Finding) bool { return f.Severity == diagnose.Critical && len(f.Chain) > 0 })
	if i < 0 {
		return nil
	}
	return all[i].Chain
}

// findings writes all of them, each effect under its cause. A summary that the
// headline holds is not written again, and neither is a step or a chain: what an effect
// calls for is often what its cause calls for.
func findings(d *widget.Doc, o report.Form, u diagnose.Update) {
	written, width := map[string]bool{}, o.Width
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
	for _, l := range say.Cuts(f.Chain) {
		note(cmp.Or(l.Cut.Command, l.Cut.Text))
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
