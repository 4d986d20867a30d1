package header

import (
	"fmt"
	"slices"

	"github.com/plegtop/plegtop/ui/finding"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/wording"
)

// Tiny draws line y of a screen that has no room for panes: what a header says, the
// most urgent first, with the gauge below the headline.
func (h *Header) Tiny(l *text.Line, y, height int) {
	l.Space(1)
	if all := h.tiny(height); y < len(all) {
		if all[y].Text == gaugeLine {
			h.gauge(l)
			return
		}
		l.Put(all[y].Style, all[y].Text)
	}
}

// gaugeLine stands for the gauge among the lines of a tiny screen.
const gaugeLine = "\x00"

func (h *Header) tiny(height int) []text.Span {
	b, of := h.pen, h.v.Headline
	lead := h.lead[0]
	for _, badge := range h.badges() {
		lead.Text += badge.Text
	}
	out := []text.Span{lead, {Style: h.lead[1].Style, Text: h.lead[1].Text}, {Text: gaugeLine}}
	if h.clock.name == "" {
		out = out[:2]
	}
	for _, said := range []string{text.After(of.Word, of.Text), verdict(h.v.Snapshot)} {
		for _, line := range text.Wrap(text.Clip(said, 4*h.width), max(8, h.width-2)) {
			out = append(out, text.Span{Style: b.Text, Text: line})
		}
	}
	out = append(out, h.others(Room{Width: h.width})...)
	out = append(out, h.tinyFigures()...)
	out = slices.DeleteFunc(out, func(f text.Span) bool { return f.Text == "" })
	return out[:min(len(out), max(0, height))]
}

func (h *Header) tinyFigures() []text.Span {
	s, b, from := h.v.Snapshot, h.pen, h.v.Source
	if s.Seq == 0 {
		return []text.Span{{Style: b.Strong, Text: from.Node}, {Style: b.Dim, Text: from.Endpoint}}
	}
	phase := ""
	for i, f := range h.phase() {
		if i > 0 {
			phase += " " + b.Symbols.Step + " "
		}
		phase += f.Text
	}
	return []text.Span{
		{Style: b.Text, Text: phase},
		{Style: b.Text, Text: fmt.Sprintf("%d pods, %d containers", s.Counts.Pods, s.Counts.Containers)},
		{Style: b.Text, Text: finding.Plural(h.v.Pods.Troubled, "pod") + " with a problem"},
		{Style: b.Dim, Text: "relist p50 " + wording.Steady(s.Relists.P50) + " p99 " + wording.Steady(s.Relists.P99) + " max " + wording.Steady(s.Relists.Max)},
		{Style: b.Strong, Text: from.Node},
		{Style: b.Dim, Text: h.runtime() + ", as kubelet " + s.Release.String()},
		{Style: b.Dim, Text: from.Endpoint},
	}
}
