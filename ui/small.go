package ui

import (
	"fmt"
	"slices"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/ui/text"
)

// smallLines are the lines of a screen that has no room for panes: what the
// header says, one span to a line, the most urgent first.
func (m *Model) smallLines(b pen) []span {
	lead := m.gauge.lead[0]
	for _, badge := range (header{source: m.cfg.Source, frozen: m.frozen}).badges(b, m.snap) {
		lead.text += badge.text
	}
	out := []span{lead, m.gauge.lead[1]}
	for _, said := range []string{text.After(m.headline.Word, m.headline.Text), verdict(m.snap)} {
		for _, line := range text.Wrap(clip(said, 4*m.width), max(8, m.width-2)) {
			out = append(out, span{b.Text, line})
		}
	}
	out = append(out, m.otherAlerts(b)...)
	out = append(out, m.smallFigures(b)...)
	out = slices.DeleteFunc(out, func(f span) bool { return f.text == "" })
	return out[:min(len(out), max(0, m.height-1))]
}

func (m *Model) smallFigures(b pen) []span {
	s := m.snap
	if s.Seq == 0 {
		return []span{{b.Strong, m.cfg.Source.Node}, {b.Dim, m.cfg.Source.Endpoint}}
	}
	return []span{
		{b.Text, clockText(s, m.headline.Clock)},
		{b.Text, inspected(s)},
		{b.Text, phaseText(b, s)},
		{b.Text, fmt.Sprintf("%d pods, %d containers", s.Counts.Pods, s.Counts.Containers)},
		{b.Text, troubledText(m.pods.troubled)},
		{b.Dim, "relist p50 " + steady(s.Relists.P50) + " p99 " + steady(s.Relists.P99) + " max " + steady(s.Relists.Max)},
		{b.Strong, m.cfg.Source.Node},
		{b.Dim, runtimeName(b, s) + ", as kubelet " + s.Release.String()},
		{b.Dim, m.cfg.Source.Endpoint},
	}
}

func troubledText(pods int) string {
	switch pods {
	case 0:
		return "no pod with a problem"
	case 1:
		return "1 pod with a problem"
	}
	return fmt.Sprintf("%d pods with problems", pods)
}

// phaseText is the phase meter as one text.
func phaseText(b pen, s *engine.Snapshot) string {
	out := ""
	for i, f := range phaseSpans(b, s) {
		if i > 0 {
			out += " " + b.Symbols.Step + " "
		}
		out += f.text
	}
	return out
}
