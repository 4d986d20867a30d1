package engine

import (
	"errors"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/call"
)

// slowestKept is the length of [Sweep.Slowest].
const slowestKept = 5

// A sweeper keeps the account of a sweep: whom to ask next, and what came of
// it. It makes no call and reads no clock. Not safe for concurrent use.
type sweeper struct {
	sweep   Sweep // but for the lists
	objects []swept
	order   []int // places in objects, in the order in which they are asked
	asked   int   // how many of order
	again   []int // places of those that failed, to be asked once more
	out     int
	fresh   int    // thereof asked for the first time
	made    *Sweep // what result returned last; nil when stale
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
	if s.ended() || s.out == s.sweep.Width {
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

// took takes in what came of the call about one object, and reports whether
// that was its last.
func (s *sweeper) took(place int, f Flight, took time.Duration, err error) bool {
	s.out--
	if s.ended() {
		return false
	}
	s.made = nil
	o := &s.objects[place]
	if !o.again {
		s.fresh--
	}
	o.took, o.err = took, err
	switch {
	case err == nil || errors.Is(err, call.ErrNotFound):
		o.state, o.Flight = answered, f
		s.sweep.Serial += took
		if o.again {
			s.sweep.Flaky++
		}
	case s.late(took, err):
		o.state, o.Flight = hung, f
	case !o.again:
		s.again = append(s.again, place)
		return false
	default:
		o.state, o.Flight = failed, f
	}
	s.sweep.Done++
	return true
}

// late tells a call that hung from one whose error only says so: a runtime may
// pass on at once that somebody else gave it no answer in time.
func (s *sweeper) late(took time.Duration, err error) bool {
	return errors.Is(err, call.ErrDeadline) && took >= s.sweep.Timeout-s.sweep.Timeout/10
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
	s.made = nil
}

// result returns the sweep as it is now. It is never changed.
func (s *sweeper) result() *Sweep {
	if s.made != nil {
		return s.made
	}
	r := s.sweep
	for i := range s.objects {
		o := &s.objects[i]
		switch o.state {
		case hung:
			r.Hung = append(r.Hung, o.swept())
		case failed:
			r.Failed = append(r.Failed, o.swept())
		case answered:
			r.Slowest = slower(r.Slowest, o)
		}
	}
	s.made = &r
	return s.made
}

func (o *swept) swept() Swept { return Swept{Flight: o.Flight, Took: o.took, Err: o.err} }

// slower returns the slowest of those and o, slowest first. What was gone is
// left out: it says nothing of what is there.
func slower(slowest []Swept, o *swept) []Swept {
	if o.err != nil {
		return slowest
	}
	at := slices.IndexFunc(slowest, func(s Swept) bool { return s.Took < o.took })
	switch {
	case at >= 0:
		slowest = slices.Insert(slowest, at, o.swept())
	case len(slowest) < slowestKept:
		slowest = append(slowest, o.swept())
	}
	return slowest[:min(len(slowest), slowestKept)]
}
