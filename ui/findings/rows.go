package findings

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/ui/finding"
	"github.com/plegtop/plegtop/ui/pane"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/widget"
)

// A row is a finding below the one that explains it, one of those that a finding sums up,
// or a finding that ended lately.
type row struct {
	finding.Row
	ended *diagnose.Ended   // nil while it holds
	one   *diagnose.Subject // nil for the finding itself
	said  string            // of one
	open  bool              // what it folds is shown
}

// folds reports whether there is more of a row than its summary.
func (r row) folds() bool { return len(r.Members) > 0 || len(r.Chain) > 1 }

// A place is what the cursor stands on.
type place struct {
	key   diagnose.Key
	ended time.Time // zero while it holds
	one   diagnose.Subject
}

// rowAt returns row i of all; one of no finding if there is none.
func rowAt(all []row, i int) row {
	if i >= len(all) {
		return row{}
	}
	return all[i]
}

// place returns where the row stands; the zero place for one of no finding.
func (r row) place() (p place) {
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
func (r row) about() diagnose.Subject {
	switch {
	case r.one != nil:
		return *r.one
	case r.Finding != nil:
		return r.Finding.Subject
	}
	return diagnose.Subject{}
}

// alike reports whether two rows differ at most in their texts.
func (r row) alike(o row) bool {
	return r.place() == o.place() && r.Severity == o.Severity && r.Depth == o.Depth && r.open == o.open &&
		len(r.Members) == len(o.Members) && len(r.Chain) == len(o.Chain)
}

// list returns the rows: what holds, and below that what ended.
func (f *findings) list(v *pane.View) []row {
	var rows []row
	for _, r := range finding.Tree(v.Findings) {
		rows = f.add(rows, row{Row: r})
	}
	for i := range v.Ended {
		e := &v.Ended[i]
		rows = f.add(rows, row{Row: finding.Row{Finding: &e.Finding}, ended: e})
	}
	return rows
}

// add adds a row, and if it is unfolded those that it sums up.
func (f *findings) add(rows []row, r row) []row {
	r.open = r.folds() && f.open[r.Key()]
	if rows = append(rows, r); !r.open {
		return rows
	}
	evidence := r.Evidence[max(0, len(r.Evidence)-len(r.Members)):]
	for i := range r.Members {
		one := r
		one.one = &r.Members[i]
		if one.said = finding.Subject(*one.one); i < len(evidence) {
			one.said = evidence[i]
		}
		rows = append(rows, one)
	}
	return rows
}

// The columns: a symbol and the severity in a word, the id, and the summary in what is
// left. Below leastTable cells the summary has lines of its own.
const (
	severityWidth = 11
	leastTable    = 70
	mostLines     = 5  // of one summary
	linesOfOne    = 3  // on the average, for moves by the page
	heldWidth     = 11 // of what stands before the name of what holds it up
)

// idWidth returns how wide the column of ids is, with the gap after it: as the longest of
// those that are there.
func idWidth(rows []row) int {
	w := len("FINDING")
	for _, r := range rows {
		if n := len(r.ID) + 2*r.Depth; r.folds() {
			w = max(w, n+2)
		} else {
			w = max(w, n)
		}
	}
	return w + 1
}

func (f *findings) heads(l *text.Line, p widget.Pen) {
	l.Cell(p.Head, "SEVERITY", severityWidth)
	if f.doc.Width() < leastTable {
		l.Put(p.Head, "FINDING")
		return
	}
	l.Cell(p.Head, "FINDING", f.ids)
	l.Put(p.Head, "SUMMARY")
}

// write writes all rows.
func (f *findings) write(d *widget.Doc) {
	look, past := f.view.Theme, false
	for i, r := range f.rows {
		if r.ended != nil && !past {
			past = true
			d.End()
			rule := look.Symbols.Horizontal
			d.Line(text.Say(look.Border, rule+rule), text.Say(look.Dim, " ended lately "),
				text.Say(look.Border, strings.Repeat(rule, max(0, d.Width()-16))))
		}
		last := i == len(f.rows)-1 || f.rows[i+1].one == nil
		more := r.Count - len(r.Members)
		d.Item(r.place())
		f.writeRow(d, r, last && more <= 0)
		if r.one != nil && last && more > 0 {
			d.End()
			d.Line(text.Span{Width: f.indent(d) - 2}, text.Say(look.Border, look.Symbols.Last).In(2),
				text.Say(look.Dim, fmt.Sprintf("and %d more", more)))
		}
	}
}

// indent is where texts begin.
func (f *findings) indent(d *widget.Doc) int {
	if d.Width() < leastTable {
		return 2
	}
	return severityWidth + f.ids
}

// writeRow writes one row. The last is the last of those that a finding sums up.
func (f *findings) writeRow(d *widget.Doc, r row, last bool) {
	look, indent := f.view.Theme, f.indent(d)
	head, st := []text.Span{{Width: indent}}, look.Dim
	switch {
	case r.one != nil:
		branch := look.Symbols.Branch
		if last {
			branch = look.Symbols.Last
		}
		head = []text.Span{{Width: indent - 2}, text.Say(look.Border, branch).In(2)}
	case d.Width() < leastTable:
		d.Line(f.name(r)...)
	default:
		head = f.name(r)
	}
	if r.one == nil && r.Depth == 0 && r.ended == nil {
		st = look.Text
	}
	for _, line := range text.Few(f.say(r), max(d.Width()-indent, 8), mostLines, look.Symbols.Ellipsis) {
		d.Line(append(head, text.Say(st, line))...)
		head = []text.Span{{Width: indent}}
	}
	if r.one != nil || r.ended != nil {
		return
	}
	for _, l := range finding.Cuts(r.Chain) {
		if r.Depth > 0 {
			break // what explains it says so
		}
		with := text.Say(look.Dim, "cut with")
		if l.Cut.Risky {
			with.Text += " " + look.Symbols.Warn
		}
		if !r.IsAbout(l) {
			d.Line(head[0], text.Say(look.Dim, "held up by").In(heldWidth), text.Say(look.Strong, finding.Holder(l)))
		}
		d.Line(head[0], with.In(heldWidth), text.Say(look.Key, cmp.Or(l.Cut.Command, l.Cut.Text)))
	}
	if r.open && len(r.Chain) > 1 {
		d.End()
		for _, p := range finding.Chain(look, r.Chain, d.Width()-2) {
			d.Paragraph(p.Style, p.Text, append([]text.Span{{Width: 2}}, p.Before...)...)
		}
	}
}

// name says what kind of finding r is, and how bad.
func (f *findings) name(r row) []text.Span {
	look, severity, word := f.view.Theme, r.Severity, r.Severity.String()
	if r.ended != nil {
		severity, word = r.ended.Worst, "ended"
	}
	symbol, st := finding.Look(look, severity)
	if r.ended != nil {
		st = look.Dim
	}
	slots := []text.Span{text.Say(st, symbol+" "+word).In(severityWidth)}
	w, id := f.ids, string(r.ID)
	if r.Depth > 0 {
		branch := strings.Repeat(" ", 2*(r.Depth-1)) + look.Symbols.Last
		slots = append(slots, text.Say(look.Border, branch).In(2*r.Depth))
		w, st = w-2*r.Depth, look.Text
	}
	if r.folds() {
		fold := look.Symbols.Folded
		if r.open {
			fold = look.Symbols.Unfolded
		}
		id += " " + fold
	}
	return append(slots, text.Say(st, id).In(w))
}

// say returns what the pane says of r: its summary, or what it was once it is over.
func (f *findings) say(r row) string {
	switch {
	case r.one != nil:
		return r.said
	case r.ended == nil:
		return finding.Summary(r.Finding)
	}
	out := "lasted " + text.Age(r.ended.End.Sub(r.ended.Began)) + ", over " + text.AgeCoarse(f.since.Sub(r.ended.End)) + " ago"
	if on := finding.Subject(r.Subject); on != "" {
		out += ": " + on
	}
	return out
}
