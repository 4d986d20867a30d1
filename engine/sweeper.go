package engine

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/call"
)

const (
	slowestKept = 5   // the length of [Sweep.Slowest]
	wholeLists  = 500 // lists up to this length are never behind
)

// A sweeper keeps the account of a sweep: whom to ask next, and what came of
// it. It makes no call and reads no clock. Not safe for concurrent use.
type sweeper struct {
	sweep   Sweep // but for the lists
	objects []swept
	order   []int // places in objects, in the order in which they are asked
	asked   int   // how many of order
	again   []int // places of those that failed, to be asked once more
	out     int
	fresh   int  // thereof asked for the first time
	held    bool // nobody is asked for now

	heard   time.Time // when an answer came last, good or not; the beginning before that
	refused time.Time // when nobody listened, last; zero if that never was

	bad     []int  // places of those that hung or failed, in order as far as made has them
	slowest []int  // places of the slowest that were answered
	made    *Sweep // what result returned last; nil before that
	stale   bool   // made is not what result would return now
}

// A swept is one object of a sweep.
type swept struct {
	Flight
	state sweptState
	took  time.Duration // of the last call
	err   error
	again bool // is asked, or was asked, for the second time
}

type sweptState uint8

const (
	waiting sweptState = iota
	answered
	hung
	failed
)

// newSweeper returns the account of a sweep that begins now. The objects are
// in the order in which the result has them; first, if not nil, sorts them into
// the order in which they are asked, equals staying as they are.
func newSweeper(now time.Time, objects []Flight, width int, timeout time.Duration, first func(a, b Flight) int) *sweeper {
	s := &sweeper{
		sweep:   Sweep{Began: now, Width: width, Timeout: timeout, Total: len(objects)},
		heard:   now,
		objects: make([]swept, len(objects)),
		order:   make([]int, len(objects)),
	}
	for i, f := range objects {
		f.By = BySweep
		s.objects[i].Flight = f
		s.order[i] = i
	}
	if first != nil {
		slices.SortStableFunc(s.order, func(a, b int) int { return first(objects[a], objects[b]) })
	}
	return s
}

// refused returns the account of a sweep that was not begun.
func refused(now time.Time, width int, timeout time.Duration, reason string) *sweeper {
	return &sweeper{sweep: Sweep{Began: now, Ended: now, Width: width, Timeout: timeout, Refused: reason}}
}

// next returns the place of the object to ask now, and false if nobody is to be
// asked: as many calls are out as may be, or none is left. Those that failed
// come again when all others have had their turn.
func (s *sweeper) next() (int, bool) {
	if s.ended() || s.held || s.out == s.sweep.Width {
		return 0, false
	}
	if s.asked < len(s.order) {
		s.out++
		s.fresh++
		s.asked++
		return s.order[s.asked-1], true
	}
	if s.fresh > 0 || len(s.again) == 0 {
		return 0, false
	}
	place := s.again[0]
	s.again = s.again[1:]
	s.objects[place].again = true
	s.out++
	return place, true
}

// took takes in what came of the call about one object.
func (s *sweeper) took(place int, f Flight, took time.Duration, err error) {
	s.out--
	if s.ended() {
		return
	}
	s.stale = true
	o := &s.objects[place]
	if !o.again {
		s.fresh--
	}
	o.took, o.err = took, err
	s.note(f.Since.Add(took), took, err)
	switch {
	case err == nil || errors.Is(err, call.ErrNotFound):
		o.state, o.Flight = answered, f
		s.answered(place)
	case late(took, s.sweep.Timeout, err):
		o.state, o.Flight = hung, f
		s.bad = append(s.bad, place)
	case !o.again:
		s.again = append(s.again, place)
		return
	default:
		o.state, o.Flight = failed, f
		s.bad = append(s.bad, place)
	}
	s.sweep.Done++
}

