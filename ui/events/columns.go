package events

import (
	"strconv"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/ledger"
	"github.com/plegtop/plegtop/engine/pleg"
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
			Name: "time", Head: "TIME", Help: "when it was seen first; a mark after it is yours", Least: clocks[e.clock].width + 1, Rank: 0,
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
				return widget.Say(theme.When(first == ledger.FromRelist, b.Dim, b.Info), first.String())
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

// Fields returns the columns, for a filter to ask what they have of an event.
func (e *events) Fields() (all []model.FilterColumn) {
	th := theme.Theme{Symbols: theme.Unicode} // a filter asks for words alone, and to compile looks takes a while
	for _, c := range e.columns() {
		all = append(all, model.FilterColumn{Name: c.Name, Head: c.Head, Event: func(of *engine.Event, at time.Time) widget.Cell {
			return c.Value(widget.Pen{Theme: &th, At: at}, line{Row: &model.Row{Event: *of}})
		}})
	}
	return all
}

// streaming reports whether there are event sources, or were.
func (e *events) streaming() bool { return e.streams }

// lead returns by how much the first event source was ahead of the relist, or behind it.
func lead(b widget.Pen, r line) (best widget.Cell) {
	if r.Delivery == pleg.Unseen {
		return widget.Say(b.Warn, r.Delivery.String())
	}
	var most time.Duration
	for of, found := ledger.FromCRI, false; of <= ledger.FromPidfd; of++ {
		if d, ok := r.Seen.Lead(of); ok && (!found || d > most) {
			most, found = d, true
			best = widget.Ahead(theme.When(d < 0, b.Warn, b.Text), d)
		}
	}
	return best
}

// faint reports whether a line stands back: nothing happened, or the kubelet is not told.
func (e *events) faint(n line) bool {
	return n.kind == event && (n.AtStart || n.Delivery == pleg.Filtered || n.Delivery == pleg.Derived)
}

// when draws when an event was seen, in the way that was chosen, and a mark after it.
func (e *events) when(l *text.Line, b widget.Pen, r line, w int) {
	switch format := clocks[e.clock].format; {
	case format == "" && r.AtStart:
		l.Right(b.Dim, "start", w-1)
	case format == "":
		widget.Since(b.Dim, r.SeenAt).Draw(l, b, w-1, true)
	case r.AtStart:
		l.Cell(b.Dim, "at start", w-1)
	default:
		var room [len(time.DateTime)]byte // the text need not leave the stack
		l.Cell(b.Dim, string(r.SeenAt.Local().AppendFormat(room[:0], format)), w-1)
	}
	if r.Marked {
		l.Sign(b.Info, b.Symbols.Mark)
	} else {
		l.Space(1)
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

// untold returns what there is about an event that its columns have no room for.
func (e *events) untold(r *model.Row) []string {
	if r.Gap > 0 {
		return nil
	}
	var all []string
	for _, c := range []struct {
		said string
		room int
	}{
		{steps(e.View.Theme, r), e.Room(stepHead)}, {r.Reason, 0},
		{story.Name(r), e.Room(containerHead)}, {r.Pod.String(), e.Room(podHead)},
	} {
		if text.Width(c.said) > c.room {
			all = append(all, c.said)
		}
	}
	return all
}

// whole draws a line that has no columns.
func (e *events) whole(l *text.Line, b widget.Pen, n line) bool {
	switch {
	case n.kind == start:
		l.Repeat(b.Border, b.Symbols.Horizontal, 2)
		l.Put(b.Dim, " "+text.Count(e.lines.folded)+" at start ")
		l.Repeat(b.Border, b.Symbols.Horizontal, 2)
		l.Put(b.Dim, " "+e.View.Keys.Keys(keymap.Detail)+" shows them")
	case n.kind == rule:
		e.rule(l, b, n.Row)
	case n.kind == more:
		l.Space(10)
		for _, s := range e.untold(n.Row) {
			l.Put(b.Dim, s)
			l.Space(2)
		}
	case n.Gap > 0:
		l.Put(b.Warn, b.Symbols.Warn+" gap: "+text.Count(n.Gap)+" events came too fast to be shown")
	default:
		return false
	}
	return true
}

// rule draws the line before the events of a relist: which it was, when it began and
// how long it took. It is no longer than its text: across the pane it would cost the
// terminal more than the events do.
func (e *events) rule(l *text.Line, b widget.Pen, r *model.Row) {
	found, known := e.View.Journal.Relist(r.At)
	l.Repeat(b.Border, b.Symbols.Horizontal, 2)
	l.Put(b.Dim, " relist ")
	if known {
		l.Put(b.Dim, strconv.FormatUint(found.Number, 10))
		l.Put(b.Dim, " ")
	}
	l.Put(b.Dim, r.At.Local().Format(time.TimeOnly))
	l.Put(b.Dim, " ")
	if known && !found.On {
		l.Put(b.Dim, text.Took(found.Took))
		l.Put(b.Dim, " ")
	}
	l.Repeat(b.Border, b.Symbols.Horizontal, 2)
}
