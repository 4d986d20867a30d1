package ui

import (
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/ui/filter"
	"github.com/plegtop/plegtop/ui/podlist"
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

// filtering is what a person asked to see, of pods and events alike.
type filtering struct {
	text       string // as it was typed; empty for everything
	by         filter.Filter
	namespaces []string // empty for all
}

func (f *filtering) namespace(ns string) bool {
	return len(f.namespaces) == 0 || slices.Contains(f.namespaces, ns)
}

// setFilter puts a filter in force. One that does not parse changes nothing,
// and its error is returned.
func (m *Model) setFilter(text string) error {
	by, err := filter.Parse(text)
	if err != nil {
		return err
	}
	m.filter.text, m.filter.by = by.String(), by
	m.refilter()
	return nil
}

func (m *Model) setNamespaces(names []string) {
	m.filter.namespaces = names
	m.refilter()
	if len(names) == 0 {
		m.say("all namespaces")
	}
}

// refilter applies what is asked for to both panes.
func (m *Model) refilter() {
	f := m.filter
	m.pods.filter(nil, false)
	m.events.show = nil
	if !f.by.Empty() || len(f.namespaces) > 0 {
		m.pods.filter(func(p *podInfo, at time.Time) bool {
			return f.namespace(p.pod.Namespace) && f.by.Pod(podlist.New(p.pod, p.out, p.trouble), at)
		}, f.by.Timed())
		m.events.show = func(e engine.Event, at time.Time) bool {
			return f.namespace(e.Pod.Namespace) && f.by.Event(e, at)
		}
	}
	m.pods.rebuild(m.snap.At)
	m.events.rebuild(m.snap.At)
}

// namespacesSeen returns the namespaces of all pods, sorted, and how many pods
// are in each.
func (m *Model) namespacesSeen() (names []string, pods map[string]int) {
	pods = map[string]int{}
	for _, p := range m.snap.Pods {
		if pods[p.Namespace]++; pods[p.Namespace] == 1 {
			names = append(names, p.Namespace)
		}
	}
	slices.Sort(names)
	return names, pods
}

// clockNamed returns the format of that name, or the clock.
func clockNamed(name string) clockStyle {
	return clockStyle(max(0, slices.Index(clockNames[:], name)))
}
