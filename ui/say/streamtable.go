package say

import (
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/ledger"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
	"github.com/plegtop/plegtop/ui/widget"
)

type (
	streamSource = *engine.SourceState
	drift        = *ledger.Drift
)

// sources are the columns of the event sources, at most 78 cells wide, what matters less at the
// right.
var sources = []widget.Column[streamSource]{
	{Head: "EVENT SOURCE", Least: 13, Value: func(p widget.Pen, k streamSource) widget.Cell { return widget.Say(p.Text, k.Source.String()) }},
	{Head: "STATE", Least: 14, Value: func(p widget.Pen, k streamSource) widget.Cell {
		state := StreamLook(p.Theme, k)
		return widget.Say(state.Style, state.Text)
	}},
	{Head: "SINCE", Least: 6, Right: true, Value: func(p widget.Pen, k streamSource) widget.Cell { return latest(p, k.Since) }},
	{Head: "RECEIVED", Least: 9, Right: true, Value: func(p widget.Pen, k streamSource) widget.Cell { return widget.Count(p.Text, k.Received) }},
	{Head: "LOST", Least: 6, Right: true, Value: func(p widget.Pen, k streamSource) widget.Cell { return suspect(p, k.Lost) }},
	{Head: "LAST", Least: 6, Right: true, Value: func(p widget.Pen, k streamSource) widget.Cell { return latest(p, k.LastAt) }},
}

// drifts are the columns of how far each event source and the relist agree.
var drifts = []widget.Column[drift]{
	{Head: "DRIFT", Least: 7, Value: func(p widget.Pen, d drift) widget.Cell { return widget.Say(p.Text, d.Source.String()) }},
	{Head: "SEEN", Least: 5, Right: true, Value: func(p widget.Pen, d drift) widget.Cell { return widget.Count(p.Text, d.Transitions) }},
	{Head: "BOTH", Least: 6, Right: true, Value: func(p widget.Pen, d drift) widget.Cell { return widget.Count(p.Text, d.Both) }},
	{Head: "MISSED: RELIST", Least: 14, Right: true, Value: func(p widget.Pen, d drift) widget.Cell { return widget.Count(p.Text, d.MissedByRelist) }},
	{Head: "SOURCE", Least: 6, Right: true, Value: func(p widget.Pen, d drift) widget.Cell { return suspect(p, d.MissedBySource) }},
	{Head: "TWICE", Least: 5, Right: true, Value: func(p widget.Pen, d drift) widget.Cell { return suspect(p, d.Duplicates) }},
	{Head: "LATE", Least: 5, Right: true, Value: func(p widget.Pen, d drift) widget.Cell { return widget.Count(p.Text, d.Late) }},
	{Head: "LEAD: MEDIAN", Least: 12, Right: true, Value: func(p widget.Pen, d drift) widget.Cell { return lead(p, d, d.LeadP50) }},
	{Head: "WORST 1%", Least: 8, Right: true, Value: func(p widget.Pen, d drift) widget.Cell { return lead(p, d, d.LeadP99) }},
}

// latest returns a moment that need not change each second; "-" for the zero time.
func latest(p widget.Pen, at time.Time) widget.Cell {
	if at.IsZero() {
		return widget.Say(p.Text, "-")
	}
	return widget.Lately(p.Text, at)
}

// suspect returns a number of which all but 0 should not be.
func suspect(p widget.Pen, n uint64) widget.Cell {
	return widget.Count(theme.When(n > 0, p.Warn, p.Text), n)
}

func lead(p widget.Pen, d drift, of time.Duration) widget.Cell {
	if d.Both == 0 {
		return widget.Say(p.Text, "-")
	}
	return widget.Ahead(p.Text, of)
}

// StreamTable returns the table of the event sources, a line each, and that of the drift
// below it. Below is what is to be said of them besides, of any length. There is nothing where
// there are no event sources.
func StreamTable(t *theme.Theme, s *engine.Snapshot) (lines [][]text.Span, below []text.Span) {
	if !Streaming(s) {
		return nil, nil
	}
	var wanted []streamSource
	for i := range s.Sources {
		k := &s.Sources[i]
		if k.State == engine.StreamOff && k.Received == 0 {
			continue // nobody ever wanted it
		}
		wanted = append(wanted, k)
		if says := StreamTrouble(s, k); says != "" {
			below = append(below, text.Say(theme.When(k.State == engine.StreamConnected, t.Dim, t.Text), k.Source.String()+": "+says))
		}
	}
	p := widget.Pen{Theme: t, At: s.At}
	lines = widget.Printed(p, sources, wanted)
	if len(s.Drift) > 0 {
		all := make([]drift, len(s.Drift))
		for i := range s.Drift {
			all[i] = &s.Drift[i]
		}
		lines = append(lines, widget.Printed(p, drifts, all)...)
	}
	if s.UnseenMore > 0 {
		below = append(below, text.Say(t.Dim, text.Count(s.UnseenMore)+" more events of ids that nobody knows: counted, not told"))
	}
	return lines, below
}
