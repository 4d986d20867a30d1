package report

import (
	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/ui/say"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
	"github.com/plegtop/plegtop/ui/widget"
)

// Operation returns how the calls of one operation went: the figures, and how they failed. The objects are a table of their own: see [Slowest].
func Operation(o Form, s *engine.Snapshot, c *answers.Calls) []widget.Section {
	return []widget.Section{o.figures(s, c), o.errors(s, c)}
}

func (o Form) figures(s *engine.Snapshot, c *answers.Calls) widget.Section {
	all := widget.Section{Title: "Calls"}
	if c.Count == 0 && c.InFlight == 0 {
		all.Add(widget.Fact("calls", widget.Quiet, "none yet"))
		return all
	}
	said := text.Count(c.Count) + " returned"
	if c.Gone > 0 {
		said += ", " + text.Count(c.Gone) + " for an object that had gone"
	}
	if c.InFlight > 0 {
		said += ", " + text.Count(uint64(c.InFlight)) + " in flight"
	}
	all.Add(widget.Fact("calls", widget.Plain, said))
	if c.Errors > 0 {
		all.Add(widget.Styled("failed", widget.Plain, o.Theme.Bad, o.Theme.Symbols.SparkFailed+" "+text.Count(c.Errors)))
	}
	switch {
	case c.Count == 0:
		return all
	case c.LastOK.IsZero():
		all.Add(widget.Fact("last success", widget.Warn, "never"))
	default:
		all.Add(widget.Fact("last success", widget.Plain, text.AgeCoarse(s.At.Sub(c.LastOK))+" ago"))
	}
	label, line := "time taken", ""
	for _, took := range [...]string{"p50 " + text.Took(c.P50), "p90 " + text.Took(c.P90), "p99 " + text.Took(c.P99), "max " + text.Took(c.Max)} {
		if line != "" && text.Width(line)+3+text.Width(took) > o.Width { // a name and its figure stay together
			all.Add(widget.Styled(label, widget.Plain, o.Theme.Strong, line))
			label, line = "", ""
		}
		line += theme.When(line == "", "", "   ") + took
	}
	all.Add(widget.Styled(label, widget.Plain, o.Theme.Strong, line), widget.Fact("the last call", widget.Plain, text.Took(c.Last)))
	all.Add(widget.Fact("bytes", widget.Plain, "received "+text.Bytes(c.ResponseBytes)+", "+text.Bytes(c.LastResponseBytes)+" in the last answer; sent "+text.Bytes(c.RequestBytes)))
	return all
}

// errors tells of errors by gRPC code, and of the last one in the runtime's words.
func (o Form) errors(s *engine.Snapshot, c *answers.Calls) widget.Section {
	all := widget.Section{Title: "Errors"}
	for _, n := range c.ByCode {
		all.Add(widget.Fact(n.Code, widget.Plain, text.Count(n.Count)))
	}
	if c.LastErr != nil {
		all.Add(widget.Styled("the last", widget.Plain, o.Theme.Bad, text.AgeCoarse(s.At.Sub(c.LastErrAt))+" ago: "+say.Reason(c.LastErr)))
	}
	return all
}

// Slowest returns a table of the slowest objects of an operation: its heads, and a line for
// each.
func Slowest(o Form, s *engine.Snapshot, c *answers.Calls) [][]text.Span {
	rows := make([][]text.Span, len(c.Slowest))
	for i := range c.Slowest {
		f := &c.Slowest[i]
		rows[i] = text.Each(o.Theme.Text, text.Took(f.Took), text.AgeCoarse(s.At.Sub(f.At)), say.Object(&f.Flight), theme.When(f.Err == nil, "answered", "failed"))
		rows[i][0].Style = say.Graded(o.Theme, f.Took)
		if f.Err != nil {
			rows[i][3] = text.Say(o.Theme.Bad, o.Theme.Symbols.SparkFailed+" "+say.Reason(f.Err))
		}
	}
	columns := []text.Column{{Head: "TOOK", Width: 10}, {Head: "AGO", Width: 7}, {Head: "OBJECT", Left: true}, {Head: "ANSWER", Left: true}}
	return text.Figures(o.Theme.Head, columns, rows)
}
