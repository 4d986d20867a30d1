package findings

import (
	"fmt"
	"time"

	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/ui/pane"
	"github.com/plegtop/plegtop/ui/report"
	"github.com/plegtop/plegtop/ui/say"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
	"github.com/plegtop/plegtop/ui/widget"
)

// A row is a finding below the one that explains it, one of those that a finding sums up,
// or a finding that ended lately. One of no finding is the rule above these.
type row struct {
	say.FindingRow
	ended *diagnose.Ended   // nil while it holds
	one   *diagnose.Subject // nil for the finding itself
	chain bool              // who waits for whom, below the finding itself
	said  string            // of one
	last  bool              // the last of those that are shown, and more are not
	open  bool              // what it folds is shown

	answered bool // the answer above all panes says what ends it

	first string        // the first line of its text
	whole []text.Span   // the first line, of a chain
	below [][]text.Span // the lines after the first
}

// folds reports whether there is more of a row than its summary.
func (r *row) folds() bool { return len(r.Members) > 0 || len(r.Chain) > 1 }

// A place is what the cursor stands on.
type place struct {
	key   diagnose.Key
	ended time.Time // zero while it holds
	one   diagnose.Subject
}

// rowAt returns row i of all; one of no finding if there is none.
func rowAt(all []*row, i int) *row {
	if i >= len(all) {
		return new(row)
	}
	return all[i]
}

// place returns where the row stands; the zero place for one of no finding.
func (r *row) place() (p place) {
	if r.Finding == nil {
		return p
	}
	p.key = r.Key()
	if r.ended != nil {
		p.ended = r.ended.End
	}
	if r.one != nil {
		p.one = *r.one
	}
	return p
}

// about returns what the row is about.
func (r *row) about() diagnose.Subject {
	switch {
	case r.one != nil:
		return *r.one
	case r.Finding != nil:
		return r.Finding.Subject
	}
	return diagnose.Subject{}
}

// alike reports whether two rows differ at most in their texts.
func (r *row) alike(o *row) bool {
	if r.Finding == nil || o.Finding == nil {
		return r.Finding == o.Finding
	}
	return r.place() == o.place() && r.chain == o.chain && r.Severity == o.Severity && r.Effect == o.Effect && r.open == o.open && r.answered == o.answered &&
		len(r.Members) == len(o.Members) && len(r.Chain) == len(o.Chain)
}

// list returns the rows: what holds, and below that what ended.
func (f *findings) list(v *pane.View) []*row {
	var rows []*row
	for _, r := range say.FindingTree(v.Findings) {
		rows = f.add(rows, &row{FindingRow: r, answered: v.Led && r.Key() == v.Answer.Key()})
	}
	if len(v.Ended) > 0 {
		rows = append(rows, new(row))
	}
	for i := range v.Ended {
		e := &v.Ended[i]
		rows = f.add(rows, &row{FindingRow: say.FindingRow{Finding: &e.Finding}, ended: e})
	}
	return rows
}

// add adds a row, and if it is unfolded those that it sums up.
func (f *findings) add(rows []*row, r *row) []*row {
	r.open = r.folds() && f.open[r.Key()]
	if rows = append(rows, r); !r.open {
		return rows
	}
	if len(r.Chain) > 1 && r.ended == nil {
		chain := *r
		chain.chain = true
		rows = append(rows, &chain)
	}
	evidence := r.Evidence[max(0, len(r.Evidence)-len(r.Members)):]
	for i := range r.Members {
		one := *r
		one.one, one.last = &r.Members[i], i == len(r.Members)-1
		if one.said = say.Subject(*one.one); i < len(evidence) {
			one.said = evidence[i]
		}
		rows = append(rows, &one)
	}
	return rows
}

// Below leastTable cells the summary has lines of its own.
const (
	leastTable  = 70
	severities  = 10 // cells of the first column
	narrowStart = 2  // where the lines begin that a summary has of its own
	mostLines   = 5  // of one summary
	heldWidth   = 16 // of what stands before the name of what holds it up
)

// write writes the texts of rows.
func (f *findings) write(rows []*row) {
	indent := narrowStart
	if f.Measure(rows); f.wide() {
		indent = severities + 1 + f.Room("FINDING") + 1
	}
	for _, r := range rows {
		r.below = widget.Written(f.View.Pen(), f.width, func(d *widget.Doc) {
			switch {
			case r.chain:
				writeChain(d, f.View.Theme, r)
			case r.Finding != nil:
				f.writeRow(d, r, indent)
			}
		})
		if r.chain {
			r.whole, r.below = r.below[0], r.below[1:]
		}
	}
}

// writeRow writes the lines of a row after its first.
func (f *findings) writeRow(d *widget.Doc, r *row, indent int) {
	p, before := f.View.Pen(), text.Span{Width: indent}
	lines := text.Few(f.say(r), max(f.width-indent, 8), mostLines, p.Symbols.Ellipsis)
	if f.wide() || r.one != nil {
		r.first, lines = lines[0], lines[1:]
	}
	for _, line := range lines {
		d.Line(before, text.Say(r.look(p), line))
	}
	switch {
	case r.one != nil && r.last && r.more() > 0:
		d.Line(text.Span{Width: indent - 2}, text.Say(p.Border, p.Symbols.Last).In(2), text.Say(p.Dim, fmt.Sprintf("and %d more", r.more())))
	case r.one == nil && r.ended == nil:
		f.writeCuts(d, r, before)
	}
}

// writeCuts writes what holds a finding up, and what it is cut with; what explains a finding says so
// for it, and so does the answer above all panes.
func (f *findings) writeCuts(d *widget.Doc, r *row, before text.Span) {
	if r.Effect || r.answered {
		return
	}
	t := f.View.Theme
	for _, held := range report.Holders(report.Form{Theme: t}, r.Finding) {
		switch label := text.Say(t.Dim, held.Label).In(heldWidth); {
		case held.Command != "":
			d.Line(before, label, text.Say(t.Key, held.Command))
		default:
			d.Line(before, label, held.Spans[0])
		}
	}
}

func writeChain(d *widget.Doc, t *theme.Theme, r *row) {
	for _, line := range say.Chain(t, r.Chain, d.Width()-2) {
		last := line[len(line)-1]
		d.Paragraph(last.Style, last.Text, append([]text.Span{{Width: 2}}, line[:len(line)-1]...)...)
	}
}

// say returns what the pane says of r: its summary, or what it was once it is over.
func (f *findings) say(r *row) string {
	switch {
	case r.one != nil:
		return r.said
	case r.ended == nil:
		return say.Summary(r.Finding)
	}
	out := "lasted " + text.Age(r.ended.End.Sub(r.ended.Began)) + ", over " + text.AgeCoarse(f.since.Sub(r.ended.End)) + " ago"
	if on := say.Subject(r.Subject); on != "" {
		out += ": " + on
	}
	return out
}
