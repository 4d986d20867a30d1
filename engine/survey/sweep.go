package survey

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

const (
	slowestKept = 5   // the length of [answers.Sweep.Slowest]
	wholeLists  = 500 // lists up to this length are never behind
)

// A Sweep keeps the account of an [answers.Sweep]: whom to ask next, and what came of it.
type Sweep struct {
	answers.Sweep         // but for the lists
	Asking        *Survey // of each object; after the end, of those that hung or failed once more

	Heard   time.Time // when an answer came last, good or not; the beginning before that
	begun   time.Time // when the call was made that was answered and made last
	Nobody  time.Time // when nobody listened, last; zero if that never was
	objects []object
	Listed  int // how many of them the lists have; then come those that the node alone shows

	again time.Time // when those that hung or failed are asked again
	from  int       // the place of the first of them whose turn it is then
	width width

	unknown []int          // places of those that the node shows and the runtime does not know
	bad     []int          // places of those that hung or failed, in order as far as made has them
	slowest []int          // places of the slowest that were answered
	made    *answers.Sweep // what Result returned last; nil before that
	stale   bool           // made is not what Result would return now
}

// An object is one sandbox or container of a sweep.
type object struct {
	answers.Outcome
	sandboxID string // in which it is, of one that the node alone shows and where that says so
	state     state
	unsure    bool // hung while everything may have stalled, and was asked once
}

// A state says what came of an object.
type state uint8

const (
	notAsked state = iota // or failed, and is asked once more
	answered
	hung
	failed
)

// An Unlisted is an object that the node shows and no list has.
type Unlisted struct {
	call.Flight        // that asks for it
	SandboxID   string // in which a container is; may be empty
}

// NewSweep returns the account of a sweep that begins now: of the objects that the lists
// have, and of those that the node alone shows. It has them in this order, and asks those
// last whose id is in ended. Nobody is asked from until on, unless that is zero.
func NewSweep(now time.Time, listed []call.Flight, unlisted []Unlisted, p answers.Policy, until time.Time, ended map[string]bool) *Sweep {
	s := &Sweep{Listed: len(listed), Heard: now, objects: make([]object, len(listed)+len(unlisted))}
	s.Began, s.Width, s.Timeout, s.Total = now, p.Width, p.CallTimeout, len(s.objects)
	s.width.least = p.Width
	for i, f := range listed {
		s.objects[i].Flight = f
	}
	for i, u := range unlisted {
		o := &s.objects[len(listed)+i]
		o.Flight, o.sandboxID = u.Flight, u.SandboxID
	}
	var first, last []int
	for i := range s.objects {
		if ended[s.objects[i].ID] {
			last = append(last, i)
		} else {
			first = append(first, i)
		}
	}
	s.Asking = New(Policy{By: call.BySweep, Width: p.Width, Until: until}, append(first, last...))
	return s
}

// Object returns the call that asks for the object at a place.
func (s *Sweep) Object(place int) call.Flight { return s.objects[place].Flight }

// Outcome returns what came of the object at a place, and false if it was not asked or is
// to be asked once more.
func (s *Sweep) Outcome(place int) (answers.Outcome, bool) {
	o := &s.objects[place]
	return o.Outcome, o.state != notAsked
}

// Take takes in what came of the call about one object. Where the whole runtime may have
// stalled an object that hangs is accused of nothing before it has hung twice, unless
// another one was asked after it and has answered meanwhile.
func (s *Sweep) Take(place int, a answers.Outcome, stalled bool) {
	s.stale = true
	if s.Over() {
		s.takeAgain(place, a)
		return
	}
	s.note(a)
	o := &s.objects[place]
	retried := o.Err != nil
	a.Pod, a.Container = o.Pod, o.Container // by the names that have become known since
	o.Outcome = a
	switch o.state = s.stateOf(a); {
	case o.state == answered:
		s.count(place, retried)
	case o.state == failed && !retried:
		o.state = notAsked
		s.Asking.Retry(place)
		return
	default:
		if o.state == hung {
			o.InRow, o.unsure = 1, stalled && s.begun.Before(o.Since)
		}
		s.bad = append(s.bad, place)
	}
	s.Done++
	if a := s.Asking; !a.Until.IsZero() && o.state == answered { // what hangs alone says nothing of the others
		a.Width = s.width.answered(o.Took, a.Width, s.Total-s.Done, a.Until.Sub(o.At))
		s.Width = max(s.Width, a.Width)
	}
}

