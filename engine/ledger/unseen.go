package ledger

import (
	"time"

	"github.com/plegtop/plegtop/engine/pleg"
)

// An Unseen is a transition that sources alone have seen.
type Unseen struct {
	pleg.Event // what a core would have made of it
	Seen       Sightings
	Said       time.Time // when it happened, by the clock of a source; zero if none says so
	Reason     string    // the runtime's reason for a container's end
}

// Take returns what is to be reported since the last call, in order. It is to be called
// after each call that is told of something, before anything else is reported.
func (l *Ledger) Take() []Unseen {
	r := l.report
	l.report = nil
	return r
}

// Uncounted returns how many events of sources were not reported: of ids that nobody
// knows, beyond the first 1,000, and of others where too many waited.
func (l *Ledger) Uncounted() uint64 { return l.uncounted }

// Advance reports what no relist has seen in time, counts what sources have not told, and
// forgets what is too old.
func (l *Ledger) Advance(f *Facts) {
	for len(l.untold) > 0 && !f.Paused && !f.Now.Before(l.tellAt(f)) {
		t := l.untold[0]
		l.untold[0], l.untold = nil, l.untold[1:]
		if !t.waits() {
			continue
		}
		l.miss(f, t)
	}
	for len(l.owed) > 0 && !f.Now.Before(l.owed[0].due()) {
		l.missing(f, l.owed[0])
		l.owed[0], l.owed = owed{}, l.owed[1:]
	}
	l.forget(f.Now)
}

// Due returns when something is to be reported or counted; zero for never.
func (l *Ledger) Due(f *Facts) time.Time {
	var due time.Time
	if len(l.untold) > 0 && !f.Paused {
		due = l.tellAt(f)
	}
	if len(l.owed) > 0 {
		if at := l.owed[0].due(); due.IsZero() || at.Before(due) {
			due = at
		}
	}
	return due
}

// tellAt returns when the oldest transition is reported that sources alone have seen. A
// relist has its time to come and to list, be it that people have asked for a long period,
// or paused.
func (l *Ledger) tellAt(f *Facts) time.Time {
	since := l.untold[0].first
	if since.Before(f.Resumed) {
		since = f.Resumed
	}
	return since.Add(Patience + max(f.Period-time.Second, 0) + 2*min(f.Lists, mostLists))
}

// had reports whether a relist has ever had an id, as far as is remembered.
func (x *entry) had(f *Facts) bool {
	_, _, listed := f.Records.Object(x.ID)
	for _, t := range x.steps {
		listed = listed || t != nil && !t.seen.At[FromRelist].IsZero()
	}
	return listed
}

// miss notes that the relist has not seen a transition, and reports it if that was not done.
func (l *Ledger) miss(f *Facts, t *transition) {
	l.tell(f, t)
	t.missed = true
	for by := FromRelist + 1; by < Sources; by++ {
		if t.seen.At[by].IsZero() {
			continue
		}
		if !t.of.isForeign(f) {
			l.judge(t, by, missedByRelist)
		}
		if t.of.stranger {
			l.drift[by].unknown++
		}
	}
}

// tell reports what sources alone have seen, once, unless it is another runtime's. Of ids
// that nobody knows there are only so many.
func (l *Ledger) tell(f *Facts, t *transition) {
	if t.told {
		return
	}
	t.told = true
	x := t.of
	if l.identify(f, x); x.isForeign(f) {
		return
	}
	if !x.had(f) {
		if l.strange >= MostUnseen {
			l.uncounted++
			return
		}
		l.strange++
	}
	l.report = append(l.report, Unseen{Event: t.event(), Seen: t.seen, Said: t.said, Reason: t.reason})
}

// event returns what a core would have made of a transition.
func (t *transition) event() pleg.Event {
	e := pleg.Event{Kind: t.kind, Delivery: pleg.Unseen, ObjectRef: t.of.ObjectRef, Exited: t.exited, ExitCode: t.exitCode}
	switch t.kind {
	case pleg.Started:
		e.From, e.To = pleg.Absent, pleg.Running
	case pleg.Died:
		e.From, e.To = pleg.Running, pleg.Exited
	case pleg.Removed:
		e.From, e.To = pleg.Exited, pleg.Absent
	}
	return e
}
