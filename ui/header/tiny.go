package header

import (
	"slices"
	"strings"

	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/say"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
)

// Tiny draws line y of a screen that has no room for panes: what a header says, the
// most urgent first: headline and clock, what to do, the times that run out.
func (h *Header) Tiny(l *text.Line, y, height int) {
	l.Space(1)
	switch all := h.tiny(height); {
	case y >= len(all):
	case y == 0:
		l.Spans(append(all[:1:1], h.badges()...)...)
	case all[y].Text == gaugeLine:
		h.gauges(l)
	default:
		l.Put(all[y].Style, all[y].Text)
	}
}

// gaugeLine stands for the gauges among the lines of a tiny screen.
const gaugeLine = "\x00"

func (h *Header) tiny(height int) []text.Span {
	out := append([]text.Span{h.lead[0], h.lead[1]}, h.do()...)
	out = append(out, text.Span{Text: gaugeLine})
	out = append(out, h.filtered()...)
	for _, line := range text.Wrap(text.Clip(h.said(0), 4*h.width), max(8, h.width-2)) {
		out = append(out, text.Say(h.pen.Text, line))
	}
	out = append(out, h.others(Room{Width: h.width})...)
	out = append(out, h.tinyFigures()...)
	out = slices.DeleteFunc(out, func(f text.Span) bool { return f.Text == "" })
	return out[:min(len(out), max(0, height))]
}

// filtered says what filter is in force, which no title of a pane says here, and what drops it.
func (h *Header) filtered() (all []text.Span) {
	say := func(what, by string, key keymap.Action, does string) {
		end := " (" + h.Keys(key) + " " + does + ")"
		room := max(8, h.width-2-text.Width(what)-text.Width(end))
		all = append(all, text.Say(h.pen.Info, what+text.Few(by, room, 1, h.pen.Symbols.Ellipsis)[0]+end))
	}
	if by := h.v.Filter.Text; by != "" {
		say("filter ", by, keymap.Back, "drops it")
	}
	if only := h.v.Filter.Namespaces; len(only) > 0 {
		say("only ns:", strings.Join(only, ","), keymap.AllNamespaces, "shows all")
	}
	return all
}

// How many lines a command takes at most on a tiny screen, and what it risks.
const doLines, riskLines = 3, 2

// do is the command that ends what is critical, with what it risks, else that which checks it.
func (h *Header) do() []text.Span {
	a := h.v.Answer
	switch {
	case a.Severity < diagnose.Warning || h.v.Headline.Sound():
		return nil
	case a.Severity < diagnose.Critical || a.Act.Command == "":
		return h.labelled(h.pen.Key, "check", a.Check.Command, doLines)
	}
	risk := ""
	if a.Act.Risky() {
		risk = a.Act.Risk
	}
	return append(h.labelled(h.pen.Key, "act", a.Act.Command, doLines), h.labelled(h.pen.Warn, "RISK", risk, riskLines)...)
}

// labelled breaks what is said into so many lines of a tiny screen at most, behind its label; none
// for nothing.
func (h *Header) labelled(st theme.Style, label, said string, most int) (all []text.Span) {
	if said == "" {
		return nil
	}
	const labels = 7
	for i, line := range text.Few(said, max(8, h.width-2-labels), most, h.pen.Symbols.Ellipsis) {
		if i > 0 {
			label = ""
		}
		all = append(all, text.Say(st, label+strings.Repeat(" ", labels-len(label))+line))
	}
	return all
}

func (h *Header) tinyFigures() []text.Span {
	s, b, from := h.v.Snapshot, h.pen, h.v.Source
	if s.Seq == 0 {
		return h.who()
	}
	return []text.Span{
		h.relist(),
		text.Say(b.Text, say.Plural(h.v.Pods.Troubled, "pod")+" with a problem"),
		h.stats(),
		text.Say(b.Strong, from.Node),
		text.Say(b.Dim, h.runtime()+", emulates kubelet "+s.Release.String()),
		text.Say(b.Dim, from.Endpoint),
	}
}
