package findings

import (
	"github.com/plegtop/plegtop/ui/say"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
	"github.com/plegtop/plegtop/ui/widget"
)

// summary is the name of the column whose text goes on in the lines below its row.
const summary = "summary"

// columns are a symbol and the severity in a word, the id, and the summary in what is left.
func (f *findings) columns() []widget.Column[*row] {
	return []widget.Column[*row]{
		{
			Name: "severity", Head: "SEVERITY", Help: "critical: NotReady, or pods that nobody sees; warning: the node stays Ready", Least: severities,
			Value: func(p widget.Pen, r *row) widget.Cell {
				switch {
				case r.one != nil:
					return widget.Cell{}
				case r.ended != nil:
					symbol, _ := say.SeverityLook(p.Theme, r.ended.Worst)
					return widget.Say(p.Dim, "ended").Signed(symbol)
				}
				symbol, st := say.SeverityLook(p.Theme, r.Severity)
				return widget.Say(st, r.Severity.String()).Signed(symbol)
			},
		}, {
			Name: "finding", Head: "FINDING", Help: "the kind, as docs/findings.md has them; what it leads to stands below it", Least: 7, Most: 100, Rank: 1, Fits: true, Rest: true,
			Value: func(p widget.Pen, r *row) widget.Cell { return widget.Say(p.Text, indented(p, r)+f.name(p, r)) },
			Draw:  f.drawName,
		}, {
			Name: summary, Head: "SUMMARY", Help: "what is wrong, on which object, and for how long", Least: 8, Most: 1000, Rank: 2, Rest: true, When: f.wide,
			Value: func(p widget.Pen, r *row) widget.Cell { return widget.Say(r.look(p), r.first) },
		},
	}
}

func (f *findings) wide() bool { return f.width >= leastTable }

// look is that of the text of a row: what holds stands out.
func (r *row) look(p widget.Pen) theme.Style {
	return theme.When(r.one == nil && !r.Effect && r.ended == nil, p.Text, p.Dim)
}

// indented is what stands before the id of a finding below the one that explains it.
func indented(p widget.Pen, r *row) string {
	return theme.When(r.Effect && r.one == nil, p.Symbols.Last+" ", "")
}

// name is the id of a finding, with a sign if it can be unfolded.
func (f *findings) name(p widget.Pen, r *row) string {
	switch {
	case r.Finding == nil || r.one != nil:
		return ""
	case r.open:
		return string(r.ID) + " " + p.Symbols.Unfolded
	case r.folds():
		return string(r.ID) + " " + p.Symbols.Folded
	}
	return string(r.ID)
}

func (f *findings) drawName(l *text.Line, p widget.Pen, r *row, w int) {
	if r.one != nil {
		l.Space(w - 1)
		l.Put(p.Border, r.branch(p))
		return
	}
	_, st := say.SeverityLook(p.Theme, r.Severity)
	switch {
	case r.Effect:
		st = p.Text
	case r.ended != nil:
		st = p.Dim
	}
	before, name := indented(p, r), f.name(p, r)
	w -= text.Width(before)
	l.Put(p.Border, before)
	n := min(text.Width(name), w)
	l.Cell(st, name, n)
	l.Space(w - n)
}

// branch is what leads to one of those that a finding sums up.
func (r *row) branch(p widget.Pen) string {
	return theme.When(r.last && r.more() <= 0, p.Symbols.Last, p.Symbols.Branch)
}

// more is how many others a finding sums up than those that are known.
func (r *row) more() int { return r.Count - len(r.Members) }

// whole draws the rule above what ended, and where it is narrow one of those that a finding
// sums up.
func (f *findings) whole(l *text.Line, p widget.Pen, r *row) bool {
	switch {
	case r.Finding == nil:
		l.Repeat(p.Border, p.Symbols.Horizontal, 2)
		l.Put(p.Dim, " recently resolved ")
		l.Repeat(p.Border, p.Symbols.Horizontal, l.Left())
	case r.chain:
		p.Slots(l, r.whole)
	case r.one != nil && !f.wide():
		l.Put(p.Border, r.branch(p))
		l.Space(1)
		l.Put(r.look(p), r.first)
	default:
		return false
	}
	return true
}
