package ui

import (
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/filter"
)

// An eventRow is an event, or a gap: events that came too fast to be shown.
type eventRow struct {
	engine.Event
	gap    uint64 // how many were lost; 0 for an event
	marked bool
}

// A clockStyle says how the times of events are written.
type clockStyle uint8

const (
	clock clockStyle = iota // 15:04:05
	age                     // 12s
	full                    // 2006-01-02T15:04:05.000Z07:00
	clockStyles
)

var clockNames = [clockStyles]string{"clock", "age", "full"}

// events is the pane of events. Rows have numbers that only grow, so that the
// list of those shown survives when old ones are dropped.
type events struct {
	scroll
	rows  []eventRow
	first uint64   // the number of rows[0]
	keep  int      // rows at least
	shown []uint64 // numbers of the rows that the filter shows

	show    func(engine.Event, time.Time) bool
	under   uint64 // the number of the row that the cursor was put on
	follow  bool
	wrap    bool
	times   clockStyle
	dropped uint64 // rows that had to make room
}

func newEvents(keep int) events { return events{keep: keep, follow: true} }

// lines is how many lines of the screen one row takes.
func (e *events) lines() int { return pick(e.wrap, 2, 1) }

// add takes over the events of one update, and the gap before them.
func (e *events) add(lost uint64, news []engine.Event, at time.Time) {
	if lost == 0 && len(news) == 0 {
		return
	}
	if lost > 0 {
		e.push(eventRow{Event: engine.Event{SeenAt: at}, gap: lost}, at)
	}
	for _, n := range news {
		e.push(eventRow{Event: n}, at)
	}
	e.trim()
	if e.follow {
		e.advance()
	}
	e.clamp(len(e.shown))
}

// advance goes to the newest row. Where that is below the last visible line, the
// rows move up by a third of the pane at once: a pane that moves with each event
// is hard to read, and costs the terminal all its lines each time.
func (e *events) advance() {
	e.cursor = len(e.shown) - 1
	e.note()
	if e.cursor >= e.top+e.height {
		e.top = e.cursor - e.height + 1 + e.slack
	}
}

// note remembers what is under the cursor.
func (e *events) note() {
	if e.cursor >= 0 && e.cursor < len(e.shown) {
		e.under = e.shown[e.cursor]
	}
}

func (e *events) push(r eventRow, at time.Time) {
	if r.gap > 0 || e.show == nil || e.show(r.Event, at) {
		e.shown = append(e.shown, e.first+uint64(len(e.rows)))
	}
	e.rows = append(e.rows, r)
}

// trim drops the oldest rows, a good many at a time, and keeps the cursor on
// what it was on.
func (e *events) trim() {
	if len(e.rows) <= e.keep+e.keep/8 {
		return
	}
	n := len(e.rows) - e.keep
	e.rows = slices.Delete(e.rows, 0, n)
	e.first += uint64(n)
	e.dropped += uint64(n)
	hidden, _ := slices.BinarySearch(e.shown, e.first)
	e.shown = slices.Delete(e.shown, 0, hidden)
	e.cursor -= hidden
	e.top -= hidden
	e.clamp(len(e.shown))
}

// rebuild applies a filter that has changed. The cursor stays on its event, or
// goes to the next one that is shown, until its event is shown again.
func (e *events) rebuild(at time.Time) {
	e.shown = e.shown[:0:0]
	e.cursor = -1
	for i := range e.rows {
		number := e.first + uint64(i)
		if r := &e.rows[i]; r.gap == 0 && e.show != nil && !e.show(r.Event, at) {
			continue
		}
		if e.cursor < 0 && number >= e.under {
			e.cursor = len(e.shown)
		}
		e.shown = append(e.shown, number)
	}
	if e.cursor < 0 || e.follow {
		e.cursor = len(e.shown) - 1
	}
	e.clamp(len(e.shown))
}

func (e *events) resize(h int) {
	e.slack = h / e.lines() / 3
	e.scroll.resize(h/e.lines(), len(e.shown))
}

// at returns row i of those shown.
func (e *events) at(i int) *eventRow { return &e.rows[e.shown[i]-e.first] }

// current returns the row under the cursor, or nil.
func (e *events) current() *eventRow {
	if e.cursor < 0 || e.cursor >= len(e.shown) {
		return nil
	}
	return e.at(e.cursor)
}

// move does what a moving key asks for. Whoever leaves the newest event stops
// following, and whoever comes back to it follows again.
func (e *events) move(a keymap.Action) bool {
	if !e.scroll.move(a, len(e.shown)) {
		return false
	}
	e.follow = e.cursor >= len(e.shown)-1
	e.note()
	return true
}

// setFollow begins or ends following the newest event.
func (e *events) setFollow(on bool) {
	if e.follow = on; on {
		e.move(keymap.Bottom)
	}
}

// jump goes to the next row in the direction of step that is marked or, when
// none of those shown is, that tells of trouble. It reports what it looked for,
// and whether there was one.
func (e *events) jump(step int) (what string, found bool) {
	wanted, what := func(r *eventRow) bool { return r.marked }, "mark"
	if !slices.ContainsFunc(e.shown, func(n uint64) bool { return e.rows[n-e.first].marked }) {
		wanted, what = (*eventRow).trouble, "event that tells of trouble"
	}
	for i := e.cursor + step; i >= 0 && i < len(e.shown); i += step {
		if wanted(e.at(i)) {
			e.cursor, e.follow = i, false
			e.clamp(len(e.shown))
			e.note()
			return what, true
		}
	}
	return what, false
}

// trouble reports whether a person who looks for the cause of something would
// stop here.
func (r *eventRow) trouble() bool { return r.gap > 0 || filter.EventProblem(r.Event) != "" }