// Prefer has those asked next, of all that are left, whose id is among ids.
func (s *Sweep) Prefer(ids map[string]bool) {
	if !s.Over() {
		s.Asking.prefer(func(place int) bool { return ids[s.objects[place].ID] })
	}
}

func (s *Sweep) stateOf(a answers.Outcome) state {
	switch {
	case a.Err == nil || errors.Is(a.Err, call.ErrNotFound):
		return answered
	case answers.TimedOut(a.Err, a.Took, s.Timeout):
		return hung
	}
	return failed
}

// note notes what an answer says of the runtime as a whole.
func (s *Sweep) note(a answers.Outcome) {
	switch {
	case answers.IsAway(a.Err):
		s.Nobody = a.At
	case !answers.TimedOut(a.Err, a.Took, s.Timeout):
		s.Heard = a.At
	}
}

// count counts what one answer cost. What was gone is not among the slowest: it says
// nothing of what is there.
func (s *Sweep) count(place int, retried bool) {
	o := &s.objects[place]
	s.Serial += o.Took
	s.begun = answers.Later(s.begun, o.Since)
	if retried {
		s.Flaky++
	}
	if o.Err != nil {
		if place >= s.Listed {
			s.unknown = append(s.unknown, place)
		}
		return
	}
	if s.Quickest == 0 || o.Took < s.Quickest {
		s.Quickest = o.Took
	}
	at, _ := slices.BinarySearchFunc(s.slowest, place, func(a, b int) int {
		return cmp.Or(cmp.Compare(s.objects[b].Took, s.objects[a].Took), cmp.Compare(a, b))
	})
	if at < slowestKept {
		s.slowest = slices.Insert(s.slowest, at, place)
		s.slowest = s.slowest[:min(len(s.slowest), slowestKept)]
	}
}

// AskAgainAt returns when those that hung or failed are asked again; zero if they are not.
func (s *Sweep) AskAgainAt() time.Time {
	if !s.Over() || len(s.bad) == 0 || !s.Asking.Over() || s.again.After(s.Ended.Add(answers.AgainFor)) {
		return time.Time{}
	}
	return s.again
}

// AskAgain begins to ask those once more that hung or failed: where there are many, each
// in turn.
func (s *Sweep) AskAgain(now time.Time) {
	s.Checked = now
	s.PutOff(now)
	slices.Sort(s.bad)
	from, _ := slices.BinarySearch(s.bad, s.from)
	places := slices.Concat(s.bad[from:], s.bad[:from])[:min(len(s.bad), answers.AgainMost)]
	s.from = places[len(places)-1] + 1
	s.Asking = New(Policy{By: call.BySweep, Width: s.width.least}, places)
}

// PutOff asks those that hung or failed later.
func (s *Sweep) PutOff(now time.Time) { s.again = now.Add(answers.AgainPeriod) }

// takeAgain takes in that an object was asked once more. One that answers has nothing the
// matter any more.
func (s *Sweep) takeAgain(place int, a answers.Outcome) {
	if answers.IsAway(a.Err) { // nobody was there to ask
		return
	}
	o := &s.objects[place]
	o.unsure, o.At, o.Err = false, a.At, a.Err
	switch o.state = s.stateOf(a); o.state {
	case answered:
		s.bad = slices.DeleteFunc(s.bad, func(p int) bool { return p == place })
		o.Took = a.Took
	case hung:
		o.Took = max(o.Took, a.Took)
		o.InRow++
	default:
		o.Took, o.InRow = a.Took, 0
	}
}

// HeardOf takes in that somebody else was answered for an object that hung or failed: it need
// not be asked again.
func (s *Sweep) HeardOf(a answers.Outcome) {
	if !s.Over() || s.stateOf(a) != answered { // most that is asked for again while all of thousands fail
		return
	}
	if i := slices.IndexFunc(s.bad, func(p int) bool { return s.objects[p].Op == a.Op && s.objects[p].ID == a.ID }); i >= 0 {
		s.stale = true
		s.takeAgain(s.bad[i], a)
	}
}

// HungSoFar returns how many have hung so far.
func (s *Sweep) HungSoFar() int { return s.hanging(func(*object) bool { return true }) }

// Accused returns how many of them are accused of it: see [Sweep.Take].
func (s *Sweep) Accused() int { return s.hanging(func(o *object) bool { return !o.unsure }) }

func (s *Sweep) hanging(such func(*object) bool) (n int) {
	for _, place := range s.bad {
		if o := &s.objects[place]; o.state == hung && such(o) {
			n++
		}
	}
	return n
}

