package ui

import (
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/pleg"
)

// subject returns the pod that is open, or that the cursor is on in the pane
// that has the focus, or that the finding there is about. The calls and the node
// have none: a cursor that is not seen must not decide what a key does.
func (m *Model) subject() (pleg.PodRef, bool) {
	switch {
	case m.node.open:
	case m.detail.pod != nil:
		return m.detail.pod.PodRef, true
	case m.seen() != nil:
		ref := m.seen().Subject.Pod
		return ref, ref.UID != ""
	case m.focus == eventsPane:
		if r := m.events.current(); r != nil && r.gap == 0 {
			return r.Pod, true
		}
	case m.focus == podsPane:
		if row, ok := m.pods.current(); ok {
			return row.info.pod.PodRef, true
		}
	}
	return pleg.PodRef{}, false
}

// seen returns the finding that is open or under a cursor that is seen, or nil.
func (m *Model) seen() *diagnose.Finding {
	switch {
	case m.node.open || m.detail.pod != nil:
		return nil
	case m.finding.open:
		return &m.finding.of
	case m.focus == findingsPane:
		return m.findings.current().Finding
	}
	return nil
}

// openDetail shows the finding or the pod that the cursor is on; from a finding,
// the pod that it is about.
func (m *Model) openDetail() {
	if f := m.seen(); f != nil && !m.finding.open {
		m.finding = findingSheet{open: true, of: *f, ended: m.findings.current().ended}
		m.refresh()
		return
	}
	ref, ok := m.subject()
	if !ok {
		if m.finding.open {
			m.say("this finding is about no pod")
		}
		return
	}
	for _, p := range m.snap.Pods {
		if p.UID == ref.UID {
			m.detail = detail{pod: p}
			m.refresh()
			return
		}
	}
	m.say(ref.String() + " has gone")
}
