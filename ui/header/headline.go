package header

import (
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/ui/pane"
	"github.com/plegtop/plegtop/ui/say"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
)

// headline breaks the headline into a line of w cells and so many below it: word, clock and
// text in one piece. What there is no room for is cut.
func (h *Header) headline(w, lines int) {
	of := h.v.Headline
	symbol, st := say.HeadlineLook(h.v.Theme, of)
	next := text.Say(theme.When(good(of.Clock), h.pen.Text, st), say.Countdown(of))
	h.lead, h.rest = []text.Span{text.Say(st, symbol+" "+of.Word), next}, nil
	h.since = since(h.v)
	if w < sinceWidth || strings.Contains(of.Text, h.since) { // which says so itself
		h.since = ""
	}
	room, ellipsis := max(w-2-width(h.lead, 2), 1), h.pen.Symbols.Ellipsis
	whole := max(room-width([]text.Span{{Text: h.since}}, 2), 1) // of a headline of one line
	said := text.Clean(text.Clip(h.said(whole), (lines+1)*w))
	switch {
	case text.Width(said) <= whole:
	case lines == 0 || of.Sound():
		said = fit(said, whole, ellipsis)
	default: // what stands before and after it takes the place of text while lines are broken
		inner := w - 4
		before, after := strings.Repeat("x", max(inner-room-1, 0))+" ", strings.Repeat("x", text.Width(h.since))
		all := text.Few(before+said+" "+after, inner, lines+1, ellipsis)
		end := len(all) - 1
		switch rest, ended := strings.CutSuffix(all[end], after); {
		case !ended:
			h.since = ""
		case rest == "": // a line of its own is more than it is worth
			h.since, all = "", all[:end]
		default:
			all[end] = strings.TrimSuffix(rest, " ")
		}
		said, h.rest = strings.TrimPrefix(all[0], before), all[1:]
		if said == strings.TrimSpace(before) {
			said = ""
		}
	}
	h.lead = append(h.lead, text.Say(h.pen.Text, said))
}

// sinceWidth is from how many cells on there is room for since when it is so.
const sinceWidth = 100

// since says when what is wrong began; empty where nothing critical is, or that is not known.
func since(v *pane.View) string {
	if a := v.Answer; v.Headline.Severity == diagnose.Critical && a.Severity == diagnose.Critical && !a.Since.IsZero() {
		return "since " + a.Since.Local().Format(time.TimeOnly)
	}
	return ""
}

// part draws a line of the headline, and at the end of the last one since when it is so.
func (h *Header) part(l *text.Line, last bool, of ...text.Span) {
	if !last {
		l.Spans(of...)
		return
	}
	kept := l.Keep(text.Width(h.since))
	l.Spans(of...)
	l.End()
	l.Release(kept)
	l.Put(h.pen.Dim, h.since)
}

// said is the text of the headline, for w cells; after it, while a kubelet would call its PLEG
// unhealthy, what that says, if the text does not.
func (h *Header) said(w int) string {
	of, s := h.v.Headline, h.v.Snapshot
	said := text.After(of.Word, of.Text)
	if of.Sound() {
		return h.sound(said, w)
	}
	if v := verdict(s); v != "" && !strings.Contains(said, v) {
		said += "; the kubelet's words: " + v
	}
	return said
}

// sound puts before what there is on a healthy node that this is Ready, and its PLEG healthy: in
// as many words as there is room for.
func (h *Header) sound(said string, w int) string {
	if said == "" {
		return said
	}
	dot, ready := " "+h.pen.Symbols.Bullet+" ", ""
	if h.v.Headline.Node == diagnose.NodeReadyNow {
		ready = "node Ready" + dot
	}
	inShort := strings.Replace(said, ", every call is answered", "", 1)
	is := " healthy" + changed(h.v.Snapshot) + dot
	long, pleg := "Pod Lifecycle Event Generator (PLEG)"+is, "PLEG"+is
	all := []string{ready + long + said, ready + long + inShort, ready + pleg + said, ready + pleg + inShort, ready + inShort}
	if _, was, wrong := strings.Cut(inShort, "; "); wrong { // a moment ago, which is news
		all = append(all, ready+was)
	}
	for _, one := range all {
		if text.Width(one) <= w {
			return one
		}
	}
	return all[len(all)-1]
}

// changed says how long PLEG has been healthy where it was not before.
func changed(s *engine.Snapshot) string {
	if s.Health.Since.IsZero() || s.Health.Flips == 0 {
		return ""
	}
	return " for " + text.AgeCoarse(s.At.Sub(s.Health.Since)) + ", changed " + say.Plural(s.Health.Flips, "time")
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

// good reports whether what comes next is good news.
func good(c diagnose.Clock) bool { return c.What == "Ready" || c.What == "relist ends" }

// verdict returns the kubelet's own words on its PLEG, with times that a person can
// read. Empty while it is healthy, before the first list, and while nobody looks.
func verdict(s *engine.Snapshot) string {
	if s.Paused || s.Health.ListedAt.IsZero() {
		return ""
	}
	return diagnose.Rounded(s.Health.Verdict)
}
