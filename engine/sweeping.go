package engine

import (
	"errors"
	"fmt"
	"time"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

// Why a sweep is given up.
const (
	silentToo = "Status gives no answer, either"
	wentAway  = "nobody listens any more"
)

// recheckTag marks the Status that a sweep in doubt asks for.
const recheckTag = 1

// A sweeper makes the calls of the machine's sweep.
type sweeper struct{}

// A recheck is the Status that is asked for when what a sweep hears, or does not,
// can be the fault of the whole runtime.
type recheck struct {
	out     bool      // it has not returned
	at      time.Time // when it was asked for last; zero if it was not
	refused bool      // because nobody listened for a call of the sweep, not because that hears nothing
}

// beginSweep begins to ask for all sandboxes and containers that are known, in the
// order that first says; nil for that of the pods.
func (m *machine) beginSweep(first func(a, b call.Flight) int) {
	shown, _, _ := m.pods.read()
	var all []call.Flight
	for _, p := range shown {
		all = append(all, partsOf(p.Seen())...)
	}
	unlisted := m.unlisted()
	for _, o := range unlisted {
		all = append(all, o.Flight)
	}
	m.dropSweep()
	m.sweep = newSweep(m.now, all, m.policy.Policy, first)
	if m.policy.Once {
		m.check.answers = make([]*answer, len(all))
	}
	m.sweep.listed = len(all) - len(unlisted)
	for i, o := range unlisted {
		m.sweep.objects[m.sweep.listed+i].unlisted = o
	}
	m.changed = true
}

// refuseSweep notes why no sweep is begun.
func (m *machine) refuseSweep(why string) {
	m.dropSweep()
	m.sweep = newSweep(m.now, nil, m.policy.Policy, nil)
	m.sweep.end(m.now)
	m.sweep.Refused = why
	m.changed = true
}

// askSweep begins the sweep that a person asked for, or says why not.
func (m *machine) askSweep() {
	switch {
	case m.policy.Once: // which has its own
		return
	case m.sweeping():
		m.sweep.forList, m.sweep.unasked = false, false // it is theirs now, and stays
		return
	}
	if why := m.tooSlow(); why != "" {
		m.refuseSweep(why)
		return
	}
	m.beginSweep(nil)
}

func (m *machine) sweeping() bool { return m.sweep != nil && !m.sweep.over() }

// cancelSweep ends the sweep that is under way, if there is one.
func (m *machine) cancelSweep() {
	if m.sweeping() {
		m.sweep.end(m.now)
		m.sweep.Canceled = true
		m.dropSweep()
	}
}

// dropSweep ends the calls of the sweep. What they still bring is not taken in.
func (m *machine) dropSweep() {
	m.calls.drop(m.now, func(w *callSpec) bool { return w.By == call.BySweep || w.tag == recheckTag && w.By == call.ByProbe })
	m.recheck = recheck{}
	m.changed = true
}

// advance makes as many of the sweep's calls as may be out at once.
func (sweeper) advance(m *machine) {
	s := m.sweep
	if s == nil || s.Refused != "" || s.GivenUp != "" || s.Canceled || s.over() && (m.policy.Once || m.pause.on) {
		return
	}
	if s.over() {
		m.checkAgain()
	} else if m.maybeStuck() {
		m.askStatusAgain()
	}
	s.held = m.holdsSweep()
	for place, more := s.next(); more; place, more = s.next() {
		w := m.policy.own(s.objects[place].Flight)
		w.By, w.tag = call.BySweep, uint64(place)
		m.calls.want(m.now, w)
	}
	// Of the first two rounds: where all of thousands fail nobody counts them at each step.
	if !m.policy.Once && s.Done >= 2*s.Width && s.Done <= 3*s.Width && s.hung() == s.Done {
		s.CutOff = true // it is not single objects that hang
		s.end(m.now)
		m.dropSweep()
	}
	if !s.over() && s.Done == s.Total {
		s.end(m.now)
		m.changed = true
	}
}

// checkAgain asks once more for what hung or failed: a hang of two seconds says
// nothing of what is so a minute later.
func (m *machine) checkAgain() {
	s := m.sweep
	at := s.checkAt()
	switch {
	case at.IsZero() || m.now.Before(at):
	case m.tooSlow() != "":
		s.checkNext = m.now.Add(checkPeriod)
	default:
		s.checkAgain(m.now)
	}
}

// checkAt returns when those that hung or failed are asked for again; zero if they
// are not.
func (s *sweep) checkAt() time.Time {
	if !s.over() || len(s.bad) == 0 || s.out > 0 || len(s.todo) > 0 || s.checkNext.After(s.Ended.Add(checkLasts)) {
		return time.Time{}
	}
	return s.checkNext
}

func (sweeper) answered(m *machine, a *answer) {
	m.check.keep(a)
	m.sweep.take(int(a.tag), a)
	if v := a.value.Sandbox; v != nil {
		m.sweep.nameUnlisted(*v)
	}
	m.changed = true
}

// maybeStuck reports whether what came of the sweep, or did not, can be the fault
// of the whole runtime and not of what was asked for. What hangs alone costs a
// Status each time that a call could have come to its end.
func (m *machine) maybeStuck() bool {
	s, d := m.sweep, &m.recheck
	if d.out {
		return false
	}
	last := m.now.Sub(d.at) // very long if there was none
	if s.refused.After(d.at) && (last >= answers.RetryAfter || s.Done == s.Total) {
		return true
	}
	silent := s.Done < s.Total && m.now.Sub(s.heard) >= answers.Late && last >= s.Timeout
	return silent || d.at.IsZero() && s.hung() >= s.Width
}

// askStatusAgain asks whether the runtime is still there. A look that is made once
// takes what it says for what the runtime says of itself; the kubelet that a running
// engine stands for does not ask now.
func (m *machine) askStatusAgain() {
	m.recheck = recheck{out: true, at: m.now, refused: m.sweep.refused.After(m.recheck.at)}
	if m.policy.Once {
		m.status.askAgain(m, true)
		return
	}
	w := m.policy.own(call.Flight{By: call.ByProbe, Op: call.Status})
	w.tag = recheckTag
	m.calls.want(m.now, w)
}

// recheckAnswered takes in the second Status. If it did not come either, and nothing
// else since it was asked for, the sweep is given up.
func (m *machine) recheckAnswered(a *answer) {
	d := &m.recheck
	d.out = false
	if s := m.sweep; s == nil || s.over() && !d.at.Before(s.Ended) {
		return
	}
	gone := errors.Is(a.err, call.ErrUnavailable)
	switch silent := d.at.Sub(m.sweep.heard) >= answers.Late; {
	case gone && (d.refused || silent):
		m.giveUpSweep(wentAway)
	case silent && hung(a.took, answers.Late, a.err):
		m.giveUpSweep(silentToo)
	case silent:
		m.sweep.heard = m.now
	}
}

// giveUpSweep ends a sweep of a runtime that has gone silent, or away.
func (m *machine) giveUpSweep(why string) {
	m.sweep.giveUp(m.now, why)
	m.dropSweep()
}

// holdsSweep reports whether the sweep is to make no call now: until it is known
// whether the runtime is there, and, since one that comes back needs a moment,
// before the second asking of those for which nobody listened.
func (m *machine) holdsSweep() bool {
	s, d := m.sweep, &m.recheck
	return d.out && (d.refused || d.at.Sub(s.heard) >= answers.Late) || s.retrying() && m.now.Before(s.refused.Add(answers.RetryAfter))
}

// due returns when the sweep has something to do though nothing comes back.
func (sweeper) due(m *machine) time.Time {
	s := m.sweep
	switch {
	case s == nil || s.Refused != "" || s.GivenUp != "" || s.Canceled || s.over() && (m.policy.Once || m.pause.on):
		return time.Time{}
	case s.over():
		return s.checkAt()
	}
	if m.recheck.out {
		return time.Time{}
	}
	due := s.heard.Add(answers.Late)
	if at := m.recheck.at.Add(s.Timeout); at.After(due) {
		due = at
	}
	if s.retrying() {
		due = sooner(due, s.refused.Add(answers.RetryAfter))
	}
	return due
}

func (sweeper) fill(m *machine, s *Snapshot) {
	if m.sweep != nil {
		s.Sweep = m.sweep.result()
	}
}

// tooSlow says in words why the runtime cannot be asked for a sweep now; empty
// if it can. That Version is slow does not matter where Status is known to be
// quick. What either took long ago does not count: neither is asked for while paused.
func (m *machine) tooSlow() string {
	reason := m.slowOf(call.Status, m.status.statusTook)
	if reason != "" || m.status.isQuick(m.now, m.policy.Bounds().RecentFor) {
		return reason
	}
	return m.slowOf(call.Version, m.status.versionTook)
}

// slowOf says in words that an operation is slow, given how long it took last;
// empty if it is not known to be.
func (m *machine) slowOf(op call.Operation, last promptness) string {
	if p := m.calls.like(call.Flight{Op: op}); p != nil && p.Elapsed(m.now) > answers.Late {
		return fmt.Sprintf("%v has been out for %v", op, p.Elapsed(m.now).Round(100*time.Millisecond))
	}
	took := last.took
	if took <= answers.Late || m.now.Sub(last.at) >= m.policy.Bounds().RecentFor {
		p, ok := m.probes.last(op)
		if !ok || m.now.Sub(p.At) >= m.policy.Bounds().RecentFor || p.Took <= answers.Late && !errors.Is(p.Err, call.ErrDeadline) {
			return ""
		}
		took = p.Took
	}
	return fmt.Sprintf("the last %v took %v", op, took.Round(100*time.Millisecond))
}

// exited returns 1 for each sandbox and container that does not run.
func exited(shown []*Pod) map[string]int {
	exited := make(map[string]int)
	for _, p := range shown {
		for _, s := range p.Seen().Sandboxes {
			if s.State == pleg.Exited {
				exited[s.ID] = 1
			}
		}
		for _, c := range p.Seen().Containers {
			if c.State == pleg.Exited {
				exited[c.ID] = 1
			}
		}
	}
	return exited
}
