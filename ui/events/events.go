// Package events is the pane of what happened, and the sheet of one event: what it says,
// when and by which relist it was seen, and what the kubelet does next.
package events

import (
	"cmp"
	"slices"
	"sort"
	"strconv"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/filter"
	"github.com/plegtop/plegtop/ui/journal"
	"github.com/plegtop/plegtop/ui/layer"
	"github.com/plegtop/plegtop/ui/pane"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/widget"
	"github.com/plegtop/plegtop/ui/wording"
)

// calm is how long rows stay where they are before the next ones move them: rows that
// move with each event are hard to read, and each time cost the terminal all lines.
const calm = 2 * time.Second

// events is the pane: the rows of the journal that the filter shows, the newest at the
// bottom, with a line between those of two relists.
type events struct {
	widget.Table[line, line]
	lines lines
	view  *pane.View
	times clockStyle

	follow bool
	moved  time.Time // when the last rows came in
	h      int
	about  []text.Span
}

// New returns the pane. It is not safe for concurrent use.
func New(s pane.Settings) pane.Pane {
	e := &events{follow: true, times: clockNamed(s.Time), lines: lines{relists: true}}
	e.Table = widget.Table[line, line]{
		Columns: e.columns(), FromBottom: true,
		Key:    func(n line) line { return n },
		Parent: e.lines.after,
		Faint:  e.faint,
		Whole:  e.whole,
	}
	e.Hide(s.Hidden["events"])
	return e
}

// always is more lines than any screen has: the pane can make use of all there are, and
// does not grow with each event.
const always = 1 << 10

// Info says how many events there are, and what is shown of them.
func (e *events) Info() pane.Info {
	return pane.Info{Name: "Events", About: e.about, Scope: keymap.InEvents, Least: 3, Wanted: always}
}

// Observe takes over what has happened.
func (e *events) Observe(v *pane.View, w, h int) {
	resized := h > 0 && (h != e.h || w != e.lines.width)
	e.view = v
	if h > 0 {
		e.h, e.lines.width = h, w
		e.Resize(w, h)
	}
	if still := v.At.Sub(e.moved); !resized && e.follow && e.lines.version == v.Journal.Version && e.Len() > 0 && still >= 0 && still < calm {
		return
	}
	if resized && e.lines.wrap {
		e.lines.anew()
	}
	e.refresh()
}

// refresh shows the rows as they are now.
func (e *events) refresh() {
	j := e.view.Journal
	if e.lines.update(j, e.untold) {
		e.moved = e.view.At
	}
	e.Set(e.lines.all)
	if e.follow {
		e.Go(e.Len() - 1)
	}
	e.settle(-1)
}

// settle puts the cursor on an event if it is on another line, looking in the direction
// of step first, and writes the title.
func (e *events) settle(step int) {
	all := e.Rows()
	for _, by := range []int{step, -step} {
		for i := e.Cursor(); i >= 0 && i < len(all); i += by {
			if all[i].kind == event {
				if i != e.Cursor() {
					e.Go(i)
				}
				e.title()
				return
			}
		}
	}
	e.title()
}

// row returns the row under the cursor, or nil.
func (e *events) row() *journal.Row {
	n, ok := e.Current()
	if !ok || e.view == nil {
		return nil
	}
	return e.view.Journal.Row(n.seq)
}

// Subject returns the event under the cursor.
func (e *events) Subject() pane.Subject {
	r := e.row()
	if r == nil || r.Gap > 0 {
		return pane.Subject{}
	}
	return pane.Subject{Pod: r.Pod, Container: r.Container, ID: r.ID, Event: r.Seq}
}

// Do moves, marks, follows, or changes what is shown of each event.
func (e *events) Do(a keymap.Action, h pane.Host) (tea.Cmd, bool) {
	e.refresh()
	switch a {
	case keymap.Follow:
		e.follow = !e.follow
		e.refresh()
		if e.follow {
			h.Say("following the newest event")
		} else {
			h.Say("staying here; " + h.Keys(a) + " follows again")
		}
	case keymap.Mark:
		e.mark()
	case keymap.MatchNext:
		e.jump(1, h)
	case keymap.MatchPrev:
		e.jump(-1, h)
	case keymap.TimeFormat:
		e.times = (e.times + 1) % clockStyles
		e.Columns = e.columns()
		e.Hide(e.Hidden())
		h.Say("event times: " + clockNames[e.times])
	case keymap.Columns:
		layer.Columns("Columns of the events", e, h)
	case keymap.Wrap:
		e.lines.wrap = !e.lines.wrap
		e.lines.anew()
		e.refresh()
	case keymap.Relists:
		e.lines.relists = !e.lines.relists
		e.lines.anew()
		e.refresh()
	case keymap.Detail:
		if !h.OpenSheet(e.Subject()) {
			h.Say("no event under the cursor")
		}
	case keymap.Copy:
		ref := e.Subject().Pod
		return pane.Copy(h, cmp.Or(ref.Name, string(ref.UID))), true
	default:
		return nil, e.move(a)
	}
	return nil, true
}

