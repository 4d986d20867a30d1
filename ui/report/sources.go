package report

import (
	"cmp"
	"strconv"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/ui/say"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
	"github.com/plegtop/plegtop/ui/widget"
)

// Sources returns what is read where something hangs, source by source, and the helpers that
// are out; in text without what each source gave.
func Sources(o Form, s *engine.Snapshot) []widget.Section {
	r, helpers := s.Evidence, widget.Section{Title: "What is read where something hangs", Word: "helpers"}
	if r == nil {
		helpers.Rows = []widget.Row{unseen}
		return []widget.Section{helpers}
	}
	all := say.Helpers(s, r)
	if !o.Brief && r.Processes.Missing == "" {
		helpers.Add(widget.Fact("on the node", widget.Plain, say.Seen(r)))
		if all == nil {
			helpers.Add(widget.Fact("helpers", widget.Quiet, "none"))
		}
	}
	for _, said := range all {
		helpers.Add(widget.Fact(theme.When(o.Brief, "", "helper"), widget.Plain, said))
	}
	read := widget.Section{Word: "read"}
	for _, from := range say.Sources(r) {
		if o.Brief {
			read.Add(widget.Fact("", widget.Plain, from.Name+": "+from.Said))
			continue
		}
		level := theme.When(from.Missing != "", widget.Quiet, theme.When(from.Partial != "", widget.Warn, widget.Good))
		read.Add(widget.Fact(from.Name, level, from.Said))
		for _, line := range from.Lines {
			read.Add(widget.Row{Spans: []text.Span{text.Say(o.Theme.Dim, o.Theme.Symbols.Bullet).In(2), text.Say(o.Theme.Text, line)}})
		}
	}
	if o.Brief { // the node's sheet has it among what it says of the host
		if gaps := cmp.Or(r.Processes.Missing, r.Processes.Partial); gaps != "" {
			read.Add(widget.Fact("", widget.Plain, "processes: "+gaps))
		}
		return []widget.Section{read, helpers}
	}
	helpers.Rows = append(helpers.Rows, read.Rows...)
	return []widget.Section{helpers}
}

// streams tells of the mode, the event sources and how far they agree with the relist, and
// what changed with them, the newest first; nothing where there can be none.
func (n node) streams(opens string) (s widget.Section) {
	if len(n.Sources) == 0 {
		return s
	}
	s.Title = "Event sources: what they see, and what the relist does"
	n.mode(&s)
	table, besides := say.StreamTable(n.Theme, n.Snapshot)
	if table == nil {
		s.Add(widget.Fact("event sources", widget.Quiet, "off; "+opens+" opens one"))
	}
	s.Lines(table)
	for _, said := range besides {
		s.Add(widget.Row{Mark: text.Span{Width: 2}, Spans: []text.Span{said}})
	}
	for i := len(n.SourceChanges) - 1; i >= 0; i-- {
		c := &n.SourceChanges[i]
		s.Add(widget.Fact(c.At.Local().Format(time.TimeOnly), widget.Plain, c.Source.String()+" "+say.SourceState(c)))
	}
	return s
}

// mode tells what the kubelet makes of the runtime's event stream, with the period and the
// threshold that hold in it.
func (n node) mode(s *widget.Section) {
	m := &n.Mode
	says := say.ModeStands(m) + "; a relist every " + say.Period(n.Period) + ", unhealthy after " + text.Took(n.Threshold)
	if m.Mode == pleg.Generic && !say.FellBack(m) {
		says += "; event sources only observe"
	}
	s.Add(widget.Styled("mode", widget.Plain, theme.When(say.FellBack(m), n.Theme.Warn, n.Theme.Text), says))
	if m.Asked == pleg.Generic {
		return
	}
	says = text.Count(m.Asks) + " of " + text.Count(m.Asks+m.Ignored) + " events of the stream asked for a relist of their pod"
	if m.Attempts > 0 {
		says += "; " + strconv.Itoa(m.Attempts) + " of 5 attempts failed"
	}
	s.Add(widget.Fact("", widget.Plain, says))
}
