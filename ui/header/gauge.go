package header

import (
	"slices"
	"strconv"
	"strings"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/ui/say"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
)

// timed says how far a time has run that runs out, in words and figures.
func timed(d diagnose.Deadline) string {
	return d.Name + " " + say.Fresh(d.Passed) + " of " + text.Took(d.Whole)
}

// headline breaks the headline into line two and the lines below it, and returns those.
// It has so many of them; without any it is cut.
func (h *Header) headline(r Room) (rest []string) {
	of := h.v.Headline
	symbol, st := say.HeadlineLook(h.v.Theme, of)
	next := text.Say(theme.When(good(of.Clock), h.pen.Text, st), say.Countdown(of))
	h.lead = []text.Span{text.Say(st, symbol+" "+of.Word), next}
	room := r.Width - 2 - width(h.lead, 2)
	ellipsis := h.pen.Symbols.Ellipsis
	said := text.Clean(text.Clip(text.After(of.Word, of.Text), (r.Text+1)*r.Width))
	switch {
	case text.Width(said) <= room:
	case r.Text == 0 || of.Sound():
		said = fit(said, room, ellipsis)
	default:
		all := text.Wrap(said, max(room, 1))
		said = all[0]
		rest = text.Few(ellipsis+" "+strings.Join(all[1:], " "), r.Width-4, r.Text, ellipsis)
	}
	h.lead = append(h.lead, text.Say(h.aside(), said))
	return rest
}

// fit cuts what is said to w cells, but for what holds it up, at its end, where that
// leaves room for a name before it.
func fit(said string, w int, ellipsis string) string {
	end := said[max(0, strings.LastIndex(said, arrow)):]
	if n := text.Width(end); strings.HasPrefix(end, arrow) && w-n >= leastNamed {
		return text.Fit(strings.TrimSuffix(said, end), w-n, ellipsis) + end
	}
	return text.Fit(said, max(w, 0), ellipsis)
}

const (
	arrow      = " -> " // stands before what holds up all else
	leastNamed = 44     // cells that hold as much of a pod's name as tells it from others
)

// aside is the look of what stands behind the word: that of a warning where a node that
// is sound has some.
func (h *Header) aside() theme.Style {
	of := h.v.Headline
	warns := func(f diagnose.Finding) bool {
		return f.Severity > diagnose.Info && strings.Contains(of.Text, string(f.ID))
	}
	return theme.When(of.Sound() && slices.ContainsFunc(h.v.Findings, warns), h.pen.Warn, h.pen.Text)
}

// good reports whether what comes next is good news.
func good(c diagnose.Clock) bool { return c.What == "Ready" || c.What == "relist ends" }

// gauge draws the clock that ends first as a bar, in words and figures, and what else
// the verdict on PLEG is made of.
func (h *Header) gauge(l *text.Line) {
	if h.clock.Name == "" {
		l.Put(h.pen.Dim, "no list yet")
		return
	}
	grounds := h.grounds()
	h.bar(l, max(leastBar, min(l.Left()-width(grounds, 2), mostBar)))
	l.Space(1)
	l.Spans(grounds...)
}

// The width of the bar, with its brackets.
const leastBar, mostBar = 10, 32

// grounds are what the headline goes by, the clock that the bar shows first.
func (h *Header) grounds() []text.Span {
	s, b := h.v.Snapshot, h.pen
	stood := since(s)
	if s.Health.Healthy && !h.v.Headline.Sound() {
		stood = "" // of PLEG alone, and no word to stand beside trouble
	}
	inspected, late := "never inspected in full", diagnose.InspectionsLag(s)
	if !s.Health.SettledAt.IsZero() {
		inspected = "inspected " + say.Fresh(s.Health.InspectAge(s.At)) + " ago"
	}
	listed := ""
	if h.clock.Name != "list" {
		listed = "list " + say.Fresh(s.Health.ListAge(s.At)) + " of " + text.Took(s.Threshold)
	}
	return []text.Span{text.Say(b.Text, timed(h.clock)), text.Say(b.Text, listed), text.Say(theme.When(late, b.Warn, b.Text), inspected), text.Say(b.Dim, stood)}
}

// bar draws how much of the clock has passed, in w cells with the brackets, in the look
// of the headline: it is not green over trouble. However little it is, one cell is full:
// an empty bar is not seen to be one.
func (h *Header) bar(l *text.Line, w int) {
	w -= 2
	filled := w
	if c := h.clock; c.Whole > 0 && c.Passed < c.Whole {
		filled = max(1, int(int64(max(c.Passed, 0))*int64(w)/int64(c.Whole)))
	}
	l.Put(h.pen.Dim, "[")
	l.Repeat(h.lead[0].Style, h.pen.Symbols.Full, filled)
	l.Repeat(h.pen.Dim, h.pen.Symbols.Empty, w-filled)
	l.Put(h.pen.Dim, "]")
}

// verdict returns the kubelet's own words on its PLEG, with times that a person can
// read. Empty while it is healthy, before the first list, and while nobody looks.
func verdict(s *engine.Snapshot) string {
	if s.Paused || s.Health.ListedAt.IsZero() {
		return ""
	}
	return diagnose.Rounded(s.Health.Verdict)
}

// since says how long the kubelet's verdict has stood, and how often it changed;
// empty while nobody looks.
func since(s *engine.Snapshot) string {
	h := s.Health
	if h.Since.IsZero() || s.Paused {
		return ""
	}
	out := "unhealthy for "
	if h.Healthy {
		out = "PLEG healthy for "
	}
	out += text.AgeCoarse(s.At.Sub(h.Since))
	if h.Flips > 0 {
		out += ", changed " + strconv.Itoa(h.Flips) + " times"
	}
	return out
}
