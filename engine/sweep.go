package engine

import (
	"errors"
	"time"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/survey"
)

// Why a sweep is given up.
const (
	silentToo = "Status gives no answer, either"
	wentAway  = "the runtime answers no more"
)

// A sweeper makes the machine's sweeps.
type sweeper struct {
	last    *survey.Sweep // or the one under way; nil if there was none
	began   time.Time     // when that was; kept when it is forgotten
	of      time.Time     // start of the call of the relist for which one was begun last
	forList bool          // it was begun to see what holds up a list
	unasked bool          // nobody has asked for it: a pause ends it
	recheck recheck
}

// A recheck is the Status that is asked for when what a sweep hears, or does not,
// can be the fault of the whole runtime.
type recheck struct {
	asking  *survey.Survey
	at      time.Time // when it was asked for last; zero if it was not
	refused bool      // because nobody listened for a call of the sweep, not because that hears nothing
}

// begin begins to ask for all sandboxes and containers that are known: those that run, or
// may, before those that have ended. What stands in several pods is asked for once, as the
// first one's.
func (w *sweeper) begin(m *machine) {
	shown, _, _ := m.pods.read()
	var listed []call.Flight
	ended := make(map[string]bool)
	for _, p := range shown {
		seen := p.Seen()
		listed = append(listed, partsOf(seen)...)
		for _, s := range seen.Sandboxes {
			ended[s.ID] = s.State == pleg.Exited
		}
		for _, c := range seen.Containers {
			ended[c.ID] = c.State == pleg.Exited
		}
	}
	w.drop(m)
	*w = sweeper{began: m.now, of: w.of, last: survey.NewSweep(m.now, once(listed), m.unlisted(), m.policy.Policy, m.check.cut, ended)}
	m.check.sweepBegan(w.last.Total)
	w.prefer(m)
}

// prefer has those asked first, of all that are left, that are suspicious by the last look.
func (w *sweeper) prefer(m *machine) {
	if w.underWay() && m.evidence != nil {
		w.last.Prefer(m.evidence.Processes.Suspects())
	}
}

// refuse notes why no sweep is begun.
func (w *sweeper) refuse(m *machine, why string) {
	w.drop(m)
	*w = sweeper{began: m.now, of: w.of, last: survey.NewSweep(m.now, nil, nil, m.policy.Policy, time.Time{}, nil)}
	w.last.End(m.now)
	w.last.Refused = why
}

// request begins the sweep that a person asked for, or says why not.
func (w *sweeper) request(m *machine) {
	switch why := m.tooSlow(); {
	case m.policy.Once: // which has its own
	case w.underWay():
		w.forList, w.unasked = false, false // it is theirs now, and stays
	case why != "":
		w.refuse(m, why)
	default:
		w.begin(m)
	}
}

// beginForHang asks for every object, once, when a call of the relist hangs, or its
// lists fail, although the runtime answers otherwise. The container whose status
// holds the lock that a list waits for is found so, and what else hangs behind the one
// that holds up the relist.
func (w *sweeper) beginForHang(m *machine) {
	if m.policy.Once || m.pause.on || w.underWay() || m.now.Sub(w.began) < answers.SweepEvery {
		return
	}
	if since, is := w.suspect(m); is && m.maySweep() {
		w.begin(m)
		f, hangs := m.hung()
		w.of, w.forList, w.unasked = since, hangs && f.Op.IsList(), true
	}
}

// suspect returns the start of a call for which the objects have not been asked for
// yet: it hangs while probes are answered, or lists fail again and again with an
// error of their own.
func (w *sweeper) suspect(m *machine) (time.Time, bool) {
	if f, hangs := m.hung(); hangs {
		return f.Since, !f.Since.Equal(w.of) && (m.probes.clear(f) || m.core.ListedAt().IsZero() && m.probes.clearOfAll(f))
	}
	f := m.known.Failure
	if f == nil || !m.search.over || w.of.After(f.First) || f.InRow < m.policy.Bounds().ListFails || errors.Is(f.Err, call.ErrUnavailable) {
		return time.Time{}, false
	}
	return f.Since, true
}

// maySweep reports whether each object can be asked for now: the runtime is quick enough,
// nothing more is about to be known, and there are objects.
func (m *machine) maySweep() bool {
	return m.tooSlow() == "" && !m.looks.holdsSweep(m) && m.hasObjects()
}

