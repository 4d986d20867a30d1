package workers

import (
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/podworker"
	"github.com/plegtop/plegtop/ui/say"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
	"github.com/plegtop/plegtop/ui/widget"
)

type worker = *podworker.Worker

// columns have what a worker waits for beside what it does, and the figures after them.
// Sorted by one of these, the largest comes first.
func (p *workers) columns() []widget.Column[worker] {
	return []widget.Column[worker]{
		{
			Name: "pod", Head: "POD", Help: "namespace and name of the pod that the worker is for", Least: 14, Fair: 20, Most: 46, Rank: 0,
			Value: func(p widget.Pen, w worker) widget.Cell { return widget.Name(p.Text, w.Pod.String()) },
		}, {
			Name: "state", Head: "STATE", Help: "idle; waits for a status of its pod that is newer than its last sync; syncing; or waits for events that it expects of its own doing", Least: 17, Fair: 22, Most: 32, Rank: 1,
			Value: p.state,
			Draw: func(l *text.Line, b widget.Pen, w worker, n int) {
				c := p.state(b, w)
				if s := short[w.State]; s != "" && n < stateRoom {
					c.Text = s
				}
				c.Draw(l, b, n, false)
			},
		}, {
			Name: "woken", Head: "WOKEN", Help: "how often an event woke it", Least: 6, Rank: 2, Right: true,
			Value: func(p widget.Pen, w worker) widget.Cell { return count(p, p.Text, w.WakeUps) },
		}, {
			Name: "syncs", Head: "SYNCS", Help: "how often it has synced its pod", Least: 6, Rank: 5, Right: true,
			Value: func(p widget.Pen, w worker) widget.Cell { return count(p, p.Text, w.Syncs) },
		}, {
			Name: "skipped", Head: "SKIPPED", Help: "syncs skipped: events that it expected of its own doing, and that woke nobody", Least: 7, Rank: 3, Right: true,
			Value: func(p widget.Pen, w worker) widget.Cell { return count(p, p.Good, w.Saved) },
		}, {
			Name: "expects", Head: "EXPECTS", Help: "the event that it expects next, with the time that it has left, and how many more", Least: 14, Fair: 20, Most: 40, Rank: 4,
			Value: expects, Draw: drawExpects,
		}, {
			Name: "expired", Head: "EXPIRED", Help: "expected events that did not come in time; they hold nothing up any more", Least: 7, Rank: 8, Right: true,
			Value: func(p widget.Pen, w worker) widget.Cell { return count(p, p.Warn, w.Expired) },
		}, {
			Name: "queued", Head: "QUEUED", Help: "events that wait to be handled, in their order", Least: 6, Rank: 7, Right: true,
			Value: func(p widget.Pen, w worker) widget.Cell { return count(p, p.Info, uint64(w.Queued)) },
		}, {
			Name: "last", Head: "LAST EVENT", Help: "the last one of the pod, and how long ago it came; in brackets if it was expected", Least: 15, Fair: 17, Most: 20, Rank: 6,
			Value: say.WorkerEvent,
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

// state returns what a worker does, and since when where that is of interest.
func (p *workers) state(b widget.Pen, w worker) widget.Cell {
	held := diagnose.WorkerHeld(p.View.Snapshot, w)
	symbol, st := say.Worker(b.Theme, w, held)
	c := widget.Say(st, w.State.String())
	switch {
	case held:
		c = widget.Waiting(st, w.Since).After(c.Text)
	case diagnose.WorkerIdle(p.View.Snapshot, w):
		c = widget.Since(st, w.Since).After(c.Text)
	}
	return c.Signed(symbol).Sorted(int64(rank(w)))
}

// expects returns the next event that a worker expects.
func expects(p widget.Pen, w worker) widget.Cell {
	if len(w.Expected) == 0 {
		return widget.Say(p.Dim, "-")
	}
	return widget.Say(p.Info, say.Expected(&w.Expected[0])).Sorted(int64(len(w.Expected)))
}

// drawExpects draws after it the time that is left, and how many more.
func drawExpects(l *text.Line, p widget.Pen, w worker, n int) {
	c := expects(p, w)
	left := ""
	if len(w.Expected) > 0 {
		left = " " + text.Age(w.Expected[0].Until.Sub(p.At))
	}
	if others := len(w.Expected) - 1; others > 0 {
		left += " +" + text.Count(uint64(others))
	}
	room := min(text.Width(c.Text), max(n-len(left), 0))
	l.Cell(c.Look, c.Text, room)
	l.Cell(c.Look, left, n-room)
}

// count returns a figure in a look of its own unless it is 0.
func count(p widget.Pen, st theme.Style, n uint64) widget.Cell {
	return widget.Count(theme.When(n == 0, p.Dim, st), n)
}
