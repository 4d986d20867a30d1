package engine

import (
	"time"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/survey"
)

// probes keeps what was asked while a call of the relist hung. A round asks,
// one after the other, for Version, Status, one sandbox and one container.
type probes struct {
	hung    call.Flight // the call whose hanging is looked into, with Since
	round   *survey.Survey
	targets []call.Flight // of the round
	again   bool          // this round has asked for one object more
	next    time.Time     // when the next round may begin; zero for at once
	turn    int           // how many rounds there were: whose turn it is

	answers map[call.Operation]answers.Outcome // by operation
	made    []answers.Outcome                  // what read returned last; nil when stale
}

// advance begins and goes on with a round of probes if one is called for.
func (p *probes) advance(m *machine) {
	hung, hangs := p.called(m)
	if !hangs && p.hung != (call.Flight{}) && m.calls.sums.AnsweredSince(p.hung.Since) {
		p.forget()
		m.changed = true
	}
	if !hangs || m.pause.on {
		return
	}
	if hung != p.hung {
		p.forget()
		p.hung = hung
	}
	p.ask(m)
	if p.round.Over() && !m.now.Before(p.next) {
		p.targets = p.whom(m)
		p.round = survey.New(survey.Policy{By: call.ByProbe, Width: 1, Busy: survey.Skip}, survey.First(len(p.targets)))
		p.next = m.now.Add(answers.ProbePeriod)
		p.turn++
		p.again = false
		p.ask(m)
	}
}

func (p *probes) ask(m *machine) {
	if f, asked := m.ask(p.round, func(place int) call.Flight { return p.targets[place] }); asked {
		p.put(answers.Outcome{Flight: f})
		m.changed = true
	}
}

// called returns the call of the relist that has been out too long, if one has.
// A look that is made once asks for everything anyway.
func (p *probes) called(m *machine) (call.Flight, bool) {
	f, out := m.calls.oldestOfRelist()
	after := m.policy.Bounds().ProbeAfter
	return f, out && after > 0 && f.Elapsed(m.now) >= after
}

// due returns when a probe is to be made though nothing comes back.
func (p *probes) due(m *machine) time.Time {
	f, out := m.calls.oldestOfRelist()
	after := m.policy.Bounds().ProbeAfter
	if !out || m.pause.on || p.round.Out() || after == 0 {
		return time.Time{}
	}
	if at := f.Since.Add(after); m.now.Before(at) {
		return at
	}
	return p.next
}

// forget drops all answers, and the one that may still come: what they say of
// the objects asked for holds only as long as a call hangs.
func (p *probes) forget() {
	p.round.End()
	*p = probes{turn: p.turn, next: p.next}
}

// answered takes in a probe, or the Status that a sweep in doubt has asked for. What
// Status says of a probe is not taken in: the kubelet that is modelled does not ask now.
func (p *probes) answered(m *machine, a *answer) {
	m.changed = true
	if a.survey == m.sweep.recheck.asking {
		m.sweep.rechecked(m, a)
		return
	}
	p.put(a.outcome())
	if a.Op.AboutObject() && a.err != nil && !p.again {
		p.again = true
		p.askAnother(m, a.Op)
	}
}

// askAnother asks for another object instead of one that gave no answer, once in a
// round: it may have been the very one for which the relist hangs.
func (p *probes) askAnother(m *machine, op call.Operation) {
	p.turn++
	for _, f := range p.whom(m) {
		if f.Op == op {
			p.targets = append(p.targets, f)
			p.round.Prepend(len(p.targets) - 1)
		}
	}
}

// whom returns whom to ask in the next round.
func (p *probes) whom(m *machine) []call.Flight {
	queue := []call.Flight{{Op: call.Version}, {Op: call.Status}}
	shown, _, _ := m.pods.read()
	for _, parts := range []func(*Pod) []call.Flight{
		func(p *Pod) []call.Flight { return sandboxCalls(p.PodRef, p.Seen().Sandboxes) },
		func(p *Pod) []call.Flight { return containerCalls(p.PodRef, p.Seen().Containers) },
	} {
		if f, ok := p.pick(m, shown, parts); ok {
			queue = append(queue, f)
		}
	}
	return queue
}

// pick returns a call about a part of the pod whose turn it is, or of the first
// one after it that no call in flight is about.
func (p *probes) pick(m *machine, shown []*Pod, parts func(*Pod) []call.Flight) (call.Flight, bool) {
	for i := range shown {
		pod := shown[(p.turn+i)%len(shown)]
		if pod.UID == p.hung.Pod.UID {
			continue
		}
		for _, f := range parts(pod) {
			if m.calls.like(f) == nil {
				return f, true
			}
		}
	}
	return call.Flight{}, false
}

// clearOfAll reports whether Version and Status are answered while a call hangs.
func (p *probes) clearOfAll(f call.Flight) bool {
	ok := func(op call.Operation) bool {
		a, returned := p.last(op)
		return returned && a.Err == nil
	}
	return p.hung == f && ok(call.Version) && ok(call.Status)
}

// clear reports whether a whole round says that the runtime answers while a call
// hangs: for itself, and for one sandbox or container at least.
func (p *probes) clear(f call.Flight) bool {
	if p.hung != f || !p.round.Over() {
		return false
	}
	one := false
	for op, a := range p.answers {
		switch {
		case op.AboutObject():
			one = one || a.Err == nil
		case a.Err != nil:
			return false
		}
	}
	return one
}

func (p *probes) put(a answers.Outcome) {
	if p.answers == nil {
		p.answers = make(map[call.Operation]answers.Outcome)
	}
	p.answers[a.Op] = a
	p.made = nil
}

func (p *probes) last(op call.Operation) (answers.Outcome, bool) {
	a, ok := p.answers[op]
	return a, ok && !a.At.IsZero()
}

// read returns the last probe of each operation, in their order. The caller may
// keep it.
func (p *probes) read() []answers.Outcome {
	if p.made == nil && len(p.answers) > 0 {
		for _, op := range call.Operations() {
			if a, ok := p.answers[op]; ok {
				p.made = append(p.made, a)
			}
		}
	}
	return p.made
}
