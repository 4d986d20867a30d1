package engine

import (
	"errors"
	"maps"
	"slices"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

func (m *Model) relistBegan(mark RelistBegan) {
	r := &relist{Asked: mark.Asked, Began: m.now}
	l := &m.relists
	l.Now = r
	if mark.Pod == "" {
		if m.follows != 0 && m.follows != m.start.Release {
			m.follow(m.follows) // a job of one pod was begun by the rules of the release before
		}
		m.wanted.Relist = false
		m.once.Lists++
		m.kubelet.RelistBegan(m.now)
		if good := m.core.ListedAt(); !good.IsZero() {
			l.Interval = m.now.Sub(good)
		}
		return
	}
	r.Pod = pleg.PodRef{UID: mark.Pod}
	if p, known := m.pods.ByUID[mark.Pod]; known {
		r.Pod = p.PodRef
	}
	if !mark.Asked {
		m.sources.Relisting(mark.Pod)
		return
	}
	m.wanted.Pods = slices.DeleteFunc(m.wanted.Pods, func(uid pleg.UID) bool { return uid == mark.Pod })
	if m.core.OnDemand() {
		m.core.RequestReinspect(mark.Pod)
		return
	}
	if err := m.core.BeginInspect(mark.Pod); err == nil {
		r.Listed, r.Total = true, 1
	}
}

// follow makes relists as another kubelet release does, from now on.
func (m *Model) follow(r pleg.Release) {
	if m.core.Follow(r) == nil {
		m.start.Release, m.sources.Config.Release, m.news = r, r, true
	}
}

// relistAnswered takes in the end of a call of the relist, before the lane marks the step. It uses
// only the lists.
func (m *Model) relistAnswered(a *answer) {
	r := m.relists.Now
	if r == nil || !a.Flight.Op.IsList() || r.Listed {
		return
	}
	r.ListTook = m.now.Sub(r.Began)
	if !r.ofOne() && !a.ranOut() {
		m.relists.ReturnedAt = a.At
	}
	switch {
	case a.Err == nil:
	case r.ofOne():
		if f := m.relists.PodFailure; f != nil && f.Pod != r.Pod {
			m.relists.PodFailure = nil // only failures of the same pod count as a row
		}
		m.relists.PodFailure = m.relists.PodFailure.Again(a.Flight, a.At, a.Err, 1)
	case a.Flight.Op == call.ListContainers && m.halfFailed(): // the kubelet would not make the second list
	default:
		m.known.Failure = m.known.Failure.Again(a.Flight, a.At, a.Err, 1)
	}
}

// halfFailed reports whether the list of sandboxes failed in the relist under way.
func (m *Model) halfFailed() (failed bool) {
	for _, a := range m.answersInOrder() {
		if a.Flight.Op == call.ListPodSandbox {
			failed = a.Err != nil
		}
	}
	return failed
}

// answersInOrder returns the answers of the relist under way that no mark has used yet, in the
// order of their calls. An examination repeats a call that fails: then the last answer counts.
func (m *Model) answersInOrder() (all []*answer) {
	for _, id := range slices.Sorted(maps.Keys(m.answered)) {
		all = append(all, m.answered[id])
	}
	return all
}

// relistFailed ends a relist: one of its lists failed. As in the kubelet, nothing changes: what was
// known stays, and its age grows. The probe lanes find what can still be seen.
func (m *Model) relistFailed() {
	r := m.relists.Now
	if r == nil {
		return
	}
	m.news = true
	if r.ofOne() {
		m.relists.Now = nil
		m.pods.show(m.core, r.Pod.UID, m.core.ListedAt())
	} else {
		m.asking.listsFailed(m)
		m.sumUp(m.now.Sub(r.Began)-r.Held, true)
	}
	clear(m.answered)
}

// listed takes in both lists of a relist.
func (m *Model) listed(mark Listed) {
	r := m.relists.Now
	first, second := m.answered[mark.Sandboxes], m.answered[mark.Containers]
	if r == nil || first == nil || second == nil {
		return
	}
	r.Listed = true
	r.ListTook = m.now.Sub(r.Began)
	found := first.Found.Add(second.Found)
	sandboxes, containers := first.Answer.Sandboxes, second.Answer.Containers
	clear(m.answered)
	if r.ofOne() {
		m.listedOne(sandboxes, containers)
		return
	}
	m.asking.listed(m)
	pods, odd := m.assembler.Assemble(sandboxes, containers)
	l := &m.relists
	m.news = m.news || l.PodFailure != nil || m.known.Failure != nil
	l.Found, l.PodFailure, m.known.Failure = found.Add(odd), nil, nil
	if l.First.IsZero() {
		l.First = r.Began
	}
	m.kubelet.ListsSucceeded(m.now, r.Began)
	l.ListsBack = m.now
	l.Before = m.core.ListedAt()
	if m.core.Begin(r.Began, pods) != nil {
		return
	}
	r.Total = m.core.Pending()
	m.pods.showAll(m.core)
	r.Moved = m.release()
}

// listedOne takes in the lists of one pod. If they do not show the pod any more, the next relist of
// all pods deals with that, as in the kubelet.
func (m *Model) listedOne(sandboxes []*pleg.ListedSandbox, containers []*pleg.ListedContainer) {
	r := m.relists.Now
	m.relists.PodFailure, m.news = nil, true
	m.relists.Now = nil
	pods, _ := pleg.Assemble(sandboxes, containers)
	for _, p := range pods {
		if p.UID == r.Pod.UID && m.core.BeginPod(r.Began, p) == nil {
			m.relists.Now = r
			r.Total = m.core.Pending()
		}
	}
	m.pods.show(m.core, r.Pod.UID, r.Began)
	m.release()
}

// inspected settles the pod whose inspection is over.
func (m *Model) inspected(mark Inspected) {
	r := m.relists.Now
	p := m.pods.ByUID[mark.Pod]
	if r == nil {
		return
	}
	pod := pleg.PodRef{UID: mark.Pod}
	if p != nil {
		pod = p.PodRef
	}
	i := inspection{Pod: pod, Began: m.now, Ended: m.now}
	for n, id := range mark.Calls {
		i.take(m.answered[id], n == 0)
		delete(m.answered, id)
	}
	m.settle(&i)
}

// settle takes in an inspection.
func (m *Model) settle(i *inspection) {
	r := m.relists.Now
	if m.core.Settle(i.Pod.UID, i.Began, i.status(), i.Err) != nil {
		return // a replay through another release awaits other pods
	}
	r.Done++
	r.Total = max(r.Total, r.Done)
	if i.Err != nil {
		r.Failures++
	}
	m.recovered(m.pods.ByUID[i.Pod.UID], i.Err)
	m.pods.inspected(m.core, i)
	m.release()
	m.news, r.Moved = true, true
}

// relistEnded ends a relist: all its inspections are settled.
func (m *Model) relistEnded() {
	r := m.relists.Now
	if r == nil {
		return
	}
	for next, more := m.core.Next(); more; next, more = m.core.Next() { // only in a replay by another release
		i := inspection{Pod: next.Pod.PodRef, Began: m.now, Ended: m.now, Err: errNotRecorded}
		m.settle(&i)
		m.missing++
	}
	if m.core.End() != nil && !r.ofOne() { // of one pod there may be nothing to end: it has no record
		return
	}
	m.release()
	m.core.ForgetLeaked()
	clear(m.answered)
	if r.ofOne() {
		m.relists.Now = nil
		m.pods.show(m.core, r.Pod.UID, r.Began)
		return
	}
	if r.Moved {
		m.pods.showAll(m.core)
	}
	m.sources.Listed(r.Began)
	m.sumUp(m.now.Sub(r.Began)-r.Held, false)
}

// errNotRecorded fails an inspection that a replay would make but its recording does not have.
var errNotRecorded = errors.New("not recorded: the kubelet that was watched did not make this inspection")
