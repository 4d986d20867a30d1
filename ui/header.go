package ui

import (
	"fmt"
	"strconv"
	"time"

	"github.com/plegtop/plegtop/engine"
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

// A fact is a piece of a line that is shown whole or not at all.
type fact struct {
	style theme.Style
	text  string
}

// putFacts draws as many of them as there is room for, a gap of two between them.
// The first is drawn in any case, cut if it must be.
func putFacts(l *text.Line, all ...fact) {
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
}

// line draws line y of the header.
func (h header) line(l *text.Line, b brush, s *engine.Snapshot, y int) {
	l.Space(1)
	kept := l.Keep(1)
	switch y {
	case 0:
		h.identity(l, b, s)
	case 1:
		gauge(l, b, s)
	default:
		meter(l, b, s)
	}
	l.End()
	l.Release(kept)
}

// identity draws whose relist this is, and what is out of the ordinary about
// what is shown.
func (h header) identity(l *text.Line, b brush, s *engine.Snapshot) {
	badges := h.badges(b, s)
	room := 0
	for _, f := range badges {
		room += len(f.text) + 1
	}
	kept := l.Keep(room)
	putFacts(l, h.who(b, s)...)
	l.End()
	l.Release(kept)
	for _, f := range badges {
		l.Space(1)
		l.Put(f.style, f.text)
	}
}

func (h header) badges(b brush, s *engine.Snapshot) []fact {
	var all []fact
	if h.source.demo() {
		all = append(all, fact{b.BadgeDemo, " DEMO "})
	}
	if s.Paused {
		all = append(all, fact{b.BadgePaused, " PAUSED "})
	}
	if h.frozen {
		all = append(all, fact{b.BadgeFrozen, " FROZEN "})
	}
	return all
}

func (h header) who(b brush, s *engine.Snapshot) []fact {
	if s.Seq == 0 {
		return []fact{{b.Strong, h.source.Node}, {b.Dim, h.source.Endpoint}}
	}
	counts := ""
	if s.Pods != nil {
		counts = fmt.Sprintf("%d pods %d ctrs", s.Counts.Pods, s.Counts.Containers)
	}
	return []fact{
		{b.Strong, h.source.Node},
		shortChain(b, s),
		{b.Text, runtimeName(b, s)},
		{b.Text, "as kubelet " + s.Release.String()},
		{b.Dim, counts},
		{b.Dim, "period " + s.Period.String()},
		{b.Dim, cost(s)},
		{b.Dim, h.source.Endpoint},
	}
}

// runtimeName is the runtime and its version, cut to what leaves room for the
// facts after it: a build's version can hold a whole commit.
func runtimeName(b brush, s *engine.Snapshot) string {
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

// A verdict is the health in a word, a symbol and a colour.
type verdict struct {
	word, symbol string
	style        theme.Style
}

func judge(b brush, s *engine.Snapshot) verdict {
	h := s.Health
	switch {
	case s.Seq == 0:
		return verdict{"STARTING", b.Symbols.Unknown, b.Dim}
	case h.Healthy && atRisk(s):
		return verdict{"AT RISK", b.Symbols.Warn, b.Warn}
	case h.Healthy && s.Node.Known && !s.Node.Ready:
		return verdict{"PLEG HEALTHY", b.Symbols.Good, b.Text} // but not the node
	case h.Healthy:
		return verdict{"HEALTHY", b.Symbols.Good, b.Good}
	case h.ListedAt.IsZero():
		return verdict{"NO LIST YET", b.Symbols.Unknown, b.Warn}
	}
	return verdict{"UNHEALTHY", b.Symbols.Bad, b.Bad}
}

// riskAfter is for how long a call of the relist may be out before the node is
// at risk, although a kubelet says nothing yet.
const riskAfter = 10 * time.Second

// atRisk reports whether a node that is healthy still will not be for long if
// nothing gets better.
func atRisk(s *engine.Snapshot) bool {
	out := oldest(s)
	return s.Health.ListAge(s.At) > s.Threshold/2 || out != nil && out.By == engine.ByRelist && out.Elapsed(s.At) >= riskAfter
}

// gauge draws the verdict, a bar of the list age against the threshold, and the
// two ages, or the kubelet's text in their place when it is not healthy.
func gauge(l *text.Line, b brush, s *engine.Snapshot) {
	v := judge(b, s)
	l.Put(v.style, v.symbol+" "+v.word)
	l.Space(1)
	h := s.Health
	if s.Seq == 0 {
		return
	}
	if h.Healthy {
		bar(l, b, v.style, h.ListAge(s.At), s.Threshold, max(10, min(24, l.Left()-60)))
		l.Space(1)
		putFacts(l, healthy(b, s)...)
		return
	}
	if room := l.Left() - text.Width(h.Verdict) - 1; room >= 6 && !h.ListedAt.IsZero() {
		bar(l, b, v.style, h.ListAge(s.At), s.Threshold, min(24, room))
		l.Space(1)
	}
	putFacts(l, fact{v.style, h.Verdict}, fact{b.Text, inspected(s)}, fact{b.Text, recovery(s)}, fact{b.Dim, since(s)})
}

func healthy(b brush, s *engine.Snapshot) []fact {
	h := s.Health
	age := h.ListAge(s.At)
	late := h.InspectAge(s.At) > age+10*time.Second || h.SettledAt.IsZero()
	return []fact{
		{b.Text, "list " + fresh(age) + " of " + text.Took(s.Threshold)},
		{b.Warn, countdown(s)},
		{pick(late, b.Warn, b.Text), inspected(s)},
		{b.Dim, since(s)},
	}
}

// fresh is an age that stands still as long as relists come every second.
func fresh(age time.Duration) string {
	if age < 2*time.Second {
		return "<2s"
	}
	return text.Age(age)
}

// inspected tells the other age: since the last relist without a failure.
func inspected(s *engine.Snapshot) string {
	if s.Health.SettledAt.IsZero() {
		return "never inspected in full"
	}
	return "inspected " + fresh(s.Health.InspectAge(s.At)) + " ago"
}

// countdown says when the node will be NotReady if nothing gets better, by the
// clock that ends first; empty as long as relists and Status come as they should,
// and once it is so.
func countdown(s *engine.Snapshot) string {
	if !s.Health.Healthy || s.Node.Known && !s.Node.Ready {
		return ""
	}
	list, status := s.Threshold-s.Health.ListAge(s.At), s.Node.DownAt.Sub(s.At)
	switch {
	case statusIsLate(s) && (status < list || !listIsLate(s)):
		return "NotReady in " + text.Age(status)
	case listIsLate(s):
		return "NotReady in " + text.Age(list)
	}
	return ""
}

// listIsLate reports whether something keeps the relist from listing.
func listIsLate(s *engine.Snapshot) bool {
	out := oldest(s)
	return s.Failure != nil || s.Paused || out != nil && out.Elapsed(s.At) >= stuck
}

// statusIsLate reports whether answers to Status are missing.
func statusIsLate(s *engine.Snapshot) bool {
	return !s.Node.SyncedAt.IsZero() && s.At.Sub(s.Node.SyncedAt) >= statusLate
}

func recovery(s *engine.Snapshot) string {
	if s.Paused {
		return "relist is paused"
	}
	return "recovers with the next good list"
}

// since says how long the verdict has stood, and how often it changed.
func since(s *engine.Snapshot) string {
	h := s.Health
	if h.Since.IsZero() {
		return ""
	}
	out := pick(h.Healthy, "healthy for ", "for ") + text.AgeCoarse(s.At.Sub(h.Since))
	if h.Flips > 0 {
		out += ", changed " + strconv.Itoa(h.Flips) + " times"
	}
	return out
}

// bar draws how much of whole part is, in w cells with the brackets. However
// little it is, one cell is full: an empty bar is not seen to be one.
func bar(l *text.Line, b brush, st theme.Style, part, whole time.Duration, w int) {
	w -= 2
	filled := w
	if whole > 0 && part < whole {
		filled = max(1, int(int64(part)*int64(w)/int64(whole)))
	}
	l.Put(b.Dim, "[")
	l.Repeat(st, b.Symbols.Full, filled)
	l.Repeat(b.Dim, b.Symbols.Empty, w-filled)
	l.Put(b.Dim, "]")
}
