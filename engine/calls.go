package engine

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
)

// errSilence is why a call is given up while nothing else is answered, either.
var errSilence = errors.New("neither Status nor a list is answered")

// calls is the one path that every call takes. A call is never made while one is in its way
// (see inWay): it waits for its turn, and that counts as its own time. Whoever wants a
// call gets exactly one answer for it.
type calls struct {
	passive
	out     []*pending    // oldest first
	made    []call.Flight // what flights returned last; nil when stale
	queue   []*pending    // in the order in which they were wanted
	sums    answers.Sums
	next    CallID
	short   time.Duration // after which a endsEarly call is given up
	heard   bool          // something that matters has been answered
	work    *Work         `frozen:"-"` // what the shell is to make and to end
	done    []answer      // for the askers
	handing []answer      // that are being handed out
}

// want begins a call as soon as its turn comes.
func (c *calls) want(now time.Time, w callSpec) {
	w.Since = now
	c.queue = append(c.queue, &pending{callSpec: w, wanted: now})
}

// like returns the call that is in the way of f, nil if there is none.
func (c *calls) like(f call.Flight) *pending {
	for _, p := range c.out {
		if p.Flight.SameTarget(f) {
			return p
		}
	}
	return nil
}

// inWay returns the call that keeps f from being made now, nil if there is none: one
// of its like, but that a search lists single pods beside a list of all that surely hangs.
func (c *calls) inWay(now time.Time, f call.Flight) *pending {
	for _, p := range c.out {
		if p.Flight.SameTarget(f) && !(f.By == call.BySearch && f.Pod.UID != "" && surelyHangs(p.Flight, now)) {
			return p
		}
	}
	return nil
}

// oldestOfRelist returns the call of the relist that is out, and false if none is.
func (c *calls) oldestOfRelist() (call.Flight, bool) {
	for _, p := range c.out {
		if p.By == call.ByRelist {
			return p.Flight, true
		}
	}
	return call.Flight{}, false
}

func (c *calls) returned(r Returned) {
	i := slices.IndexFunc(c.out, func(p *pending) bool { return p.id == r.ID })
	if i < 0 {
		return
	}
	p := c.out[i]
	c.out, c.made = slices.Delete(c.out, i, i+1), nil
	c.sums.Ended(p.Flight, r.At, r.Trace, r.err())
	if p.abandoned {
		return
	}
	err := r.err()
	if p.why != nil && err != nil {
		err = p.why
	}
	took := r.At.Sub(p.Since)
	if p.made < p.tries && p.why == nil && took <= answers.Late && mayPass(err) {
		p.notYet, p.failed = r.At.Add(answers.RetryAfter), err
		c.queue = append(c.queue, p)
		return
	}
	if p.Op != call.Version && !answers.TimedOut(err, took, c.short) {
		c.heard = true
	}
	c.answer(p, answer{at: r.At, took: took, value: r.Answer, found: r.Trace.Anomalies, err: err})
}

func (r Returned) err() error {
	if r.Err == nil {
		return nil
	}
	return r.Err
}

// answer leaves an answer for the one who wanted the call.
func (c *calls) answer(p *pending, a answer) {
	a.callSpec, a.to, a.tries = p.callSpec, p.By, p.made
	c.done = append(c.done, a)
}

// mayPass reports whether an error may be gone a moment later.
func mayPass(err error) bool {
	stays := []call.Kind{call.ErrPermission, call.ErrNotFound, call.ErrTooLarge, call.ErrUnreadable, call.ErrUnimplemented, call.ErrCanceled}
	return err != nil && !slices.ContainsFunc(stays, func(k call.Kind) bool { return errors.Is(err, k) })
}

// advance makes the calls whose turn has come and ends the waiting for those
// whose time has run out.
func (c *calls) advance(m *machine) {
	for _, p := range c.out {
		c.expire(m.now, p)
	}
	c.queue = slices.DeleteFunc(c.queue, func(p *pending) bool { return c.leavesQueue(m.now, p) })
}

// expire ends a call that is out and is not to be waited for any longer.
func (c *calls) expire(now time.Time, p *pending) {
	switch {
	case p.abandoned:
	case p.why == nil && p.endsEarly && !c.heard && !now.Before(p.Since.Add(c.short)):
		c.end(now, p, call.Late(p.Op, call.GivenUp, fmt.Sprintf("no answer for %v, and %v", c.short, errSilence)))
	case !p.bounded || now.Before(p.latest()):
	default:
		p.abandoned = true
		err := p.why
		if err == nil {
			err = call.Late(p.Op, call.GivenUp, "no answer, and the call does not return")
		}
		c.answer(p, answer{at: now, took: now.Sub(p.Since), err: err})
	}
}

