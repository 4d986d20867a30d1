package header

import (
	"strings"

	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/sources"
	"github.com/plegtop/plegtop/ui/say"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
)

// identity draws whose relist this is, and what is out of the ordinary about what is shown.
func (h *Header) identity(l *text.Line) {
	badges := h.badges()
	kept := l.Keep(width(badges, 1))
	for i, s := range h.who() {
		if i > 0 {
			if s.Text == "" || 3+text.Width(s.Text) > l.Left() {
				continue
			}
			l.Space(1)
			l.Sign(h.pen.Dim, h.pen.Symbols.Bullet)
			l.Space(1)
		}
		l.Put(s.Style, s.Text)
	}
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
	add(h.v.Recording.Writes(), h.pen.BadgeFrozen, "REC")
	add(h.v.Recording.Ended != "", h.pen.BadgePaused, h.pen.Symbols.Warn+" REC ENDED")
	add(h.v.Source.Still, h.pen.BadgeFrozen, "WORLD FROZEN")
	add(h.v.Paused, h.pen.BadgePaused, "RELIST PAUSED")
	add(h.v.Frozen, h.pen.BadgeFrozen, "SCREEN FROZEN")
	add(h.v.Past != "", h.pen.BadgePaused, h.v.Past)
	return all
}

// streams is the badge of the event sources that are wanted, with a mark while one of them is
// not what it should be.
func (h *Header) streams() text.Span {
	var wanted []string
	mark, st := "", h.pen.BadgeFrozen
	for i := range h.v.Sources {
		s := &h.v.Sources[i]
		if amiss(s.State) {
			mark, st = h.pen.Symbols.Warn+" ", h.pen.BadgePaused
		}
		if s.State != sources.StreamOff {
			wanted = append(wanted, s.Source.String())
		}
	}
	if wanted == nil {
		return text.Span{}
	}
	return text.Say(st, " "+mark+"EVENTS "+strings.Join(wanted, ",")+" ")
}

// amiss reports whether an event source that is wanted is not read.
func amiss(s sources.StreamState) bool { return s == sources.StreamLost || s.Over() }

// who says whose relist this is, and what it asks of the runtime.
func (h *Header) who() []text.Span {
	s, b, from := h.v.Snapshot, h.pen, h.v.Source
	if s.Seq == 0 {
		return []text.Span{text.Say(b.Strong, from.Node), text.Say(b.Dim, from.Endpoint)}
	}
	return []text.Span{
		text.Say(b.Strong, from.Node),
		text.Say(b.Dim, theme.When(h.v.Past == "", s.At.Local().Format("15:04 MST"), "")), // headlines name times; so does the badge of the past
		text.Say(b.Text, h.runtime()),
		text.Say(b.Text, "emulates kubelet "+s.Release.String()),
		text.Say(b.Dim, "plegtop relists every "+say.Period(s.Period)+": "+say.Cost(s)),
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
