package ui

import (
	"strconv"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/finding"
	"github.com/plegtop/plegtop/ui/text"
)

// The columns of the findings: a symbol, the severity in a word, the id, and the
// summary in what is left. Below leastTable cells the summary has lines of its
// own.
const (
	severityWidth = 11 // with the symbol before it and a gap after it
	leastTable    = 70
	mostLines     = 5 // of one summary
)

// A findingLine is one line of the pane.
type findingLine struct {
	row  int  // -1 for the line above those that ended
	head bool // the row's first line, which names the finding
	text string
}

func (f *findings) table() bool { return f.width >= leastTable }

// idWidth is how wide the column of ids is: as the longest of those that are
// there.
func (f *findings) idWidth() int {
	w := len("FINDING")
	for _, r := range f.rows {
		w = max(w, len(r.ID)+2*r.Depth)
	}
	return min(w, 26)
}

// lay breaks the summaries into lines for a pane of w cells.
func (f *findings) lay(w int) {
	f.width, f.lines, f.first = w, f.lines[:0:0], f.first[:0:0]
	f.broken.turn()
	for i, r := range f.rows {
		if r.ended != nil && r.ended == &f.past[0] {
			f.lines = append(f.lines, findingLine{-1, false, "ended lately"})
		}
		f.first = append(f.first, len(f.lines))
		summary, room := f.said(r), w-severityWidth-f.idWidth()-1
		if !f.table() {
			f.lines = append(f.lines, findingLine{i, true, ""})
			room = w - 2
		}
		for j, line := range f.broken.few(summary, max(room, 8)) {
			f.lines = append(f.lines, findingLine{i, f.table() && j == 0, line})
		}
	}
}

// said returns what the pane says of r: its summary, or what it was once it is over.
func (f *findings) said(r findingRow) string {
	if r.ended == nil {
		return finding.Summary(r.Finding)
	}
	out := "lasted " + text.Age(r.ended.End.Sub(r.ended.Began)) + ", over " + text.AgeCoarse(f.since.Sub(r.ended.End)) + " ago"
	if on := finding.Subject(r.Subject); on != "" {
		out += ": " + on
	}
	return out
}

func (f *findings) heads(l *text.Line, b pen) {
	l.Cell(b.Head, "SEVERITY", severityWidth)
	if f.table() {
		l.Cell(b.Head, "FINDING", f.idWidth()+1)
		l.Put(b.Head, "SUMMARY")
		return
	}
	l.Put(b.Head, "FINDING")
}

// row draws line y of those that are visible.
func (f *findings) row(l *text.Line, b pen, y int, focused bool) {
	i := f.top + y
	if i >= len(f.lines) {
		return
	}
	line := f.lines[i]
	if line.row < 0 {
		l.Repeat(b.Border, b.Symbols.Horizontal, 2)
		l.Put(b.Dim, " "+line.text+" ")
		l.Repeat(b.Border, b.Symbols.Horizontal, l.Left())
		return
	}
	r := f.rows[line.row]
	if line.row == f.cursor && focused {
		cursorBar(l, b, focused)
	}
	switch indent := pick(f.table(), severityWidth+f.idWidth()+1, 2); {
	case line.head:
		f.name(l, b, r)
	default:
		l.Space(indent)
	}
	l.Put(pick(r.Depth > 0 || r.ended != nil, b.Dim, b.Text), line.text)
}

// name draws what kind of finding r is, and how bad.
func (f *findings) name(l *text.Line, b pen, r findingRow) {
	symbol, st := finding.Look(b.Theme, r.Severity)
	w := f.idWidth()
	if r.ended != nil {
		symbol, _ = finding.Look(b.Theme, r.ended.Worst)
		st = b.Dim
		stateCell(l, st, symbol, "ended", severityWidth)
	} else {
		stateCell(l, st, symbol, r.Severity.String(), severityWidth)
	}
	if r.Depth > 0 {
		l.Space(2 * (r.Depth - 1))
		l.Sign(b.Border, b.Symbols.Last)
		l.Space(1)
		w -= 2 * r.Depth
	}
	l.Cell(pick(r.Depth > 0, b.Text, st), string(r.ID), w+1)
}

// title says how many findings there are of what severity.
func (f *findings) title(l *text.Line, b pen) {
	if len(f.all) == 0 {
		l.Put(b.Dim, "none")
		return
	}
	gap := ""
	for _, s := range []diagnose.Severity{diagnose.Critical, diagnose.Warning, diagnose.Info} {
		if n := f.count(s); n > 0 {
			symbol, st := finding.Look(b.Theme, s)
			l.Put(st, gap+symbol+" "+strconv.Itoa(n)+" "+s.String())
			gap = "  "
		}
	}
}

// nothing says what a person sees in the place of findings when there are none.
func (m *Model) nothing(b pen) span {
	switch {
	case m.snap.Seq == 0:
		return span{b.Dim, "nothing known yet"}
	case m.snap.Paused:
		return span{b.Warn, "nobody looks while the relist is paused; nothing is known"}
	case sweeping(m.snap):
		return span{b.Text, "nothing found so far; " + sweepProgress(m.snap.Sweep)}
	case !m.headline.Sound():
		return span{b.Text, "nothing found yet"}
	}
	return span{b.Good, b.Symbols.Good + " nothing found: every call answers; " + m.keys(keymap.Sweep) + " looks at every container"}
}

// sweeping reports whether a sweep is under way.
func sweeping(s *engine.Snapshot) bool {
	return s.Sweep != nil && s.Sweep.Refused == "" && s.Sweep.Ended.IsZero()
}
