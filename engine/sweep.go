package engine

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
)

const (
	slowestKept = 5   // the length of [answers.Sweep.Slowest]
	wholeLists  = 500 // lists up to this length are never behind

	// What hung or failed is asked for again: soon, since once may have been chance,
	// and then every so often, so many at a time, as long as that may still mean
	// something to somebody. So many, four at a time, hang for 14 s: the next are asked
	// before what is known is older than [answers.FreshFor].
	checkFirst  = time.Second
	checkPeriod = 5 * time.Second
	checkMost   = 28
	checkLasts  = 5 * time.Minute
)

// A sweep keeps the account of a [answers.Sweep]: whom to ask next, and what came of it.
type sweep struct {
	answers.Sweep // but for the lists
	objects       []object
	listed        int   // how many of them the lists have; then come those that the node alone shows
	todo          []int // places of those to be asked, in order
	again         []int // places of those that failed, to be asked once more
	out           int
	fresh         int  // of these asked for the first time
	held          bool // nobody is asked for now
	forList       bool // begun to see what holds up a list
	unasked       bool // nobody has asked for it: a pause ends it

	heard   time.Time // when an answer came last, good or not; the beginning before that
	refused time.Time // when nobody listened, last; zero if that never was

	checkNext time.Time // when those that hung or failed are asked for again
	checkFrom int       // the place of the first of them whose turn it is then

	unknown []int          // places of those that the node shows and the runtime does not know
	bad     []int          // places of those that hung or failed, in order as far as made has them
	slowest []int          // places of the slowest that were answered
	made    *answers.Sweep // what result returned last; nil before that
	stale   bool           // made is not what result would return now
}

// An object is one sandbox or container of a sweep.
type object struct {
	call.Flight
	unlisted *unlisted // what the node shows of it, if no list has it
	state    objectState
	took     time.Duration // of the last call
	inRow    int           // calls that hung, the last ones
	err      error
	again    bool // is asked, or was asked, for the second time
	checking bool // is asked once more, after the end of the sweep
}

type objectState uint8

const (
	notAsked objectState = iota
	hasAnswered
	hasHung
	hasFailed
)

// newSweep returns the account of a sweep that begins now. The objects are in the
// order in which the result has them; first, if not nil, sorts them into the order in
// which they are asked, equals staying as they are.
func newSweep(now time.Time, objects []call.Flight, p answers.Policy, first func(a, b call.Flight) int) *sweep {
	s := &sweep{
		Sweep:   answers.Sweep{Began: now, Width: p.Width, Timeout: p.CallTimeout, Total: len(objects)},
		heard:   now,
		objects: make([]object, len(objects)),
		todo:    make([]int, len(objects)),
	}
	for i, f := range objects {
		f.By = call.BySweep
		s.objects[i].Flight = f
		s.todo[i] = i
	}
	if first != nil {
		slices.SortStableFunc(s.todo, func(a, b int) int { return first(objects[a], objects[b]) })
	}
	return s
}

// next returns the place of the object to ask now, and false if nobody is to be
// asked: as many calls are out as may be, or none is left. Those that failed
// come again when all others have had their turn.
func (s *sweep) next() (int, bool) {
	if s.held || s.out == s.Width {
		return 0, false
	}
	again := len(s.todo) == 0
	if again {
		if s.over() || s.fresh > 0 || len(s.again) == 0 {
			return 0, false
		}
		s.todo, s.again = s.again, nil
	}
	place := s.todo[0]
	s.todo = s.todo[1:]
	o := &s.objects[place]
	o.again = o.again || o.state == notAsked && o.err != nil
	if !o.again && !o.checking {
		s.fresh++
	}
	s.out++
	return place, true
}

// take takes in what came of the call about one object.
func (s *sweep) take(place int, a *answer) {
	o := &s.objects[place]
	if s.over() && !o.checking {
		return
	}
	s.out--
	s.stale = true
	if !o.again && !o.checking {
		s.fresh--
	}
	if o.checking {
		s.check(place, a)
		return
	}
	o.took, o.err = a.took, a.err
	s.note(a)
	switch {
	case a.err == nil || errors.Is(a.err, call.ErrNotFound):
		o.state, o.Flight = hasAnswered, o.asked(a)
		s.answered(place)
		if o.unlisted != nil && a.err != nil {
			s.unknown = append(s.unknown, place)
		}
	case a.hung(s.Timeout):
		o.state, o.Flight, o.inRow = hasHung, o.asked(a), 1
		s.bad = append(s.bad, place)
	case !o.again:
		s.again = append(s.again, place)
		return
	default:
		o.state, o.Flight = hasFailed, o.asked(a)
		s.bad = append(s.bad, place)
	}
	s.Done++
}

// asked returns the call that was made about o, by the name that has become known since.
func (o *object) asked(a *answer) call.Flight {
	f := a.Flight
	f.Pod, f.Container = o.Pod, o.Container
	return f
}

// note notes what an answer says of the runtime as a whole.
func (s *sweep) note(a *answer) {
	switch {
	case errors.Is(a.err, call.ErrUnavailable):
		s.refused = a.at
	case !a.hung(s.Timeout):
		s.heard = a.at
	}
}

