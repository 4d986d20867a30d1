package engine

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

// An examined is what only an examination has to know.
type examined struct {
	Answers  map[target]*answer // of the objects
	Closing  bool               // Status was asked for at the end
	AskAgain bool               // Status is to be asked for now
	Version  bool               // Version is to be asked for now
	Lists    int                // how often the lists were made
}

// keepForClose keeps what came of an object, for the inspections at the end.
func (m *Model) keepForClose(a *answer) {
	if m.start.Once {
		if m.once.Answers == nil {
			m.once.Answers = make(map[target]*answer)
		}
		m.once.Answers[targetOf(a.Flight)] = a
	}
}

// askStatus has Status asked for at once. The kubelet that a running engine stands for does not ask
// now, so there it is a probe.
func (m *Model) askStatus() {
	if m.start.Once {
		m.once.AskAgain, m.once.Version = true, m.known.VersionErr != nil || m.asking.Check.underWay()
		return
	}
	r := &m.asking.Round
	r.Targets = append(r.Targets, call.Flight{By: call.ByProbe, Op: call.Status})
}

// statusDueOnce returns when an examination asks for Status or Version: at the start, and when it
// wants to know whether the runtime is still there.
func (m *Model) statusDueOnce(op call.Operation) time.Time {
	asked := m.sums.Of(op).Count > 0
	switch {
	case !asked, op == call.Status && m.once.AskAgain, op == call.Version && m.once.Version:
		return m.start.At
	}
	return time.Time{}
}

// planOnce begins the check of all objects of an examination as soon as the lists have come, or
// hang while the runtime answers otherwise.
func (m *Model) planOnce() {
	r, a := m.relists.Now, &m.asking
	if m.closed {
		return
	}
	if over, _ := m.askedEnough(m.now); over && !m.once.Closing {
		m.once.Closing = true
		if _, out := m.calls.InWay(call.Flight{Op: call.Status}, m.now); !out && a.Check != nil && !a.Check.stopped() {
			m.askStatus() // a runtime that has gone since is not well, whatever single objects answer
		}
	}
	if listed := r != nil && r.Listed || a.Search.Over; a.Check != nil || !listed || m.awaitsLook() {
		return
	}
	why := m.calls.TooSlow(m.now)
	_, status := m.calls.InWay(call.Flight{Op: call.Status}, m.now)
	_, version := m.calls.InWay(call.Flight{Op: call.Version}, m.now)
	switch {
	case why != "" && !(status && len(m.pods.ByUID) > 0): // where Status hangs, objects tell whether anything else does
		a.refuse(m, why)
	case why == "" && (status || version): // whether the runtime is quick enough is known in a moment
	default:
		a.begin(m, false, false)
	}
}

// mayGoAhead reports whether an examination asks for single objects while a list is still out: the
// runtime answers otherwise, and fast.
func (m *Model) mayGoAhead() bool {
	_, status := m.calls.InWay(call.Flight{Op: call.Status}, m.now)
	return !status && m.known.StatusErr == nil && m.mayCheck()
}

// listsAgain reports whether an examination makes the lists once more: nobody listened for them,
// and now Status is answered. What failed while the runtime was restarted says nothing of now.
func (m *Model) listsAgain() bool {
	f := m.known.Failure
	if m.closed || m.once.Lists == 0 {
		return !m.closed
	}
	return f != nil && m.once.Closing && m.once.Lists == 1 && m.known.StatusErr == nil && answers.IsAway(f.Err) && m.sums.Of(call.Status).LastOK.After(f.At)
}

// awaitsLook reports whether to wait for a deep look. While a list hangs, the look finds the objects
// that can be asked without it.
func (m *Model) awaitsLook() bool {
	f, out := m.relistCall()
	begins := out && f.Op.IsList() && m.looks.Can && !m.looks.Deep && f.Elapsed(m.now) < call.LateAfter+lookFor
	return begins || m.looks.holdsCheck(m.now)
}

// saysEnough reports whether an examination has seen all that it needs, and when to ask anew.
func (m *Model) saysEnough(now time.Time) (bool, time.Time) {
	over, at := m.askedEnough(now)
	if !over || !m.askedFor(call.Status) || !m.askedFor(call.Version) || !m.once.Closing || m.once.AskAgain || m.once.Version || m.listsAgain() {
		return false, at
	}
	for _, f := range m.calls.Flights() {
		if until := f.Since.Add(m.enoughFor(now)); f.By == call.ByStatusLoop && now.Before(until) {
			at = latest(at, until)
		}
	}
	return at.IsZero(), at
}

