// Package workers is the pane of the pod workers, which consume what PLEG sends: what wakes
// them, what they wait for, and how often an event that they had expected woke nobody.
package workers

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/podworker"
	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/layer"
	"github.com/plegtop/plegtop/ui/model"
	"github.com/plegtop/plegtop/ui/pane"
	"github.com/plegtop/plegtop/ui/say"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
	"github.com/plegtop/plegtop/ui/widget"
)

// workers is the pane: a row for each worker whose pod is shown, those that are held up
// first, and a line below them about the one under the cursor.
type workers struct {
	layer.TablePane[*podworker.Worker, pleg.UID]
	tells int // the line about the one under the cursor; 0 where there is no room for it
	about []text.Span
	mark  []text.Span
}

// New returns the pane. It is not safe for concurrent use.
func New(pane.Settings) pane.Pane {
	p := &workers{}
	p.Name, p.Own, p.Sorts = "workers", "wait and wake-ups", true
	p.Table = widget.Table[worker, pleg.UID]{Columns: p.columns(), Key: func(w worker) pleg.UID { return w.Pod.UID }}
	return p
}

// roomy is how many lines the pane has where one is left for what columns have no room for.
const roomy = 8

// footer is what the footer names, the most useful first.
var footer = []keymap.Action{
	keymap.Help, keymap.Filter, keymap.Detail, keymap.SortNext, keymap.Namespaces, keymap.PauseRelist, keymap.NextPane, keymap.FullScreen,
	keymap.Freeze, keymap.Quit,
}

// Info says how many workers there are and what they did, and how many are held up.
func (p *workers) Info() pane.Info {
	return pane.Info{Name: "Workers", About: p.about, Mark: p.mark, Footer: footer, Least: 3, Wanted: 2 + p.Len()}
}

// Observe takes over how all workers stand.
func (p *workers) Observe(v *pane.View, w, h int) {
	p.View = v
	held := p.held()
	p.mark = held
	if h == 0 {
		return
	}
	if p.tells = 0; h >= roomy {
		h--
		p.tells = h
	}
	p.TablePane.Observe(v, w, h)
	p.refresh()
	first, last, n := p.Visible()
	dim := func(s string) text.Span { return text.Say(v.Theme.Dim, s) }
	if len(v.Workers.All) == 0 {
		p.about = []text.Span{dim("none")}
		return
	}
	p.about = append([]text.Span{dim(widget.Seen(first, last, n, "pod"))}, held...)
	p.about = append(p.about, dim(say.WorkersSum(&v.Workers)), dim(say.WorkersTell(&v.Workers)))
	p.about = append(p.about, v.Filtered()...)
}

// held counts the workers that have been waiting for long.
func (p *workers) held() []text.Span {
	v := p.View
	n := diagnose.WorkersHeld(v.Snapshot)
	if n == 0 {
		return nil
	}
	return []text.Span{text.Say(v.Theme.Warn, v.Theme.Symbols.Warn+strconv.Itoa(n)+" blocked")}
}

// refresh puts the workers that are shown into their order: those that wait for long first,
// longest first, then those that are woken most.
func (p *workers) refresh() {
	rows := p.shown()
	s := p.View.Snapshot
	if name, _ := p.Sorted(); name == "" {
		slices.SortStableFunc(rows, func(a, b *podworker.Worker) int {
			switch held := diagnose.WorkerHeld(s, a); {
			case held != diagnose.WorkerHeld(s, b):
				return map[bool]int{true: -1, false: 1}[held]
			case held:
				return cmp.Or(cmp.Compare(a.State, b.State), a.Since.Compare(b.Since))
			}
			return cmp.Compare(b.WakeUps, a.WakeUps)
		})
	}
	p.Sort(rows)
	p.Set(rows)
}

// shown returns the workers whose pods the filter lets through.
func (p *workers) shown() []*podworker.Worker {
	v := p.View
	if len(v.Workers.All) == 0 { // as of a node on which nothing has happened yet, however many pods it has
		return nil
	}
	shown := make(map[pleg.UID]bool, v.Pods.Len())
	for _, pod := range v.Snapshot.Pods {
		shown[pod.UID] = false
	}
	for _, pod := range v.Pods.Shown {
		shown[pod.Pod.UID] = true
	}
	var rows []*podworker.Worker
	for _, w := range v.Workers.All {
		if show, listed := shown[w.Pod.UID]; show || !listed && p.shows(w) {
			rows = append(rows, w)
		}
	}
	return rows
}

// shows reports whether the filter lets a worker through whose pod is not listed: one that
// has gone, as it was last.
func (p *workers) shows(w *podworker.Worker) bool {
	v := p.View
	if gone := v.Journal.Gone(w.Pod.UID); gone != nil {
		return v.Pods.Shows(model.NewPod(gone))
	}
	return v.Filter.Text == "" && !v.Pods.ProblemsOnly() && v.Filter.Namespace(w.Pod.Namespace)
}

// Draw draws the heads, a row, why there is none, or the line about the one under the cursor.
func (p *workers) Draw(l *text.Line, y int, focused bool) {
	v := p.View
	_, _, n := p.Visible()
	switch w, ok := p.Current(); {
	case y == 1 && n == 0 && len(v.Workers.All) == 0:
		l.Put(v.Theme.Dim, "no worker yet: the first event of a pod makes it one")
	case y == 1 && n == 0:
		l.Put(v.Theme.Dim, "no worker's pod matches the filter")
	case p.tells > 0 && y == p.tells:
		if ok && focused {
			l.Put(v.Theme.Dim, say.WorkerTells(&v.Workers, w, v.At))
		}
	default:
		p.TablePane.Draw(l, y, focused)
	}
}

// Subject returns the pod of the worker under the cursor.
func (p *workers) Subject() pane.Subject {
	w, ok := p.Current()
	if !ok {
		return pane.Subject{}
	}
	return pane.Subject{ObjectRef: pleg.ObjectRef{Pod: w.Pod}}
}

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
