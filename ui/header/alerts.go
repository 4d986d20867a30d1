package header

import (
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/say"
	"github.com/plegtop/plegtop/ui/text"
)

// sweptFor is how long the outcome of a sweep stays below the header: later it says
// little of the node as it is.
const sweptFor = 20 * time.Second

// others are the alerts that the headline says nothing of: sweeps, failures that a
// key led to, event sources that are not read, odd answers, and other findings where they cannot be read below.
func (h *Header) others(r Room) []text.Span {
	s, b := h.v.Snapshot, h.pen
	out := h.sweep()
	warn := func(what string) {
		out = append(out, text.Say(b.Warn, b.Symbols.Warn+" "+text.Clip(what, 2*r.Width)))
	}
	if f := s.PodFailure; f != nil {
		warn(say.Failure(s, f))
	}
	for _, f := range h.unsaid(r) {
		symbol, st := say.SeverityLook(h.v.Theme, f.Severity)
		out = append(out, text.Say(st, symbol+" "+text.Clip(string(f.ID)+": "+say.Summary(&f), 2*r.Width)))
	}
	for i := range s.Sources {
		if k := &s.Sources[i]; amiss(k.State) {
			warn("event source " + k.Source.String() + " " + say.StreamStands(k))
		}
	}
	if odd := s.Anomalies; odd.Total() > 0 {
		warn("odd answers from the runtime: " + say.Anomalies(odd))
	}
	return out
}

// unsaid returns the findings that are neither seen below nor said by the headline,
// which is about the worst and names what stands behind it. Effects are left to the
// pane of findings, and what a pod is warned of to its row.
func (h *Header) unsaid(r Room) []diagnose.Finding {
	of := h.v.Headline
	if r.Told || of.Sound() && of.Text == "" { // what is still among the findings is over
		return nil
	}
	var out []diagnose.Finding
	for i, f := range h.v.Findings {
		switch {
		case f.Severity == diagnose.Info, f.ID == diagnose.PLEGUnhealthy && f.Severity == diagnose.Critical, i == 0 && of.Severity >= f.Severity, f.Cause != "":
		case strings.Contains(of.Text, say.Summary(&f)), f.Summary == r.Opened:
		case r.Rows && f.Severity < diagnose.Critical && f.Subject.Pod != (pleg.PodRef{}):
		default:
			out = append(out, f)
		}
	}
	return out
}

// sweep is the line of a sweep: how far it is, or for a while its outcome, unless the
// headline names what it found.
func (h *Header) sweep() []text.Span {
	s := h.v.Snapshot
	if say.Sweeping(s) {
		how := say.SweepProgress(s.Sweep)
		if h.v.Past == "" {
			how += "; " + h.Keys(keymap.Sweep) + " cancels"
		}
		return []text.Span{text.Say(h.pen.Info, how)}
	}
	swept := say.Swept(h.v.Theme, s, h.v.Headline, sweptFor)
	if swept.Text == "" {
		return nil
	}
	if first := say.Foremost(s.Sweep); first != nil && h.v.Headline.Names(first.Pod) {
		return nil
	}
	return []text.Span{swept}
}
