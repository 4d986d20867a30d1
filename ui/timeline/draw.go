package timeline

import (
	"cmp"
	"strconv"

	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/ui/say"
	"github.com/plegtop/plegtop/ui/strip"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
	"github.com/plegtop/plegtop/ui/widget"
)

// Draw draws the scale, a lane, or a line of the foot.
func (t *timeline) Draw(l *text.Line, y int, focused bool) {
	switch below := y - (t.height - t.foot()); {
	case below < 0 && t.Len() == 0 && y == 1:
		l.Put(t.View.Theme.Dim, "no container is listed that the filter shows")
	case below < 0 || y == 0:
		t.Table.Draw(l, t.View.Pen(), y, focused)
	case below == 1 || below == 0 && t.foot() == 1 && focused:
		t.under(l)
	default:
		t.signs(l, t.left())
		l.Put(t.View.Theme.Dim, t.clock)
	}
}

// A sign is one of which lanes are made, and what it says.
type sign struct {
	look       theme.Style
	sign, word string
}

// signs draws what the lanes are made of, in w cells.
func (t *timeline) signs(l *text.Line, w int) {
	th := t.View.Theme
	kept := l.Keep(l.Left() - w)
	put(l, th, sign{th.Good, th.Symbols.Run, "running "}, sign{th.Dim, th.Symbols.Ended, "exited "}, sign{th.Warn, th.Symbols.Lag, "seen late "}, sign{th.Warn, th.Symbols.Blind, "blind "})
	l.End()
	l.Release(kept)
}

// marks draws at the end of a line what stands in lanes where something happened, if there is room
// for all of it.
func (t *timeline) marks(l *text.Line) {
	th := t.View.Theme
	all := [...]sign{{th.Dim, th.Symbols.Created, "created "}, {th.Good, th.Symbols.Running, "started "}, {th.Dim, th.Symbols.Exited, "done "}, {th.Bad, th.Symbols.Bad, "failed "}, {th.Dim, th.Symbols.Gone, "removed "}}
	room := l.Left()
	for _, of := range all {
		room -= len(of.word) + 2
	}
	if room >= 2 { // a gap after what stands there
		l.Space(room)
		put(l, th, all[:]...)
	}
}

// put draws as many of the signs as there is room for.
func put(l *text.Line, th *theme.Theme, all ...sign) {
	for _, of := range all {
		if l.Left() >= len(of.word)+2 {
			l.Sign(of.look, of.sign)
			l.Space(1)
			l.Put(th.Dim, of.word)
		}
	}
}

// Legend returns the symbols of the lanes, each with what it means.
func (t *timeline) Legend() [][2]string {
	s := theme.Unicode
	if t.View != nil {
		s = t.View.Theme.Symbols
	}
	return [][2]string{
		{s.Made, "created, and not started yet"},
		{s.Run, "running"},
		{s.Ended, "exited; behind the event stands its exit code if that is not 0"},
		{s.Lag, "it had happened, and no relist had seen it yet"},
		{s.Sight, "an event source saw it here, the relist elsewhere"},
		{s.Unseen, "an event source saw it, and no relist has: the kubelet cannot see it"},
		{s.Blind, "no relist could look: a list or an inspection hung, or lists failed; the lane that it hangs on has the look of trouble"},
		{s.Pause, "the relist was paused"},
		{s.Running + " " + s.Exited + " " + s.Bad + " " + s.Gone, "the relist found: started, died with 0, died with another code, removed"},
	}
}

// columns are the names, and the lanes below a scale. How wide they are follows from the width
// alone.
func (t *timeline) columns() []widget.Column[row] {
	return []widget.Column[row]{
		{
			Name: "pod", Head: "POD", Help: "the pod",
			Value: func(_ widget.Pen, r row) widget.Cell {
				if !r.first && r.at != t.top {
					return widget.Cell{}
				}
				return widget.Name(t.look(r), r.pod.Pod.Name)
			},
		}, {
			Name: "container", Head: "CONTAINER", Help: "the container; sandbox where a pod has none", Rank: 1,
			Value: func(_ widget.Pen, r row) widget.Cell { return widget.Name(t.look(r), cmp.Or(r.name, "sandbox")) },
		}, {
			Name: "lane", Help: "what it went through", Rank: 2,
			Draw: func(l *text.Line, p widget.Pen, r row, _ int) {
				cursor := -1
				if p.Here {
					cursor = t.cell()
				}
				if lane := t.lane(r.at); lane != nil {
					lane.Draw(l, t.View, cursor, p.Cursor)
				}
			},
			Scale: t.scale,
		},
	}
}

// left is where the lanes begin.
func (t *timeline) left() int { return t.label + 1 }

// look is that of the names of a lane.
func (t *timeline) look(r row) theme.Style {
	th, lane := t.View.Theme, t.lane(r.at)
	return theme.When(r.gone, th.Dim, theme.When(lane != nil && lane.Held, th.Bad, th.Text))
}

// scale draws how long ago the cells of the lanes are, and a sign above the cursor.
func (t *timeline) scale(l *text.Line, p widget.Pen, _ int) {
	if !p.Here || t.moment.IsZero() || t.room == 0 {
		l.Put(p.Head, t.ago)
		return
	}
	at := t.cell()
	l.Put(p.Head, t.ago[:at])
	l.Sign(p.Key, p.Symbols.Cursor)
	l.Put(p.Head, t.ago[at+1:])
}

func (t *timeline) under(l *text.Line) {
	r, _ := t.Current()
	lane := t.lane(t.Cursor())
	if lane == nil || t.room == 0 {
		return
	}
	th, c := t.View.Theme, &lane.Cells[t.cell()]
	when := "now"
	if at := t.moment; !at.IsZero() {
		if begin, _ := t.View.Axis.Cell(t.room, 0); at.Before(begin) {
			at = begin // it is no longer drawn
		}
		when = at.Local().Format("15:04:05")
	}
	l.Spans(
		text.Say(th.Strong, when), text.Say(th.Text, state(c)), t.event(c),
		text.Say(th.Dim, r.pod.Pod.String()), text.Say(th.Dim, r.name),
	)
	t.marks(l)
}

// state says in what state the container of a cell was, and what was known of it.
func state(c *strip.Cell) string {
	word := theme.When(c.State == pleg.Absent, "not there", c.State.String())
	switch {
	case c.Lag:
		return word + ", no relist has seen it yet"
	case c.Sight == strip.Blind:
		return word + ", and no relist could look"
	case c.Sight == strip.Paused:
		return word + ", but the relist was paused"
	}
	return word
}

// event says what event was made in a cell.
func (t *timeline) event(c *strip.Cell) text.Span {
	r := t.View.Journal.Row(cmp.Or(c.Event, c.Sighted))
	if r == nil {
		return text.Span{}
	}
	symbol, st := say.Event(t.View.Theme, &r.Event)
	says := symbol + " " + say.EventWord(r.Kind)
	if r.Exited {
		says += " " + strconv.Itoa(int(r.ExitCode))
	}
	says += " seen " + r.SeenAt.Local().Format("15:04:05")
	if r.HasLag {
		says += ", " + text.Took(r.Lag) + " late"
	}
	if by := say.SeenBy(r.Seen); by != "" {
		says += "; " + by
	}
	if r.Delivery == pleg.Unseen {
		says += ", unseen by the relist"
	}
	return text.Say(st, says)
}
