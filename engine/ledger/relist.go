package ledger

import (
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/pleg"
)

// A Release is an event of the core, and what is known of it.
type Release struct {
	pleg.Event
	AtStart  bool      // it reports what was there before the first relist
	Happened time.Time // by the runtime's clock; zero if that does not say
	Ran      bool      // the container or sandbox is known to have run
}

// Release takes in an event of the core, and reports before it what sources saw of that
// id that must have been earlier. It returns who saw it; nil if nobody beside the relist
// looks.
func (l *Ledger) Release(f *Facts, e *Release) *Sightings {
	x := l.byID[e.ID]
	if e.Kind >= steps || x == nil && (e.AtStart || !f.watched()) {
		return nil
	}
	if x == nil {
		x = l.admit(f, e.ID, true)
	}
	x.name(e.ObjectRef)
	l.know(f, x)
	l.touch(f, x)
	if e.Kind == pleg.Started && e.From == pleg.Exited && e.To == pleg.Running { // an id that was used before
		x.steps = [steps]*transition{}
	}
	t := x.step(e.Kind)
	if !t.seen.At[FromRelist].IsZero() { // once more
		t = &transition{of: x, kind: e.Kind}
		x.steps[e.Kind] = t
	}
	l.overtake(f, x, e)
	l.relisted(f, t, e)
	t.told = true
	if e.AtStart {
		return nil
	}
	seen := t.seen
	return &seen
}

// relisted notes that the relist has seen a transition.
func (l *Ledger) relisted(f *Facts, t *transition, e *Release) {
	t.seen.At[FromRelist], t.missed = f.Now, false
	if t.first.IsZero() {
		t.first = f.Now
	}
	if e.AtStart {
		l.withdraw(t)
		return
	}
	after := f.ListedBefore
	if !e.Happened.IsZero() && e.Happened.Before(after) {
		after = e.Happened
	}
	o := owed{t: t, after: after}
	for by := FromRelist + 1; by < Sources; by++ {
		if !t.seen.At[by].IsZero() {
			l.both(t, by)
		} else if f.wouldTell(by, t.kind, e.Ran) {
			o.by[by] = true
		}
	}
	if o.by != [Sources]bool{} {
		l.owed = append(l.owed, o)
	}
}

// overtake reports what sources saw of an id that was over before the relist came, which
// has seen a later step. What was over before anybody looked is no news.
func (l *Ledger) overtake(f *Facts, x *entry, e *Release) {
	for _, t := range x.steps[:e.Kind] {
		switch {
		case t == nil || !t.waits():
		case e.AtStart:
			t.told, t.seen.At[FromRelist] = true, f.Now
			l.withdraw(t)
		default:
			l.miss(f, t)
		}
	}
}

// Listed takes in that a relist of all pods is over that began at a time and whose lists
// succeeded. What was to be seen when it began, and is not, was missed: a runtime may list
// something later than the kernel or its stream tells it. Of a pod whose inspection failed
// nothing is known.
func (l *Ledger) Listed(f *Facts, began time.Time) {
	l.unjudged = slices.DeleteFunc(l.unjudged, func(t *transition) bool {
		if !t.waits() {
			return true
		}
		if _, unsettled := f.Records.Pod(t.of.Pod.UID); unsettled || began.Before(t.first.Add(Patience)) {
			return false
		}
		l.miss(f, t)
		return true
	})
}