func (w *sweeper) underWay() bool { return !w.last.Over() }

// cancel ends the sweep that is under way, if there is one.
func (w *sweeper) cancel(m *machine) {
	if w.underWay() {
		w.last.End(m.now)
		w.last.Canceled = true
		w.drop(m)
	}
}

// cutOff ends the sweep that is under way before it is complete.
func (w *sweeper) cutOff(m *machine) {
	w.last.CutOff = true
	w.last.End(m.now)
	w.drop(m)
}

// drop ends the calls of the sweep, and the Status that only it has asked for.
func (w *sweeper) drop(m *machine) {
	if w.last != nil {
		m.dropSurvey(w.last.Asking)
	}
	if d := w.recheck.asking; d != nil && d.By == call.ByProbe {
		m.dropSurvey(d)
	}
	w.recheck = recheck{}
	m.changed = true
}

// forget drops the sweep, as if there had been none.
func (w *sweeper) forget(m *machine) {
	w.drop(m)
	*w = sweeper{began: w.began, of: w.of}
}

// idle reports whether the sweep makes no calls any more.
func (w *sweeper) idle(m *machine) bool {
	s := w.last
	return s == nil || s.Stopped() || s.Over() && (m.policy.Once && !w.unsettled(m) || m.pause.on)
}

// unsettled reports whether one that looks once still asks again for what hung: until
// that has hung for long, since a stall that passes accuses nobody.
func (w *sweeper) unsettled(m *machine) bool {
	s := w.last
	return m.policy.Once && m.mayBeStall() && s.Over() && !s.Stopped() && !s.CutOff && !m.check.wasCut && m.now.Before(s.SureAt(m.policy.HungLong()))
}

// mayBeStall reports whether what hangs may be a stall that passes, so that it is asked
// again. One that looks once does not ask again where a list hangs or fails as well, or where
// one call already waits for long enough.
func (m *machine) mayBeStall() bool {
	return !m.policy.Once || m.known.Failure == nil && m.search.ahead == (call.Flight{}) && m.policy.CallTimeout < m.policy.HungLong()
}

// advance makes as many of the sweep's calls as may be out at once.
func (w *sweeper) advance(m *machine) {
	w.beginForHang(m)
	if w.underWay() {
		w.finish(m)
	}
	if w.idle(m) {
		return
	}
	s := w.last
	if s.Over() {
		w.askAgain(m)
	} else if w.maybeStuck(m) {
		w.askStatus(m)
	}
	s.Asking.Held = w.holds(m)
	m.ask(s.Asking, s.Object)
}

// finish ends a sweep that has nobody left to ask, or is to ask nobody.
func (w *sweeper) finish(m *machine) {
	switch s := w.last; {
	// Of the first two rounds: where all of thousands fail nobody counts them at each step.
	case (!m.policy.Once || m.status.statusOut) && s.Done >= 2*s.Width && s.Done <= 3*s.Width && s.HungSoFar() == s.Done:
		w.cutOff(m) // it is not single objects that hang
	case s.Done == s.Total:
		s.End(m.now)
		m.changed = true
	case s.Asking.Late(m.now):
		s.CutOff = true
		s.End(m.now)
	}
}

// askAgain asks once more for what hung or failed: a hang of two seconds says
// nothing of what is so a minute later.
func (w *sweeper) askAgain(m *machine) {
	switch at := w.askAgainAt(m); {
	case at.IsZero() || m.now.Before(at):
	case m.tooSlow() != "" && !m.policy.Once:
		w.last.PutOff(m.now)
	default:
		w.last.AskAgain(m.now)
	}
}

// askAgainAt returns when that is; zero for never. One that looks once does so at once,
// and then each second.
func (w *sweeper) askAgainAt(m *machine) time.Time {
	s := w.last
	switch at := s.AskAgainAt(); {
	case at.IsZero() || !m.policy.Once:
		return at
	case s.Checked.Equal(s.Ended):
		return s.Ended
	}
	return s.Checked.Add(answers.AgainFirst)
}

// hears takes in that a relist was answered for an object: what hung hangs no more.
func (w *sweeper) hears(a *answer) {
	if w.last != nil && a.By == call.ByRelist && a.Op.AboutObject() {
		w.last.HeardOf(a.outcome())
	}
}

