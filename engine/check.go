package engine

import (
	"cmp"
	"errors"
	"time"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

const (
	closingShare = 10 // one part in so many of the deadline is for coming to an end, but
	closingMost  = 400 * time.Millisecond
)

// errUnasked keeps the core from taking a pod for inspected that the sweep did
// not come to. Nobody else sees it.
var errUnasked = errors.New("not asked")

// A check is what a machine that looks once has to do beside: its one relist
// inspects by a sweep, at the end Status is asked for once more, and all comes to
// an end in time. For a running engine it is nothing.
type check struct {
	passive
	once    bool
	cut     time.Time // no call is waited for any longer
	last    time.Time // nothing is waited for any longer
	wasCut  bool
	answers []*answer // by place in the sweep; nil before it
	again   bool      // the lists were made for the second time
	settled bool
	closing bool // Status was asked for at the end
	over    bool // there is nothing more to come
}

func (c *check) begin(now time.Time, p answers.Policy) {
	if c.once = p.Once; !c.once {
		return
	}
	closing := min(p.Deadline/closingShare, closingMost)
	c.cut = now.Add(p.Deadline - closing)
	c.last = now.Add(p.Deadline - closing/4)
}

// due returns when time runs out; zero if there is no limit to it.
func (c *check) due(*machine) time.Time {
	switch {
	case !c.once || c.over:
		return time.Time{}
	case !c.wasCut:
		return c.cut
	}
	return c.last
}

// stop ends it all with what there is.
func (c *check) stop(m *machine) {
	if c.once {
		c.settle(m)
		c.over = true
	}
}

// advance goes from the lists to the sweep, and from there to the end.
func (c *check) advance(m *machine) {
	if !c.once || c.over {
		return
	}
	if !c.wasCut && !m.now.Before(c.cut) {
		c.cutOff(m)
	}
	if c.listed(m) {
		c.sweep(m)
	}
	late := !m.now.Before(c.last)
	if late {
		c.settle(m)
	}
	c.over = late || c.settled && !m.status.out() && !m.looks.busy(m) && len(m.calls.done) == 0
}

// listed reports whether there is nothing more to come of the lists.
func (c *check) listed(m *machine) bool {
	r := m.relists.now
	if r != nil && !r.listed && m.search.over {
		r.listed = true
		if m.search.aside != nil {
			r.total = m.search.aside.Pending()
		}
	}
	return r != nil && r.listed
}

// sweep begins the sweep as soon as it is known whether the runtime is quick enough,
// and settles what it brought.
func (c *check) sweep(m *machine) {
	if m.sweep.last == nil {
		c.beginSweep(m)
		m.sweep.advance(m)
	}
	switch {
	case m.sweep.last == nil || m.sweep.underWay() || m.sweep.unsettled(m) || m.sweep.recheck.asking.Out() || m.search.outAhead(m):
	case c.closes(m):
		c.closing = true
		m.status.askAgain(m, m.known.VersionErr != nil)
	case m.status.statusOut && c.closing:
	case c.listsAgain(m):
		m.search.reset(m)
		m.relists.beginAll(m)
		m.sweep.forget(m)
		c.again, c.closing = true, false
	default:
		c.settle(m)
	}
}

// listsAgain reports whether all is to be looked at once more: nobody listened for the
// lists, and at the end Status is answered. What failed while the runtime was
// restarted says nothing of what is so now.
func (c *check) listsAgain(m *machine) bool {
	f := m.known.Failure
	return f != nil && c.closing && !c.again && !c.wasCut && !c.settled && m.known.StatusErr == nil && errors.Is(f.Err, call.ErrUnavailable)
}

// closes reports whether Status is to be asked for once more: a runtime that has gone
// since it was asked first is not well, whatever single objects answer.
func (c *check) closes(m *machine) bool {
	return !c.closing && !c.wasCut && !m.sweep.last.Stopped() && !m.status.statusOut
}

func (c *check) beginSweep(m *machine) {
	if why := m.tooSlow(); why != "" && !(m.status.statusOut && m.hasObjects()) { // which tell, where Status hangs, whether anything else does
		m.sweep.refuse(m, why)
		return
	}
	if !c.wasCut && (m.inTime(call.Status) || m.inTime(call.Version)) {
		return
	}
	m.sweep.begin(m)
}

// inTime reports whether a call of an operation is out, and not late.
func (m *machine) inTime(op call.Operation) bool {
	p := m.calls.like(call.Flight{Op: op})
	return p != nil && p.Elapsed(m.now) <= answers.Late
}

// sweepBegan makes room for what the sweep of so many objects brings.
func (c *check) sweepBegan(objects int) {
	if c.once {
		c.answers = make([]*answer, objects)
	}
}

// keep keeps what a call of the sweep brought.
func (c *check) keep(a *answer) {
	if c.once {
		c.answers[a.tag] = a
	}
}

// cutOff ends all calls that are out, and the sweep with them: time has run out.
func (c *check) cutOff(m *machine) {
	c.wasCut = true
	for _, p := range m.calls.out {
		if p.By != call.BySweep && p.why == nil && !p.abandoned {
			late := call.Late(p.Op, call.GivenUp, "no answer by the deadline of the check")
			m.calls.end(m.now, p, cmp.Or(p.failed, error(late)))
		}
	}
	m.calls.lastTries(m.now)
}

// cutShort reports whether a call that took so long was ended by the deadline before its
// silence meant anything.
func (c *check) cutShort(now time.Time, err error, took time.Duration) bool {
	unheard := errors.Is(err, call.ErrDeadline) || errors.Is(err, call.ErrCanceled)
	return unheard && c.once && !now.Before(c.cut) && took < answers.Late
}

// beginAgain forgets what was asked for before the lists came: they have come after all.
func (c *check) beginAgain(m *machine) {
	if c.once && m.sweep.last != nil {
		m.sweep.forget(m)
	}
}

// settle has the core settle all pods by what the sweep brought, once.
func (c *check) settle(m *machine) {
	r := m.relists.now
	if c.settled || r == nil {
		return
	}
	c.settled = true
	core := m.core
	if !r.listed || m.search.over {
		core = m.search.aside
	}
	serial := r.listTook
	if core != nil {
		serial += c.settlePods(m, core)
		must(core.End())
		if core == m.core {
			m.release()
		}
	}
	m.relists.sumUp(m, r, serial, m.known.Failure != nil)
	m.changed = true
}

// settlePods returns how long the calls took, one after the other.
func (c *check) settlePods(m *machine, core *pleg.Core) (serial time.Duration) {
	r := m.relists.now
	places := make(map[answers.Target]int) // in the sweep, but for what no list has
	if s := m.sweep.last; s != nil {
		for place := range s.Listed {
			places[targetOf(s.Object(place))] = place
		}
	}
	for next, more := core.Next(); more; next, more = core.Next() {
		uid := next.Pod.UID
		i := c.inspection(m, next, places)
		must(core.Settle(uid, m.now, i.status(), i.err))
		if errors.Is(i.err, errUnasked) {
			continue
		}
		r.done++
		if i.err != nil {
			r.failures++
		}
		serial += i.took()
		m.pods.inspected(core, uid, i)
	}
	return serial
}

// inspection makes an inspection of the answers about one pod, by the places of objects in
// the sweep. As in the kubelet the first error counts, and what is gone is left out.
func (c *check) inspection(m *machine, next pleg.Inspection, places map[answers.Target]int) *inspection {
	i := &inspection{next: next, began: m.now}
	asked, left := 0, false
	for _, f := range partsOf(next.Pod) {
		place, known := places[targetOf(f)]
		if !known {
			continue
		}
		o, was := m.sweep.last.Outcome(place)
		if !was {
			left = true
			continue
		}
		asked++
		a := c.answers[place]
		if a.Pod != f.Pod { // it was asked for as another pod's
			ours := *a
			ours.Pod, ours.Container = f.Pod, f.Container
			a = &ours
		}
		i.began = i.began.Add(-o.Took)
		failed, err := i.failed, i.err
		if i.take(m, a); err != nil {
			i.failed, i.err = failed, err
		}
	}
	i.ended = m.now
	if i.err == nil && (left || asked == 0) {
		i.err = errUnasked
	}
	return i
}
