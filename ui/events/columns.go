package events

import (
	"strconv"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/ui/journal"
	"github.com/plegtop/plegtop/ui/look"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
	"github.com/plegtop/plegtop/ui/widget"
)

// A clockStyle says how the times of events are written.
type clockStyle uint8

const (
	clock clockStyle = iota // 15:04:05
	age                     // 12s
	full                    // 2006-01-02T15:04:05.000Z07:00
	clockStyles
)

var (
	clockNames  = [clockStyles]string{"clock", "age", "full"}
	clockWidths = [clockStyles]int{8, 5, 29}
)

// clockNamed returns the style of that name; clock if there is none.
func clockNamed(name string) clockStyle {
	for i, n := range clockNames {
		if n == name {
			return clockStyle(i)
		}
	}
	return clock
}

const (
	podHead, containerHead, stepHead = "POD", "CONTAINER", "FROM > TO"
)

// columns returns the columns, which follow the width alone: what an event tells has
// its place whatever comes.
func (e *events) columns() []widget.Column[line] {
	row := func(draw func(l *text.Line, b widget.Pen, r *journal.Row, w int)) func(*text.Line, widget.Pen, line, int) {
		return func(l *text.Line, b widget.Pen, n line, w int) {
			if r := e.view.Journal.Row(n.seq); r != nil {
				draw(l, b, r, w)
			} else {
				l.Space(w) // it has made room just now
			}
		}
	}
	upTo := func(most int) func(line) int { return func(line) int { return most } }
	const podMost, containerMost = 42, 30
	return []widget.Column[line]{
		{
			Name: "time", Head: "TIME", Help: "when the relist saw it; a mark after it is yours", Least: clockWidths[e.times] + 1, Rank: 0,
			Draw: row(e.when),
		},
		{
			Name: "event", Head: "EVENT", Help: "the kubelet's name of it, without Container", Least: 9, Rank: 1,
			Draw: row(func(l *text.Line, b widget.Pen, r *journal.Row, w int) {
				symbol, st := look.Event(b.Theme, &r.Event)
				look.Sign(l, st, symbol, look.EventWord(r.Kind), w)
			}),
		},
		{
			Name: "from", Head: stepHead, Help: "the state before, and the state that the relist found", Least: 17, Rank: 5,
			Draw: row(stepCell),
		},
		{
			Name: "pod", Head: podHead, Help: "namespace and name", Least: 12, Fair: 19, Most: podMost, Need: upTo(podMost), Rank: 2,
			Draw: row(func(l *text.Line, b widget.Pen, r *journal.Row, w int) { podCell(l, b, r.Pod, w) }),
		},
		{
			Name: "container", Head: containerHead, Help: "its name, or sandbox", Least: 9, Most: containerMost, Need: upTo(containerMost), Rank: 3,
			Draw: row(func(l *text.Line, b widget.Pen, r *journal.Row, w int) {
				st := b.Text
				if r.Sandbox {
					st = b.Dim
				}
				l.Cell(st, subject(&r.Event), w)
			}),
		},
		{
			Name: "exit", Head: "EXIT", Help: "the exit code of what has died", Least: 4, Right: true, Rank: 4,
			Draw: row(func(l *text.Line, b widget.Pen, r *journal.Row, w int) { look.Exit(l, b, r.ExitCode, r.Exited, w) }),
		},
		{
			Name: "lag", Head: "LAG", Help: "from when it happened, by the runtime's clock, until the relist saw it", Least: 5, Right: true, Rank: 6,
			Draw: row(lagCell),
		},
		{
			Name: "channel", Head: "CHANNEL", Help: "what became of it at the kubelet's event channel: delivered, filtered, discarded", Least: 9, Rank: 7,
			Draw: row(func(l *text.Line, b widget.Pen, r *journal.Row, w int) {
				st := b.Dim
				if r.Delivery == pleg.Discarded {
					st = b.Bad
				}
				l.Cell(st, r.Delivery.String(), w)
			}),
		},
	}
}

// faint reports whether a line stands back: nothing happened, or the kubelet is not told.
func (e *events) faint(n line) bool {
	r := e.view.Journal.Row(n.seq)
	return r != nil && n.kind == event && (r.AtStart || r.Gap == 0 && r.Delivery == pleg.Filtered)
}

