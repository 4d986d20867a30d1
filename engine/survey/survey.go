// Package survey asks targets under a policy: how many at once, until when, what becomes
// of a target that somebody else asks at the same time. A [Survey] says whom to ask next;
// a [Sweep] keeps the account of one that asks for every sandbox and container. Probes,
// the search for what can be seen while lists fail, sweeps, what a sweep asks again, and
// the question whether the runtime is there at all are surveys of the machine of package
// engine, which makes their calls.
//
// The package reads no clock and makes no call. Its values belong to one goroutine.
package survey

import (
	"cmp"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/call"
)

// Busy says what becomes of a target while another call asks the same.
type Busy uint8

const (
	Share Busy = iota // it is asked once that call has returned; one that hangs counts for both
	Skip              // it is not asked
	Wait              // it is asked once that call has returned; one that never returns ends the survey
	Queue             // it is asked once that call has returned, within its own time
)

// A Policy says how targets are asked.
type Policy struct {
	By    call.Asker
	Width int       // how many calls are out at once
	Busy  Busy      // what becomes of a target that another call asks
	Tries int       // how often a call is made that fails at once; 0 counts as 1
	Until time.Time // nobody is asked from then on; zero for no end
}

// A Survey says whom to ask next. It knows its targets by their places in a list that its
// owner keeps. The nil Survey is over.
type Survey struct {
	Policy
	Held bool // nobody is asked for now

	todo  []int
	retry []int // asked once more when all others have had their turn
	out   int
	ended bool
}

// New returns a survey of the targets at those places, in that order. The caller does not
// use the slice any more.
func New(p Policy, places []int) *Survey { return &Survey{Policy: p, todo: places} }

// First returns the places of the first n targets of a list.
func First(n int) []int {
	places := make([]int, n)
	for i := range places {
		places[i] = i
	}
	return places
}

// Next returns the place of the target to ask now, and false if nobody is to be asked: as
// many calls are out as may be, or nobody is left.
func (s *Survey) Next(now time.Time) (int, bool) {
	if s == nil || s.Held || s.out >= s.Width || s.Late(now) { // more are out where the width has shrunk
		return 0, false
	}
	if s.Retrying() {
		s.todo, s.retry = s.retry, nil
	}
	if len(s.todo) == 0 {
		return 0, false
	}
	place := s.todo[0]
	s.todo = s.todo[1:]
	s.out++
	return place, true
}

// PutBack takes back the last Next: the target is the next one again.
func (s *Survey) PutBack(place int) {
	s.out--
	s.Prepend(place)
}

// Prepend has a target asked before all that are left.
func (s *Survey) Prepend(place int) {
	if !s.ended {
		s.todo = append([]int{place}, s.todo...)
	}
}

// prefer has such targets asked before all others that are left.
func (s *Survey) prefer(such func(place int) bool) {
	slices.SortStableFunc(s.todo, func(a, b int) int {
		switch is := such(a); {
		case is == such(b):
			return 0
		case is:
			return -1
		}
		return 1
	})
}

// Retry has a target asked once more when all others have had their turn.
func (s *Survey) Retry(place int) { s.retry = append(s.retry, place) }

// Returned notes that a call has returned, and reports whether that means anything: not
// once the survey was ended.
func (s *Survey) Returned() bool {
	if !s.ended {
		s.out--
	}
	return !s.ended
}

// End has nobody asked any more, and what calls that are out still bring
// means nothing.
func (s *Survey) End() {
	if s != nil {
		s.todo, s.retry, s.out, s.ended = nil, nil, 0, true
	}
}

// Out reports whether a call is out.
func (s *Survey) Out() bool { return s != nil && s.out > 0 }

// Over reports whether nobody is left to ask and no call is out.
func (s *Survey) Over() bool {
	return s == nil || s.out == 0 && len(s.todo) == 0 && len(s.retry) == 0
}

// Retrying reports whether those alone are left that are asked once more, and none of
// them has been yet.
func (s *Survey) Retrying() bool { return s.out == 0 && len(s.todo) == 0 && len(s.retry) > 0 }

// Late reports whether time has run out.
func (s *Survey) Late(now time.Time) bool { return !s.Until.IsZero() && !now.Before(s.Until) }

const (
	// mostAtOnce is how many calls are out at once at most: fewer than the pod workers of
	// a kubelet ask for when it starts.
	mostAtOnce = 32
	// quickAnswer is what a runtime takes for an answer that can be asked more at once.
	quickAnswer = 25 * time.Millisecond
	// asMany is how many answers are compared with those before.
	asMany = 64
)

// A width says how many calls of a sweep are out at once: as many as were asked for, and
// more where time would run out before all have been asked, if that makes no answer slower,
// and for as long as it is needed.
type width struct {
	least int
	sum   time.Duration // of the last answers
	n     int
	first time.Duration // what the first of them took each, on average; 0 before that
	full  bool          // more at once made them slower
}

// answered takes in how long one more answer took, and returns how many calls may be out
// now, of which so many are. So many objects are left, and so much time.
func (w *width) answered(took time.Duration, now, left int, until time.Duration) int {
	w.sum += took
	if w.n++; w.n < asMany {
		return now
	}
	mean := max(w.sum/asMany, 1)
	w.sum, w.n = 0, 0
	w.first = cmp.Or(w.first, mean)
	switch {
	case w.full || mean > quickAnswer || mean > w.first*3/2+time.Millisecond:
		w.full = true
		return w.least
	case time.Duration(left)*mean/time.Duration(now) > until:
		return min(2*now, max(mostAtOnce, w.least))
	case time.Duration(left)*mean/time.Duration(now)*2 < until/2: // half as many need less than half of the time
		return max(now/2, w.least)
	}
	return now
}
