package workers

import (
	"cmp"

	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/podworker"
	"github.com/plegtop/plegtop/ui/look"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
	"github.com/plegtop/plegtop/ui/widget"
)

type worker = *podworker.Worker

// columns has what a worker waits for beside what it does, and the figures after them.
// Sorted by one of these, the largest comes first.
func (p *workers) columns() []widget.Column[worker] {
	return []widget.Column[worker]{
		{
			Name: "pod", Head: "POD", Help: "namespace and name of the pod that the worker is for", Least: 14, Fair: 20, Most: 46, Rank: 0,
			Draw:    func(l *text.Line, p widget.Pen, w worker, n int) { l.Name(p.Text, w.Pod.String(), n) },
			Compare: func(a, b worker) int { return cmp.Compare(a.Pod.String(), b.Pod.String()) },
		}, {
			Name: "state", Head: "STATE", Help: "idle; waits for a status of its pod that is newer than its last sync; syncing; or waits for events that it expects of its own doing", Least: 17, Fair: 22, Most: 32, Rank: 1,
			Draw: p.state, Compare: func(a, b worker) int { return cmp.Compare(rank(b), rank(a)) },
		},
		figure("woken", "WOKEN", "how often an event woke it", 2, func(w worker) uint64 { return w.WakeUps }, nil),
		figure("syncs", "SYNCS", "how often it has synced its pod", 5, func(w worker) uint64 { return w.Syncs }, nil),
		figure("saved", "SAVED", "syncs saved: events that it expected of its own doing, and that woke nobody", 3, func(w worker) uint64 { return w.Saved }, func(p widget.Pen) theme.Style { return p.Good }),
		{
			Name: "expects", Head: "EXPECTS", Help: "the event that it expects next, with the time that it has left, and how many more", Least: 14, Fair: 20, Most: 40, Rank: 4,
			Draw: expects, Compare: func(a, b worker) int { return cmp.Compare(len(b.Expected), len(a.Expected)) },
		},
		figure("expired", "EXPIRED", "expected events that did not come in time; they hold nothing up any more", 8, func(w worker) uint64 { return w.Expired }, func(p widget.Pen) theme.Style { return p.Warn }),
		figure("queued", "QUEUED", "events that wait to be handled, in their order", 7, func(w worker) uint64 { return uint64(w.Queued) }, func(p widget.Pen) theme.Style { return p.Info }),
		{
			Name: "last", Head: "LAST EVENT", Help: "the last one of the pod, and how long ago it came; in brackets if it was expected", Least: 15, Fair: 17, Most: 20, Rank: 6,
			Draw: look.WorkerEvent, Compare: func(a, b worker) int { return b.LastAt.Compare(a.LastAt) },
		},
	}
}

// rank is the order of states, what is held up last.
func rank(w worker) int {
	return [...]int{podworker.Idle: 0, podworker.Syncing: 1, podworker.WaitsForExpected: 2, podworker.WaitsForStatus: 3}[min(w.State, podworker.WaitsForExpected)]
}

// short is what a worker does in a narrow column.
var short = map[podworker.State]string{podworker.WaitsForStatus: "waits: status", podworker.WaitsForExpected: "waits: expected"}

// stateRoom is how many cells the full words of a state and an age take.
const stateRoom = 31

// state draws what a worker does, and for how long where that is of interest.
func (p *workers) state(l *text.Line, b widget.Pen, w worker, n int) {
	held := diagnose.WorkerHeld(p.view.Snapshot, w)
	symbol, st := look.Worker(b.Theme, w, held)
	said := w.State.String()
	if s := short[w.State]; s != "" && n < stateRoom {
		said = s
	}
	switch took := b.At.Sub(w.Since); {
	case held:
		said += " " + text.Age(took)
	case diagnose.WorkerIdle(p.view.Snapshot, w):
		said += " " + text.AgeCoarse(took)
	}
	look.Sign(l, st, symbol, said, n)
}

func expects(l *text.Line, p widget.Pen, w worker, n int) {
	if len(w.Expected) == 0 {
		l.Cell(p.Dim, "-", n)
		return
	}
	next := &w.Expected[0]
	left := " " + text.Age(next.Until.Sub(p.At))
	if others := len(w.Expected) - 1; others > 0 {
		left += " +" + text.Count(uint64(others))
	}
	said := look.Expected(next)
	room := min(text.Width(said), max(n-len(left), 0))
	l.Cell(p.Info, said, room)
	l.Cell(p.Info, left, n-room)
}

// figure is a column of a figure at the right, in a look of its own unless it is 0.
func figure(name, head, help string, by int, of func(worker) uint64, st func(widget.Pen) theme.Style) widget.Column[worker] {
	return widget.Column[worker]{
		Name: name, Head: head, Help: help, Least: max(6, len(head)), Rank: by, Right: true,
		Draw: func(l *text.Line, p widget.Pen, w worker, n int) {
			look := p.Text
			if st != nil {
				look = st(p)
			}
			l.Right(theme.When(of(w) == 0, p.Dim, look), text.Count(of(w)), n)
		},
		Compare: func(a, b worker) int { return cmp.Compare(of(b), of(a)) },
	}
}
