package podworker

import (
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/pleg"
)

// A Report says that an expectation ran out.
type Report struct {
	Expectation
	Pod pleg.PodRef
	At  time.Time // when that was seen, at Until or later
}

// Reports returns the expectations that have run out since the last call, the first seen
// first. The owner of a set that expects must take them.
func (s *Set) Reports() []Report {
	r := s.reports
	s.reports = nil
	return r
}

// Expect records what a worker is to bring about by what it is about to do, or has just
// done: the event of that wakes nobody. An event that is named by its id, and that came
// during the sync under way, is met at once. It does nothing in a set that expects nothing.
func (s *Set) Expect(uid pleg.UID, all ...Expectation) {
	w := s.byUID[uid]
	if w == nil || !s.sums.Expecting {
		return
	}
	for _, x := range all {
		if i := slices.IndexFunc(w.Queue, func(e pleg.Event) bool { return x.ID != "" && x.is(e) }); i >= 0 {
			w.Worker.Spared = w.Worker.Spared || w.Queue[i] == w.Worker.Last
			w.Queue, w.Queued = slices.Delete(w.Queue, i, i+1), w.Queued-1
			s.spare(w, x.Kind)
			continue
		}
		these := append(slices.Clone(w.Worker.Expected), x)
		slices.SortStableFunc(these, func(a, b Expectation) int { return a.Until.Compare(b.Until) })
		s.expects(w, these)
	}
}

// Withdraw forgets what a worker expects: it did not come to what was to bring that about.
func (s *Set) Withdraw(now time.Time, uid pleg.UID) {
	if w := s.byUID[uid]; w != nil && len(w.Worker.Expected) > 0 {
		s.expects(w, nil)
		s.goOn(now, w)
	}
}

// Due returns when to call [Set.Advance] though nothing happens; zero for never.
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
	switch {
	case x.Kind != e.Kind:
		return false
	case x.ID != "":
		return x.ID == e.ID
	}
	return x.Container == e.Container && e.Sandbox == (x.Container == "")
}

// meet reports whether e was expected, and notes that it came. One that is named by its
// id is met before one that any of that name would meet.
func (s *Set) meet(w *Record, e pleg.Event) bool {
	at, expected := -1, w.Worker.Expected
	for i, x := range expected {
		if x.is(e) && (at < 0 || expected[at].ID == "" && x.ID != "") {
			at = i
		}
	}
	if at < 0 {
		return false
	}
	s.expects(w, slices.Concat(expected[:at], expected[at+1:]))
	s.spare(w, e.Kind)
	return true
}

// spare notes that an expected event has come. Removals wake nobody in any case.
func (s *Set) spare(w *Record, kind pleg.Kind) {
	s.touch(w)
	if kind != pleg.Removed {
		w.Worker.Saved++
		s.sums.Saved++
	}
}

// expects has a worker expect these. Nobody writes to the slice from then on.
func (s *Set) expects(w *Record, these []Expectation) {
	if w.Worker.Expected = these; len(these) == 0 {
		w.Worker.Expected = nil
	}
	s.touch(w)
}

// expire reports what was expected and has not come in time, so that nobody waits for it
// any longer.
func (s *Set) expire(now time.Time) {
	if !s.sums.Expecting {
		return
	}
	for _, w := range s.all {
		all := w.Worker.Expected
		n := 0
		for ; n < len(all) && !now.Before(all[n].Until); n++ {
			s.reports = append(s.reports, Report{all[n], w.Worker.Pod, now})
		}
		if n > 0 {
			w.Worker.Expired += uint64(n)
			s.sums.Expired += uint64(n)
			s.expects(w, all[n:])
			s.goOn(now, w)
		}
	}
}
