// Package header draws what stands above the panes: whose relist this is, the headline
// of the node, the clock that ends first, where the relist is; and below that, while
// something is wrong, what the headline does not say.
package header

import (
	"fmt"
	"strings"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/pane"
	"github.com/plegtop/plegtop/ui/say"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
	"github.com/plegtop/plegtop/ui/widget"
)

// Lines is the height of a whole header. Where there is less room the last lines are
// left out; the headline is line two.
const Lines = 4

// A Strip draws the relists over time in w cells.
type Strip func(l *text.Line, v *pane.View, w int)

// A Header is what stands above the panes. It belongs to the goroutine of the program.
type Header struct {
	Strip Strip                        // nil for none
	Keys  func(a keymap.Action) string // names the keys of an action

	v      *pane.View
	pen    widget.Pen
	width  int
	clock  diagnose.Deadline
	lead   []text.Span // the headline, as far as line two holds it
	alerts []text.Span
}

// Room says what a header may take, and what is said elsewhere.
type Room struct {
	Width  int    // cells
	Text   int    // lines below for the rest of the headline
	Told   bool   // all findings can be read below
	Rows   bool   // pods have rows, which say what is wrong with each
	Opened string // the summary of the finding whose sheet is open, if one is
}

// Observe takes over what is to be shown.
func (h *Header) Observe(v *pane.View, r Room) {
	h.v, h.pen, h.width = v, v.Pen(), r.Width
	h.clock = diagnose.FirstDeadline(v.Snapshot)
	rest := h.headline(r)
	h.alerts = nil
	for _, line := range rest {
		h.alerts = append(h.alerts, text.Say(h.pen.Text, "  "+line))
	}
	if said := verdict(v.Snapshot); said != "" && !strings.Contains(v.Headline.Text, said) {
		h.alerts = append(h.alerts, text.Say(h.lead[0].Style, "  "+said))
	}
	h.alerts = append(h.alerts, h.others(r)...)
}

// Alerts returns the lines below the header that are there only while something is
// wrong, the most urgent first.
func (h *Header) Alerts() []text.Span { return h.alerts }

// Draw draws line y.
func (h *Header) Draw(l *text.Line, y int) {
	l.Space(1)
	kept := l.Keep(1)
	switch y {
	case 0:
		h.identity(l)
	case 1:
		l.Spans(h.lead...)
	case 2:
		h.gauge(l)
	default:
		h.meter(l)
	}
	l.End()
	l.Release(kept)
}

// identity draws whose relist this is, and what is out of the ordinary about
// what is shown.
func (h *Header) identity(l *text.Line) {
	badges := h.badges()
	kept := l.Keep(width(badges, 1))
	l.Spans(h.who()...)
	l.End()
	l.Release(kept)
	for _, f := range badges {
		l.Space(1)
		l.Put(f.Style, f.Text)
	}
}

func (h *Header) badges() (all []text.Span) {
	add := func(on bool, st theme.Style, word string) {
		if on {
			all = append(all, text.Say(st, " "+word+" "))
		}
	}
	add(h.v.Source.Demo(), h.pen.BadgeDemo, strings.TrimRight("DEMO "+h.v.Source.Scenario, " "))
	if streams := h.streams(); streams.Text != "" {
		all = append(all, streams)
	}
	switch m := &h.v.Mode; {
	case say.FellBack(m):
		add(true, h.pen.BadgePaused, h.pen.Symbols.Warn+" FELL BACK")
	default:
		add(m.Mode != pleg.Generic, h.pen.BadgeFrozen, strings.ToUpper(m.Mode.String()))
	}
	add(h.v.Source.Still, h.pen.BadgeFrozen, "WORLD FROZEN")
	add(h.v.Paused, h.pen.BadgePaused, "RELIST PAUSED")
	add(h.v.Frozen, h.pen.BadgeFrozen, "SCREEN FROZEN")
	return all
}

// streams is the badge of event sources that are wanted, with a mark while one of them is
// not what it should be.
func (h *Header) streams() text.Span {
	on, mark, st := false, "", h.pen.BadgeFrozen
	for i := range h.v.Sources {
		switch h.v.Sources[i].State {
		case engine.StreamOff:
			continue
		case engine.StreamLost, engine.StreamRefused, engine.StreamNotEnabled, engine.StreamFellBack:
			mark, st = h.pen.Symbols.Warn+" ", h.pen.BadgePaused
		}
		on = true
	}
	if !on {
		return text.Span{}
	}
	return text.Say(st, " "+mark+"EVENTS ")
}

// width returns how many cells all of them take that are not empty, each with so many
// after it.
func width(all []text.Span, gap int) (n int) {
	for _, s := range all {
		if s.Text != "" {
			n += text.Width(s.Text) + gap
		}
	}
	return n
}

func (h *Header) who() []text.Span {
	s, b, from := h.v.Snapshot, h.pen, h.v.Source
	if s.Seq == 0 {
		return []text.Span{text.Say(b.Strong, from.Node), text.Say(b.Dim, from.Endpoint)}
	}
	counts := ""
	if s.Pods != nil {
		counts = fmt.Sprintf("%d pods", s.Counts.Pods)
	}
	if s.Counts.Containers > 0 || !s.Health.ListedAt.IsZero() {
		counts += fmt.Sprintf(" %d ctrs", s.Counts.Containers)
	}
	if s.Beside != nil { // a finding counts what was listed since
		counts += " as last listed"
	}
	return []text.Span{
		text.Say(b.Strong, from.Node),
		text.Say(b.Text, h.runtime()),
		text.Say(b.Text, "as kubelet "+s.Release.String()),
		text.Say(b.Dim, counts),
		text.Say(b.Dim, "period "+say.Period(s.Period)),
		text.Say(b.Dim, say.Cost(s)),
		text.Say(b.Dim, from.Endpoint),
	}
}

// runtime is the runtime and its version, cut to what leaves room for the
// spans after it: a build's version can hold a whole commit.
func (h *Header) runtime() string {
	version := h.v.Version
	if version.RuntimeName == "" {
		return "runtime ?"
	}
	name := version.RuntimeName + " " + version.RuntimeVersion
	return text.Fit(name, min(text.Width(name), runtimeWidth), h.pen.Symbols.Ellipsis)
}

const runtimeWidth = 32
