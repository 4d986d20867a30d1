package lines

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
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
		if d.Indent = theme.When(r.Effect, inward+2, 0); r.Effect {
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

// npdLimit is how many bytes of a plugin's output node-problem-detector reads
// (max_output_length, 80 by default), here with the line feed.
const npdLimit = 80

// npd returns what node-problem-detector reads: a line, and the exit code that goes with it. Only
// a critical finding is a problem, since there it becomes a condition of the
// node, upon which others drain and repair it; warnings are in the line alone.
// A check that did not come to its end and found nothing critical is unknown.
func npd(u diagnose.Update) (line string, code int) {
	s := u.Snapshot
	more := ""
	if n := len(u.Findings) - 1; n > 0 {
		more = fmt.Sprintf(" +%d", n)
	}
	switch worst := diagnose.Worst(u.Findings); {
	case worst == diagnose.Critical:
		return npdFinding(diagnose.RootCause(u.Findings), s, npdLimit-1-len(more)) + more, NPDProblem
	case s.Sweep == nil: // it never came to that
		return "unknown: " + u.Headline.Word + " " + u.Headline.Text, NPDUnknown
	case unknown(s) != "":
		return "unknown: " + unknown(s), NPDUnknown
	case !s.Health.Healthy && worst < diagnose.Warning:
		return "unknown: PLEG is not healthy, and nothing tells why", NPDUnknown
	case worst == diagnose.Warning:
		return "ok, warning: " + npdFinding(diagnose.RootCause(u.Findings), s, npdLimit), NPDOK
	case diagnose.Unfinished(s) != "":
		return "ok, warning: " + diagnose.Unfinished(s), NPDOK
	}
	return "ok: " + say.Fine(s), NPDOK
}

// unknown says why a check that found nothing critical says nothing of the node; empty if
// it does. A few objects that lack an id do not hide the others.
func unknown(s *engine.Snapshot) string {
	if s.Sweep != nil && s.Anomalies.NoID <= s.Sweep.Total {
		return diagnose.Unasked(s)
	}
	return diagnose.Unfinished(s)
}

// npdFinding returns f in at most limit bytes: what is wrong, on what, and for
// how long where that is known. A pod's name that is too long loses its middle.
func npdFinding(f diagnose.Finding, s *engine.Snapshot, limit int) string {
	head, on := string(f.ID)+": ", f.Subject
	if on.Pod.String() == "" {
		return cut(plain(head+f.Summary), limit)
	}
	tail := ""
	if d := waited(on, s); d > 0 {
		tail = " " + text.Age(d)
	}
	pod, container := plain(on.Pod.String()), strings.TrimPrefix(on.Path(), on.Pod.String())
	line := func(pod string) string { return head + plain(say.Words(on.Operation, pod+container)) }
	if over := len(line(pod)) + len(tail) - limit; over > 0 {
		pod = shorten(pod, len(pod)-over)
	}
	return cut(line(pod), limit-len(tail)) + tail
}

// waited returns how long a call about on has been out, or was until its
// deadline; 0 if none was.
func waited(on diagnose.Subject, s *engine.Snapshot) (longest time.Duration) {
	about := func(f call.Flight) bool { return f.Op.String() == on.Operation && f.ID == on.ID }
	for _, f := range s.InFlight {
		if about(f) {
			longest = max(longest, f.Elapsed(s.At))
		}
	}
	if s.Sweep == nil {
		return longest
	}
	for _, w := range s.Sweep.Hung {
		if about(w.Flight) {
			longest = max(longest, w.Took)
		}
	}
	return longest
}

// npdLine appends the beginning of line that fits, with a line feed.
func npdLine(b []byte, line string) []byte {
	return append(append(b, cut(plain(line), npdLimit-1)...), '\n')
}

func plain(s string) string { return text.PlainASCII(text.Clean(s)) }

// cut returns at most n bytes of the ASCII text s, with a mark where some are
// missing.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[:max(n-1, 0)] + "~"
}

// shortest is what [shorten] leaves of a name at least.
const shortest = 16

// shorten takes the middle out of the ASCII text s, so that about n bytes of it
// are left: both the namespace and the ending that differs between two pods of
// a deployment.
func shorten(s string, n int) string {
	n = max(n, shortest)
	if len(s) <= n {
		return s
	}
	head := n / 2
	return s[:head] + "~" + s[len(s)-(n-head-1):]
}
