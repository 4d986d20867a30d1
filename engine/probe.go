package engine

import (
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
)

// probes keeps what was asked while a call of the relist hung. A round asks,
// one after the other, for Version, Status, one sandbox and one container.
type probes struct {
	hung  call.Flight   // the call whose hanging is looked into, with Since
	queue []call.Flight // what is still to ask in this round
	again bool          // this round has asked for one object more
	out   bool
	of    call.Flight // the call for whose hanging the one that is out was made
	next  time.Time   // when the next round may begin; zero for at once
	turn  int         // how many rounds there were: whose turn it is

	answers map[call.Operation]answers.Probe // by operation
	made    []answers.Probe                  // what read returned last; nil when stale
}

// advance begins and goes on with a round of probes if one is called for.
func (p *probes) advance(m *machine) {
	hung, hangs := p.called(m)
	if !hangs && p.hung != (call.Flight{}) && m.calls.sums.AnsweredSince(p.hung.Since) {
		p.forget()
		m.changed = true
	}
	if !hangs || m.pause.on {
		p.queue = nil
		return
	}
	if hung != p.hung {
		p.forget()
		p.hung = hung
	}
	if p.out {
		return
	}
	if len(p.queue) == 0 && !m.now.Before(p.next) {
		p.queue = p.round(m)
		p.next = m.now.Add(answers.ProbePeriod)
		p.turn++
		p.again = false
	}
	p.queue = slices.DeleteFunc(p.queue, func(f call.Flight) bool { return m.calls.like(f) != nil })
	if len(p.queue) > 0 {
		p.ask(m)
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
	if !out || m.pause.on || p.out || after == 0 {
		return time.Time{}
	}
	if at := f.Since.Add(after); m.now.Before(at) {
		return at
	}
	return p.next
}

// forget drops all answers, and the one that may still come: what they say of
// the objects asked for holds only as long as a call hangs.
func (p *probes) forget() { *p = probes{out: p.out, of: p.of, turn: p.turn, next: p.next} }

// ask makes the next probe of the round. What Status says is not taken in: the
// kubelet that is modelled does not ask for it now.
func (p *probes) ask(m *machine) {
	f := p.queue[0]
	p.queue, p.out, p.of = p.queue[1:], true, p.hung
	m.calls.want(m.now, m.policy.own(f))
	f.Since = m.now
	p.put(answers.Probe{Flight: f})
	m.changed = true
}

// answered takes in a probe, or the Status that a sweep in doubt has asked for.
func (p *probes) answered(m *machine, a *answer) {
	m.changed = true
	if a.tag == recheckTag {
		m.recheckAnswered(a)
		return
	}
	p.out = false
	if p.hung != p.of { // that call hangs no more
		return
	}
	p.put(answers.Probe{Flight: a.Flight, At: a.at, Took: a.took, Err: a.err})
	if a.Op.AboutObject() && a.err != nil && !p.again {
		p.again = true
		p.askAnother(m, a.Op)
	}
}

// askAnother asks for another object instead of one that gave no answer, once in a
// round: it may have been the very one for which the relist hangs.
func (p *probes) askAnother(m *machine, op call.Operation) {
	p.turn++
	for _, f := range p.round(m) {
		if f.Op == op {
			p.queue = slices.Insert(p.queue, 0, f)
		}
	}
}

// round returns whom to ask in the next round.
func (p *probes) round(m *machine) []call.Flight {
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
	for i := range queue {
		queue[i].By = call.ByProbe
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
	if p.hung != f || p.out || len(p.queue) > 0 {
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

func (p *probes) put(a answers.Probe) {
	if p.answers == nil {
		p.answers = make(map[call.Operation]answers.Probe)
	}
	p.answers[a.Op] = a
	p.made = nil
}

func (p *probes) last(op call.Operation) (answers.Probe, bool) {
	a, ok := p.answers[op]
	return a, ok && !a.At.IsZero()
}

func (p *probes) fill(_ *machine, s *Snapshot) { s.Probes = p.read() }

// read returns the last probe of each operation, in their order. The caller may
// keep it.
func (p *probes) read() []answers.Probe {
	if p.made == nil && len(p.answers) > 0 {
		for _, op := range call.Operations() {
			if a, ok := p.answers[op]; ok {
				p.made = append(p.made, a)
			}
		}
	}
	return p.made
}
