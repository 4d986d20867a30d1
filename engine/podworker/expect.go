package podworker

import (
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/pleg"
)

// Overdue returns the pods whose expected events have not come in time, since the last call.
// The owner of an acting set must take them.
func (s *Set) Overdue() []pleg.UID {
	pods := s.overdue
	s.overdue = nil
	return pods
}

// Expect records an event that a worker is about to cause. That event wakes nobody. It does
// nothing in a set whose workers do not act.
func (s *Set) Expect(uid pleg.UID, x Expectation) {
	if w := s.byUID[uid]; w != nil && s.sums.Acting {
		all := append(slices.Clone(w.Worker.Expected), x)
		slices.SortStableFunc(all, func(a, b Expectation) int { return a.Until.Compare(b.Until) })
		s.touch(w)
		w.Worker.Expected = all
	}
}

// Withdraw forgets what a worker expects, because the worker did not do what would cause it.
func (s *Set) Withdraw(now time.Time, uid pleg.UID) {
	if w := s.byUID[uid]; w != nil && len(w.Worker.Expected) > 0 {
		s.touch(w)
		w.Worker.Expected = nil
		s.goOn(now, w)
	}
}

// Due returns when to call [Set.Advance] even if nothing happens; zero for never.
func (s *Set) Due() (due time.Time) {
	for _, w := range s.all {
		if x := w.Worker.Expected; len(x) > 0 && (due.IsZero() || x[0].Until.Before(due)) {
			due = x[0].Until
		}
	}
	return due
}

// is reports whether e is what was expected.
func (x Expectation) is(e pleg.Event) bool {
	if x.ID != "" {
		return x.Kind == e.Kind && x.ID == e.ID
	}
	return x.Kind == e.Kind && x.Container == e.Container && e.Sandbox == (x.Container == "")
}

// meet reports whether e was expected, and notes that it came.
func (s *Set) meet(w *Record, e pleg.Event) bool {
	all := w.Worker.Expected
	i := slices.IndexFunc(all, func(x Expectation) bool { return x.is(e) })
	if i < 0 {
		return false
	}
	s.touch(w)
	w.Worker.Expected = slices.Concat(all[:i], all[i+1:])
	if e.Kind != pleg.Removed { // removals wake nobody in any case
		w.Worker.Saved++
		s.sums.Saved++
	}
	return true
}

// expire drops the expectations that were not met in time, so that nobody waits for them any
// longer. If the workers do not act, they expect nothing, and a large node has too many of them to
// look at with each event.
func (s *Set) expire(now time.Time) {
	if !s.sums.Acting {
		return
	}
	for _, w := range s.all {
		all, n := w.Worker.Expected, 0
		for n < len(all) && !now.Before(all[n].Until) {
			n++
		}
		if n > 0 {
			s.touch(w)
			w.Worker.Expected = all[n:]
			w.Worker.Expired += uint64(n)
			s.sums.Expired += uint64(n)
			s.overdue = append(s.overdue, w.Worker.Pod.UID)
			s.goOn(now, w)
		}
	}
}
