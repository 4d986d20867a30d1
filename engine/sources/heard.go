package sources

import (
	"fmt"
	"time"

	"github.com/plegtop/plegtop/engine/pleg"
)

const (
	// backlogFor is how long after its opening a stream may send what happened before.
	backlogFor = 2 * time.Second
	// skew is how far a clock may be ahead or go back without being wrong: a runtime rounds its
	// stamps, and reads its clock before we read ours.
	skew = 2 * time.Second
	// mostBehind is how late an event may come without a wrong clock: a runtime that was
	// stopped sends the rest when it goes on.
	mostBehind = 30 * time.Minute
)

// A SourceEvent is one event of a source, and when we received it.
type SourceEvent struct {
	pleg.Upstream
	Received time.Time
}

// Heard takes in what a source has sent since the last call. Lost counts the events that came
// too fast. The events of a backlog count, and ask for relists, but are no sightings.
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
		if w.isBacklog(e) {
			w.State.Backlog++
		} else if kind, ok := stepOf(e.Signal); ok {
			o.see(at, w, kind, e, f)
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
	case off < -skew:
		w.State.BadClock = fmt.Sprintf("its clock is %v ahead of this one", (-off).Round(time.Second))
	case off > mostBehind:
		w.State.BadClock = fmt.Sprintf("its clock is %v behind this one", off.Round(time.Second))
	case e.At.Before(last.Add(-skew)):
		w.State.BadClock = fmt.Sprintf("its clock has gone back by %v", last.Sub(e.At).Round(time.Second))
	}
	return false
}

// stepOf returns the step that a signal reports; false if it reports none.
func stepOf(s pleg.Signal) (pleg.Kind, bool) {
	switch s {
	case pleg.SignalStarted:
		return pleg.Started, true
	case pleg.SignalStopped:
		return pleg.Died, true
	case pleg.SignalDeleted:
		return pleg.Removed, true
	}
	return 0, false
}

// see takes in that a source has seen a step.
func (o *Observer) see(at time.Time, w *Watch, kind pleg.Kind, e *SourceEvent, f Facts) {
	source := w.Config.Source
	x := o.IDs[e.ID]
	if x == nil || x.Steps[kind] == nil {
		_, settled, known := f.Records.Object(e.ID)
		if known && (kind == pleg.Started && settled == pleg.Running || kind != pleg.Removed && settled == pleg.Exited) {
			w.Sum.Late++ // the relist is past it
			return
		}
		if x == nil && !o.admit(at, e.ID, known) {
			w.State.Unknown++
			o.Uncounted++
			return
		}
	}
	t := o.step(at, e.ID, kind)
	switch {
	case t.sawIt(source):
		w.Sum.Duplicates++
		return
	case t.sawIt(FromRelist):
		w.Sum.Late++
	default:
		t.learn(kind, &e.Upstream)
	}
	t.Seen.At[source] = e.Received
	if t.Happened.IsZero() && w.State.BadClock == "" {
		t.Happened = e.Upstream.At
	}
}

// learn makes the event of a step that only sources see, as far as they say whose it is.
func (t *Step) learn(kind pleg.Kind, u *pleg.Upstream) {
	if t.Pod.UID != "" {
		return
	}
	t.Event = pleg.Event{Kind: kind, Delivery: pleg.Unseen, ObjectRef: pleg.ObjectRef{ID: u.ID, Pod: u.Pod}}
	switch kind {
	case pleg.Started:
		t.From, t.To = pleg.Absent, pleg.Running
	case pleg.Died:
		t.From, t.To = pleg.Running, pleg.Exited
	case pleg.Removed:
		t.From, t.To = pleg.Exited, pleg.Absent
	}
	if u.Status == nil {
		return
	}
	t.Sandbox = u.Status.HasSandbox(u.ID)
	if c := u.Status.Lookup().Container(u.ID); c != nil {
		t.Container = c.Name
		if t.Exited = kind == pleg.Died && c.State == pleg.Exited; t.Exited {
			t.ExitCode, t.Reason = c.ExitCode, c.Reason
		}
	}
}
