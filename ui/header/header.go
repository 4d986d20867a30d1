// Package header draws what stands above the panes: whose relist this is, the headline of the
// node; while something is wrong the answer to it, which is who waits for whom, what checks
// it and what ends it; the times that run out, and how relists go. Below that stands what
// the headline does not say.
package header

import (
	"strings"

	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/pane"
	"github.com/plegtop/plegtop/ui/report"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
	"github.com/plegtop/plegtop/ui/widget"
)

// Least is the height of a header that says no more than the headline in one line.
const Least = 3

// A Strip draws the relists over time in w cells.
type Strip func(l *text.Line, v *pane.View, w int)

// A Header is what stands above the panes. It belongs to the goroutine of the program.
type Header struct {
	Strip Strip                        // nil for none
	Keys  func(a keymap.Action) string // names the keys of an action

	v      *pane.View
	pen    widget.Pen
	width  int
	clocks []diagnose.Deadline
	lead   []text.Span // word, clock and text of the headline, as far as one line holds them
	rest   []string    // of the text, a line each
	since  string      // when it began
	answer widget.Doc
	hint   string // behind the first command of the answer
	lines  []func(l *text.Line)
	alerts []text.Span
}

// Room says what a header may take, and what is said elsewhere.
type Room struct {
	Width  int    // cells
	Lines  int    // of all but alerts
	Most   int    // the same where a command would else stand without what it risks; 0 for no more
	Led    bool   // the answer is shown in full, as far as there are lines
	Told   bool   // all findings can be read below
	Rows   bool   // pods have rows, which say what is wrong with each
	Opened string // the summary of the finding whose sheet is open, if one is
}

// headlineLines is how many lines a headline takes at most behind its first.
const headlineLines = 2

// Observe takes over what is to be shown.
func (h *Header) Observe(v *pane.View, r Room) {
	h.v, h.pen, h.width = v, v.Pen(), r.Width
	h.clocks = diagnose.Deadlines(v.Snapshot)
	room := max(r.Lines-Least, 0)
	h.headline(r.Width, min(room, headlineLines))
	h.explain(r, room-len(h.rest), max(r.Most-Least, room)-len(h.rest))
	h.compose(r)
	h.alerts = h.others(r)
}

// explain writes the answer into so many lines, as much of it as they hold: of a warning what
// checks it, what ends it and what shows it, and at least the first; of what is critical all, and what
// ends it with its risk in as many as most, or where that is not to be shown which key shows it.
func (h *Header) explain(r Room, room, most int) {
	a := h.v.Answer
	h.answer, h.hint = widget.Doc{Labels: report.AnswerLabels}, ""
	if room <= 0 || a.Severity < diagnose.Warning || r.Opened != "" {
		return
	}
	form := report.Form{Theme: h.pen.Theme, Width: r.Width - 2 - report.AnswerLabels}
	much := report.AnswerEvidence + evidenceMost - 1
	switch {
	case a.Severity < diagnose.Critical:
		much = report.AnswerEvidence
	case !r.Led:
		h.answer.Write(h.pen, r.Width-2, room, h.point)
		return
	default:
		h.hint = h.Keys(keymap.Copy) + " copies" + hintGap + h.Keys(keymap.Detail) + " more"
	}
	for ; much >= report.AnswerAct; much-- {
		if much == report.AnswerAct && a.Severity < diagnose.Critical {
			a.Act = diagnose.Step{}
		}
		h.answer.Write(h.pen, r.Width-2, room, func(d *widget.Doc) { d.Sections(report.Answer(form, a, h.v.At, much)) })
		if h.answer.Len() <= theme.When(much == report.AnswerRisk, most, room) {
			return
		}
	}
	h.answer = widget.Doc{} // half a command is none
}

// hintGap stands between the keys that are of use: the first stands alone where there is no room.
const hintGap = "  "

// evidenceMost is how many lines of evidence stand above the panes.
const evidenceMost = 4

// point says in a line that there is an answer, and which key shows it.
func (h *Header) point(d *widget.Doc) {
	said := "press " + h.Keys(keymap.Answer) + ": who waits for whom, and what to do"
	d.Paragraph(h.pen.Key, said, text.Say(h.pen.Dim, "  answer").In(report.AnswerLabels))
}

// compose puts the lines together, the most urgent first where there are few.
func (h *Header) compose(r Room) {
	h.lines = append(h.lines[:0], h.identity, func(l *text.Line) { h.part(l, len(h.rest) == 0, h.lead...) })
	for i, s := range h.rest {
		h.lines = append(h.lines, func(l *text.Line) { h.part(l, i == len(h.rest)-1, text.Say(h.pen.Text, "  "+s)) })
	}
	for i := range h.answer.Len() {
		h.lines = append(h.lines, func(l *text.Line) { h.drawAnswer(l, i) })
	}
	if len(h.lines) < r.Lines {
		h.lines = append(h.lines, h.gauges)
	}
}

// drawAnswer draws a line of the answer. Which keys are of use stands behind the last where
// there is room.
func (h *Header) drawAnswer(l *text.Line, i int) {
	kept, hint := 0, h.hint
	if i == h.answer.Len()-1 && hint != "" {
		used := 0
		for _, s := range h.answer.Made(i) {
			used += max(s.Width, text.Width(s.Text))
		}
		if room := l.Left() - used - 2; text.Width(hint) > room {
			hint, _, _ = strings.Cut(hint, hintGap)
		}
		if w := text.Width(hint); used+w+2 <= l.Left() {
			kept = l.Keep(w)
		}
	}
	h.answer.Draw(l, h.pen, i, false)
	if kept > 0 {
		l.End()
		l.Release(kept)
		l.Put(h.pen.Dim, hint)
	}
}

// Height returns how many lines there are above the alerts.
func (h *Header) Height() int { return len(h.lines) }

// Alerts returns the lines below the header that are there only while something is
// wrong, the most urgent first.
func (h *Header) Alerts() []text.Span { return h.alerts }

// Draw draws line y.
func (h *Header) Draw(l *text.Line, y int) {
	l.Space(1)
	kept := l.Keep(1)
	h.lines[y](l)
	l.End()
	l.Release(kept)
}

// width returns how many cells all of them take that are not empty, each with so many
// after it.
func width(all []text.Span, gap int) (n int) {
	for _, s := range all {
		if s.Text != "" {
			n += text.Width(s.Text) + gap
		}
	}
	return n
}
