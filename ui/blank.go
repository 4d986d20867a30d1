package ui

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
)

// blank says what a person sees in the place of the pods when there are none:
// what is going on, what comes next, and what to type. It returns nil if there
// are pods to show.
func (m *Model) blank(b pen) []span {
	s := m.snap
	switch {
	case s.Pods == nil:
		return m.unlisted(b)
	case len(s.Pods) == 0:
		return []span{
			{b.Strong, "No pods on this node"},
			{},
			{b.Text, "The runtime answers, and lists no sandbox and no container."},
			{b.Dim, "Pods appear here with the relist that first lists them."},
		}
	case len(m.pods.rows) == 0:
		return m.noMatch(b)
	}
	return nil
}

// unlisted says why there is no list yet, what comes next, and what to type.
func (m *Model) unlisted(b pen) []span {
	s := m.snap
	out := []span{{b.Strong, "No list yet"}, {}}
	put := func(st theme.Style, what string) {
		for _, line := range text.Wrap(clip(what, 4*m.width), max(20, m.width-6)) {
			out = append(out, span{st, line})
		}
	}
	if s.Failure != nil {
		put(b.Text, failureText(s, s.Failure))
	}
	put(b.Text, m.next())
	out = append(out, span{b.Dim, m.cfg.Source.Endpoint}, span{})
	if !m.headline.Sound() && s.Seq > 0 {
		out = append(out, m.advice(b)...)
	}
	return out
}

// next says what a list that is not there waits for.
func (m *Model) next() string {
	s := m.snap
	switch f := oldest(s); {
	case s.Paused:
		return "The relist is paused: " + m.keys(keymap.PauseRelist) + " resumes it, " + m.keys(keymap.RelistNow) + " relists once."
	case f != nil:
		return f.Op.String() + " has been out for " + outFor(f.Elapsed(s.At)) + "; it is given up after " + text.Took(s.Timeout) + "."
	case s.Seq == 0:
		return "Waiting for the first one."
	}
	return "Tried again every " + s.Period.String() + "; " + m.keys(keymap.RelistNow) + " tries now."
}

// advice names commands to look into it: those of what was found.
func (m *Model) advice(b pen) []span {
	out := []span{{b.Dim, "To look into it:"}}
	for _, f := range m.findings.all {
		for _, step := range f.Next {
			if step.Command != "" && !step.Risky {
				out = append(out, span{b.Key, "  " + step.Command})
			}
		}
	}
	if len(out) == 1 {
		out = append(out, span{b.Key, "  crictl -r " + m.cfg.Source.Endpoint + " version"})
	}
	return append(out, span{b.Dim, "plegtop shows the pods as soon as the runtime lists them."})
}

func (m *Model) noMatch(b pen) []span {
	out := []span{{b.Strong, "No pod matches"}, {}}
	if f := m.filter.text; f != "" {
		out = append(out, span{b.Text, "filter      " + f + "   (" + m.keys(keymap.Back) + " drops it)"})
	}
	if len(m.filter.namespaces) > 0 {
		out = append(out, span{b.Text, "namespaces  " + strings.Join(m.filter.namespaces, " ") + "   (" + m.keys(keymap.AllNamespaces) + " shows all)"})
	}
	if m.pods.trouble {
		out = append(out, span{b.Text, "problems only: none of " + text.Count(uint64(len(m.snap.Pods))) + " pods has one   (" + m.keys(keymap.ProblemsOnly) + " shows all)"})
	}
	return out
}

// starting is shown before the engine has said anything.
func starting() *engine.Snapshot {
	return &engine.Snapshot{Phase: engine.Phase{Step: engine.Waiting}}
}

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
