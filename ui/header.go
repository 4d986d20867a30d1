package ui

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
)

// headerLines is the height of the header on all but the smallest screens.
const headerLines = 3

// stuck is how long a call may be out before it is named loudly: so that its
// name is on the screen before a second has passed. While a call is slow, the
// engine publishes every quarter of a second only.
const stuck = 500 * time.Millisecond

// outFor returns how long a call has been out, to the nearest second.
func outFor(d time.Duration) string { return text.Age(d.Round(time.Second)) }

// A span is a text of one look, shown whole or not at all.
type span struct {
	style theme.Style
	text  string
}

// putSpans draws as many of them as there is room for, a gap of two between them.
// The first is drawn in any case, cut if it must be.
func putSpans(l *text.Line, all ...span) {
	drawn := false
	for _, f := range all {
		gap := pick(drawn, 2, 0)
		if f.text == "" || drawn && text.Width(f.text)+gap > l.Left() {
			continue
		}
		l.Space(gap)
		l.Put(f.style, f.text)
		drawn = true
	}
}

// A header is the part of the screen that is always there: whose relist this
// is, how healthy, and what it is doing.
type header struct {
	source Source
	frozen bool
	gauge  gauge
}

// line draws line y of the header.
func (h header) line(l *text.Line, b pen, s *engine.Snapshot, y int) {
	l.Space(1)
	kept := l.Keep(1)
	switch y {
	case 0:
		h.identity(l, b, s)
	case 1:
		h.gauge.line(l, b, s)
	default:
		meter(l, b, s)
	}
	l.End()
	l.Release(kept)
}

// identity draws whose relist this is, and what is out of the ordinary about
// what is shown.
func (h header) identity(l *text.Line, b pen, s *engine.Snapshot) {
	badges := h.badges(b, s)
	room := 0
	for _, f := range badges {
		room += len(f.text) + 1
	}
	kept := l.Keep(room)
	putSpans(l, h.who(b, s)...)
	l.End()
	l.Release(kept)
	for _, f := range badges {
		l.Space(1)
		l.Put(f.style, f.text)
	}
}

func (h header) badges(b pen, s *engine.Snapshot) []span {
	var all []span
	if h.source.demo() {
		all = append(all, span{b.BadgeDemo, " DEMO "})
	}
	if s.Paused {
		all = append(all, span{b.BadgePaused, " PAUSED "})
	}
	if h.frozen {
		all = append(all, span{b.BadgeFrozen, " FROZEN "})
	}
	return all
}

func (h header) who(b pen, s *engine.Snapshot) []span {
	if s.Seq == 0 {
		return []span{{b.Strong, h.source.Node}, {b.Dim, h.source.Endpoint}}
	}
	counts := ""
	if s.Pods != nil {
		counts = fmt.Sprintf("%d pods %d ctrs", s.Counts.Pods, s.Counts.Containers)
	}
	return []span{
		{b.Strong, h.source.Node},
		{b.Text, runtimeName(b, s)},
		{b.Text, "as kubelet " + s.Release.String()},
		{b.Dim, counts},
		{b.Dim, "period " + s.Period.String()},
		{b.Dim, cost(s)},
		{b.Dim, h.source.Endpoint},
	}
}

// runtimeName is the runtime and its version, cut to what leaves room for the
// spans after it: a build's version can hold a whole commit.
func runtimeName(b pen, s *engine.Snapshot) string {
	name := s.Version.RuntimeName + " " + s.Version.RuntimeVersion
	switch {
	case s.Version.RuntimeName == "":
		return "runtime ?"
	case text.Width(name) > runtimeWidth:
		return text.Fit(name, runtimeWidth, b.Symbols.Ellipsis)
	}
	return name
}

const runtimeWidth = 32

// cost says what plegtop asks of the runtime, in figures that stay the same
// while nothing happens.
func cost(s *engine.Snapshot) string {
	return strconv.Itoa(int(s.Cost.CallsPerSecond+0.5)) + " calls/s " + text.Bytes(coarse(uint64(s.Cost.BytesPerSecond))) + "/s"
}

// coarse rounds n down to two digits.
func coarse(n uint64) uint64 {
	scale := uint64(1)
	for n/scale >= 100 {
		scale *= 10
	}
	return n / scale * scale
}

// footer draws the last line: what is being typed, the answer to the last key,
// or the keys that are of most use here.
func (d *frame) footer(l *text.Line) {
	if d.open.asking() {
		l.Finished(d.askLine(), d.width)
		return
	}
	l.Space(1)
	kept := l.Keep(1)
	switch {
	case d.flash.text != "":
		l.Put(d.Flash, d.flash.text)
	default:
		d.keyHints(l)
	}
	l.End()
	l.Release(kept)
}

// keyHints names as many keys as there is room for, the most useful first.
func (d *frame) keyHints(l *text.Line) {
	for i, e := range d.useful() {
		key, _, _ := strings.Cut(e.Binding.Help().Key, " ")
		word := e.Short
		if e.Action == keymap.Filter && d.scope() == keymap.InViewer {
			word = "search"
		}
		need := text.Width(key) + 1 + text.Width(word) + pick(i > 0, 2, 0)
		if need > l.Left() {
			return
		}
		if i > 0 {
			l.Space(2)
		}
		l.Put(d.Key, key)
		l.Space(1)
		l.Put(d.Dim, word)
	}
}

// useful returns the keys that are named here. On the smallest screens those
// come first that lead to the panes; the help only scrolls.
func (d *frame) useful() []keymap.Entry {
	var named []keymap.Action
	switch {
	case d.open.help != nil:
		named = []keymap.Action{keymap.Back, keymap.Down, keymap.PageDown, keymap.PageUp, keymap.Bottom}
	case d.tiny != nil:
		named = []keymap.Action{keymap.Pane(4), keymap.Pane(1), keymap.Pane(2), keymap.Help, keymap.Pane(3), keymap.Quit}
	default:
		return d.cfg.Keys.Footer(d.scope())
	}
	var all []keymap.Entry
	for _, a := range named {
		if e, ok := d.cfg.Keys.Entry(a); ok {
			all = append(all, e)
		}
	}
	return all
}

// flashFor is how long the answer to a key stays.
const flashFor = 4 * time.Second

// A flash is the answer to a key, shown in the footer for a while. The time
// comes from the snapshots, so it goes with the first one after its end.
type flash struct {
	text  string
	until time.Time
}

// say shows an answer.
func (m *Model) say(text string) {
	m.flash = flash{text, m.latest.At.Add(flashFor)}
}

// pass lets time go by.
func (f *flash) pass(now time.Time) {
	if now.After(f.until) {
		f.text = ""
	}
}