// checkAgain begins to ask for those once more that hung or failed: where there are many,
// for each in turn.
func (s *sweep) checkAgain(now time.Time) {
	s.Checked, s.checkNext = now, now.Add(checkPeriod)
	slices.Sort(s.bad)
	from, _ := slices.BinarySearch(s.bad, s.checkFrom)
	s.todo = slices.Concat(s.bad[from:], s.bad[:from])[:min(len(s.bad), checkMost)]
	s.checkFrom = s.todo[len(s.todo)-1] + 1
	for _, place := range s.todo {
		s.objects[place].checking = true
	}
}

// check takes in that an object was asked for once more. One that answers has
// nothing the matter any more.
func (s *sweep) check(place int, a *answer) {
	o := &s.objects[place]
	o.checking = false
	switch {
	case a.err == nil || errors.Is(a.err, call.ErrNotFound):
		o.state, o.took, o.err = hasAnswered, a.took, a.err
		s.bad = slices.DeleteFunc(s.bad, func(p int) bool { return p == place })
	case a.hung(s.Timeout):
		o.state, o.err = hasHung, a.err
		o.inRow++
		o.took = max(o.took, a.took)
	case !errors.Is(a.err, call.ErrUnavailable): // then nobody was there to ask
		o.state, o.took, o.err, o.inRow = hasFailed, a.took, a.err, 0
	}
}

// retrying reports whether only those that failed are left to be asked.
func (s *sweep) retrying() bool { return s.fresh == 0 && len(s.todo) == 0 && len(s.again) > 0 }

// hung returns how many have hung so far.
func (s *sweep) hung() (n int) {
	for _, place := range s.bad {
		if s.objects[place].state == hasHung {
			n++
		}
	}
	return n
}

// answered counts what one answer cost. What was gone is not among the slowest:
// it says nothing of what is there.
func (s *sweep) answered(place int) {
	o := &s.objects[place]
	s.Serial += o.took
	if o.again {
		s.Flaky++
	}
	if o.err != nil {
		return
	}
	at, _ := slices.BinarySearchFunc(s.slowest, place, func(a, b int) int {
		return cmp.Or(cmp.Compare(s.objects[b].took, s.objects[a].took), cmp.Compare(a, b))
	})
	if at < slowestKept {
		s.slowest = slices.Insert(s.slowest, at, place)
		s.slowest = s.slowest[:min(len(s.slowest), slowestKept)]
	}
}

func (s *sweep) over() bool { return !s.Ended.IsZero() }

// end ends the sweep, complete or not.
func (s *sweep) end(now time.Time) {
	if s.over() {
		return
	}
	s.Ended, s.Checked, s.checkNext = now, now, now.Add(checkFirst)
	s.todo, s.again, s.out = nil, nil, 0
	s.stale = true
}

// giveUp ends a sweep of a runtime that answers nothing any more, and takes back
// what it may have found only for that. If that is nothing, and all had been
// asked, it is as good as any.
func (s *sweep) giveUp(now time.Time, why string) {
	s.end(now)
	s.discount()
	s.stale = true
	if s.Done < s.Total {
		s.CutOff, s.GivenUp = true, why
	}
}

// discount takes for not asked what hung with all the rest. To have hung alone an
// object must have been outrun: by one call for each that may be out at once,
// all begun later and answered.
func (s *sweep) discount() {
	var begun []time.Time
	for i := range s.objects {
		if s.objects[i].state == hasAnswered {
			begun = append(begun, s.objects[i].Since)
		}
	}
	slices.SortFunc(begun, func(a, b time.Time) int { return b.Compare(a) })
	s.bad = slices.DeleteFunc(s.bad, func(place int) bool {
		o := &s.objects[place]
		outrun := len(begun) >= s.Width && o.Since.Before(begun[s.Width-1])
		if o.state != hasHung || outrun {
			return false
		}
		*o = object{Flight: o.Flight}
		s.Done--
		return true
	})
}

// result returns the sweep as it is now, but that a long list of what is wrong
// may lag behind until the end. It is never changed.
func (s *sweep) result() *answers.Sweep {
	if s.made != nil && !s.stale {
		return s.made
	}
	r := s.Sweep
	r.Slowest, r.Unknown = s.pick(s.slowest, hasAnswered), s.pick(s.unknown, hasAnswered)
	if s.relisted() {
		slices.Sort(s.bad)
		r.Hung, r.Failed = s.pick(s.bad, hasHung), s.pick(s.bad, hasFailed)
	} else {
		r.Hung, r.Failed = s.made.Hung, s.made.Failed
	}
	s.made, s.stale = &r, false
	return s.made
}

// relisted reports whether result has to make its lists anew. While the sweep is
// under way it is enough to do so each time that they have grown by an eighth:
// where all of 20,000 containers fail, nobody is to copy them ten times a second.
func (s *sweep) relisted() bool {
	if s.made == nil || s.over() {
		return true
	}
	have := len(s.made.Hung) + len(s.made.Failed)
	return len(s.bad) > have && (len(s.bad) <= wholeLists || len(s.bad)-have >= have/8)
}

func (s *sweep) pick(places []int, state objectState) (list []answers.Swept) {
	for _, place := range places {
		if o := &s.objects[place]; o.state == state {
			list = append(list, answers.Swept{Flight: o.Flight, Took: o.took, Err: o.err, InRow: o.inRow})
		}
	}
	return list
}