// move does what a moving key asks for. Whoever leaves the newest event stops following,
// and whoever comes back to it follows again.
func (e *events) move(a keymap.Action) bool {
	was := e.Cursor()
	if !e.Table.Do(a) {
		return false
	}
	step := 1
	if e.Cursor() < was {
		step = -1
	}
	e.placed(step)
	return true
}

// placed takes in that a person has put the cursor somewhere.
func (e *events) placed(step int) {
	e.settle(step)
	n, ok := e.Current()
	e.follow = !ok || n.seq == e.lines.last
	e.Idle = !e.follow
	e.title()
}

// Click puts the cursor on the event in line y.
func (e *events) Click(_, y int, _ pane.Host) {
	if e.Table.Click(y) {
		e.placed(1)
	}
}

func (e *events) mark() {
	if n, ok := e.Current(); ok {
		e.view.Journal.Mark(n.seq)
	}
}

// jump goes to the next row in the direction of step that is marked or, when none of
// those shown is, that tells of trouble.
func (e *events) jump(step int, h pane.Host) {
	j := e.view.Journal
	what, wanted := "mark", func(r *journal.Row) bool { return r.Marked }
	if !slices.ContainsFunc(e.Rows(), func(n line) bool { return n.in(j, wanted) }) {
		what, wanted = "event that tells of trouble", trouble
	}
	for i := e.Cursor() + step; i >= 0 && i < e.Len(); i += step {
		if e.Rows()[i].in(j, wanted) {
			e.Go(i)
			e.follow, e.Idle = false, true
			e.title()
			return
		}
	}
	where := " below"
	if step < 0 {
		where = " above"
	}
	h.Say("no " + what + where)
}

// trouble reports whether a person who looks for the cause of something would stop here.
func trouble(r *journal.Row) bool {
	return r.Gap > 0 || !r.AtStart && filter.EventProblem(r.Event) != ""
}

// title says how much is seen, whether the newest is followed, and which filter is in
// force. Of more than a few that still come, the number need not be exact: a title that
// changes with each event draws the eye to the wrong place.
func (e *events) title() {
	e.Idle = !e.follow
	th, shown := e.view.Theme, e.view.Journal.Shown()
	n := len(shown)
	switch {
	case n == 0:
		e.about = []text.Span{{Style: th.Dim, Text: "none"}}
	case e.follow && n < 10:
		e.about = []text.Span{{Style: th.Dim, Text: strconv.Itoa(n)}, {Style: th.Dim, Text: "following"}}
	case e.follow:
		e.about = []text.Span{{Style: th.Dim, Text: strconv.FormatUint(wording.Coarse(uint64(n/10*10)), 10) + "+"}, {Style: th.Dim, Text: "following"}}
	default:
		e.about = []text.Span{{Style: th.Dim, Text: e.seen(shown)}, {Style: th.Warn, Text: "not following"}}
	}
	e.about = append(e.about, e.view.Filtered()...)
}

// seen says which of the events are visible, such as "1-20/110".
func (e *events) seen(shown []uint64) string {
	first, last, _ := e.Visible()
	if first == 0 {
		return "0/" + strconv.Itoa(len(shown))
	}
	all := e.Rows()
	from := sort.Search(len(shown), func(i int) bool { return shown[i] >= all[first-1].seq })
	to := sort.Search(len(shown), func(i int) bool { return shown[i] > all[last-1].seq })
	if all[last-1].kind == rule {
		to--
	}
	return widget.Part(from+1, to, len(shown))
}

// Draw draws the heads, or a row.
func (e *events) Draw(l *text.Line, y int, focused bool) {
	if y == 1 && e.Len() == 0 {
		why := "nothing has happened yet"
		if e.view.Journal.Len() > 0 {
			why = "no event matches the filter"
		}
		l.Put(e.view.Theme.Dim, why)
		return
	}
	e.Table.Draw(l, e.view.Pen(), y, focused)
}
