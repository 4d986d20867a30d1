package events

import (
	"time"

	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/sources"
	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/model"
	"github.com/plegtop/plegtop/ui/say"
	"github.com/plegtop/plegtop/ui/story"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
	"github.com/plegtop/plegtop/ui/widget"
)

// clocks are the ways in which the times of events are written: an age, if there is no
// format.
var clocks = []clock{{"clock", 8, time.TimeOnly}, {"age", 5, ""}, {"full", 29, fullTime}}

type clock struct {
	name   string
	width  int
	format string
}

const fullTime = "2006-01-02T15:04:05.000Z07:00"

const (
	podHead, containerHead, stepHead = "POD", "CONTAINER", "FROM > TO"
)

// columns returns the columns, which follow the width alone: what an event tells has
// its place whatever comes.
func (e *events) columns() []widget.Column[line] {
	return []widget.Column[line]{
		{
			Name: "time", Head: "TIME", Help: "when it was seen first", Least: clocks[e.clock].width, Rank: 0,
			Value: func(b widget.Pen, r line) widget.Cell { return widget.Since(b.Dim, r.SeenAt) }, Draw: e.when,
		},
		{
			Name: "event", Head: "EVENT", Help: "the kubelet's name of it, without Container", Least: 9, Rank: 1,
			Value: func(b widget.Pen, r line) widget.Cell {
				symbol, st := say.Event(b.Theme, &r.Event)
				return widget.Say(st, say.EventWord(r.Kind)).Signed(symbol)
			},
		},
		{
			Name: "from", Head: stepHead, Help: "the state before, and the state that the relist found", Least: 17, Rank: 7,
			Value: func(b widget.Pen, r line) widget.Cell { return widget.Say(b.Dim, steps(b.Theme, r.Row)) },
		},
		{
			Name: "pod", Head: podHead, Help: "namespace and name", Least: 12, Fair: 19, Most: 42, Rank: 2,
			Value: func(b widget.Pen, r line) widget.Cell { return widget.Name(b.Text, r.Pod.String()) }, Draw: podName,
		},
		{
			Name: "container", Head: containerHead, Help: "its name, or sandbox", Least: 9, Most: 30, Rank: 3,
			Value: func(b widget.Pen, r line) widget.Cell {
				return widget.Say(theme.When(r.Sandbox, b.Dim, b.Text), story.Name(r.Row))
			},
		},
		{
			Name: "exit", Head: "EXIT", Help: "the exit code of what has died", Least: 4, Right: true, Rank: 4,
			Value: func(b widget.Pen, r line) widget.Cell { return say.Exit(b, r.ExitCode, r.Exited) },
		},
		{
			Name: "lag", Head: "LAG", Help: "from when it happened, by the runtime's clock, until it was seen first", Least: 5, Right: true, Rank: 8,
			Value: func(b widget.Pen, r line) widget.Cell {
				if !r.HasLag {
					return widget.Cell{}
				}
				return widget.Took(theme.When(diagnose.LagsBehind(r.Lag), b.Warn, b.Dim), r.Lag)
			},
		},
		{
			Name: "seen", Head: "SEEN", Help: "who saw it first: the relist, or an event source", Least: 6, Rank: 5, When: e.streaming,
			Value: func(b widget.Pen, r line) widget.Cell {
				first, at := r.Seen.First()
				if at.IsZero() {
					return widget.Cell{}
				}
				return widget.Say(theme.When(first == sources.FromRelist, b.Dim, b.Info), first.String())
			},
		},
		{
			Name: "lead", Head: "LEAD", Help: "by how much an event source was ahead of the relist; unseen where no relist saw it, which the kubelet cannot see", Least: 6, Right: true, Rank: 6, When: e.streaming,
			Value: lead,
		},
		{
			Name: "sent", Head: "SENT", Help: "whether the kubelet's PLEG sends it to the sync loop: filtered is made and never sent, discarded found no room in the channel, unseen was seen by no relist, and n/a is made by no kubelet", Least: 9, Rank: 9,
			Value: func(b widget.Pen, r line) widget.Cell {
				return widget.Say(theme.When(r.Delivery == pleg.Discarded, b.Bad, theme.When(r.Delivery == pleg.Unseen, b.Warn, b.Dim)), say.Sent(r.Delivery))
			},
		},
	}
}

// streaming reports whether there are event sources, or were.
func (e *events) streaming() bool { return e.streams }

// lead returns by how much the first event source was ahead of the relist, or behind it.
func lead(b widget.Pen, r line) (best widget.Cell) {
	if r.Delivery == pleg.Unseen {
		return widget.Say(b.Warn, r.Delivery.String())
	}
	var most time.Duration
	for of, found := sources.FromCRI, false; of <= sources.FromCgroup; of++ {
		if d, ok := r.Seen.Lead(of); ok && (!found || d > most) {
			most, found = d, true
			best = widget.Ahead(theme.When(d < 0, b.Warn, b.Text), d)
		}
	}
	return best
}

// faint reports whether a line stands back: nothing happened, or the kubelet is not told.
func (e *events) faint(n line) bool {
	return !n.start && (n.AtStart || n.Delivery == pleg.Filtered || n.Delivery == pleg.Derived)
}

// when draws when an event was seen, in the way that was chosen.
func (e *events) when(l *text.Line, b widget.Pen, r line, w int) {
	switch format := clocks[e.clock].format; {
	case format == "" && r.AtStart:
		l.Right(b.Dim, "start", w)
	case format == "":
		widget.Since(b.Dim, r.SeenAt).Draw(l, b, w, true)
	case r.AtStart:
		l.Cell(b.Dim, "at start", w)
	default:
		var room [len(time.DateTime)]byte // the text need not leave the stack
		l.Cell(b.Dim, string(r.SeenAt.Local().AppendFormat(room[:0], format)), w)
	}
}

// podName draws namespace/name and cuts the namespace first.
func podName(l *text.Line, b widget.Pen, r line, w int) {
	p := r.Pod
	if p.Name == "" {
		l.Cell(b.Text, string(p.UID), w)
		return
	}
	name, ns := text.Width(p.Name), text.Width(p.Namespace)
	room := min(w-name-1, ns)
	if room < min(ns, 3) {
		l.Name(b.Text, p.Name, w)
		return
	}
	l.Cell(b.Dim, p.Namespace, room)
	l.Put(b.Dim, "/")
	l.Name(b.Text, p.Name, w-room-1)
}

// steps says from which state an event leads to which.
func steps(t *theme.Theme, r *model.Row) string {
	if r.ID == "" || r.Delivery == pleg.Derived { // of a network nobody has states
		return ""
	}
	return r.From.String() + " " + t.Symbols.Step + " " + r.To.String()
}

// whole draws a line that has no columns.
func (e *events) whole(l *text.Line, b widget.Pen, n line) bool {
	switch {
	case n.start:
		l.Repeat(b.Border, b.Symbols.Horizontal, 2)
		l.Put(b.Dim, " "+text.Count(e.lines.folded)+" at start ")
		l.Repeat(b.Border, b.Symbols.Horizontal, 2)
		l.Put(b.Dim, " "+e.View.Keys.Keys(keymap.Detail)+" shows them")
	case n.Gap > 0:
		l.Put(b.Warn, b.Symbols.Warn+" gap: "+text.Count(n.Gap)+" events came too fast to be shown")
	default:
		return false
	}
	return true
}
