package say

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/sources"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
)

// StreamOpen reports whether an event source is open, or on the way to be.
func StreamOpen(k sources.SourceState) bool {
	switch k.State {
	case sources.StreamWaiting, sources.StreamOpening, sources.StreamConnected, sources.StreamLost:
		return true
	}
	return false
}

// Streaming reports whether anybody wants event sources, or had them: whether there is
// anything to be said of them.
func Streaming(s *engine.Snapshot) bool {
	return len(s.Drift) > 0 || slices.ContainsFunc(s.Sources, func(k sources.SourceState) bool { return k.State != sources.StreamOff })
}

// StreamStands says how an event source stands, and why: its state in a word, and the
// reason where there is one.
func StreamStands(k *sources.SourceState) string {
	if k.Reason == "" {
		return streamWord(k.State)
	}
	return streamWord(k.State) + ": " + k.Reason
}

// SourceState says what an event source has become, and why.
func SourceState(c *sources.SourceChange) string {
	return StreamStands(&sources.SourceState{State: c.State, Reason: c.Reason})
}

// streamWord is the state of an event source in plain words.
func streamWord(s sources.StreamState) string { return strings.ReplaceAll(s.String(), "-", " ") }

// StreamLook returns the look of an event source, and its state in a word.
func StreamLook(t *theme.Theme, k *sources.SourceState) text.Span {
	word := streamWord(k.State)
	switch {
	case k.State == sources.StreamConnected:
		return text.Say(t.Good, t.Symbols.Good+" "+word)
	case k.State == sources.StreamLost:
		return text.Say(t.Warn, t.Symbols.Warn+" "+word)
	case k.State.Over():
		return text.Say(t.Bad, t.Symbols.Bad+" "+word)
	}
	return text.Say(t.Dim, t.Symbols.Bullet+" "+word)
}

// streamTrouble says what is wrong with an event source, or what it waits for, and what is
// odd about it; nothing of one that is well.
func streamTrouble(s *engine.Snapshot, k *sources.SourceState) string {
	var all []string
	say := func(on bool, format string, args ...any) {
		if on {
			all = append(all, fmt.Sprintf(format, args...))
		}
	}
	say(k.Reason != "", "%s", k.Reason)
	say(!k.NextAt.IsZero() && StreamOpen(*k), "opened again in %s", text.Age(k.NextAt.Sub(s.At)))
	say(k.Tries > 1, "%d tries in a row did not last", k.Tries)
	say(k.LastErr != "" && k.LastErr != k.Reason, "broke last with: %s", k.LastErr)
	say(k.BadClock != "", "its times are not used: %s", k.BadClock)
	say(k.Backlog > 0, "%s events from before it was opened", text.Count(k.Backlog))
	say(k.Unknown > 0, "%s events of ids that no relist had", text.Count(k.Unknown))
	return strings.Join(all, "; ")
}

// Lead writes by how much somebody was ahead of the relist: with a sign, for it may have
// been late.
func Lead(d time.Duration) string {
	if d < 0 {
		return "-" + text.Took(-d)
	}
	return "+" + text.Took(d)
}

// ModeStands says what the mode is, and why it is not the one that was asked for.
func ModeStands(m *sources.ModeState) string {
	says := m.Mode.String()
	if FellBack(m) {
		says += ", fallen back for good from " + m.Asked.String()
		if m.Reason != "" {
			says += ": " + m.Reason
		}
	}
	return says
}

// FellBack reports whether the event stream was given up for good.
func FellBack(m *sources.ModeState) bool { return m.Asked != m.Mode }

// SeenBy says who saw an event besides the relist, and by how much sooner or later, such as
// "cri +412ms, cgroup +413ms".
func SeenBy(seen *sources.Sightings) string {
	if seen == nil {
		return ""
	}
	var all []string
	for source, at := range seen.At {
		of := sources.Source(source)
		if of == sources.FromRelist || at.IsZero() {
			continue
		}
		says := of.String()
		if lead, ok := seen.Lead(of); ok {
			says += " " + Lead(lead)
		}
		all = append(all, says)
	}
	return strings.Join(all, ", ")
}

// sourceColumns are the columns of the event sources, at most 78 cells wide, what matters less at the
// right.
var sourceColumns = []text.Column{
	{Head: "EVENT SOURCE", Width: 14, Left: true}, {Head: "STATE", Width: 15, Left: true},
	{Head: "SINCE", Width: 7}, {Head: "RECEIVED", Width: 10}, {Head: "LOST", Width: 7}, {Head: "LAST", Width: 7},
}

// drifts are the columns of how far each event source and the relist agree.
var drifts = []text.Column{
	{Head: "DRIFT", Width: 8, Left: true}, {Head: "SEEN", Width: 6}, {Head: "BOTH", Width: 7}, {Head: "MISSED: RELIST", Width: 15}, {Head: "SOURCE", Width: 7},
	{Head: "TWICE", Width: 6}, {Head: "LATE", Width: 6}, {Head: "LEAD: MEDIAN", Width: 13}, {Head: "WORST 1%", Width: 9},
}

// drift returns the figures of an event source. Of some of them all but 0 should not be.
func drift(t *theme.Theme, d *sources.Drift) []text.Span {
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
		if k.State == sources.StreamOff && k.Received == 0 {
			continue // nobody ever wanted it
		}
		row := text.Each(t.Text, k.Source.String(), "", latest(k.Since, s.At), text.Count(k.Received), text.Count(k.Lost), latest(k.LastAt, s.At))
		row[1], row[4].Style = StreamLook(t, k), theme.When(k.Lost > 0, t.Warn, t.Text)
		rows = append(rows, row)
		if says := streamTrouble(s, k); says != "" {
			below = append(below, text.Say(theme.When(k.State == sources.StreamConnected, t.Dim, t.Text), k.Source.String()+": "+says))
		}
	}
	lines = text.Figures(t.Head, sourceColumns, rows)
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
