// Package events is the pane of what happened, and the sheet of one event: what it says,
// when and by which relist it was seen, and what the kubelet does next.
package events

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/layer"
	"github.com/plegtop/plegtop/ui/model"
	"github.com/plegtop/plegtop/ui/pane"
	"github.com/plegtop/plegtop/ui/say"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/widget"
)

// calm is how long rows stay where they are before the next ones move them: rows that
// move with each event are hard to read, and each time cost the terminal all lines.
const calm = 2 * time.Second

// events is the pane: the rows of the journal that the filter shows, the newest at the
// bottom.
type events struct {
	layer.TablePane[line, place]
	lines lines
	clock int // index of clocks

	follow  bool
	streams bool      // there are event sources, or were
	moved   time.Time // when the last rows came in
	about   []text.Span
}

// New returns the pane. It is not safe for concurrent use.
func New(s pane.Settings) pane.Pane {
	e := &events{follow: true}
	e.clock = max(0, slices.IndexFunc(clocks, func(c clock) bool { return c.name == s.Time }))
	e.Name = "events"
	e.Table = widget.Table[line, place]{
		Columns: e.columns(), FromBottom: true,
		Key:    line.place,
		Parent: e.lines.after,
		Faint:  e.faint,
		Whole:  e.whole,
	}
	return e
}

// always is more lines than any screen has: the pane can make use of all there are, and
// does not grow with each event.
const always = 1 << 10

// footer is what the footer names, the most useful first.
var footer = []keymap.Action{
	keymap.Help, keymap.Filter, keymap.Detail, keymap.Follow, keymap.TimeFormat, keymap.EventSources, keymap.PauseRelist, keymap.NextPane, keymap.Freeze, keymap.Quit,
}

// Info says how many events there are, and what is shown of them.
func (e *events) Info() pane.Info {
	return pane.Info{Name: "Events", Short: "Evts", About: e.about, Scope: keymap.Following, Footer: footer, Least: 3, Wanted: always, Wide: true}
}

// Observe takes over what has happened.
func (e *events) Observe(v *pane.View, w, h int) {
	e.TablePane.Observe(v, w, h)
	if on := say.Streaming(v.Snapshot); on != e.streams {
		e.streams = on
		e.Refit()
	}
	still := v.At.Sub(e.moved)
	if e.lines.stale || !e.follow || e.lines.version != v.Journal.Version || e.Len() == 0 || still < 0 || still >= calm {
		e.refresh()
	}
}

// refresh shows the rows as they are now.
func (e *events) refresh() {
	j := e.View.Journal
	if e.lines.update(j) {
		e.moved = e.View.At
	}
	e.Set(e.lines.all)
	if e.follow {
		e.Go(e.Len() - 1)
	}
	e.title()
}

// Subject returns the event under the cursor.
func (e *events) Subject() pane.Subject {
	n, ok := e.Current()
	if !ok || n.Gap > 0 || n.start {
		return pane.Subject{}
	}
	return subjectOf(n.Row)
}

// subjectOf returns what an event is about.
func subjectOf(r *model.Row) pane.Subject {
	return pane.Subject{ObjectRef: r.ObjectRef, Event: r.Seq}
}

// Do moves, follows, or changes what is shown of each event.
func (e *events) Do(a keymap.Action, h pane.Host) (tea.Cmd, bool) {
	e.refresh()
	switch n, ok := e.Current(); {
	case ok && n.start && (a == keymap.Detail || a == keymap.Right):
		e.lines.starts, e.lines.stale = true, true
		e.refresh()
		return nil, true
	case a == keymap.Left && e.lines.starts && e.onStart():
		e.lines.starts, e.lines.stale = false, true
		e.refresh()
		return nil, true
	}
	switch a {
	case keymap.Follow:
		if e.follow = !e.follow; e.follow {
			h.Say("following the newest event")
		} else {
			h.Say("follow off (" + h.Keys(a) + " to resume)")
		}
	case keymap.TimeFormat:
		e.clock = (e.clock + 1) % len(clocks)
		e.Columns[0].Least = clocks[e.clock].width
		e.Refit()
		h.Say("event times: " + clocks[e.clock].name)
	case keymap.Copy:
		ref := e.Subject().Pod
		return pane.Copy(h, cmp.Or(ref.Name, string(ref.UID))), true
	default:
		cmd, ok := e.TablePane.Do(a, h)
		if ok {
			e.placed()
		}
		return cmd, ok
	}
	e.refresh()
	return nil, true
}

// onStart reports whether the cursor is on what was there at the start.
func (e *events) onStart() bool {
	n, ok := e.Current()
	return ok && n.AtStart
}

// placed takes in that a person has put the cursor somewhere. Whoever leaves the newest event
// stops following, and whoever comes back to it follows again.
func (e *events) placed() {
	n, ok := e.Current()
	e.follow = !ok || n.Seq == e.lines.last
	e.title()
}

// title says how much is seen, whether the newest is followed, and which filter is in
// force. Of more than a few that still come, the number need not be exact: a title that
// changes with each event draws the eye to the wrong place.
func (e *events) title() {
	e.Idle = !e.follow
	th, shown := e.View.Theme, e.View.Journal.Shown()
	n := len(shown)
	seen, how := widget.Seen(1, n, n, "event"), text.Say(th.Dim, "following")
	switch {
	case n == 0:
		seen = "none"
	case !e.follow:
		seen, how = e.seen(shown), text.Say(th.Warn, "not following")
	case n >= 10:
		seen = strconv.FormatUint(say.Coarse(uint64(n/10*10)), 10) + "+ events"
	}
	e.about = []text.Span{text.Say(th.Dim, seen)}
	if n > 0 {
		e.about = append(e.about, how)
	}
	e.about = append(e.about, e.View.Filtered()...)
}

// seen says which of the events are visible, such as "1-20 of 110 events".
func (e *events) seen(shown []*model.Row) string {
	first, last, _ := e.Visible()
	if first == 0 {
		return "0 of " + strconv.Itoa(len(shown)) + " events"
	}
	all := e.Rows()
	from, to := model.Place(shown, all[first-1].Seq), model.Place(shown, all[last-1].Seq+1)
	return widget.Seen(from+1, to, len(shown), "event")
}

// Draw draws the heads, or a row.
func (e *events) Draw(l *text.Line, y int, focused bool) {
	if y == 1 && e.Len() == 0 {
		why := "nothing has happened yet"
		if e.View.Journal.Len() > 0 {
			why = "no event matches the filter"
		}
		l.Put(e.View.Theme.Dim, why)
		return
	}
	e.TablePane.Draw(l, y, focused)
}
