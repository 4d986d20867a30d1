package header

import (
	"strconv"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/ui/say"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
)

const (
	// brief is how long a step may take before the meter follows it. Relists that
	// are quicker than that would only make it flicker.
	brief = 300 * time.Millisecond
	// leastStrip is the fewest cells in which the relists over time tell anything.
	leastStrip = 8
	// stripWidth is from how many cells on a call that hangs leaves room for them.
	stripWidth = 76
)

// meter draws where the relist is, how long relists take, and the last ones over time,
// which tell more of one that hangs than the figures do.
func (h *Header) meter(l *text.Line) {
	phase, stats := h.phase(), h.figures()
	need, wide := width(phase, 3), width(stats, 0)
	strip := 0 // the least that it takes
	if h.Strip != nil && l.Left() >= stripWidth {
		strip = leastStrip + 1
	}
	room := max(l.Left()-max(need, l.Left()/3), strip)
	if room < wide+strip {
		stats = nil
	}
	room = l.Keep(room)
	h.drawPhase(l, phase)
	l.End()
	l.Release(room)
	for _, f := range stats {
		l.Put(f.Style, f.Text)
	}
	if l.Left() > leastStrip && h.Strip != nil {
		l.Space(1)
		h.Strip(l, h.v, l.Left())
	}
}

func (h *Header) drawPhase(l *text.Line, phase []text.Span) {
	for i, f := range phase {
		if i > 0 {
			l.Space(1)
			l.Sign(h.pen.Dim, h.pen.Symbols.Step)
			l.Space(1)
		}
		if flight := diagnose.RelistCall(h.v.Snapshot); flight != nil && i == len(phase)-1 && text.Width(f.Text) > l.Left() {
			h.drawCut(l, flight)
			return
		}
		l.Put(f.Style, f.Text)
	}
}

// drawCut names a call in less room than it takes: of the pod's name only the
// beginning, of operation, container and seconds all.
func (h *Header) drawCut(l *text.Line, f *call.Flight) {
	out := h.out(f)
	rest := strings.TrimSpace(say.Call(f) + " " + out.Text)
	kept := l.Keep(text.Width(rest) + 1)
	l.Put(out.Style, f.Pod.String())
	l.Release(kept)
	l.Space(1)
	l.Put(out.Style, rest)
}

// phase returns the steps of the relist up to the present one, which stands out.
func (h *Header) phase() []text.Span {
	s, b := h.v.Snapshot, h.pen
	p := s.Phase
	elapsed := s.At.Sub(p.Began)
	switch {
	case p.Step == engine.Listing && (elapsed >= brief || s.Relists.Count == 0):
		return []text.Span{text.Say(b.Strong, "LIST"), h.call(elapsed)}
	case p.Step == engine.Inspecting && elapsed >= brief:
		return []text.Span{
			text.Say(b.Dim, "LIST "+text.Took(p.ListTook)),
			text.Say(b.Strong, "INSPECT "+strconv.Itoa(p.Done)+"/"+strconv.Itoa(p.Total)),
			h.call(0),
		}
	}
	return h.rest()
}

// rest says how the last relist went, and what is being waited for.
func (h *Header) rest() []text.Span {
	s, b := h.v.Snapshot, h.pen
	if s.Seq == 0 {
		return nil
	}
	var all []text.Span
	if n := len(s.Relists.History); n > 0 {
		last := s.Relists.History[n-1]
		inspected := text.Say(b.Dim, "INSPECT "+strconv.Itoa(last.Inspected))
		if last.Failures > 0 {
			inspected = text.Say(b.Bad, inspected.Text+", "+strconv.Itoa(last.Failures)+" failed")
		}
		if last.Failed {
			all = append(all, text.Say(b.Bad, "LIST failed"))
		} else {
			all = append(all, text.Say(b.Dim, "LIST "+text.Took(last.List)), inspected)
		}
	}
	if s.Paused {
		return append(all, text.Say(b.Warn, "PAUSED"))
	}
	return append(all, text.Say(b.Strong, "WAIT"))
}

func (h *Header) call(elapsed time.Duration) text.Span {
	f := diagnose.RelistCall(h.v.Snapshot)
	switch {
	case f == nil && elapsed > 0:
		return text.Say(h.pen.Dim, text.Age(elapsed))
	case f == nil:
		return text.Say(h.pen.Dim, "...")
	}
	out := h.out(f)
	out.Text = strings.TrimSpace(say.Flight(f) + " " + out.Text)
	return out
}

// out says how long a call has been out, and which try it is; nothing before that is
// worth a word.
func (h *Header) out(f *call.Flight) text.Span {
	s := h.v.Snapshot
	out := f.Elapsed(s.At)
	switch diagnose.LatenessOf(s, *f) {
	case diagnose.Unnamed:
		return text.Span{Style: h.pen.Text}
	case diagnose.Overdue:
		return text.Say(h.pen.Bad, strings.TrimSpace(say.Try(s, f)+" "+say.OutFor(out)))
	}
	return text.Say(h.pen.Text, say.OutFor(out))
}

// figures are those of all relists; none before the first.
func (h *Header) figures() []text.Span {
	r, b := h.v.Relists, h.pen
	if r.Count == 0 {
		return nil
	}
	slow := theme.When(diagnose.TookLong(r.P99), b.Warn, b.Text)
	return []text.Span{
		text.Say(b.Dim, "relist p50 "), text.Say(b.Text, say.Steady(r.P50)),
		text.Say(b.Dim, " p99 "), text.Say(slow, say.Steady(r.P99)),
		text.Say(b.Dim, " max "), text.Say(b.Text, say.Steady(r.Max)),
	}
}
