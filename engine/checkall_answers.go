package engine

import (
	"cmp"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

// answered takes in the end of the call about one object.
func (c *checkAll) answered(m *Model, a *answer) {
	o := c.at(a.Flight)
	if o == nil || !o.Out {
		return
	}
	c.shown = nil
	c.Out--
	o.Out = false
	m.keepForClose(a)
	now, was := outcomeOf(a), o.Outcome
	now.Pod, now.Container = was.Pod, was.Container // keep names that became known since
	state := stateOf(now, c.Timeout)
	switch {
	case answers.IsAway(now.Err):
		c.Nobody = now.At
	case state != hung:
		c.Heard = now.At
	}
	c.take(m, o, now, state)
	if v := a.Answer.Sandbox; v != nil {
		c.name(func(f call.Flight, sandboxID string) (pod pleg.PodRef, _ string) {
			if sandboxID == v.ID || f.ID == v.ID || f.Pod.UID != "" && f.Pod.UID == v.Pod.UID {
				pod = v.Pod
			}
			return pod, ""
		})
	}
}

// take takes in the outcome of an object.
func (c *checkAll) take(m *Model, o *object, now answers.Outcome, state objectState) {
	c.shown = nil
	if c.underWay() && !o.Failed {
		c.Turned++
	}
	switch {
	case !c.underWay() && o.State == unasked: // the check has ended without it
	case !c.underWay():
		o.Freed = o.State == hung && state == answered && !m.start.Once
		o.retried(now, state)
	case state == failed && !o.Failed:
		o.Outcome, o.Failed = now, true
		c.Todo = append(c.Todo, c.Places[targetOf(now.Flight)]) // it is asked once more when all others have had their turn
	default:
		c.Done++
		o.Outcome, o.State = now, state
		c.count(o)
		if state == hung {
			c.Hanging++
			o.InRow, o.Unsure = 1, m.stalls() && c.Newest.Before(o.Since)
		}
	}
}

func stateOf(o answers.Outcome, timeout time.Duration) objectState {
	switch {
	case o.Err == nil || call.KindOf(o.Err) == call.ErrNotFound:
		return answered
	case answers.TimedOut(o.Err, o.Took, timeout):
		return hung
	}
	return failed
}

// retried takes in the outcome of an object that was asked again. If it answers, it is well.
func (o *object) retried(now answers.Outcome, state objectState) {
	if answers.IsAway(now.Err) { // the call found no runtime
		return
	}
	row, took, since := o.InRow+1, max(o.Took, now.Took), o.Since
	if o.State != hung {
		took, since = now.Took, now.Since
	}
	o.Outcome, o.State, o.Unsure = now, state, false
	if state == hung {
		o.InRow, o.Took, o.Since = row, took, since
	}
}

// count counts what one answer cost.
func (c *checkAll) count(o *object) {
	if o.State != answered {
		return
	}
	c.Serial += o.Took
	c.Newest = latest(c.Newest, o.Since)
	if o.Failed {
		c.Flaky++
	}
	if o.Err == nil && (c.Quickest == 0 || o.Took < c.Quickest) {
		c.Quickest = o.Took
	}
}

// share counts an object as hung if another lane's call for it has been out for Timeout. The check
// does not ask for that object: it is never asked for twice at a time.
func (c *checkAll) share(m *Model) {
	if c.stopped() || len(c.Todo) == 0 {
		return
	}
	for _, f := range m.calls.Flights() {
		o := c.at(f)
		if f.By == call.BySweep || o == nil || f.Elapsed(m.now) < c.Timeout || !slices.Contains(c.Todo, c.Places[targetOf(f)]) {
			continue
		}
		c.drop(c.Places[targetOf(f)])
		out := answers.Outcome{Flight: f, At: m.now, Took: f.Elapsed(m.now), Err: outOfTurn(f.Op)}
		c.take(m, o, out, hung)
	}
}

// doubt asks for Status when the whole runtime may be at fault, not the objects: a call found no
// runtime, no answer came for LateAfter, or Width objects have hung.
func (c *checkAll) doubt(m *Model) {
	last := m.now.Sub(c.DoubtAt) // very long if there was none
	nobody := c.Nobody.After(c.DoubtAt) && last >= retryAfter
	silent := m.now.Sub(c.Heard) >= call.LateAfter && last >= c.Timeout
	first := c.DoubtAt.IsZero() && c.Hanging >= c.Width
	if !c.Doubts && (nobody || silent || first) {
		c.Doubts, c.DoubtAt, c.Absent = true, m.now, nobody
		m.askStatus()
	}
}

// statusOf takes in a Status that has returned. It gives the check up in two cases: a call of the check found
// no runtime, and Status finds none either; or Status is not answered, and no object is answered either.
func (c *checkAll) statusOf(m *Model, a *answer) {
	if !c.underWay() || !c.Doubts {
		return
	}
	gone := answers.IsAway(errorOf(a.Err))
	if e := m.known.StatusErr; gone && m.start.Once && e != nil && e.InRow <= retries {
		return // Status is asked once more
	}
	c.Doubts = false
	silent := c.DoubtAt.Sub(c.Heard) >= call.LateAfter
	switch {
	case gone && (c.Absent || silent):
		c.giveUp(m.now, wentAway)
	case silent && ranOut(a.Err, a.took(), call.LateAfter):
		c.giveUp(m.now, silentToo)
	case silent:
		c.Heard = m.now
	}
}

// statusHangs gives the check up if a Status has been out for too long, perhaps one of another lane, and no
// object is answered either.
func (c *checkAll) statusHangs(m *Model) {
	f, out := m.calls.InWay(call.Flight{Op: call.Status}, m.now)
	if c.Doubts && out && c.DoubtAt.Sub(c.Heard) >= call.LateAfter && f.Elapsed(m.now) >= call.HungAfter && m.now.Sub(c.DoubtAt) >= call.LateAfter {
		c.Doubts = false
		c.giveUp(m.now, silentToo)
	}
}

// giveUp ends the check of a runtime that answers nothing any more. An object that may have hung
// only because of that counts as not asked. It still counts as hung if at least Width calls began
// after its own and were answered.
func (c *checkAll) giveUp(at time.Time, why string) {
	c.end(at)
	var begun []time.Time
	for i := range c.Objects {
		if o := &c.Objects[i]; o.State == answered {
			begun = append(begun, o.Since)
		}
	}
	slices.SortFunc(begun, func(a, b time.Time) int { return b.Compare(a) })
	for i := range c.Objects {
		o := &c.Objects[i]
		if outrun := len(begun) >= c.Width && o.Since.Before(begun[c.Width-1]); o.State == hung && !outrun {
			o.State = unasked
			c.Done--
		}
	}
	if c.Done < c.Total {
		c.CutOff, c.GivenUp = true, why
	}
}

// heardOf takes in another lane's answer about an object. If it is good, the check does not ask
// again.
func (c *checkAll) heardOf(a *answer) {
	if c == nil || c.underWay() {
		return
	}
	if o := c.at(a.Flight); o != nil && (o.State == hung || o.State == failed) && stateOf(outcomeOf(a), c.Timeout) == answered {
		o.retried(outcomeOf(a), answered)
		c.drop(c.Places[targetOf(a.Flight)])
		c.shown = nil
	}
}

// stalls reports whether the whole machine or runtime may be stalling.
func (m *Model) stalls() bool {
	r := m.evidence
	pressed := r != nil && r.Pressure.Missing == "" && max(r.Pressure.CPU.Some10, r.Pressure.IO.Some10) >= answers.BusyShare
	return pressed || m.table().Stalled(m.now)
}

// looked takes in a look at the node. The look has the names of objects that are in no list, and shows which
// objects to ask first.
func (a *asking) looked(m *Model) {
	if m.evidence == nil || a.Check == nil {
		return
	}
	c := a.Check
	suspects := m.evidence.Processes.Suspects()
	for i := range c.Objects {
		c.Objects[i].Suspect = suspects[c.Objects[i].ID]
	}
	c.sort()
	if m.evidence.Deep == nil {
		return
	}
	known := make(map[target]call.Flight)
	for _, o := range m.evidence.Objects() {
		f := m.asks(o)
		known[targetOf(f)] = f
	}
	c.name(func(f call.Flight, _ string) (pleg.PodRef, string) {
		shown := known[targetOf(f)]
		return shown.Pod, shown.Container
	})
}

// name fills in the missing names of objects that are in no list. find returns what is known of an object.
func (c *checkAll) name(find func(f call.Flight, sandboxID string) (pod pleg.PodRef, container string)) {
	for i := range c.Objects {
		o := &c.Objects[i]
		if !o.Unlisted || o.Pod.Name != "" && (o.Container != "" || o.Op == call.PodSandboxStatus) {
			continue
		}
		pod, container := find(o.Flight, o.SandboxID)
		if o.Pod.Name == "" && pod != (pleg.PodRef{}) {
			o.Pod = pod
		}
		o.Container = cmp.Or(o.Container, container)
		c.shown = nil
	}
}
