package engine

import (
	"cmp"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
)

// An unlisted is an object that the node shows and no list has.
type unlisted struct {
	call.Flight
	sandboxID string // in which a container is; may be empty
}

// unlisted returns the objects that the node shows and that no pod has, where the lists
// hang or fail: one of them may be what holds them up.
func (m *machine) unlisted() []*unlisted {
	if _, hangs := m.hung(); m.evidence == nil || !hangs && !m.search.begun && m.relists.failure == nil {
		return nil
	}
	var all []*unlisted
	for _, o := range m.evidence.Objects() {
		if ref, _, known := m.pods.Object(o.ID); !known || !m.pods.byUID[ref.Pod.UID].lists(o.ID) {
			all = append(all, m.asUnlisted(o))
		}
	}
	return all
}

// asUnlisted returns the call that asks for an object, named as far as the node or a pod
// that is listed names it.
func (m *machine) asUnlisted(o evidence.Object) *unlisted {
	f := call.Flight{Op: call.ContainerStatus, ID: o.ID, Container: o.Container, Pod: pleg.PodRef{Namespace: o.Namespace, Name: o.Pod, UID: pleg.UID(o.UID)}}
	if o.Sandbox {
		f.Op, f.Container = call.PodSandboxStatus, ""
	}
	if p, known := m.pods.byUID[f.Pod.UID]; known && f.Pod.Name == "" {
		f.Pod = p.PodRef
	}
	return &unlisted{Flight: f, sandboxID: o.SandboxID}
}

// holderFound reports whether a sweep has found what may hold up a list.
func (m *machine) holderFound() bool { return m.sweepTells() && m.sweep.hung() > 0 }

// sweepTells reports whether what the last sweep found may still be so: it is under way,
// or has asked for what hung a moment ago.
func (m *machine) sweepTells() bool {
	s := m.sweep
	return s != nil && (!s.over() || m.policy.Once || m.now.Sub(s.Checked) <= 3*checkPeriod)
}

// hasObjects reports whether there is anything to ask for.
func (m *machine) hasObjects() bool {
	r := m.relists.now
	return len(m.pods.byUID) > 0 || r != nil && len(r.lists.sandboxes) > 0 || len(m.unlisted()) > 0
}

// nameSwept names the objects of a sweep that was begun before all of the node's folders
// were read.
func (m *machine) nameSwept() {
	if m.sweep == nil || m.evidence.Deep == nil {
		return
	}
	known := make(map[string]*unlisted)
	for i := range m.sweep.objects {
		o := &m.sweep.objects[i]
		if o.unlisted == nil || o.Container != "" && o.Pod.Name != "" {
			continue
		}
		if len(known) == 0 {
			for _, seen := range m.evidence.Objects() {
				known[seen.ID] = m.asUnlisted(seen)
			}
		}
		if u := known[o.ID]; u != nil && u.Op == o.Op {
			o.Container = cmp.Or(o.Container, u.Container)
			o.Pod = cmp.Or(o.Pod, u.Pod)
			m.sweep.stale = true
		}
	}
}

// nameUnlisted names what lies in a sandbox by what that sandbox's status says.
func (s *sweep) nameUnlisted(status pleg.SandboxStatus) {
	for i := s.listed; i < len(s.objects); i++ {
		o := &s.objects[i]
		if u := o.unlisted; u != nil && o.Pod.Name == "" && (u.sandboxID == status.ID || o.ID == status.ID || o.Pod.UID != "" && o.Pod.UID == status.Pod.UID) {
			o.Pod = status.Pod
			s.stale = true
		}
	}
}