// SureAt returns when all that still hangs after the end has done so for that long since it
// was asked first; zero if nothing does.
func (s *Sweep) SureAt(long time.Duration) time.Time {
	if !s.Over() || s.HungSoFar() == 0 {
		return time.Time{}
	}
	return s.Ended.Add(long - s.Timeout)
}

// Over reports whether the sweep is over, complete or not. The nil Sweep is.
func (s *Sweep) Over() bool { return s == nil || !s.Ended.IsZero() }

// Stopped reports whether nobody is asked any more: nobody could be, or was to be.
func (s *Sweep) Stopped() bool { return s.Refused != "" || s.GivenUp != "" || s.Canceled }

// End ends the sweep. If it is not complete that is by the deadline of the whole, or for
// a reason that the caller adds.
func (s *Sweep) End(now time.Time) {
	if s.Over() {
		return
	}
	s.Ended, s.Checked, s.again = now, now, now.Add(answers.AgainFirst)
	s.Asking.End()
	s.stale = true
}

// GiveUp ends a sweep of a runtime that answers nothing any more, for the reason why, in
// words, and takes back what it may have found only for that. If that is nothing, and all
// had been asked, it is as good as any.
func (s *Sweep) GiveUp(now time.Time, why string) {
	s.End(now)
	s.discount()
	s.stale = true
	if s.Done < s.Total {
		s.CutOff, s.GivenUp = true, why
	}
}

// discount takes for not asked what hung with all the rest. To have hung alone an
// object must have been outrun: by one call for each that may be out at once,
// all begun later and answered. Where more were out before, as many answers have come since.
func (s *Sweep) discount() {
	width := s.Asking.Width
	var begun []time.Time
	for i := range s.objects {
		if s.objects[i].state == answered {
			begun = append(begun, s.objects[i].Since)
		}
	}
	slices.SortFunc(begun, func(a, b time.Time) int { return b.Compare(a) })
	s.bad = slices.DeleteFunc(s.bad, func(place int) bool {
		o := &s.objects[place]
		outrun := len(begun) >= width && o.Since.Before(begun[width-1])
		if o.state != hung || outrun {
			o.unsure = false
			return false
		}
		*o = object{Outcome: answers.Outcome{Flight: o.Flight}, sandboxID: o.sandboxID}
		s.Done--
		return true
	})
}

// Name names what no list has and lacks a name, by what find knows of it: of an object by
// its call and the id of the sandbox that it is in, if that is known.
func (s *Sweep) Name(find func(f call.Flight, sandboxID string) (pod pleg.PodRef, container string)) {
	for i := s.Listed; i < len(s.objects); i++ {
		o := &s.objects[i]
		if o.Pod.Name != "" && (o.Container != "" || o.Op == call.PodSandboxStatus) {
			continue
		}
		pod, container := find(o.Flight, o.sandboxID)
		if o.Pod.Name == "" && pod != (pleg.PodRef{}) && pod != o.Pod {
			o.Pod, s.stale = pod, true
		}
		if o.Container == "" && container != "" {
			o.Container, s.stale = container, true
		}
	}
}

// Result returns the sweep as it is now, but that a long list of what is wrong
// may lag behind until the end. It is never changed.
func (s *Sweep) Result() *answers.Sweep {
	if s.made != nil && !s.stale {
		return s.made
	}
	r := s.Sweep
	r.Slowest, r.Unknown = s.pick(s.slowest, answered), s.pick(s.unknown, answered)
	if s.relisted() {
		slices.Sort(s.bad)
		r.Hung, r.Failed = s.pick(s.bad, hung), s.pick(s.bad, failed)
	} else {
		r.Hung, r.Failed = s.made.Hung, s.made.Failed
	}
	s.made, s.stale = &r, false
	return s.made
}

// relisted reports whether Result has to make its lists anew. While the sweep is
// under way it is enough to do so each time that they have grown by an eighth:
// where all of 20,000 containers fail, nobody is to copy them ten times a second.
func (s *Sweep) relisted() bool {
	if s.made == nil || s.Over() {
		return true
	}
	have := len(s.made.Hung) + len(s.made.Failed)
	return len(s.bad) > have && (len(s.bad) <= wholeLists || len(s.bad)-have >= have/8)
}

func (s *Sweep) pick(places []int, so state) (list []answers.Outcome) {
	for _, place := range places {
		if o := &s.objects[place]; o.state == so && !o.unsure {
			list = append(list, o.Outcome)
		}
	}
	return list
}
