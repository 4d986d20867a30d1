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

// An examined is the state that only an examination needs.
type examined struct {
	Answers  map[target]*answer // of the objects
	Closing  bool               // Status was asked for at the end
	AskAgain bool               // Status is to be asked for now
	Version  bool               // Version is to be asked for now
	Lists    int                // how often the lists were made
}

// keepForClose keeps the answer about an object, for the inspections at the end.
func (m *Model) keepForClose(a *answer) {
	if m.start.Once {
		if m.once.Answers == nil {
			m.once.Answers = make(map[target]*answer)
		}
		m.once.Answers[targetOf(a.Flight)] = a
	}
}

// askStatus asks for Status at once. In a running engine this is a probe, since its kubelet would
// not ask now.
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

// planOnce begins the check of an examination as soon as the lists have returned, or hang while the
// runtime answers other calls.
func (m *Model) planOnce() {
	r, a := m.relists.Now, &m.asking
	if m.closed {
		return
	}
	if over, _ := m.askedEnough(m.now); over && !m.once.Closing {
		m.once.Closing = true
		if _, out := m.calls.InWay(call.Flight{Op: call.Status}, m.now); !out && a.Check != nil && !a.Check.stopped() {
			m.askStatus() // if the runtime has gone since, it is not well, whatever objects answered
		}
	}
	if listed := r != nil && r.Listed || a.Search.Over; a.Check != nil || !listed || m.awaitsLook() {
		return
	}
	why := m.calls.TooSlow(m.now)
	_, status := m.calls.InWay(call.Flight{Op: call.Status}, m.now)
	_, version := m.calls.InWay(call.Flight{Op: call.Version}, m.now)
	switch {
	case why != "" && !(status && len(m.pods.ByUID) > 0): // objects show whether more than Status hangs
		a.refuse(m, why)
	case why == "" && (status || version): // wait: soon it is known whether the runtime is quick enough
	default:
		a.begin(m, false, false)
	}
}

// mayGoAhead reports whether an examination asks for single objects while a list is still out. It
// does if the runtime answers other calls, and fast.
func (m *Model) mayGoAhead() bool {
	_, status := m.calls.InWay(call.Flight{Op: call.Status}, m.now)
	return !status && m.known.StatusErr == nil && m.mayCheck()
}

// listsAgain reports whether an examination makes the lists, for the first time or once more. It
// does so once more if the lists found no runtime and Status is answered now: a failure during a
// restart says nothing about now.
func (m *Model) listsAgain() bool {
	f := m.known.Failure
	if m.closed || m.once.Lists == 0 {
		return !m.closed
	}
	return f != nil && m.once.Closing && m.once.Lists == 1 && m.known.StatusErr == nil && answers.IsAway(f.Err) && m.sums.Of(call.Status).LastOK.After(f.At)
}

// awaitsLook reports whether the check waits for a deep look. While a list hangs, the look finds
// objects that can be asked without the list.
func (m *Model) awaitsLook() bool {
	f, out := m.relistCall()
	begins := out && f.Op.IsList() && m.looks.Can && !m.looks.Deep && f.Elapsed(m.now) < call.LateAfter+lookFor
	return begins || m.looks.holdsCheck(m.now)
}

// saysEnough reports whether an examination has seen all that it needs. If not, it returns when to
// ask again.
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

// askedFor reports whether a call of an operation was made; it may still be out.
func (m *Model) askedFor(op call.Operation) bool {
	s := m.sums.Of(op)
	return s.Count > 0 || s.InFlight > 0
}

// enoughFor returns how long a call must be out to be called hung.
func (m *Model) enoughFor(now time.Time) time.Duration {
	if m.calls.Extent(now) == call.Silent {
		return call.HungListAfter
	}
	return m.start.hungLong()
}

// askedEnough reports whether every object was asked, and each call that is still out for an object
// or a list has hung long enough to be called hung. If not, at is when that may become so even if
// nothing is observed.
func (m *Model) askedEnough(now time.Time) (enough bool, at time.Time) {
	silent := m.calls.Extent(now) == call.Silent
	f, listing := m.relistCall()
	if wait := m.enoughFor(now); listing {
		if !m.asking.accuses(m, now) && !silent {
			wait = m.start.listTime() + call.Together // its lane ends the list at its deadline
		}
		if until := f.Since.Add(wait); now.Before(until) {
			return false, until
		}
	}
	switch c := m.asking.Check; {
	case c == nil && !listing, c.underWay() && !silent, m.looks.busy(), m.asking.Search.Begun && !m.asking.Search.Over:
		return false, time.Time{}
	case c.hungBriefly(m.start.hungLong()) && m.mayBeStall():
		if until := c.Ended.Add(m.start.hungLong() - c.Timeout); now.Before(until) {
			return false, until
		}
	}
	return true, time.Time{}
}

// close settles the pods with the answers about their objects, and ends the relist of an
// examination.
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

// giveUpCalls counts each kubelet call that is out and late as not answered: nobody waits for it
// any longer. Calls of a check that was given up say nothing of their objects.
func (m *Model) giveUpCalls() {
	silent := ""
	if m.calls.Extent(m.now) == call.Silent {
		silent = ", and neither Status nor a list is answered"
	}
	for _, c := range slices.Clone(m.calls.Out) {
		switch f := c.Flight; {
		case !f.Ours() && f.Elapsed(m.now) >= call.LateAfter:
			text := fmt.Sprintf("no answer for %v%s", f.Elapsed(m.now).Round(100*time.Millisecond), silent)
			m.ended(CallEnded{ID: uint64(c.ID), Err: call.NoAnswer(f.Op, call.GivenUp, text)})
		case f.By == call.BySweep && m.asking.Check.GivenUp != "":
			m.ended(CallEnded{ID: uint64(c.ID), Err: &call.Error{Op: f.Op, Kind: call.ErrCanceled, Why: call.GivenUp}})
		}
	}
}

// errUnasked fails the inspection of a pod that the examination did not reach, so that the core
// does not count that pod as inspected. Nobody else sees it.
var errUnasked = errors.New("not asked")

// inspectionOf makes an inspection from the answers about one pod. As in the kubelet, the first
// error counts, and an object that has gone is left out.
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
		ours.Flight.Pod, ours.Flight.Container = f.Pod, f.Container // the check asked for it as another pod's
		began := i.Began.Add(-a.took())
		i.take(&ours, false)
		i.Began, i.Ended = began, m.now
	}
	if asked == 0 {
		i.Err = errUnasked
	}
	return i
}
