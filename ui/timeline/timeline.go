// Package timeline is the pane of what containers went through, drawn along the axis of
// time: a lane for each, in the order of the pods.
package timeline

import (
	"cmp"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/layer"
	"github.com/plegtop/plegtop/ui/model"
	"github.com/plegtop/plegtop/ui/pane"
	"github.com/plegtop/plegtop/ui/strip"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/widget"
)

// A row is the lane of a container.
type row struct {
	pod   *model.Pod
	name  string // of the container; empty for the sandbox of a pod without one
	gone  bool   // the pod is no longer listed
	first bool   // of its pod
	at    int    // among all
}

type key struct {
	uid  pleg.UID
	name string
}

// made is of what the rows were made.
type made struct {
	pods   uint64 // model.Pods.Changed
	events uint64 // model.Journal.Seq
	width  time.Duration
	begin  time.Time // of the axis; zero where no row will go with the time
}

// timeline is the pane. Only the lanes that are visible are worked out.
type timeline struct {
	layer.TablePane[row, key]
	moment time.Time // that the cursor is on; zero for the newest cell

	height int // of all lines
	label  int // cells of the names
	room   int // cells of the strip

	made    made
	rows    []row
	words   []string // of the pod that is being listed
	gone    map[pleg.UID]*model.Pod
	stories map[pleg.UID]*strip.Story // of the pods that are visible

	top        int          // the first row that is visible
	lanes      []strip.Lane // of those that are, from top on
	sights     []strip.Sight
	ago, clock string
}

// New returns the pane. It is not safe for concurrent use.
func New(pane.Settings) pane.Pane {
	t := new(timeline)
	t.Name = "lanes"
	t.Table = widget.Table[row, key]{Columns: t.columns(), Key: func(r row) key { return key{r.pod.Pod.UID, r.name} }}
	return t
}

// headLines and footLines are what is drawn beside the lanes where there is room: above
// them the scale in ages, below them that in times of day and what is under the cursor.
const (
	headLines = 1
	footLines = 2
	least     = 4 // lines with which there is room for the foot
)

// foot returns how many lines of the foot are drawn: those that a few lanes at least leave.
func (t *timeline) foot() int {
	return min(max(t.height-min(least, headLines+max(t.Len(), 1)), 0), footLines)
}

// footer is what the footer names, the most useful first.
var footer = []keymap.Action{
	keymap.Help, keymap.Detail, keymap.ZoomIn, keymap.ZoomOut, keymap.Left, keymap.Right, keymap.Filter, keymap.PauseRelist, keymap.NextPane,
	keymap.FullScreen, keymap.Freeze, keymap.Quit,
}

// Info says how many lanes there are, and what part of them is visible.
func (t *timeline) Info() pane.Info {
	return pane.Info{
		Name: "Time", About: t.about(), Scope: keymap.Matching, Footer: footer,
		Least: 3, Wanted: headLines + t.Len() + footLines, Wide: true,
	}
}

func (t *timeline) about() []text.Span {
	v := t.View
	if v == nil {
		return nil
	}
	first, last, n := t.Visible()
	all := []text.Span{text.Say(v.Theme.Dim, widget.Seen(first, last, n, "lane")), text.Say(v.Theme.Dim, text.Age(v.Axis.Width)+" across")}
	if v.Pods.ProblemsOnly() {
		all = append(all, text.Say(v.Theme.Info, "problems only"))
	}
	return append(all, v.Filtered()...)
}

// Observe takes over the pods and what they went through.
func (t *timeline) Observe(v *pane.View, w, h int) {
	t.View, t.height = v, h
	if h == 0 {
		t.rows, t.made = nil, made{} // they would hold on to pods that have gone
		t.Set(nil)
		return
	}
	t.share(w)
	t.enumerate()
	t.Resize(v.Pen(), w, h-t.foot())
	t.ago, t.clock = v.Axis.Ago(t.room), v.Axis.Clock(t.room)
	t.sights = strip.Sights(v, t.room, t.sights)
	t.arrange()
}

// share gives the names their cells of w, and the lanes the others.
func (t *timeline) share(w int) {
	t.label = min(max(w*35/100, min(20, w/2)), 52)
	pods := t.label * 3 / 5
	t.room = max(w-t.label-1, 0)
	anew := false
	for i, cells := range []int{pods, t.label - pods - 1, t.room} {
		anew = anew || t.Columns[i].Least != cells
		t.Columns[i].Least = cells
	}
	if anew {
		t.Refit()
	}
}