// latest returns when a bounded call is waited for no longer.
func (p *pending) latest() time.Time {
	if p.why != nil {
		return p.endedAt.Add(answers.Grace)
	}
	return p.wanted.Add(p.timeout + answers.Grace)
}

// end has a call that is out returned soon, with that error if with any.
func (c *calls) end(now time.Time, p *pending, why error) {
	p.why, p.endedAt = why, now
	c.work.End = append(c.work.End, p.id)
}

// leavesQueue makes a call if its turn has come, or gives it up if its time has
// run out.
func (c *calls) leavesQueue(now time.Time, p *pending) bool {
	if now.Before(p.notYet) {
		return false
	}
	other := c.inWay(now, p.Flight)
	switch {
	case other == nil:
		c.make(now, p)
	case p.yields && !now.Before(other.Since.Add(p.timeout)):
		c.answer(p, answer{at: now, took: now.Sub(other.Since), err: outOfTurn(p.Op), unmade: true})
		c.done[len(c.done)-1].Flight = other.Flight
	case !p.yields && !now.Before(p.wanted.Add(p.timeout)):
		c.answer(p, answer{at: now, took: now.Sub(p.wanted), err: outOfTurn(p.Op), unmade: true})
	default:
		return false
	}
	return true
}

// make hands a call to the shell. What it waited for its turn is taken from its
// time; a further try has its whole time again.
func (c *calls) make(now time.Time, p *pending) {
	if p.made > 0 {
		p.wanted = now
	}
	c.next++
	p.id, p.Since = c.next, now
	p.made++
	left := max(p.timeout-now.Sub(p.wanted), 0)
	if p.yields { // only what its like took counts, and that has returned
		p.wanted, left = now, p.timeout
	}
	c.out, c.made = append(c.out, p), nil
	c.sums.Began(p.Op)
	c.work.Make = append(c.work.Make, Call{ID: p.id, Flight: p.Flight, Timeout: left, Raw: p.raw})
}

// drop ends all calls of an asker that f picks, made or not: nobody wants them
// any more, and they get no answer.
func (c *calls) drop(now time.Time, f func(*callSpec) bool) {
	for _, p := range c.out {
		if !p.abandoned && f(&p.callSpec) {
			p.abandoned = true
			c.end(now, p, nil)
		}
	}
	c.queue = slices.DeleteFunc(c.queue, func(p *pending) bool { return f(&p.callSpec) })
	wanted := func(a *answer) bool {
		spec := a.callSpec
		spec.By = a.to // its Flight may be that of its like
		return !f(&spec)
	}
	for i := range c.handing { // one answer may end what asked for the next
		c.handing[i].dropped = c.handing[i].dropped || !wanted(&c.handing[i])
	}
	c.done = slices.DeleteFunc(c.done, func(a answer) bool { return !wanted(&a) })
}

// lastTries has no call made again: what waits for a further try is answered with what
// the last one brought.
func (c *calls) lastTries(now time.Time) {
	c.queue = slices.DeleteFunc(c.queue, func(p *pending) bool {
		if p.failed != nil {
			c.answer(p, answer{at: now, took: now.Sub(p.Since), err: p.failed})
		}
		return p.failed != nil
	})
}

// due returns when something is to be done about a call though none returns;
// zero if nothing is.
func (c *calls) due(m *machine) time.Time {
	var due time.Time
	for _, p := range c.out {
		if p.abandoned {
			continue
		}
		if p.bounded {
			due = sooner(due, p.latest())
		}
		if p.endsEarly && !c.heard && p.why == nil {
			due = sooner(due, p.Since.Add(c.short))
		}
	}
	for _, p := range c.queue {
		other := c.inWay(m.now, p.Flight)
		switch {
		case other == nil:
			due = sooner(due, p.notYet)
		case p.yields:
			due = sooner(due, other.Since.Add(p.timeout))
		default:
			due = sooner(due, p.wanted.Add(p.timeout))
		}
	}
	return due
}

// sooner returns the earlier of two moments; zero stands for never.
func sooner(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// latest returns the later of two moments.
func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// flights returns the calls that are out, oldest first; nil if none is. The caller may
// keep them.
func (c *calls) flights() []call.Flight {
	if c.made == nil {
		for _, p := range c.out {
			c.made = append(c.made, p.Flight)
		}
	}
	return c.made
}

// outOfTurn is the error for a call that was never made, because its like was
// out until its time had run out.
func outOfTurn(op call.Operation) error {
	return call.Late(op, call.OutOfTurn, "an earlier call for the same object has not returned; it shows in the calls in flight")
}