// note notes what a call that returned then says of the runtime.
func (s *sweeper) note(at time.Time, took time.Duration, err error) {
	switch {
	case errors.Is(err, call.ErrUnavailable):
		s.refused = at
	case !late(took, s.sweep.Timeout, err):
		s.heard = at
	}
}

// retrying reports whether only those that failed are left to be asked.
func (s *sweeper) retrying() bool { return s.asked == len(s.order) && len(s.again) > 0 }

// hung returns how many have hung so far.
func (s *sweeper) hung() (n int) {
	for _, place := range s.bad {
		if s.objects[place].state == hung {
			n++
		}
	}
	return n
}

// answered counts what one answer cost. What was gone is not among the slowest:
// it says nothing of what is there.
func (s *sweeper) answered(place int) {
	o := &s.objects[place]
	s.sweep.Serial += o.took
	if o.again {
		s.sweep.Flaky++
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

func (s *sweeper) ended() bool { return !s.sweep.Ended.IsZero() }

// complete reports whether all objects have been asked, and ends the sweep then.
func (s *sweeper) complete(now time.Time) bool {
	if !s.ended() && s.sweep.Done == s.sweep.Total {
		s.end(now, func(*Sweep) {})
	}
	return s.ended()
}

// end ends the sweep, complete or not; why notes the reason.
func (s *sweeper) end(now time.Time, why func(*Sweep)) {
	if s.ended() {
		return
	}
	s.sweep.Ended = now
	why(&s.sweep)
	s.stale = true
}

// giveUp ends a sweep of a runtime that answers nothing any more, and takes back
// what it may have found only for that. If that is nothing, and all had been
// asked, it is as good as any.
func (s *sweeper) giveUp(now time.Time, why string) {
	s.end(now, func(*Sweep) {})
	s.acquit()
	s.stale = true
	if s.sweep.Done < s.sweep.Total {
		s.sweep.CutOff, s.sweep.GivenUp = true, why
	}
}

// acquit takes for not asked what hung with all the rest. To have hung alone an
// object must have been outrun: by one call for each that may be out at once,
// all begun later and answered.
func (s *sweeper) acquit() {
	var begun []time.Time
	for i := range s.objects {
		if s.objects[i].state == answered {
			begun = append(begun, s.objects[i].Since)
		}
	}
	slices.SortFunc(begun, func(a, b time.Time) int { return b.Compare(a) })
	s.bad = slices.DeleteFunc(s.bad, func(place int) bool {
		o := &s.objects[place]
		outrun := len(begun) >= s.sweep.Width && o.Since.Before(begun[s.sweep.Width-1])
		if o.state != hung || outrun {
			return false
		}
		*o = swept{Flight: o.Flight}
		s.sweep.Done--
		return true
	})
}

// result returns the sweep as it is now, but that a long list of what is wrong
// may lag behind until the end. It is never changed.
func (s *sweeper) result() *Sweep {
	if s.made != nil && !s.stale {
		return s.made
	}
	r := s.sweep
	r.Slowest = s.pick(s.slowest, answered)
	if s.relisted() {
		slices.Sort(s.bad)
		r.Hung, r.Failed = s.pick(s.bad, hung), s.pick(s.bad, failed)
	} else {
		r.Hung, r.Failed = s.made.Hung, s.made.Failed
	}
	s.made, s.stale = &r, false
	return s.made
}

// relisted reports whether result has to make its lists anew. While the sweep is
// under way it is enough to do so each time that they have grown by an eighth:
// where all of 20,000 containers fail, nobody is to copy them ten times a second.
func (s *sweeper) relisted() bool {
	if s.made == nil || s.ended() {
		return true
	}
	have := len(s.made.Hung) + len(s.made.Failed)
	return len(s.bad) > have && (len(s.bad) <= wholeLists || len(s.bad)-have >= have/8)
}

func (s *sweeper) pick(places []int, state sweptState) (list []Swept) {
	for _, place := range places {
		if o := &s.objects[place]; o.state == state {
			list = append(list, Swept{Flight: o.Flight, Took: o.took, Err: o.err})
		}
	}
	return list
}
