package model

import (
	"cmp"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/sources"
)

// Reach is how far back relists, pauses and calls are kept.
const Reach = 30 * time.Minute

// A Row is an event, or a gap of events that came too fast to be shown. Its Seq is its
// name: that of the event, or of the last one in the gap.
type Row struct {
	engine.Event
	Gap uint64 // how many were lost; 0 for an event
}

// ByRelist reports whether a relist found the event: what an event source alone saw came
// without one.
func (r *Row) ByRelist() bool {
	return r.Delivery != pleg.Unseen && (r.Seen == nil || !r.Seen.At[sources.FromRelist].IsZero())
}

// A Journal has the rows in the order of their Seq, which only grows. A row stays where it is,
// also when the journal keeps it no more.
type Journal struct {
	Version int // changes when Shown does in another way than by new rows at its end, and old ones that are dropped

	keep  int
	seq   uint64 // of the newest event
	rows  []*Row
	shown []*Row
	show  func(e engine.Event, at time.Time) bool
	timed bool
	ofPod map[pleg.UID]*trail // of each pod that has a row

	times
	held *times // that were observed ahead of what is shown; nil if none were
	gone gone
	last *engine.Snapshot // that was observed; nil at first
}

// times is what an update tells of the last minutes, of which a later one may know less.
type times struct {
	relists []Relist
	pauses  []Pause
	calls   []series // by operation
}

func (t *times) observe(s *engine.Snapshot) {
	t.observeRelists(s)
	t.pause(s)
	t.observeCalls(s)
}

// clone returns times that go on without changing these.
func (t *times) clone() *times {
	c := *t
	c.relists, c.pauses, c.calls = slices.Clone(t.relists), slices.Clone(t.pauses), slices.Clone(t.calls)
	for i := range c.calls {
		c.calls[i].ring = slices.Clone(c.calls[i].ring)
	}
	return &c
}

// NewJournal returns a Journal that keeps so many rows at least.
func NewJournal(keep int) *Journal {
	return &Journal{keep: max(keep, 1), ofPod: make(map[pleg.UID]*trail), gone: gone{fading: make(map[pleg.UID]*engine.Pod)}}
}

// Hold takes down what a snapshot tells of relists, pauses and calls. All that is shown stays
// as it is until the next Observe.
func (j *Journal) Hold(s *engine.Snapshot) {
	if j.held == nil {
		j.held = j.times.clone()
	}
	j.held.observe(s)
}

// Observe takes over an update.
func (j *Journal) Observe(u engine.Update) {
	if j.held != nil {
		j.times, j.held = *j.held, nil
	}
	s := u.Snapshot
	for _, e := range u.Events {
		j.event(e, s.At)
	}
	j.trim()
	j.times.observe(s)
	if j.last != nil {
		j.gone.observe(j.last.Pods, s.Pods, s.At)
	}
	j.last = s
	if was := j.shown; j.timed {
		if j.choose(); !slices.Equal(was, j.shown) {
			j.Version++
		}
	}
}

// event takes over an event, and a gap before it if there were others.
func (j *Journal) event(e engine.Event, at time.Time) {
	if e.Seq <= j.seq {
		return // seen before
	}
	if lost := e.Seq - j.seq - 1; lost > 0 {
		j.push(&Row{Event: engine.Event{Seq: e.Seq - 1, SeenAt: e.SeenAt}, Gap: lost}, at)
	}
	r := &Row{Event: e}
	j.push(r, at)
	j.follow(r)
	j.seq = e.Seq
}

func (j *Journal) push(r *Row, at time.Time) {
	j.rows = append(j.rows, r)
	if j.shows(r, at) {
		j.shown = append(j.shown, r)
	}
}

func (j *Journal) shows(r *Row, at time.Time) bool {
	return r.Gap > 0 || j.show == nil || j.show(r.Event, at)
}

// trim drops the oldest rows, a good many at a time.
func (j *Journal) trim() {
	if len(j.rows) <= j.keep+j.keep/8 {
		return
	}
	n := len(j.rows) - j.keep
	for _, r := range j.rows[:n] {
		j.forget(r)
	}
	j.rows = slices.Delete(j.rows, 0, n)
	j.shown = slices.Delete(j.shown, 0, Place(j.shown, j.rows[0].Seq))
}

// Filter chooses the events that panes show, as of the last update; nil for all. Timed
// says that which they are can change though none comes. Gaps are always shown.
func (j *Journal) Filter(show func(e engine.Event, at time.Time) bool, timed bool) {
	j.show, j.timed = show, timed
	j.Version++
	j.choose()
}

// choose asks the filter about all rows.
func (j *Journal) choose() {
	j.shown = nil
	for _, r := range j.rows {
		if j.shows(r, j.last.At) {
			j.shown = append(j.shown, r)
		}
	}
}

// Shown returns the rows that the filter shows, oldest first: valid until the next update, and
// not to be changed.
func (j *Journal) Shown() []*Row { return j.shown }

// Place returns the place of the row of that Seq among some, or of the next one that is there.
func Place(rows []*Row, seq uint64) int {
	i, _ := slices.BinarySearchFunc(rows, seq, func(r *Row, seq uint64) int { return cmp.Compare(r.Seq, seq) })
	return i
}

// Seq returns the Seq of the newest event; 0 if there was none.
func (j *Journal) Seq() uint64 { return j.seq }

// Len returns how many rows are kept, shown or not.
func (j *Journal) Len() int { return len(j.rows) }

// Row returns the row of that Seq, or nil if there is none any more.
func (j *Journal) Row(seq uint64) *Row {
	i := Place(j.rows, seq)
	if i == len(j.rows) || j.rows[i].Seq != seq {
		return nil
	}
	return j.rows[i]
}
