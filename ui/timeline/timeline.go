// Package timeline is the pane of what containers went through, drawn along the axis of
// time: a lane for each, in the order of the pods.
package timeline

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/journal"
	"github.com/plegtop/plegtop/ui/pane"
	"github.com/plegtop/plegtop/ui/podlist"
	"github.com/plegtop/plegtop/ui/strip"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/widget"
)

// A row is the lane of a container.
type row struct {
	key
	pod   *podlist.Pod
	gone  bool        // the pod is listed no more
	first bool        // of its pod, or of those that are visible
	lane  *strip.Lane // nil unless it is visible
}

type key struct {
	uid  pleg.UID
	name string // of the container; empty for the sandbox of a pod without one
}

// A life is what was worked out of a pod, and from what.
type life struct {
	pod    *engine.Pod
	newest uint64 // the Seq of its newest event
	stages []journal.Stage
}

// timeline is the pane. Only the lanes that are visible are worked out.
type timeline struct {
	table  widget.Table[*row, key]
	view   *pane.View
	moment time.Time // that the cursor is on; zero for the newest cell

	height            int // of all lines
	pods, names, room int // cells of the columns and of the strip

	rows  []row
	list  []*row
	words []string // of the row that is being listed
	gone  map[pleg.UID]*podlist.Pod
	lives map[pleg.UID]life

	lanes      []strip.Lane
	sights     []strip.Sight
	ago, clock string
}

// New returns the pane. It is not safe for concurrent use.
func New(pane.Settings) pane.Pane {
	return &timeline{table: widget.Table[*row, key]{Key: func(r *row) key { return r.key }}}
}

// headLines and footLines are what is drawn beside the lanes where there is room: above
// them the scale in ages, below them that in times of day and what is under the cursor.
const (
	headLines = 1
	footLines = 2
	least     = 4 // lines with which there is room for the foot
)

// foot returns how many lines of the foot are drawn.
func (t *timeline) foot() int { return min(max(t.height-least, 0), footLines) }

// Info says how many lanes there are, and what part of them is visible.
func (t *timeline) Info() pane.Info {
	return pane.Info{
		Name: "Timeline", About: t.about(), Scope: keymap.InTimeline,
		Least: 3, Wanted: headLines + t.table.Len() + footLines, Below: true,
	}
}

func (t *timeline) about() []text.Span {
	v := t.view
	if v == nil {
		return nil
	}
	first, last, n := t.table.Visible()
	if t.height == 0 {
		first, last = 1, n
	}
	all := []text.Span{{Style: v.Theme.Dim, Text: widget.Part(first, last, n)}, {Style: v.Theme.Dim, Text: text.Age(v.Axis.Width) + " across"}}
	if v.Pods.ProblemsOnly() {
		all = append(all, text.Span{Style: v.Theme.Info, Text: "problems only"})
	}
	return append(all, v.Filtered()...)
}

// Observe takes over the pods and what they went through.
func (t *timeline) Observe(v *pane.View, w, h int) {
	t.view, t.height = v, h
	label := min(max(w*35/100, min(20, w/2)), 52)
	t.pods = label * 3 / 5
	t.names = label - t.pods - 1
	t.room = max(w-label-1, 0)
	t.enumerate()
	t.table.Resize(w, h-t.foot())
	t.table.Set(t.list)
	if h == 0 {
		return
	}
	t.ago, t.clock = v.Axis.Ago(t.room), v.Axis.Clock(t.room)
	t.sights = strip.Sights(v, t.room, t.sights)
	t.arrange()
}

// enumerate lists the lanes: those of the pods that are shown, in their order, and then
// those of pods that have gone in the time of the axis.
func (t *timeline) enumerate() {
	t.rows, t.list = t.rows[:0], t.list[:0]
	for _, p := range t.view.Pods.Shown {
		t.add(p, false)
	}
	was := t.gone
	t.gone = make(map[pleg.UID]*podlist.Pod, len(was))
	begin, _ := t.view.Axis.Cell(t.room, 0)
	for _, tomb := range t.view.Journal.Tombstones() {
		if tomb.Gone.Before(begin) || tomb.Gone.After(t.view.At) {
			continue
		}
		p := was[tomb.Pod.UID]
		if p == nil || p.Pod != tomb.Pod {
			p = podlist.New(tomb.Pod, nil, diagnose.Trouble{})
		}
		if t.gone[p.Pod.UID] = p; t.view.Pods.Shows(p) {
			t.add(p, true)
		}
	}
	for i := range t.rows {
		t.list = append(t.list, &t.rows[i])
	}
}

