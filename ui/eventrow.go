package ui

import (
	"strconv"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
)

// eventWidths are the widths of the columns of the events pane; 0 where there is
// no room for one.
type eventWidths struct {
	time, kind, pod, container, exit, lag, delivery int
}

// eventColumns shares w cells out among the columns.
func eventColumns(w int, times clockStyle) eventWidths {
	s := eventWidths{time: [clockStyles]int{8, 5, 29}[times], kind: 14}
	rest := w - s.time - s.kind - 2
	take := func(n, least int) int {
		if rest-n-1 < least {
			return 0
		}
		rest -= n + 1
		return n
	}
	s.exit = take(4, 14)
	s.delivery = take(9, 24)
	s.lag = take(5, 24)
	s.container = take(min(20, max(8, rest/3)), 16)
	s.pod = max(rest, 0)
	return s
}

func (e *events) heads(l *text.Line, b pen, w int) {
	s := eventColumns(w, e.times)
	l.Cell(b.Head, "TIME", s.time+1)
	l.Cell(b.Head, "EVENT", s.kind+1)
	l.Cell(b.Head, "POD", s.pod)
	for _, c := range []struct {
		head  string
		width int
		right bool
	}{{"CONTAINER", s.container, false}, {"EXIT", s.exit, true}, {"LAG", s.lag, true}, {"CHANNEL", s.delivery, false}} {
		if c.width > 0 {
			l.Space(1)
			columnHead(l, b, c.head, c.width, c.right, false, false)
		}
	}
}

// row draws line y of those that are visible.
func (e *events) row(l *text.Line, b pen, y int, focused bool) {
	i := e.top + y/e.lines()
	if i >= len(e.shown) {
		if y == 0 && len(e.rows) > 0 {
			l.Put(b.Dim, "no event matches the filter")
		}
		return
	}
	r := e.at(i)
	if i == e.cursor && (focused || !e.follow) {
		cursorBar(l, b, focused)
	}
	switch {
	case r.gap > 0 && y%e.lines() == 0:
		l.Put(b.Warn, b.Symbols.Warn+" gap: "+text.Count(r.gap)+" events came too fast to be shown")
	case r.gap > 0:
	case y%e.lines() == 0:
		e.event(l, b, r, eventColumns(l.Left(), e.times))
	default:
		wrapped(l, b, r)
	}
}

func (e *events) event(l *text.Line, b pen, r *eventRow, s eventWidths) {
	if r.Delivery == pleg.Filtered {
		b = b.dimmed()
	}
	e.when(l, b, r.SeenAt, s.time)
	if r.marked {
		l.Sign(b.Info, b.Symbols.Mark)
	} else {
		l.Space(1)
	}
	symbol, st := eventLook(b, r.Event)
	stateCell(l, st, symbol, eventWord(r.Kind), s.kind+1)
	podCell(l, b, r.Pod, s.pod)
	if s.container > 0 {
		l.Space(1)
		l.Cell(pick(r.Sandbox, b.Dim, b.Text), subject(r.Event), s.container)
	}
	if s.exit > 0 {
		exitCell(l, b, r.ExitCode, r.Exited, s.exit+1)
	}
	if s.lag > 0 {
		lagCell(l, b, r, s.lag+1)
	}
	if s.delivery > 0 {
		l.Space(1)
		l.Cell(deliveryLook(b, r.Delivery), r.Delivery.String(), s.delivery)
	}
}

// slow is the detection lag from which relists lag behind: with a period of one
// second, anything below two is as it should be.
const slow = 3 * time.Second

func lagCell(l *text.Line, b pen, r *eventRow, w int) {
	if !r.HasLag {
		l.Space(w)
		return
	}
	var buf [16]byte
	l.RightBytes(pick(r.Lag >= slow, b.Warn, b.Dim), text.AppendTook(buf[:0], r.Lag), w)
}

// wrapped draws what the columns had no room for.
func wrapped(l *text.Line, b pen, r *eventRow) {
	l.Space(3)
	l.Put(b.Dim, r.From.String()+" "+b.Symbols.Step+" "+r.To.String())
	for _, s := range []string{r.Reason, subject(r.Event), text.ShortID(r.ID), r.Pod.String()} {
		if s != "" {
			l.Space(2)
			l.Put(b.Dim, s)
		}
	}
}

// dimmed returns b with nothing that stands out.
func (b pen) dimmed() pen {
	th := *b.Theme
	th.Text, th.Good, th.Warn, th.Bad, th.Strong = th.Dim, th.Dim, th.Dim, th.Dim, th.Dim
	b.Theme = &th
	return b
}

func (e *events) when(l *text.Line, b pen, at time.Time, w int) {
	var buf [40]byte
	switch e.times {
	case clock:
		l.Bytes(b.Dim, at.Local().AppendFormat(buf[:0], "15:04:05"))
	case age:
		l.RightBytes(b.Dim, text.AppendAgeCoarse(buf[:0], b.at.Sub(at)), w)
	default:
		stamp := at.Local().AppendFormat(buf[:0], "2006-01-02T15:04:05.000Z07:00")
		l.Bytes(b.Dim, stamp)
		l.Space(w - len(stamp))
	}
}

// podCell draws namespace/name and cuts the namespace first.
func podCell(l *text.Line, b pen, p pleg.PodRef, w int) {
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

// subject names what in the pod the event is about.
func subject(e engine.Event) string {
	switch {
	case e.Sandbox:
		return "sandbox"
	case e.Container != "":
		return e.Container
	}
	return text.ShortID(e.ID)
}

// eventWord is the kubelet's name of the event without what all have in common.
func eventWord(k pleg.Kind) string { return strings.TrimPrefix(k.String(), "Container") }

func eventLook(b pen, e engine.Event) (symbol string, st theme.Style) {
	switch e.Kind {
	case pleg.Started:
		return b.Symbols.Running, b.Good
	case pleg.Died:
		if e.Exited && e.ExitCode != 0 {
			return b.Symbols.Bad, b.Bad
		}
		return b.Symbols.Exited, b.Text
	case pleg.Removed:
		return b.Symbols.Gone, b.Dim
	case pleg.Changed:
		return b.Symbols.Created, b.Dim
	}
	return b.Symbols.Bullet, b.Info
}

func deliveryLook(b pen, d pleg.Delivery) theme.Style {
	if d == pleg.Discarded {
		return b.Bad
	}
	return b.Dim
}

// title says how many there are and whether the newest is followed. Of more than
// a few that still come, the number need not be exact: a title that changes with
// each event draws the eye to the wrong place.
func (e *events) title(l *text.Line, b pen) {
	n := len(e.shown)
	switch {
	case !e.follow:
		l.Put(b.Dim, strconv.Itoa(n))
		below := n - 1 - max(0, e.cursor)
		l.Put(b.Warn, pick(below > 0, ", "+strconv.Itoa(below)+" below", ", not following"))
	case n < 10:
		l.Put(b.Dim, strconv.Itoa(n)+", following")
	default:
		l.Put(b.Dim, strconv.FormatUint(coarse(uint64(n/10*10)), 10)+"+, following")
	}
}