func (w *sweeper) answered(m *machine, a *answer) {
	m.check.keep(a)
	w.last.Take(int(a.tag), a.outcome(), a.err != nil && m.mayBeStall() && m.stalls())
	if v := a.value.Sandbox; v != nil {
		w.last.Name(func(f call.Flight, sandboxID string) (pod pleg.PodRef, _ string) {
			if f.Pod.Name == "" && (sandboxID == v.ID || f.ID == v.ID || f.Pod.UID != "" && f.Pod.UID == v.Pod.UID) {
				pod = v.Pod
			}
			return pod, ""
		})
	}
	m.changed = true
}

// maybeStuck reports whether what came of the sweep, or did not, can be the fault
// of the whole runtime and not of what was asked for. What hangs alone costs a
// Status each time that a call could have come to its end.
func (w *sweeper) maybeStuck(m *machine) bool {
	s, d := w.last, &w.recheck
	if d.asking.Out() {
		return false
	}
	last := m.now.Sub(d.at) // very long if there was none
	if s.Nobody.After(d.at) && (last >= answers.RetryAfter || s.Done == s.Total) {
		return true
	}
	silent := s.Done < s.Total && m.now.Sub(s.Heard) >= answers.Late && last >= s.Timeout
	return silent || d.at.IsZero() && s.HungSoFar() >= s.Asking.Width
}

// askStatus asks whether the runtime is still there. A look that is made once
// takes what it says for what the runtime says of itself; the kubelet that a running
// engine stands for does not ask now.
func (w *sweeper) askStatus(m *machine) {
	w.recheck = recheck{at: m.now, refused: w.last.Nobody.After(w.recheck.at)}
	if m.policy.Once {
		w.recheck.asking = m.status.askAgain(m, true)
	} else {
		w.recheck.asking = m.askOne(survey.Policy{By: call.ByProbe}, call.Flight{Op: call.Status})
	}
}

// rechecked takes in the second Status. If it did not come either, and nothing
// else since it was asked for, the sweep is given up.
func (w *sweeper) rechecked(m *machine, a *answer) {
	s, d := w.last, &w.recheck
	if s == nil || s.Over() && !d.at.Before(s.Ended) {
		return
	}
	gone := errors.Is(a.err, call.ErrUnavailable)
	switch silent := d.at.Sub(s.Heard) >= answers.Late; {
	case gone && (d.refused || silent):
		w.giveUp(m, wentAway)
	case silent && a.hung(answers.Late):
		w.giveUp(m, silentToo)
	case silent:
		s.Heard = m.now
	}
}

// giveUp ends a sweep of a runtime that has gone silent, or away.
func (w *sweeper) giveUp(m *machine, why string) {
	w.last.GiveUp(m.now, why)
	w.drop(m)
}

// holds reports whether the sweep is to make no call now: until it is known
// whether the runtime is there, and, since one that comes back needs a moment,
// before the second asking of those for which nobody listened.
func (w *sweeper) holds(m *machine) bool {
	s, d := w.last, &w.recheck
	return d.asking.Out() && (d.refused || d.at.Sub(s.Heard) >= answers.Late) || s.Asking.Retrying() && m.now.Before(s.Nobody.Add(answers.RetryAfter))
}

// due returns when the sweep has something to do though nothing comes back.
func (w *sweeper) due(m *machine) time.Time {
	s := w.last
	switch {
	case w.idle(m):
		return time.Time{}
	case s.Over() && m.policy.Once:
		return sooner(w.askAgainAt(m), s.SureAt(m.policy.HungLong()))
	case s.Over():
		return s.AskAgainAt()
	case w.recheck.asking.Out():
		return time.Time{}
	}
	due := latest(s.Heard.Add(answers.Late), w.recheck.at.Add(s.Timeout))
	if s.Asking.Retrying() {
		due = sooner(due, s.Nobody.Add(answers.RetryAfter))
	}
	return due
}

// stalls reports whether it may be the whole machine or runtime that stalls.
func (m *machine) stalls() bool {
	r := m.evidence
	pressed := r != nil && r.Pressure.Missing == "" && max(r.Pressure.CPU.Some10, r.Pressure.IO.Some10) >= answers.BusyShare
	return pressed || m.table(m.now).Stalled(m.now)
}

// tooSlow says in words why the runtime cannot be asked for a sweep now; empty if it can.
func (m *machine) tooSlow() string { return m.table(m.now).TooSlow(m.now, m.policy.Bounds().RecentFor) }
