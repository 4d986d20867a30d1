package header

import (
	"strconv"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/ui/say"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
)

const (
	// brief is how long a step may take before the line follows it. Relists that
	// are quicker than that would only make it flicker.
	brief = 300 * time.Millisecond
	// The cells of the bar of a time that runs out.
	leastBar, mostBar = 4, 20
	// leastStrip is the fewest cells in which the relists over time tell anything.
	leastStrip = 8
)

// gauges draws the times that run out, each as a bar with figures; what the relist does; and
// the last relists over time.
func (h *Header) gauges(l *text.Line) {
	relist, stats := h.relist(), h.stats()
	if len(h.clocks) == 0 {
		l.Put(h.pen.Dim, "waiting for the first list  ")
	}
	room := l.Left() - width([]text.Span{relist, stats}, 3) - leastStrip - text.Width(relists)
	figures := make([]string, len(h.clocks))
	for i, d := range h.clocks {
		figures[i] = say.Fresh(d.Passed) + theme.When(d.Passed > d.Whole, ", limit ", " of ") + text.Took(d.Whole)
		room -= text.Width(d.Name) + 1 + 1 + text.Width(figures[i]) + 3
	}
	bar := mostBar
	if n := len(h.clocks); n > 0 {
		bar = min(max(room/n, leastBar), mostBar)
	}
	for i, d := range h.clocks {
		if i > 0 && text.Width(d.Name)+1+bar+1+text.Width(figures[i]) > l.Left() {
			break
		}
		l.Put(h.pen.Dim, d.Name+" ")
		h.bar(l, d, bar)
		l.Space(1)
		l.Put(h.pen.Text, figures[i])
		l.Space(3)
	}
	if text.Width(relist.Text) <= l.Left() {
		l.Put(relist.Style, relist.Text)
		l.Space(3)
	}
	h.strip(l, stats)
}

const relists = "relists "

// strip draws the last relists over time, and how long they take.
func (h *Header) strip(l *text.Line, stats text.Span) {
	if h.Strip == nil || l.Left() < text.Width(relists)+leastStrip {
		return
	}
	if text.Width(relists)+leastStrip+1+text.Width(stats.Text) > l.Left() {
		stats.Text = ""
	}
	l.Put(h.pen.Dim, relists)
	if s := h.signs(l.Left()); leastStrip+text.Width(s.Text)+1+text.Width(stats.Text) <= l.Left() {
		l.Put(s.Style, s.Text)
	}
	kept := l.Keep(theme.When(stats.Text == "", 0, text.Width(stats.Text)+1))
	h.Strip(l, h.v, l.Left())
	l.End()
	l.Release(kept)
	l.Space(1)
	l.Put(stats.Style, stats.Text)
}

// bar draws how much of a time has passed in w cells, in the look of the headline: it is not
// green over trouble. However little it is, one cell is full: an empty bar is not seen to
// be one.
func (h *Header) bar(l *text.Line, d diagnose.Deadline, w int) {
	filled := w
	if d.Whole > 0 && d.Passed < d.Whole {
		filled = max(1, int(int64(max(d.Passed, 0))*int64(w)/int64(d.Whole)))
	}
	l.Repeat(h.lead[0].Style, h.pen.Symbols.Full, filled)
	l.Repeat(h.pen.Dim, h.pen.Symbols.Empty, w-filled)
}

// relist says what the relist does: one that is under way for longer than a moment, else how
// the last one went.
func (h *Header) relist() text.Span {
	s, b := h.v.Snapshot, h.pen
	p := s.Phase
	elapsed := s.At.Sub(p.Began)
	switch {
	case s.Seq == 0:
		return text.Span{}
	case s.Paused:
		return text.Say(b.Warn, "relist paused")
	case p.Step == engine.Listing && (elapsed >= brief || s.Relists.Count == 0):
		return h.waits("listing", elapsed)
	case p.Step == engine.Inspecting && elapsed >= brief:
		return h.waits("inspecting pod "+strconv.Itoa(min(p.Done+1, p.Total))+" of "+strconv.Itoa(p.Total), 0)
	}
	return h.last()
}

// waits says in which step the relist is, and for which try of which call it waits, where the
// bars do not name that.
func (h *Header) waits(step string, elapsed time.Duration) text.Span {
	s, said := h.v.Snapshot, text.Say(h.pen.Text, "relist: "+step)
	f := diagnose.RelistCall(s)
	switch {
	case f == nil && elapsed > 0:
		said.Text += " for " + say.OutFor(elapsed)
	case f == nil || diagnose.LatenessOf(s, *f) == diagnose.Unnamed:
	case diagnose.Late(s, *f):
		said.Text = strings.TrimSuffix(said.Text+", "+say.Try(s, f), ", ")
	default:
		said.Text += ", " + say.Flight(f) + " " + say.OutFor(f.Elapsed(s.At))
	}
	return said
}

// last says how the last relist went.
func (h *Header) last() text.Span {
	n := len(h.v.Snapshot.Relists.History)
	if n == 0 {
		return text.Span{}
	}
	r := h.v.Snapshot.Relists.History[n-1]
	switch pods := theme.When(r.Inspected == 0, "no pod to inspect", say.Plural(r.Inspected, "pod")+" inspected"); {
	case r.Failed:
		return text.Say(h.pen.Bad, "relist failed")
	case r.Failures > 0:
		return text.Say(h.pen.Bad, "relist "+say.Steady(r.List)+", "+pods+", "+strconv.Itoa(r.Failures)+" failed")
	case diagnose.InspectionsLag(h.v.Snapshot):
		return text.Say(h.pen.Warn, "relist "+say.Steady(r.List)+", "+h.inspected())
	default:
		return text.Say(h.pen.Text, "relist "+say.Steady(r.List)+", "+pods)
	}
}

// inspected says how long ago all pods that had changed were inspected well.
func (h *Header) inspected() string {
	s := h.v.Snapshot
	if s.Health.SettledAt.IsZero() {
		return "no full inspection yet"
	}
	return "last full inspection " + say.Fresh(s.Health.InspectAge(s.At)) + " ago"
}

// signs says what the signs among the relists mean, of the last that w cells have room for.
func (h *Header) signs(w int) text.Span {
	all := h.v.Journal.Relists()
	last, said := all[max(len(all)-w, 0):], ""
	failed, inPart := false, false
	for i := range last {
		failed, inPart = failed || last[i].Failed, inPart || last[i].Failures > 0
	}
	said += theme.When(failed, h.pen.Symbols.SparkFailed+" failed ", "")
	said += theme.When(inPart, h.pen.Symbols.SparkSome+" in part ", "")
	if now := h.v.Health; !now.ListedAt.IsZero() && (!now.Healthy || now.Flips > 0 && (len(last) == 0 || now.Since.After(last[0].At))) {
		said += h.pen.Symbols.Warn + " unhealthy "
	}
	return text.Say(h.pen.Dim, said)
}

// stats is how long nearly all relists take, or the one that is under way where that takes longer;
// empty before the first.
func (h *Header) stats() text.Span {
	s, r, b := h.v.Snapshot, h.v.Relists, h.pen
	out := s.At.Sub(s.Phase.Began)
	switch busy := s.Phase.Step == engine.Listing || s.Phase.Step == engine.Inspecting; {
	case r.Count == 0:
		return text.Span{}
	case busy && diagnose.TookLong(out) && out > r.P99:
		return text.Say(b.Warn, "now "+say.OutFor(out))
	}
	return text.Say(theme.When(diagnose.TookLong(r.P99), b.Warn, b.Dim), "p99 "+say.Steady(r.P99))
}
