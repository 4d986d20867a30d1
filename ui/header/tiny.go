package header

import (
	"slices"
	"strings"

	"github.com/plegtop/plegtop/ui/say"
	"github.com/plegtop/plegtop/ui/text"
)

// Tiny draws line y of a screen that has no room for panes: what a header says, the
// most urgent first, with the gauge below the headline.
func (h *Header) Tiny(l *text.Line, y, height int) {
	l.Space(1)
	switch all := h.tiny(height); {
	case y >= len(all):
	case y == 0:
		l.Spans(append(all[:1:1], h.badges()...)...)
	case all[y].Text == gaugeLine:
		h.gauge(l)
	default:
		l.Put(all[y].Style, all[y].Text)
	}
}

// gaugeLine stands for the gauge among the lines of a tiny screen.
const gaugeLine = "\x00"

func (h *Header) tiny(height int) []text.Span {
	b, of := h.pen, h.v.Headline
	out := []text.Span{h.lead[0], h.lead[1], {Text: gaugeLine}}
	if h.clock.Name == "" {
		out = out[:2]
	}
	for _, said := range []text.Span{text.Say(h.aside(), text.After(of.Word, of.Text)), text.Say(b.Text, verdict(h.v.Snapshot))} {
		for _, line := range text.Wrap(text.Clip(said.Text, 4*h.width), max(8, h.width-2)) {
			out = append(out, text.Say(said.Style, line))
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
		return h.who()
	}
	counts := say.Plural(s.Counts.Pods, "pod") + ", " + say.Plural(s.Counts.Containers, "container")
	if strings.Contains(h.v.Headline.Text, counts) || s.Health.ListedAt.IsZero() {
		counts = ""
	}
	return []text.Span{
		text.Say(b.Text, joined(h.phase(), " "+b.Symbols.Step+" ")),
		text.Say(b.Text, counts),
		text.Say(b.Text, say.Plural(h.v.Pods.Troubled, "pod")+" with a problem"),
		text.Say(b.Dim, joined(h.figures(), "")),
		text.Say(b.Strong, from.Node),
		text.Say(b.Dim, h.runtime()+", as kubelet "+s.Release.String()),
		text.Say(b.Dim, from.Endpoint),
	}
}

// joined returns their texts with something between them.
func joined(all []text.Span, between string) string {
	texts := make([]string, len(all))
	for i, s := range all {
		texts[i] = s.Text
	}
	return strings.Join(texts, between)
}
