package engine

import (
	"time"

	"github.com/plegtop/plegtop/engine/call"
)

// A part of a machine decides one thing. It stands in a file of its own, with what it has
// to know between two steps, and in the list of [machine.assemble].
type part interface {
	advance(m *machine)             // goes on as far as that goes without an answer
	answered(m *machine, a *answer) // takes in what came of a call that was made for it
	due(m *machine) time.Time       // when there is something to do though nothing happens; zero for never
}

// A shown part has something to show: it fills that into a snapshot, as of its At.
type shown interface {
	fill(m *machine, s *Snapshot)
}

// passive is what a part does that need not do it.
type passive struct{}

func (passive) advance(*machine)           {}
func (passive) answered(*machine, *answer) {}
func (passive) due(*machine) time.Time     { return time.Time{} }

// assemble lists the parts in the order in which they go on. A part that others ask for
// something is a field of the machine, too.
func (m *machine) assemble() {
	for _, p := range []struct {
		part
		by []call.Asker // for whom the calls are made that are its own
	}{
		{part: &m.looks},
		{part: &m.kubelet},
		{part: &m.sources},
		{part: &m.mode},
		{part: &m.relists, by: []call.Asker{call.ByRelist}},
		{part: &m.networks},
		{part: &m.transitions},
		{part: &m.workers},
		{part: &m.status, by: []call.Asker{call.ByStatusLoop}},
		{part: &m.probes, by: []call.Asker{call.ByProbe}},
		{part: &m.search, by: []call.Asker{call.BySearch}},
		{part: &m.sweep, by: []call.Asker{call.BySweep}},
		{part: raws{}, by: []call.Asker{call.ByRequest}},
		{part: &m.check},
		{part: &m.memory},
		{part: &m.calls}, // which makes what the others want
	} {
		m.parts = append(m.parts, p.part)
		for _, by := range p.by {
			m.askers[by] = p.part
		}
		if s, ok := p.part.(shown); ok {
			m.shows = append(m.shows, s)
		}
	}
}

// handOut gives each answer to whoever wanted it.
func (m *machine) handOut() {
	m.calls.handing, m.calls.done = m.calls.done, nil
	for i := range m.calls.handing {
		a := &m.calls.handing[i]
		m.memory.hears(m, a)
		m.sweep.hears(a)
		if !a.dropped && (a.survey == nil || a.survey.Returned()) {
			m.askers[a.to].answered(m, a)
		}
	}
}

// due returns when to step though nothing comes; zero for never.
func (m *machine) due() time.Time {
	var due time.Time
	for _, p := range m.parts {
		due = sooner(due, p.due(m))
	}
	return due
}
