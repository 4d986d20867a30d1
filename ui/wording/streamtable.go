package wording

import (
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/ledger"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
)

// Slots is a line of a table: texts in places of their own, side by side.
type Slots []text.Span

// The places of the figures, the gap after each included.
var (
	standsWidths = []int{7, 10, 7, 7}
	driftWidths  = []int{6, 7, 15, 7, 6, 6, 13, 9}
)

// figured returns a line of two texts, and figures at the right of their places.
func figured(st theme.Style, first, second text.Span, widths []int, figures ...string) Slots {
	slots := Slots{first, second}
	for i, f := range figures {
		blank := strings.Repeat(" ", max(0, widths[i]-1-text.Width(f)))
		slots = append(slots, text.Say(st, blank+f).In(widths[i]))
	}
	return slots
}

// StreamTable returns the table of the event sources, a line each, and that of the drift
// below it: at most 78 cells wide, what matters less at the right. Below is what is to be
// said of them besides, of any length. There is nothing where there are no event sources.
func StreamTable(t *theme.Theme, s *engine.Snapshot) (lines []Slots, below []text.Span) {
	if !Streaming(s) {
		return nil, nil
	}
	head := func(what string, w int) text.Span { return text.Say(t.Head, what).In(w) }
	lines = append(lines, figured(t.Head, head("EVENT SOURCE", 14), head("STATE", 15), standsWidths, "SINCE", "RECEIVED", "LOST", "LAST"))
	for i := range s.Sources {
		k := &s.Sources[i]
		if k.State == engine.StreamOff && k.Received == 0 {
			continue // nobody ever wanted it
		}
		lines = append(lines, streamLine(t, s, k))
		if says := StreamTrouble(s, k); says != "" {
			below = append(below, text.Say(theme.When(k.State == engine.StreamConnected, t.Dim, t.Text), k.Source.String()+": "+says))
		}
	}
	if len(s.Drift) > 0 {
		lines = append(lines, figured(t.Head, head("DRIFT", 8), text.Span{}, driftWidths, "SEEN", "BOTH", "MISSED: RELIST", "SOURCE", "TWICE", "LATE", "LEAD: MEDIAN", "WORST 1%"))
	}
	for i := range s.Drift {
		lines = append(lines, driftLine(t, &s.Drift[i]))
	}
	if s.UnseenMore > 0 {
		below = append(below, text.Say(t.Dim, text.Count(s.UnseenMore)+" more events of ids that nobody knows: counted, not told"))
	}
	return lines, below
}

// streamLine is how one event source stands, in figures.
func streamLine(t *theme.Theme, s *engine.Snapshot, k *engine.SourceState) Slots {
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
	line := figured(t.Text, text.Say(t.Text, k.Source.String()).In(14), StreamLook(t, k).In(15), standsWidths, ago(k.Since), text.Count(k.Received), text.Count(k.Lost), ago(k.LastAt))
	line[4].Style = theme.When(k.Lost > 0, t.Warn, t.Text)
	return line
}

// driftLine is how far one event source and the relist agree, in figures.
func driftLine(t *theme.Theme, d *ledger.Drift) Slots {
	lead := func(of time.Duration) string {
		if d.Both == 0 {
			return "-"
		}
		return Lead(of)
	}
	line := figured(t.Text, text.Say(t.Text, d.Source.String()).In(8), text.Span{}, driftWidths,
		text.Count(d.Transitions), text.Count(d.Both), text.Count(d.MissedByRelist), text.Count(d.MissedBySource), text.Count(d.Duplicates), text.Count(d.Late), lead(d.LeadP50), lead(d.LeadP99))
	line[5].Style = theme.When(d.MissedBySource > 0, t.Warn, t.Text)
	line[6].Style = theme.When(d.Duplicates > 0, t.Warn, t.Text)
	return line
}