// askedFor reports whether a call of an operation was made, if only just now.
func (m *Model) askedFor(op call.Operation) bool {
	s := m.sums.Of(op)
	return s.Count > 0 || s.InFlight > 0
}

// enoughFor is how long a call is out to be called hung.
func (m *Model) enoughFor(now time.Time) time.Duration {
	if m.calls.Extent(now) == call.Silent {
		return call.HungListAfter
	}
	return m.start.hungLong()
}

// askedEnough reports whether every object was asked, and what is out for it, or for a list, has hung
// for long enough to be called so. If not, at is when that may be so though nothing is observed.
func (m *Model) askedEnough(now time.Time) (enough bool, at time.Time) {
	silent := m.calls.Extent(now) == call.Silent
	f, listing := m.relistCall()
	if wait := m.enoughFor(now); listing {
		if !m.asking.accuses(m, now) && !silent {
			wait = m.start.listTime() + call.Together // its lane ends it
		}
		if until := f.Since.Add(wait); now.Before(until) {
			return false, until
		}
	}
	switch c := m.asking.Check; {
	case c == nil && !listing, c.underWay() && !silent, m.looks.busy(), m.asking.Search.Begun && !m.asking.Search.Over:
		return false, time.Time{}
	case c.hangs() && m.mayBeStall():
		if until := c.Ended.Add(m.start.hungLong() - c.Timeout); now.Before(until) {
			return false, until
		}
	}
	return true, time.Time{}
}

// close settles the pods by what the objects answered, and ends the relist of an examination.
func (m *Model) close() {
	m.giveUpCalls()
	m.closed, m.news = true, true
	if c := m.asking.Check; c.underWay() {
		c.CutOff = true
		c.end(m.now)
	}
	r := m.relists.Now
	if r == nil || m.relistedOnce() {
		return
	}
	core := m.core
	if !r.Listed || m.asking.Search.Over {
		core = m.aside
	}
	serial := r.ListTook
	if core != nil {
		for next, more := core.Next(); more; next, more = core.Next() {
			i := m.inspectionOf(next)
			if core.Settle(i.Pod.UID, i.Began, i.status(), i.Err) != nil {
				break
			}
			if errors.Is(i.Err, errUnasked) {
				continue
			}
			r.Done++
			if i.Err != nil {
				r.Failures++
			}
			serial += i.Ended.Sub(i.Began)
			m.pods.inspected(core, &i)
		}
		if core.End() == nil && core == m.core {
			m.release()
		}
	}
	m.sumUp(serial, m.known.Failure != nil)
}

// giveUpCalls takes the calls of the kubelet's that are out and late for unanswered: nobody waits for them
// any longer.
func (m *Model) giveUpCalls() {
	silent := ""
	if m.calls.Extent(m.now) == call.Silent {
		silent = ", and neither Status nor a list is answered"
	}
	for _, c := range slices.Clone(m.calls.Out) {
		if f := c.Flight; !f.Ours() && f.Elapsed(m.now) >= call.LateAfter {
			text := fmt.Sprintf("no answer for %v%s", f.Elapsed(m.now).Round(100*time.Millisecond), silent)
			m.ended(CallEnded{ID: uint64(c.ID), Err: call.NoAnswer(f.Op, call.GivenUp, text)})
		}
	}
}

// errUnasked keeps the core from taking a pod for inspected that the examination did not come to.
// Nobody else sees it.
var errUnasked = errors.New("not asked")

// inspectionOf makes an inspection of the answers about one pod. As in the kubelet the first error
// counts, and what is gone is left out.
func (m *Model) inspectionOf(next pleg.Inspection) inspection {
	i := inspection{Pod: next.Pod.PodRef, Began: m.now, Ended: m.now}
	asked := 0
	for _, f := range callsFor(next.Pod) {
		a := m.once.Answers[targetOf(f)]
		if a == nil {
			i.Err = cmp.Or(i.Err, errUnasked)
			continue
		}
		asked++
		ours := *a
		ours.Flight.Pod, ours.Flight.Container = f.Pod, f.Container // it was asked for as another pod's
		began := i.Began.Add(-a.took())
		i.take(&ours, false)
		i.Began, i.Ended = began, m.now
	}
	if asked == 0 {
		i.Err = errUnasked
	}
	return i
}
