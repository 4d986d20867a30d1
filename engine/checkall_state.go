package engine

import (
	"cmp"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
)

// underWay reports whether the check has not ended yet. The nil checkAll is not under way.
func (c *checkAll) underWay() bool { return c != nil && c.Ended.IsZero() }

// stopped reports whether the check asks nothing any more: it was refused, given up, canceled or
// cut off, or there is none.
func (c *checkAll) stopped() bool {
	return c == nil || c.Refused != "" || c.GivenUp != "" || c.Canceled || c.CutOff
}

// plan ends a check that has asked for all objects, or that must stop. Later it asks again for what
// hung or failed.
func (c *checkAll) plan(m *Model) {
	c.share(m)
	switch {
	case c.stopped():
	case c.underWay():
		if c.Done == c.Total {
			c.end(m.now)
			m.news = true
			if m.start.Once { // ask again at once: a stall that passes accuses nobody
				c.Again = m.now
			}
		} else if c.Done >= 2*c.Width && c.Done <= 3*c.Width && c.Hanging == c.Done && !m.start.Once {
			c.CutOff = true // all objects hang, not single ones
			c.end(m.now)
		} else {
			c.doubt(m)
			c.statusHangs(m)
		}
	}
	if !c.stopped() && !c.underWay() && c.Out == 0 && m.mayBeStall() && !c.Again.IsZero() && !m.now.Before(c.Again) && !m.kubelet.Paused() {
		c.askAnew(m)
	}
}

// end ends the check, complete or not.
func (c *checkAll) end(at time.Time) {
	c.Ended, c.Checked, c.Again = at, at, at.Add(againFirst)
	c.Todo, c.shown = nil, nil
}

// askAnew asks again for the objects that hung or failed. It begins with those asked longest ago.
func (c *checkAll) askAnew(m *Model) {
	bad := c.bad()
	if len(bad) == 0 || m.now.After(c.Ended.Add(againFor)) {
		c.Again = time.Time{}
		return
	}
	c.Again = m.now.Add(m.againPeriod())
	if m.calls.TooSlow(m.now) != "" && !m.start.Once {
		return
	}
	c.Checked, c.shown = m.now, nil
	slices.SortStableFunc(bad, func(a, b *object) int { return a.At.Compare(b.At) })
	c.Todo = c.Todo[:0]
	for _, o := range bad[:min(len(bad), againMost)] {
		c.Todo = append(c.Todo, c.Places[targetOf(o.Flight)])
	}
}

// mayBeStall reports whether a hang may be a stall that passes, so that it makes sense to ask
// again. In an examination it does not if a list hangs or fails as well.
func (m *Model) mayBeStall() bool {
	return !m.start.Once || m.known.Failure == nil && m.asking.Search.Ahead == (call.Flight{})
}

// againPeriod returns the time from one retry of what hung to the next.
func (m *Model) againPeriod() time.Duration {
	if m.start.Once {
		return againFirst
	}
	return againPeriod
}

// bad returns the objects that hung or failed.
func (c *checkAll) bad() (all []*object) {
	for i := range c.Objects {
		if o := &c.Objects[i]; o.State == hung || o.State == failed {
			all = append(all, o)
		}
	}
	return all
}

// hungBriefly reports whether an object gave no answer for less than enough.
func (c *checkAll) hungBriefly(enough time.Duration) bool {
	return c != nil && slices.ContainsFunc(c.Objects, func(o object) bool { return o.State == hung && o.Took < enough })
}

// accused returns how many objects hang by themselves, not because everything may have stalled.
func (c *checkAll) accused() (n int) {
	if c == nil {
		return 0
	}
	for i := range c.Objects {
		if o := &c.Objects[i]; o.State == hung && !o.Unsure {
			n++
		}
	}
	return n
}

// accuses reports whether the last check found objects that hang, or a runtime that does not
// answer, and is recent enough for that to hold.
func (a *asking) accuses(m *Model, now time.Time) bool {
	c := a.Check
	fresh := c != nil && (c.underWay() || m.start.Once || now.Sub(c.Checked) <= 3*againPeriod)
	return fresh && (c.accused() > 0 || c.GivenUp != "")
}

// cancel ends the check that is under way, if there is one.
func (a *asking) cancel(m *Model) {
	if a.Check.underWay() {
		a.Check.end(m.now)
		a.Check.Canceled = true
		m.news = true
	}
}

// paused ends a check that plegtop began by itself.
func (a *asking) paused(m *Model) {
	if a.Check.underWay() && a.Check.Unasked {
		a.Check.end(m.now)
		a.Check.CutOff = true
	}
}

// due returns when the check has something to do even if nothing is observed; zero for never.
func (c *checkAll) due(m *Model) time.Time {
	switch {
	case c.stopped():
		return time.Time{}
	case !c.underWay() && (c.Out > 0 || m.kubelet.Paused() || !m.mayBeStall()):
		return time.Time{} // until the calls, the pause or the hanging list are over
	case !c.underWay():
		return c.Again
	case c.Doubts:
		return time.Time{}
	}
	return latest(c.Heard.Add(call.LateAfter), c.DoubtAt.Add(c.Timeout))
}

// result returns the check as it is now. The result is never changed.
func (c *checkAll) result() *answers.Sweep {
	if c.shown != nil {
		return c.shown
	}
	r := c.Sweep
	var well []*object
	for i := range c.Objects {
		switch o := &c.Objects[i]; {
		case o.Unsure:
		case o.State == hung:
			r.Hung = append(r.Hung, o.Outcome)
		case o.State == failed:
			r.Failed = append(r.Failed, o.Outcome)
		case o.State == answered && o.Err == nil && !o.Freed: // the wait for the end of a hang is not slowness
			well = append(well, o)
		case o.State == answered && o.Unlisted:
			r.Unknown = append(r.Unknown, o.Outcome)
		}
	}
	slices.SortStableFunc(well, func(a, b *object) int { return cmp.Compare(b.Took, a.Took) })
	for _, o := range well[:min(len(well), slowestKept)] {
		r.Slowest = append(r.Slowest, o.Outcome)
	}
	c.shown = &r
	return c.shown
}