func (e *events) when(l *text.Line, b widget.Pen, r *journal.Row, w int) {
	switch {
	case r.AtStart && e.times == age:
		l.Right(b.Dim, "start", w-1)
	case r.AtStart:
		l.Cell(b.Dim, "at start", w-1)
	case e.times == age:
		l.Right(b.Dim, text.AgeCoarse(b.At.Sub(r.SeenAt)), w-1)
	default:
		l.Cell(b.Dim, r.SeenAt.Local().Format([clockStyles]string{clock: time.TimeOnly, full: fullTime}[e.times]), w-1)
	}
	if r.Marked {
		l.Sign(b.Info, b.Symbols.Mark)
	} else {
		l.Space(1)
	}
}

const fullTime = "2006-01-02T15:04:05.000Z07:00"

// slow is the detection lag from which relists lag behind: with a period of one
// second, anything below two is as it should be.
const slow = 3 * time.Second

func lagCell(l *text.Line, b widget.Pen, r *journal.Row, w int) {
	st, said := b.Dim, ""
	if r.Lag >= slow {
		st = b.Warn
	}
	if r.HasLag {
		said = text.Took(r.Lag)
	}
	l.Right(st, said, w)
}

// podCell draws namespace/name and cuts the namespace first.
func podCell(l *text.Line, b widget.Pen, p pleg.PodRef, w int) {
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

// subject names what in the pod an event is about.
func subject(e *engine.Event) string {
	switch {
	case e.Sandbox:
		return "sandbox"
	case e.Container != "":
		return e.Container
	}
	return text.ShortID(e.ID)
}

// steps says from which state an event leads to which.
func steps(t *theme.Theme, r *journal.Row) string {
	if r.ID == "" {
		return ""
	}
	return r.From.String() + " " + t.Symbols.Step + " " + r.To.String()
}

// stepCell draws the same, which fits.
func stepCell(l *text.Line, b widget.Pen, r *journal.Row, w int) {
	kept := l.Left()
	if r.ID != "" {
		l.Put(b.Dim, r.From.String())
		l.Space(1)
		l.Sign(b.Dim, b.Symbols.Step)
		l.Space(1)
		l.Put(b.Dim, r.To.String())
	}
	l.Space(w - (kept - l.Left()))
}

// untold returns what there is about an event that its columns have no room for.
func (e *events) untold(r *journal.Row) []string {
	var all []string
	add := func(s string, room int) {
		if text.Width(s) > room {
			all = append(all, s)
		}
	}
	if r.Gap == 0 {
		add(steps(e.view.Theme, r), e.Room(stepHead))
		add(r.Reason, 0)
		add(subject(&r.Event), e.Room(containerHead))
		add(r.Pod.String(), e.Room(podHead))
	}
	return all
}

// whole draws a line that has no columns.
func (e *events) whole(l *text.Line, b widget.Pen, n line) bool {
	r := e.view.Journal.Row(n.seq)
	switch {
	case r == nil:
	case n.kind == rule:
		e.rule(l, b, r)
	case n.kind == more:
		l.Space(10)
		for _, s := range e.untold(r) {
			l.Put(b.Dim, s)
			l.Space(2)
		}
	case r.Gap > 0:
		l.Put(b.Warn, b.Symbols.Warn+" gap: "+text.Count(r.Gap)+" events came too fast to be shown")
	default:
		return false
	}
	return true
}

// rule draws the line before the events of a relist: which it was, when it began and
// how long it took. It is no longer than its text: across the pane it would cost the
// terminal more than the events do.
func (e *events) rule(l *text.Line, b widget.Pen, r *journal.Row) {
	j := e.view.Journal
	found, known := j.Relist(r.At)
	says := " relist "
	switch {
	case r.AtStart:
		says = " what the first relist found "
	case known:
		says += strconv.FormatUint(found.Number, 10) + " "
	}
	says += r.At.Local().Format(time.TimeOnly) + " "
	if on, running := j.Running(); known && !(running && on.Number == found.Number) {
		says += text.Took(found.Took) + " "
	}
	l.Repeat(b.Border, b.Symbols.Horizontal, 2)
	l.Put(b.Dim, says)
	l.Repeat(b.Border, b.Symbols.Horizontal, 2)
}
