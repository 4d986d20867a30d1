package podworker

import (
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/pleg"
)

// reportRoom is how many reports are kept for an owner who does not take them. All are
// counted.
const reportRoom = 256

// A Report says that an expectation ran out.
type Report struct {
	Expectation
	Pod pleg.PodRef
	At  time.Time // when that was seen, at Until or later
}

// Reports returns the expectations that have run out since the last call, in that order;
// those of more than 256 are only counted.
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
	if w == nil || !s.expecting {
		return
	}
	for _, x := range all {
		if i := slices.IndexFunc(w.queue, func(e pleg.Event) bool { return x.ID != "" && x.is(e) }); i >= 0 {
			w.Spared = w.Spared || w.queue[i] == w.Last
			w.queue, w.queued = slices.Delete(w.queue, i, i+1), w.queued-1
			s.spare(w, x.Kind)
			continue
		}
		if len(w.Expected) == 0 {
			s.owing = append(s.owing, w)
		}
		at := len(w.Expected)
		for at > 0 && w.Expected[at-1].Until.After(x.Until) {
			at--
		}
		w.Expected = slices.Concat(w.Expected[:at], []Expectation{x}, w.Expected[at:]) // whoever has read the last has it still
		s.touch(w)
	}
}

// Withdraw forgets what a worker expects: it did not come to what was to bring that about.
func (s *Set) Withdraw(now time.Time, uid pleg.UID) {
	if w := s.byUID[uid]; w != nil && len(w.Expected) > 0 {
		s.expect(w, nil)
		s.goOn(now, w)
	}
}

// is reports whether e is what was expected.
func (x Expectation) is(e pleg.Event) bool {
	if x.Kind != e.Kind {
		return false
	}
	if x.ID != "" {
		return x.ID == e.ID
	}
	return x.Container == e.Container && e.Sandbox == (x.Container == "")
}

// meet reports whether e was expected, and notes that it came. One that is named by its
// id is met before one that any of that name would meet.
func (s *Set) meet(w *worker, e pleg.Event) bool {
	at := -1
	for i, x := range w.Expected {
		if x.is(e) && (at < 0 || w.Expected[at].ID == "" && x.ID != "") {
			at = i
		}
	}
	if at < 0 {
		return false
	}
	s.expect(w, slices.Concat(w.Expected[:at], w.Expected[at+1:]))
	s.spare(w, e.Kind)
	return true
}

// spare notes that an expected event has come. Removals wake nobody in any case.
func (s *Set) spare(w *worker, kind pleg.Kind) {
	s.touch(w)
	if kind != pleg.Removed {
		w.Saved++
		s.sums.Saved++
	}
}

// expect has a worker expect what is left.
func (s *Set) expect(w *worker, left []Expectation) {
	w.Expected = left
	if len(left) == 0 {
		w.Expected = nil
		s.owing = drop(s.owing, w)
	}
	s.touch(w)
}

// expire reports what was expected and has not come in time, so that nobody waits for it
// any longer.
func (s *Set) expire(now time.Time) {
	for _, w := range slices.Clone(s.owing) {
		n := 0
		for n < len(w.Expected) && !now.Before(w.Expected[n].Until) {
			s.report(Report{Expectation: w.Expected[n], Pod: w.Pod, At: now})
			n++
		}
		if n == 0 {
			continue
		}
		w.Expired += uint64(n)
		s.sums.Expired += uint64(n)
		s.expect(w, w.Expected[n:])
		s.goOn(now, w)
	}
}

func (s *Set) report(r Report) {
	if len(s.reports) < reportRoom {
		s.reports = append(s.reports, r)
	}
}
