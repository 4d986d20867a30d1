package wording

import (
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/ledger"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
)

// The columns of both tables.
var (
	standing = []text.Column{
		{Head: "EVENT SOURCE", Width: 14, Left: true}, {Head: "STATE", Width: 15, Left: true},
		{Head: "SINCE", Width: 7}, {Head: "RECEIVED", Width: 10}, {Head: "LOST", Width: 7}, {Head: "LAST", Width: 7},
	}
	drift = []text.Column{
		{Head: "DRIFT", Width: 8, Left: true}, {Head: "SEEN", Width: 6}, {Head: "BOTH", Width: 7}, {Head: "MISSED: RELIST", Width: 15},
		{Head: "SOURCE", Width: 7}, {Head: "TWICE", Width: 6}, {Head: "LATE", Width: 6}, {Head: "LEAD: MEDIAN", Width: 13}, {Head: "WORST 1%", Width: 9},
	}
)

// StreamTable returns the table of the event sources, a line each, and that of the drift
// below it: at most 78 cells wide, what matters less at the right. Below is what is to be
// said of them besides, of any length. There is nothing where there are no event sources.
func StreamTable(t *theme.Theme, s *engine.Snapshot) (lines [][]text.Span, below []text.Span) {
	if !Streaming(s) {
		return nil, nil
	}
	var sources, drifts [][]text.Span
	for i := range s.Sources {
		k := &s.Sources[i]
		if k.State == engine.StreamOff && k.Received == 0 {
			continue // nobody ever wanted it
		}
		sources = append(sources, streamLine(t, s, k))
		if says := StreamTrouble(s, k); says != "" {
			below = append(below, text.Say(theme.When(k.State == engine.StreamConnected, t.Dim, t.Text), k.Source.String()+": "+says))
		}
	}
	for i := range s.Drift {
		drifts = append(drifts, driftLine(t, &s.Drift[i]))
	}
	lines = text.Figures(t.Head, standing, sources)
	if drifts != nil {
		lines = append(lines, text.Figures(t.Head, drift, drifts)...)
	}
	if s.UnseenMore > 0 {
		below = append(below, text.Say(t.Dim, text.Count(s.UnseenMore)+" more events of ids that nobody knows: counted, not told"))
	}
	return lines, below
}

// streamLine is how one event source stands, in figures.
func streamLine(t *theme.Theme, s *engine.Snapshot, k *engine.SourceState) []text.Span {
	ago := func(at time.Time) string {
		switch d := s.At.Sub(at); {
		case at.IsZero():
			return "-"
		case d < 10*time.Second:
			return "now" // it need not change each second
		default:
			return text.AgeCoarse(d)
		}
	}
	line := text.Each(t.Text, k.Source.String(), "", ago(k.Since), text.Count(k.Received), text.Count(k.Lost), ago(k.LastAt))
	line[1], line[4].Style = StreamLook(t, k), theme.When(k.Lost > 0, t.Warn, t.Text)
	return line
}

// driftLine is how far one event source and the relist agree, in figures.
func driftLine(t *theme.Theme, d *ledger.Drift) []text.Span {
	lead := func(of time.Duration) string {
		if d.Both == 0 {
			return "-"
		}
		return Lead(of)
	}
	line := text.Each(t.Text, d.Source.String(), text.Count(d.Transitions), text.Count(d.Both), text.Count(d.MissedByRelist),
		text.Count(d.MissedBySource), text.Count(d.Duplicates), text.Count(d.Late), lead(d.LeadP50), lead(d.LeadP99))
	line[4].Style = theme.When(d.MissedBySource > 0, t.Warn, t.Text)
	line[5].Style = theme.When(d.Duplicates > 0, t.Warn, t.Text)
	return line
}
