package say

import (
	"fmt"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/ledger"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
)

// StreamOpen reports whether an event source is open, or on the way to be.
func StreamOpen(k engine.SourceState) bool {
	switch k.State {
	case engine.StreamWaiting, engine.StreamOpening, engine.StreamConnected, engine.StreamLost:
		return true
	}
	return false
}

// Streaming reports whether anybody wants event sources, or had them: whether there is
// anything to be said of them.
func Streaming(s *engine.Snapshot) bool {
	for i := range s.Sources {
		if s.Sources[i].State != engine.StreamOff {
			return true
		}
	}
	return len(s.Drift) > 0
}

// StreamStands says how an event source stands, and why: its state in a word, and the
// reason where there is one.
func StreamStands(k *engine.SourceState) string {
	if k.Reason == "" {
		return streamWord(k.State)
	}
	return streamWord(k.State) + ": " + k.Reason
}

// SourceState says what an event source has become, and why.
func SourceState(c *engine.SourceChange) string {
	return StreamStands(&engine.SourceState{State: c.State, Reason: c.Reason})
}

// streamWord is the state of an event source in plain words.
func streamWord(s engine.StreamState) string { return strings.ReplaceAll(s.String(), "-", " ") }

// StreamLook returns the look of an event source, and its state in a word.
func StreamLook(t *theme.Theme, k *engine.SourceState) text.Span {
	word := streamWord(k.State)
	switch {
	case k.State == engine.StreamConnected:
		return text.Say(t.Good, t.Symbols.Good+" "+word)
	case k.State == engine.StreamLost:
		return text.Say(t.Warn, t.Symbols.Warn+" "+word)
	case k.State.Over():
		return text.Say(t.Bad, t.Symbols.Bad+" "+word)
	}
	return text.Say(t.Dim, t.Symbols.Bullet+" "+word)
}

// streamTrouble says what is wrong with an event source, or what it waits for, and what is
// odd about it; nothing of one that is well.
func streamTrouble(s *engine.Snapshot, k *engine.SourceState) string {
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
func ModeStands(m *engine.ModeState) string {
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
func FellBack(m *engine.ModeState) bool { return m.Asked != m.Mode }

// SeenBy says who saw an event besides the relist, and by how much sooner or later, such as
// "cri +412ms, pidfd +413ms".
func SeenBy(seen *ledger.Sightings) string {
	if seen == nil {
		return ""
	}
	var all []string
	for source, at := range seen.At {
		of := ledger.Source(source)
		if of == ledger.FromRelist || at.IsZero() {
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
