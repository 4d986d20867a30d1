package sources

import (
	"fmt"
	"time"

	"github.com/plegtop/plegtop/engine/pleg"
)

const (
	// backlogFor is how long after its opening a stream may send events from before it.
	backlogFor = 2 * time.Second
	// Skew is how far a clock may be ahead or go back without being wrong: a runtime rounds its
	// stamps, and reads its clock before we read ours.
	Skew = 2 * time.Second
	// mostBehind is how late an event may come without a wrong clock: a runtime that was
	// stopped sends the rest when it goes on.
	mostBehind = 30 * time.Minute
)

// stepOf has the step that a signal reports.
var stepOf = map[pleg.Signal]pleg.Kind{pleg.SignalStarted: pleg.Started, pleg.SignalStopped: pleg.Died, pleg.SignalDeleted: pleg.Removed}

// A SourceEvent is one event of a source, and when we received it.
type SourceEvent struct {
	pleg.Upstream
	Received time.Time
}

// Heard takes in the events that a source has sent since the last call. Lost counts the events
// that came too fast.
func (o *Observer) Heard(at time.Time, source Source, events []SourceEvent, lost uint64, f Facts) {
	w := o.watch(source)
	if w == nil {
		return
	}
	w.State.Lost += lost
	for i := range events {
		e := &events[i]
		w.State.Received++
		w.State.LastAt, w.Worked = e.Received, true
		if source == FromCRI {
			o.ask(at, &e.Upstream)
		}
		backlog := w.isBacklog(e)
		if backlog {
			w.State.Backlog++
		}
		if kind, ok := stepOf[e.Signal]; ok {
			o.see(at, w, kind, e, backlog, f)
		}
	}
}

// isBacklog reports whether an event happened before its stream was opened, by the clock of
// the source, and checks that clock.
func (w *Watch) isBacklog(e *SourceEvent) bool {
	if e.At.IsZero() || w.State.BadClock != "" {
		return false
	}
	last, off := w.LastTime, e.Received.Sub(e.At)
	w.LastTime = e.At
	switch {
	case e.At.Before(w.OpenedAt) && e.Received.Sub(w.OpenedAt) < backlogFor:
		return true
	case off < -Skew:
		w.State.BadClock = fmt.Sprintf("its clock is %v ahead of this one", (-off).Round(time.Second))
	case off > mostBehind:
		w.State.BadClock = fmt.Sprintf("its clock is %v behind this one", off.Round(time.Second))
	case e.At.Before(last.Add(-Skew)):
		w.State.BadClock = fmt.Sprintf("its clock has gone back by %v", last.Sub(e.At).Round(time.Second))
	}
	return false
}

// see notes that a source has seen a step. A backlog is of the past: a step that the relist has
// settled is no news, and an id that the relist does not know has long gone.
func (o *Observer) see(at time.Time, w *Watch, kind pleg.Kind, e *SourceEvent, backlog bool, f Facts) {
	source := w.Config.Source
	x := o.IDs[e.ID]
	if x == nil || x.Steps[kind] == nil {
		_, settled, known := f.Records.Object(e.ID)
		over := known && (kind == pleg.Started && settled == pleg.Running || kind != pleg.Removed && settled == pleg.Exited)
		switch {
		case backlog && (over || !known && x == nil):
			return
		case over:
			w.Sum.Late++
			return
		case x == nil && !known && len(o.IDs) >= MostIDs/2:
			w.State.Unknown++
			o.Uncounted++
			return
		case x == nil:
			x = o.admit(at, e.ID)
			x.Listed, x.Foreign = known, !known && e.Ran > 0 && unlisted(e.Received.Add(-e.Ran), f)
		}
	}
	t := o.step(at, e.ID, kind)
	relist := t.sawIt(FromRelist)
	switch {
	case t.sawIt(source):
		w.Sum.Duplicates++
		return
	case !relist:
		t.learn(kind, &e.Upstream)
	}
	t.Seen.At[source] = e.Received
	if t.Happened.IsZero() && w.State.BadClock == "" {
		t.Happened = e.At
	}
	switch {
	case relist:
		w.Sum.Late++
		if !t.Settled {
			w.both(t)
		}
	case t.Missed:
		w.missedByRelist(x)
	}
}