func (t *timeline) add(p *podlist.Pod, gone bool) {
	t.words = strip.Names(t.view, p, t.words[:0])
	if len(t.words) == 0 {
		t.words = append(t.words, "")
	}
	for i, name := range t.words {
		t.rows = append(t.rows, row{key: key{p.Pod.UID, name}, pod: p, gone: gone, first: i == 0})
	}
}

// arrange works out the lanes that are visible.
func (t *timeline) arrange() {
	was := t.lives
	t.lives = make(map[pleg.UID]life, len(was))
	first, last, _ := t.table.Visible()
	n := 0
	for i := max(first-1, 0); i < last; i++ {
		r := t.list[i]
		if n == len(t.lanes) {
			t.lanes = append(t.lanes, strip.Lane{})
		}
		r.lane = &t.lanes[n]
		r.lane.Gone = r.gone
		r.lane.Set(t.view, t.life(r, was), r.name, t.sights)
		n++
	}
}

// life returns what the pod of a row went through, from what was worked out before if
// nothing has changed since.
func (t *timeline) life(r *row, was map[pleg.UID]life) []journal.Stage {
	l, known := t.lives[r.uid]
	if !known {
		l = was[r.uid]
	}
	if newest := t.view.Journal.Newest(r.uid); l.pod != r.pod.Pod || l.newest != newest {
		l = life{r.pod.Pod, newest, t.view.Journal.Life(r.uid, r.pod.Pod)}
	}
	t.lives[r.uid] = l
	return l.stages
}

// Do moves the cursor from lane to lane, and in time, while they are seen.
func (t *timeline) Do(a keymap.Action, h pane.Host) (tea.Cmd, bool) {
	if t.height == 0 {
		return nil, false
	}
	switch a {
	case keymap.Left:
		t.step(-1)
	case keymap.Right:
		t.step(1)
	case keymap.MatchPrev:
		t.seek(-1, h)
	case keymap.MatchNext:
		t.seek(1, h)
	case keymap.Back:
		if t.moment.IsZero() {
			return nil, false
		}
		t.moment = time.Time{}
	case keymap.Detail:
		if s := t.Subject(); s.Pod.UID != "" && !h.OpenSheet(s) {
			h.Say("there is no more to be said of this")
		}
	default:
		if !t.table.Do(a) {
			return nil, false
		}
		t.arrange()
	}
	return nil, true
}

// cell returns the cell that the cursor is on.
func (t *timeline) cell() int {
	if t.moment.IsZero() {
		return t.room - 1
	}
	return min(max(t.view.Axis.Index(t.room, t.moment), 0), t.room-1)
}

// step moves the cursor in time. At the right edge it goes on with the time.
func (t *timeline) step(by int) {
	to := max(t.cell()+by, 0)
	if t.moment = (time.Time{}); to < t.room-1 {
		from, end := t.view.Axis.Cell(t.room, to)
		t.moment = from.Add(end.Sub(from) / 2)
	}
}

// seek moves the cursor to the next event of its lane, or the one before.
func (t *timeline) seek(by int, h pane.Host) {
	r, ok := t.table.Current()
	for i := t.cell() + by; ok && r.lane != nil && i >= 0 && i < t.room; i += by {
		if r.lane.Cells[i].Event > 0 {
			t.step(i - t.cell())
			return
		}
	}
	h.Say("no further event in this lane")
}

// Click puts the cursor on a lane, and on a moment.
func (t *timeline) Click(x, y int, _ pane.Host) {
	if y < headLines || y >= t.height-t.foot() || !t.table.Click(y) {
		return
	}
	if at := x - (t.pods + t.names + 2); at >= 0 {
		t.step(at - t.cell())
	}
}

// Subject returns the container under the cursor, and the event if there is one.
func (t *timeline) Subject() pane.Subject {
	r, ok := t.table.Current()
	if !ok {
		return pane.Subject{}
	}
	s := pane.Subject{Pod: r.pod.Pod.PodRef, Container: r.name}
	if i := t.cell(); r.lane != nil && i >= 0 {
		s.Event = r.lane.Cells[i].Event
		s.ID = r.lane.Cells[i].ID
	}
	return s
}