// enumerate lists the lanes, if they may be others than before: those of the pods that are
// shown, in their order, and then those of pods that have gone in the time of the axis.
func (t *timeline) enumerate() {
	v := t.View
	begin := v.Axis.End.Add(-v.Axis.Width)
	now := made{pods: v.Pods.Changed, events: v.Journal.Seq(), width: v.Axis.Width, begin: begin}
	if t.made.begin.IsZero() {
		now.begin = time.Time{}
	}
	if t.made == now {
		return
	}
	t.rows = t.rows[:0]
	lasting := true
	for _, p := range v.Pods.Shown {
		lasting = t.add(p, false) && lasting
	}
	was := t.gone
	t.gone = make(map[pleg.UID]*model.Pod, len(was))
	for _, tomb := range v.Journal.Tombstones() {
		if tomb.Gone.Before(begin) {
			continue
		}
		p := was[tomb.Pod.UID]
		if p == nil || p.Pod != tomb.Pod {
			p = model.NewPod(tomb.Pod)
		}
		if t.gone[p.Pod.UID] = p; v.Pods.Shows(p) {
			t.add(p, true)
			lasting = false
		}
	}
	t.made = now
	if t.made.begin = begin; lasting {
		t.made.begin = time.Time{}
	}
	t.Set(t.rows)
}

// add lists the lanes of a pod, and reports whether it still has all those containers.
func (t *timeline) add(p *model.Pod, gone bool) (lasting bool) {
	t.words = strip.Names(t.View, p, t.words[:0])
	lasting = len(t.words) == len(p.Now)
	if len(t.words) == 0 {
		t.words = append(t.words, "")
	}
	for i, name := range t.words {
		t.rows = append(t.rows, row{pod: p, name: name, gone: gone, first: i == 0, at: len(t.rows)})
	}
	return lasting
}

// arrange works out the lanes that are visible.
func (t *timeline) arrange() {
	was := t.stories
	t.stories = make(map[pleg.UID]*strip.Story, len(was))
	first, last, _ := t.Visible()
	t.top = max(first-1, 0)
	t.lanes = slices.Grow(t.lanes[:0], last-t.top)[:last-t.top]
	for i := range t.lanes {
		r, n := &t.rows[t.top+i], &t.lanes[i]
		p := r.pod.Pod
		story := t.stories[p.UID]
		if story == nil {
			if story = was[p.UID]; story == nil {
				story = new(strip.Story)
			}
			t.stories[p.UID] = story
		}
		n.Gone, n.Held = r.gone, strip.Held(t.View, p.UID, r.name)
		n.Set(t.View, story.Of(t.View.Journal, p), r.name, t.sights)
	}
}

// lane returns the lane of row i; nil unless it is visible.
func (t *timeline) lane(i int) *strip.Lane {
	if i -= t.top; i < 0 || i >= len(t.lanes) {
		return nil
	}
	return &t.lanes[i]
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
		cmd, ok := t.TablePane.Do(a, h)
		if ok {
			t.arrange()
		}
		return cmd, ok
	}
	return nil, true
}

func (t *timeline) cell() int {
	if t.moment.IsZero() {
		return t.room - 1
	}
	return min(max(t.View.Axis.Index(t.room, t.moment), 0), t.room-1)
}

// step moves the cursor in time. At the right edge it goes on with the time.
func (t *timeline) step(by int) {
	to := max(t.cell()+by, 0)
	if t.moment = (time.Time{}); to < t.room-1 {
		from, end := t.View.Axis.Cell(t.room, to)
		t.moment = from.Add(end.Sub(from) / 2)
	}
}

// seek moves the cursor to the next event of its lane, or the one before.
func (t *timeline) seek(by int, h pane.Host) {
	lane := t.lane(t.Cursor())
	for i := t.cell() + by; lane != nil && i >= 0 && i < t.room; i += by {
		if c := &lane.Cells[i]; c.Event > 0 || c.Sighted > 0 {
			t.step(i - t.cell())
			return
		}
	}
	h.Say("no further event in this lane")
}

// Subject returns the container under the cursor, and the event if there is one.
func (t *timeline) Subject() pane.Subject {
	r, ok := t.Current()
	if !ok {
		return pane.Subject{}
	}
	s := pane.Subject{ObjectRef: pleg.ObjectRef{Pod: r.pod.Pod.PodRef, Container: r.name}}
	if i, lane := t.cell(), t.lane(t.Cursor()); lane != nil && i >= 0 {
		s.Event, s.ID = cmp.Or(lane.Cells[i].Event, lane.Cells[i].Sighted), lane.Cells[i].ID
	}
	return s
}
