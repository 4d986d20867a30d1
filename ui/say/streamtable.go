package say

import (
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/ledger"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
)

// sources are the columns of the event sources, at most 78 cells wide, what matters less at the
// right.
var sources = []text.Column{
	{Head: "EVENT SOURCE", Width: 14, Left: true}, {Head: "STATE", Width: 15, Left: true},
	{Head: "SINCE", Width: 7}, {Head: "RECEIVED", Width: 10}, {Head: "LOST", Width: 7}, {Head: "LAST", Width: 7},
}

// drifts are the columns of how far each event source and the relist agree.
var drifts = []text.Column{
	{Head: "DRIFT", Width: 8, Left: true}, {Head: "SEEN", Width: 6}, {Head: "BOTH", Width: 7}, {Head: "MISSED: RELIST", Width: 15}, {Head: "SOURCE", Width: 7},
	{Head: "TWICE", Width: 6}, {Head: "LATE", Width: 6}, {Head: "LEAD: MEDIAN", Width: 13}, {Head: "WORST 1%", Width: 9},
}

// drift returns the figures of an event source. Of some of them all but 0 should not be.
func drift(t *theme.Theme, d *ledger.Drift) []text.Span {
	median, worst := "-", "-"
	if d.Both > 0 {
		median, worst = Lead(d.LeadP50), Lead(d.LeadP99)
	}
	row := text.Each(t.Text, d.Source.String(), text.Count(d.Transitions), text.Count(d.Both), text.Count(d.MissedByRelist),
		text.Count(d.MissedBySource), text.Count(d.Duplicates), text.Count(d.Late), median, worst)
	row[4].Style, row[5].Style = theme.When(d.MissedBySource > 0, t.Warn, t.Text), theme.When(d.Duplicates > 0, t.Warn, t.Text)
	return row
}

// latest returns how long ago a moment was, where that need not change each second; "-" for the
// zero time.
func latest(at, now time.Time) string {
	switch age := now.Sub(at); {
	case at.IsZero():
		return "-"
	case age < 10*time.Second:
		return "now"
	default:
		return text.AgeCoarse(age)
	}
}

// StreamTable returns the table of the event sources, a line each, and that of the drift
// below it. Below is what is to be said of them besides, of any length. There is nothing where
// there are no event sources.
func StreamTable(t *theme.Theme, s *engine.Snapshot) (lines [][]text.Span, below []text.Span) {
	if !Streaming(s) {
		return nil, nil
	}
	var rows [][]text.Span
	for i := range s.Sources {
		k := &s.Sources[i]
		if k.State == engine.StreamOff && k.Received == 0 {
			continue // nobody ever wanted it
		}
		row := text.Each(t.Text, k.Source.String(), "", latest(k.Since, s.At), text.Count(k.Received), text.Count(k.Lost), latest(k.LastAt, s.At))
		row[1], row[4].Style = StreamLook(t, k), theme.When(k.Lost > 0, t.Warn, t.Text)
		rows = append(rows, row)
		if says := streamTrouble(s, k); says != "" {
			below = append(below, text.Say(theme.When(k.State == engine.StreamConnected, t.Dim, t.Text), k.Source.String()+": "+says))
		}
	}
	lines = text.Figures(t.Head, sources, rows)
	if len(s.Drift) > 0 {
		rows = nil
		for i := range s.Drift {
			rows = append(rows, drift(t, &s.Drift[i]))
		}
		lines = append(lines, text.Figures(t.Head, drifts, rows)...)
	}
	if s.UnseenMore > 0 {
		below = append(below, text.Say(t.Dim, text.Count(s.UnseenMore)+" more events of ids that nobody knows: counted, not told"))
	}
	return lines, below
}
