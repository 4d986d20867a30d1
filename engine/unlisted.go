package engine

import (
	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/survey"
)

// unlisted returns the objects that the node shows and that no pod has, where the lists
// hang or fail: one of them may be what holds them up.
func (m *machine) unlisted() []survey.Unlisted {
	if _, hangs := m.hung(); m.evidence == nil || !hangs && !m.search.begun && m.known.Failure == nil {
		return nil
	}
	var all []survey.Unlisted
	for _, o := range m.evidence.Objects() {
		if !m.pods.lists(o.ID) {
			all = append(all, survey.Unlisted{Flight: m.asks(o), SandboxID: o.SandboxID})
		}
	}
	return all
}

// asks returns the call that asks for an object, named as far as the node or a pod
// that is listed names it.
func (m *machine) asks(o evidence.Object) call.Flight {
	f := call.Flight{Op: call.ContainerStatus, ID: o.ID, Container: o.Container, Pod: o.Pod}
	if o.Sandbox {
		f.Op, f.Container = call.PodSandboxStatus, ""
	}
	if p, known := m.pods.byUID[f.Pod.UID]; known && f.Pod.Name == "" {
		f.Pod = p.PodRef
	}
	return f
}

// holderFound reports whether a sweep has found what may hold up a list.
func (m *machine) holderFound() bool { return m.sweepTells() && m.sweep.last.Accused() > 0 }

// sweepTells reports whether what the last sweep found may still be so: it is under way,
// or has asked for what hung a moment ago.
func (m *machine) sweepTells() bool {
	s := m.sweep.last
	return s != nil && (!s.Over() || m.policy.Once || m.now.Sub(s.Checked) <= 3*answers.AgainPeriod)
}

// hasObjects reports whether there is anything to ask for.
func (m *machine) hasObjects() bool {
	r := m.relists.now
	return len(m.pods.byUID) > 0 || r != nil && len(r.lists.sandboxes) > 0 || len(m.unlisted()) > 0
}

// nameSwept names the objects of a sweep that was begun before all of the node's folders
// were read.
func (m *machine) nameSwept() {
	if m.sweep.last == nil || m.evidence.Deep == nil {
		return
	}
	var known map[answers.Target]call.Flight
	m.sweep.last.Name(func(f call.Flight, _ string) (pleg.PodRef, string) {
		if known == nil {
			known = make(map[answers.Target]call.Flight)
			for _, o := range m.evidence.Objects() {
				shown := m.asks(o)
				known[targetOf(shown)] = shown
			}
		}
		shown := known[targetOf(f)]
		return shown.Pod, shown.Container
	})
}
