package ui

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/ui/finding"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
)

// A gauge is line two of the screen, as it fits into its width.
type gauge struct {
	of   diagnose.Headline
	lead []span   // the headline
	rest []string // of the headline's text: what goes on below the header
	more []span   // what the headline goes by, as far as there is room
}

// newGauge fits a headline into a line of w cells. The rest of its text gets up to
// so many lines; without any it is cut.
func newGauge(b pen, s *engine.Snapshot, h diagnose.Headline, w, lines int) gauge {
	symbol, st := finding.HeadlineLook(b.Theme, h)
	g := gauge{of: h, lead: []span{{st, symbol + " " + h.Word}, {st, finding.Countdown(h)}}}
	room := w - taken(g.lead[0]) - taken(g.lead[1])
	g.breakText(b, text.After(h.Word, h.Text), room, w, lines)
	if room -= taken(g.lead[2]); len(g.rest) > 0 || s.Seq == 0 {
		return g
	}
	if !s.Health.ListedAt.IsZero() {
		room -= leastBar
	}
	for _, f := range grounds(b, s, h) {
		if need := taken(f); need > 0 && need <= room+1 {
			g.more = append(g.more, f)
			room -= need
		}
	}
	return g
}

// breakText puts as much of the headline's text into the line as room holds.
func (g *gauge) breakText(b pen, said string, room, w, lines int) {
	said = text.Clean(clip(said, (lines+1)*max(w, 0)))
	switch {
	case text.Width(said) <= room:
	case lines == 0:
		said = text.Fit(said, max(room, 0), b.Symbols.Ellipsis)
	default:
		all := text.Wrap(said, max(room, 1))
		said = all[0]
		g.rest = few(b.Symbols.Ellipsis+" "+strings.Join(all[1:], " "), w-2, lines, b.Symbols.Ellipsis)
	}
	g.lead = append(g.lead, span{b.Text, said})
}

// taken returns how many cells a span takes of a line, with the gap after it.
func taken(f span) int {
	if f.text == "" {
		return 0
	}
	return text.Width(f.text) + 2
}

// grounds are what the headline goes by, the clock first that the bar beside it
// shows.
func grounds(b pen, s *engine.Snapshot, of diagnose.Headline) []span {
	h, stood := s.Health, since(s)
	if h.Healthy && !of.Sound() {
		stood = "" // of PLEG alone, and no word to stand beside trouble
	}
	late := h.InspectAge(s.At) > h.ListAge(s.At)+10*time.Second || h.SettledAt.IsZero()
	return []span{{b.Text, clockText(s, of.Clock)}, {b.Text, verdict(s)}, {pick(late, b.Warn, b.Text), inspected(s)}, {b.Dim, stood}}
}

// verdict returns the kubelet's own words on its PLEG, with times that a person can
// read. Empty while it is healthy, before the first list, and while
// nobody looks.
func verdict(s *engine.Snapshot) string {
	if s.Paused || s.Health.ListedAt.IsZero() {
		return ""
	}
	return diagnose.Rounded(s.Health.Verdict)
}

// line draws the gauge, with a bar of the clock that ends first before what the
// headline goes by.
func (g gauge) line(l *text.Line, b pen, s *engine.Snapshot) {
	putSpans(l, g.lead...)
	if len(g.more) == 0 {
		return
	}
	need := 0
	for _, f := range g.more {
		need += taken(f)
	}
	l.Space(2)
	if room := l.Left() - need + 1; room >= leastBar && !s.Health.ListedAt.IsZero() {
		_, part, whole := clockUsed(s, g.of.Clock)
		bar(l, b, g.lead[0].style, part, whole, min(room, mostBar))
		l.Space(1)
	}
	putSpans(l, g.more...)
}

// says reports whether the headline or what stands beside it holds a text.
func (g gauge) says(what string) bool {
	return strings.Contains(g.of.Text, what) || slices.ContainsFunc(g.more, func(f span) bool { return f.text == what })
}

// The width of the bar, with its brackets.
const leastBar, mostBar = 8, 24

// clockUsed returns how much of the clock that ends first has passed: of Status if
// that is what the headline counts down, else of the list.
func clockUsed(s *engine.Snapshot, c diagnose.Clock) (name string, part, whole time.Duration) {
	if left := s.Node.DownAt.Sub(s.At); c.What != "" && !s.Node.DownAt.IsZero() && (left-c.In).Abs() < time.Second {
		return "Status", statusClock - left, statusClock
	}
	return "list", s.Health.ListAge(s.At), s.Threshold
}

// clockText says the same in words; empty before the first list.
func clockText(s *engine.Snapshot, c diagnose.Clock) string {
	if s.Health.ListedAt.IsZero() {
		return ""
	}
	name, part, whole := clockUsed(s, c)
	return name + " " + fresh(part) + " of " + text.Took(whole)
}

// fresh is an age that stands still as long as relists come every second.
func fresh(age time.Duration) string {
	if age < 2*time.Second {
		return "<2s"
	}
	return text.Age(age)
}

// inspected tells the other age: since the last relist without a failure.
func inspected(s *engine.Snapshot) string {
	if s.Health.SettledAt.IsZero() {
		return "never inspected in full"
	}
	return "inspected " + fresh(s.Health.InspectAge(s.At)) + " ago"
}

// since says how long the kubelet's verdict has stood, and how often it changed;
// empty while nobody looks.
func since(s *engine.Snapshot) string {
	h := s.Health
	if h.Since.IsZero() || s.Paused {
		return ""
	}
	out := pick(h.Healthy, "PLEG healthy for ", "unhealthy for ") + text.AgeCoarse(s.At.Sub(h.Since))
	if h.Flips > 0 {
		out += ", changed " + strconv.Itoa(h.Flips) + " times"
	}
	return out
}

// bar draws how much of whole part is, in w cells with the brackets. However
// little it is, one cell is full: an empty bar is not seen to be one.
func bar(l *text.Line, b pen, st theme.Style, part, whole time.Duration, w int) {
	w -= 2
	filled := w
	if whole > 0 && part < whole {
		filled = max(1, int(int64(part)*int64(w)/int64(whole)))
	}
	l.Put(b.Dim, "[")
	l.Repeat(st, b.Symbols.Full, filled)
	l.Repeat(b.Dim, b.Symbols.Empty, w-filled)
	l.Put(b.Dim, "]")
}
